"""Write scores, feedback and flags for manual marking into nbgrader's gradebook, and read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import nbformat
from alembic.config import Config
from alembic.script import ScriptDirectory
from nbgrader import api, dbutil, utils
from sqlalchemy import Connection, Engine, create_engine, delete, inspect, select, text
from sqlalchemy.exc import DBAPIError

from ..course.plaintext import printable
from .database import (
    GradebookError,
    GradebookLocked,
    explain_errors,
    make_file,
    printable_url,
    require_writable,
    sqlite_file,
    with_lock_wait,
)
from .entries import Entry, write_entries
from .graded_pages import GradedPage, Key, graded_pages
from .penalties import LatePenalties
from .scores import (
    Answer,
    Score,
    course_answers,
    course_scores,
    marks_above_maximum,
    people_comments,
)

COURSE_ID = "default_course"
"""The course id that nbgrader uses by default."""


class Gradebook:
    """nbgrader's gradebook at an SQLAlchemy URL, a context manager. It is created if necessary.

    Raises GradebookLocked if another program locks it for longer than LOCK_WAIT, and GradebookError
    if it belongs to another version of nbgrader or is not a gradebook.
    """

    def __init__(self, url: str, dry: bool = False) -> None:
        """Open the gradebook at `url`.

        In a `dry` run, all changes are visible until the gradebook is closed, and then rolled back.
        A dry run does not create a gradebook.
        """
        self.url, self._dry = url, dry
        with explain_errors(url):
            if not dry:
                make_file(url)
                require_writable(url)
            engine = create_engine(with_lock_wait(url))
            try:
                if not dry:
                    _prepare(engine, url)
            finally:
                engine.dispose()
            self.nbgrader = api.Gradebook(with_lock_wait(url), COURSE_ID)
        self._db = self.nbgrader.db

    def __enter__(self) -> Gradebook:
        """Return the open gradebook, whose attribute `nbgrader` is nbgrader's own object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection; undo the changes of a dry run."""
        if self._dry:
            self._db.rollback()
        self.nbgrader.close()

    def add_assignment(self, name: str, released: nbformat.NotebookNode) -> None:
        """Add an assignment's notebook and cells, or update them from its release.

        Raises GradebookError if the gradebook holds marks for a cell that the release lacks.
        """
        with self._explain_errors():
            # nbgrader may have added the assignment with another course id, which then stays.
            defaults = {"course_id": COURSE_ID}
            assignment = self._get_or_add(api.Assignment, defaults=defaults, name=name)
            notebook = self._get_or_add(api.Notebook, name=name, assignment_id=assignment.id)
            notebook.kernelspec = json.dumps(released.metadata.get("kernelspec", {}))
            cells = [cell for cell in released.cells if "nbgrader" in cell.metadata]
            for cell in cells:
                self._add_cell(notebook, cell)
            self._db.refresh(notebook)
            lost = {cell.name for cell in notebook.grade_cells} - {
                cell.metadata.nbgrader.grade_id for cell in cells if utils.is_grade(cell)
            }
            if lost:
                self._db.rollback()
                raise GradebookError(
                    f"{printable_url(self.url)}: it holds marks for {', '.join(sorted(lost))}, but "
                    f"the release of {name} no longer has these exercises. Move the gradebook away "
                    "and grade again (the journal restores every machine grade), or release the "
                    "old exercises."
                )
            self._commit()

    def enter(self, entries: Sequence[Entry]) -> list[int]:
        """Write the scores and feedback of submissions in a single transaction.

        Their assignments must have been added. Returns the number of answers that a person must
        mark, for each submission. Marks and comments by people stay unchanged.
        """
        with self._explain_errors():
            waiting = write_entries(self._db.connection(), entries)
            self._commit()
            return waiting

    def assign_penalties(self, penalties: LatePenalties) -> None:
        """Update the late penalties. Raises PenaltyError, and then leaves them unchanged."""
        with self._explain_errors():
            try:
                penalties.assign(self._db.connection())
            except GradebookError:
                self._db.rollback()
                raise
            self._commit()

    def remove_student(self, student: str) -> bool:
        """Remove all data of a student; return False if the gradebook has no such student."""
        with self._explain_errors():
            row = self._db.query(api.Student).filter_by(id=student).one_or_none()
            if row is None:
                return False
            submissions = select(api.SubmittedAssignment.id).filter_by(student_id=student)
            chosen = api.SubmittedNotebook.assignment_id.in_(submissions)
            notebooks = select(api.SubmittedNotebook.id).where(chosen)
            connection = self._db.connection()
            for model in (api.Grade, api.Comment):
                connection.execute(delete(model).where(model.notebook_id.in_(notebooks)))
            connection.execute(delete(api.SubmittedNotebook).where(chosen))
            connection.execute(delete(api.SubmittedAssignment).filter_by(student_id=student))
            connection.execute(delete(api.Student).filter_by(id=student))
            self._commit()
            return True

    def comments(self, student: str) -> list[dict[str, str]]:
        """Return the comments by people on the answers of a student."""
        with self._explain_errors():
            return people_comments(self._db.connection(), student)

    def compact(self) -> None:
        """Rewrite an SQLite file, because it still contains the bytes of removed rows."""
        if sqlite_file(self.url) is None:
            return
        with self._explain_errors():
            self._db.rollback()
            engine = self.nbgrader.engine.execution_options(isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql("VACUUM")

    def scores(self) -> list[Score]:
        """Return the scores of every student of the gradebook, for every assignment in it."""
        with self._explain_errors():
            return course_scores(self._db.connection())

    def answers(self) -> list[Answer]:
        """Return every exercise and question of the gradebook, in no particular order."""
        with self._explain_errors():
            return course_answers(self._db.connection())

    def graded_pages(self) -> dict[Key, GradedPage]:
        """Return what feedback pages show of every graded notebook."""
        with self._explain_errors():
            return graded_pages(self._db.connection())

    def marks_above_maximum(self) -> list[str]:
        """Return a sentence for each mark by a person that exceeds the answer's current maximum."""
        with self._explain_errors():
            return marks_above_maximum(self._db.connection())

    def _commit(self) -> None:
        if not self._dry:
            self._db.commit()

    def _get_or_add(
        self, model: type, *, defaults: Mapping[str, object] | None = None, **key: str
    ) -> Any:
        """Return the row with this key. If there is none, add one with the values `defaults`."""
        row = self._db.query(model).filter_by(**key).one_or_none()
        if row is None:
            row = model(**key, **(defaults or {}))
            self._db.add(row)
            self._db.flush()
        return row

    def _add_cell(self, notebook: api.Notebook, cell: nbformat.NotebookNode) -> None:
        key = {"name": cell.metadata.nbgrader.grade_id, "notebook_id": notebook.id}
        if utils.is_grade(cell):
            grade = {"max_score": float(cell.metadata.nbgrader.points), "cell_type": cell.cell_type}
            row = self._get_or_add(api.GradeCell, defaults=grade, **key)
            row.max_score = grade["max_score"]
        if utils.is_solution(cell):
            self._get_or_add(api.SolutionCell, **key)
        defaults = {"cell_type": cell.cell_type, "locked": utils.is_locked(cell)}
        source = self._get_or_add(api.SourceCell, defaults=defaults, **key)
        source.source, source.checksum = cell.source, utils.compute_checksum(cell)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Roll back after an error of the database, and raise it as GradebookError."""
        with explain_errors(self.url):
            try:
                yield
            except DBAPIError:
                with suppress(DBAPIError):  # the connection may be lost
                    self._db.rollback()
                raise


def check_version(url: str) -> bool:
    """Return whether there is a gradebook. Raises GradebookError for another version of nbgrader.

    A gradebook that is locked at the moment passes, because it is checked again before writing.
    """
    with suppress(GradebookLocked), explain_errors(url):
        path = sqlite_file(url)
        if path is not None and not Path(path).exists():
            return False
        engine = create_engine(with_lock_wait(url, 0.0))
        try:
            return _check_revision(engine, url)
        finally:
            engine.dispose()
    return True


def _prepare(engine: Engine, url: str) -> None:
    """Create all tables in a single transaction, which a killed run cannot leave half done."""
    if _check_revision(engine, url):
        return
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        api.Base.metadata.create_all(bind=connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": _head()})
        connection.execute(text("INSERT INTO course (id) VALUES (:course)"), {"course": COURSE_ID})


def _check_revision(engine: Engine, url: str) -> bool:
    """Return True for a gradebook of this version, and False for an empty database.

    A database in which nbgrader was interrupted while it created the tables counts as empty.
    Raises GradebookError for any other database.
    """
    tables = inspect(engine).get_table_names()
    revision = None
    with engine.connect() as connection:
        if "alembic_version" in tables:
            revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        elif all(_is_empty_table_of_nbgrader(connection, name) for name in tables):
            return False
    if revision != _head():
        raise GradebookError(
            f"{printable_url(url)}: the gradebook belongs to another version of nbgrader (its "
            f"schema is {printable(str(revision or 'unknown'))}, this version's is {_head()}). Make"
            " a copy of it, then run `nbgrader db upgrade` in the course folder, or install the "
            "version of nbgrader that created it."
        )
    return True


def _is_empty_table_of_nbgrader(connection: Connection, name: str) -> bool:
    table = api.Base.metadata.tables.get(name)
    return table is not None and connection.execute(select(table).limit(1)).first() is None


def _head() -> str:
    config = Config()
    config.set_main_option("script_location", dbutil.ALEMBIC_DIR.replace("%", "%%"))
    return str(ScriptDirectory.from_config(config).get_current_head())
