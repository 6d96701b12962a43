"""The one writer into nbgrader's gradebook: scores, named feedback, and what waits for a person."""

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
    explained,
    make_file,
    patient,
    require_writable,
    shown,
    sqlite_file,
)
from .entries import Entry, write_entries
from .penalties import LatePenalties
from .scores import Score, course_scores, marks_above_maximum, people_comments

COURSE_ID = "default_course"
"""The course that nbgrader itself uses when none is configured."""


class Gradebook:
    """nbgrader's gradebook at a SQLAlchemy URL; made if it is not there. Use it in a `with`.

    Raises GradebookLocked if another program holds it for longer than LOCK_WAIT, and GradebookError
    if it belongs to another version of nbgrader or is not a gradebook.
    """

    def __init__(self, url: str, dry: bool = False) -> None:
        """Open the gradebook at `url`.

        What a `dry` run writes is seen in it until it is closed, and then undone. It needs a
        gradebook that is there.
        """
        self.url, self._dry = url, dry
        with explained(url):
            if not dry:
                make_file(url)
                require_writable(url)
            engine = create_engine(patient(url))
            try:
                if not dry:
                    _prepare(engine, url)
            finally:
                engine.dispose()
            self.nbgrader = api.Gradebook(patient(url), COURSE_ID)
        self._db = self.nbgrader.db

    def __enter__(self) -> Gradebook:
        """The open gradebook; `nbgrader` is nbgrader's own object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        if self._dry:
            self._db.rollback()
        self.nbgrader.close()

    def add_assignment(self, name: str, released: nbformat.NotebookNode) -> None:
        """Make the assignment's notebook and cells known, as they stand in its release.

        Raises GradebookError if the gradebook holds marks for a cell that the release has lost.
        """
        with self._explained():
            # nbgrader may have made it for a course with an id of its own.
            made_here = {"course_id": COURSE_ID}
            assignment = self._have(api.Assignment, fresh=made_here, name=name)
            notebook = self._have(api.Notebook, name=name, assignment_id=assignment.id)
            notebook.kernelspec = json.dumps(released.metadata.get("kernelspec", {}))
            marked = [c for c in released.cells if "nbgrader" in c.metadata]
            for cell in marked:
                self._add_cell(notebook, cell)
            self._db.refresh(notebook)
            lost = {cell.name for cell in notebook.grade_cells} - {
                cell.metadata.nbgrader.grade_id for cell in marked if utils.is_grade(cell)
            }
            if lost:
                self._db.rollback()
                raise GradebookError(
                    f"{shown(self.url)}: it holds marks for {', '.join(sorted(lost))}, which the "
                    f"release of {name} no longer asks. Move the gradebook away and grade again "
                    "(the journal gives back every machine grade), or release the old exercises."
                )
            self._commit()

    def enter(self, entries: Sequence[Entry]) -> list[int]:
        """Write the scores and feedback of submissions, all or none; each must have its assignment.

        Returns for each how many answers wait for a person. Marks and comments that a person gave
        stay as they are.
        """
        with self._explained():
            waiting = write_entries(self._db.connection(), entries)
            self._commit()
            return waiting

    def assign_penalties(self, penalties: LatePenalties) -> None:
        """Bring the late penalties up to date. Raises PenaltyError; nothing is changed then."""
        with self._explained():
            try:
                penalties.assign(self._db.connection())
            except GradebookError:
                self._db.rollback()
                raise
            self._commit()

    def remove_student(self, student: str) -> bool:
        """Remove a student and all that the gradebook holds of them; False if it knows none."""
        with self._explained():
            found = self._db.query(api.Student).filter_by(id=student).one_or_none()
            if found is None:
                return False
            submissions = select(api.SubmittedAssignment.id).filter_by(student_id=student)
            chosen = api.SubmittedNotebook.assignment_id.in_(submissions)
            notebooks = select(api.SubmittedNotebook.id).where(chosen)
            connection = self._db.connection()
            for row in (api.Grade, api.Comment):
                connection.execute(delete(row).where(row.notebook_id.in_(notebooks)))
            connection.execute(delete(api.SubmittedNotebook).where(chosen))
            connection.execute(delete(api.SubmittedAssignment).filter_by(student_id=student))
            connection.execute(delete(api.Student).filter_by(id=student))
            self._commit()
            return True

    def comments(self, student: str) -> list[dict[str, str]]:
        """Return what people have written beside the answers of a student."""
        with self._explained():
            return people_comments(self._db.connection(), student)

    def compact(self) -> None:
        """Write an SQLite file anew, without the rows that were removed and still stand in it."""
        if sqlite_file(self.url) is None:
            return
        with self._explained():
            self._db.rollback()
            engine = self.nbgrader.engine.execution_options(isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql("VACUUM")

    def scores(self) -> list[Score]:
        """Return the scores of every student of the gradebook, for every assignment in it."""
        with self._explained():
            return course_scores(self._db.connection())

    def marks_above_maximum(self) -> list[str]:
        """Name the marks by people that are above what the answer is worth now."""
        with self._explained():
            return marks_above_maximum(self._db.connection())

    def _commit(self) -> None:
        if not self._dry:
            self._db.commit()

    def _have(self, model: type, *, fresh: Mapping[str, object] | None = None, **key: str) -> Any:
        """The one row with this key; made, with the values `fresh`, if it is not there."""
        row = self._db.query(model).filter_by(**key).one_or_none()
        if row is None:
            row = model(**key, **(fresh or {}))
            self._db.add(row)
            self._db.flush()
        return row

    def _add_cell(self, notebook: api.Notebook, cell: nbformat.NotebookNode) -> None:
        key = {"name": cell.metadata.nbgrader.grade_id, "notebook_id": notebook.id}
        if utils.is_grade(cell):
            worth = {"max_score": float(cell.metadata.nbgrader.points), "cell_type": cell.cell_type}
            self._have(api.GradeCell, fresh=worth, **key).max_score = worth["max_score"]
        if utils.is_solution(cell):
            self._have(api.SolutionCell, **key)
        kind = {"cell_type": cell.cell_type, "locked": utils.is_locked(cell)}
        source = self._have(api.SourceCell, fresh=kind, **key)
        source.source, source.checksum = cell.source, utils.compute_checksum(cell)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Leave no transaction open behind an error, and say the error in one clear line."""
        with explained(self.url):
            try:
                yield
            except DBAPIError:
                with suppress(DBAPIError):  # the connection may be gone
                    self._db.rollback()
                raise


def check_version(url: str) -> bool:
    """Return whether there is a gradebook. Raises GradebookError for another version of nbgrader.

    A gradebook that is locked just now passes: it is looked at again when it is written.
    """
    with suppress(GradebookLocked), explained(url):
        path = sqlite_file(url)
        if path is not None and not Path(path).exists():
            return False
        engine = create_engine(patient(url, 0.0))
        try:
            return _check_revision(engine, url)
        finally:
            engine.dispose()
    return True


def _prepare(engine: Engine, url: str) -> None:
    """Make the tables in one transaction, so that a killed run leaves all of them or none."""
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
    """True for a gradebook of this version, False for an empty database, else GradebookError.

    A database is empty, too, if nbgrader was interrupted while it made the tables.
    """
    tables = inspect(engine).get_table_names()
    found = None
    with engine.connect() as connection:
        if "alembic_version" in tables:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        elif all(_is_empty_table_of_nbgrader(connection, name) for name in tables):
            return False
    if found != _head():
        raise GradebookError(
            f"{shown(url)}: the gradebook belongs to another version of nbgrader (its schema is "
            f"{printable(str(found or 'unknown'))}, this version's is {_head()}). Make a copy of "
            "it, then run `nbgrader db upgrade` in the course folder, or install the nbgrader that "
            "made it."
        )
    return True


def _is_empty_table_of_nbgrader(connection: Connection, name: str) -> bool:
    table = api.Base.metadata.tables.get(name)
    return table is not None and connection.execute(select(table).limit(1)).first() is None


def _head() -> str:
    config = Config()
    config.set_main_option("script_location", dbutil.ALEMBIC_DIR.replace("%", "%%"))
    return str(ScriptDirectory.from_config(config).get_current_head())
