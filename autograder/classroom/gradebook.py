"""The one writer into nbgrader's gradebook: scores, named feedback, and what waits for a person."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from alembic.config import Config
from alembic.script import ScriptDirectory
from nbgrader import api, dbutil, utils
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from .entries import Entry, write_entries
from .files import read_start
from .plaintext import printable

LOCK_WAIT = 10.0
"""Seconds to wait for another program that holds the gradebook's lock."""

COURSE_ID = "default_course"
"""The course that nbgrader itself uses when none is configured."""


class GradebookError(Exception):
    """The gradebook cannot be used; the message says where and what to do."""


class GradebookLocked(GradebookError):
    """Another program holds the gradebook."""


class Gradebook:
    """nbgrader's gradebook at a SQLAlchemy URL; made if it is not there. Use it in a `with`.

    Raises GradebookLocked if another program holds it for longer than LOCK_WAIT, and GradebookError
    if it belongs to another version of nbgrader or is not a gradebook.
    """

    def __init__(self, url: str) -> None:
        """Open the gradebook at `url`."""
        self.url = url
        with self._explained():
            engine = create_engine(_patient(url, LOCK_WAIT))
            try:
                _prepare(engine, url)
            finally:
                engine.dispose()
            self.nbgrader = api.Gradebook(_patient(url, LOCK_WAIT), COURSE_ID)
        self._db = self.nbgrader.db

    def __enter__(self) -> Gradebook:
        """The open gradebook; `nbgrader` is nbgrader's own object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.nbgrader.close()

    def add_assignment(self, name: str, released: nbformat.NotebookNode) -> None:
        """Make the assignment's notebook and cells known, as they stand in its release.

        Raises GradebookError if the gradebook holds marks for a cell that the release has lost.
        """
        with self._explained():
            assignment = self._have(api.Assignment, name=name, course_id=COURSE_ID)
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
                    f"{_shown(self.url)}: it holds marks for {', '.join(sorted(lost))}, which the "
                    f"release of {name} no longer asks. Move the gradebook away and grade again "
                    "(the journal gives back every machine grade), or release the old exercises."
                )
            self._db.commit()

    def enter(self, entries: Sequence[Entry]) -> list[int]:
        """Write the scores and feedback of submissions, all or none; each must have its assignment.

        Returns for each how many answers wait for a person. Marks and comments that a person gave
        stay as they are.
        """
        with self._explained():
            waiting = write_entries(self._db.connection(), entries)
            self._db.commit()
            return waiting

    def _have(self, model: type, *, fresh: dict[str, object] | None = None, **key: str) -> Any:
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
        """Turn the database's exceptions into one clear line."""
        place = _shown(self.url)
        try:
            yield
        except (ArgumentError, NoSuchModuleError) as error:
            raise GradebookError(
                f"{place}: not a database address that SQLAlchemy knows ({error})."
            ) from error
        except DBAPIError as error:
            if hasattr(self, "_db"):
                self._db.rollback()
            reason = str(error.orig).strip().split("\n")[0]
            if "locked" in reason or "lock timeout" in reason:
                raise GradebookLocked(
                    f"{place}: another program holds the gradebook (waited {LOCK_WAIT:g} s). "
                    "Nothing is lost, every grade is in the journal. End the other program, then "
                    "run the same command again."
                ) from error
            raise GradebookError(
                f"{place}: the gradebook cannot be read or written ({reason}). Nothing is lost, "
                "every grade is in the journal. Repair it, put it back from a backup or move it "
                "away, then run the same command again."
            ) from error


def submission_time(folder: Path) -> datetime | None:
    """The time in nbgrader's timestamp.txt of a submission's folder, or None if there is none.

    Raises ValueError, saying where, if the file is there and holds no time.
    """
    path = folder / "timestamp.txt"
    if not os.path.lexists(path):
        return None
    try:
        time: datetime | None = utils.parse_utc(read_start(path, 100).decode().strip())
    except Exception as error:  # the parser's own kinds too: the text is a student's
        raise ValueError(
            f"{path}: it holds no time, so none is known for this submission. Remove the file."
        ) from error
    return time


def check_version(url: str) -> None:
    """Raise GradebookError if the gradebook exists and is of another version of nbgrader.

    A gradebook that is locked just now passes: it is looked at again when it is written.
    """
    path = make_url(url).database
    if make_url(url).get_backend_name() == "sqlite" and not (path and Path(path).exists()):
        return
    engine = create_engine(_patient(url, 0.0))
    try:
        _check_revision(engine, url)
    except DBAPIError:
        return
    finally:
        engine.dispose()


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
    """True for a gradebook of this version, False for an empty database, else GradebookError."""
    tables = inspect(engine).get_table_names()
    if not tables:
        return False
    found = None
    if "alembic_version" in tables:
        with engine.connect() as connection:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found != _head():
        raise GradebookError(
            f"{_shown(url)}: the gradebook belongs to another version of nbgrader (its schema is "
            f"{printable(str(found))}, this version's is {_head()}). Make a copy of it, then run "
            "`nbgrader db upgrade` in the course folder, or install the nbgrader that made it."
        )
    return True


def _head() -> str:
    config = Config()
    config.set_main_option("script_location", dbutil.ALEMBIC_DIR)
    return str(ScriptDirectory.from_config(config).get_current_head())


def _patient(url: str, seconds: float) -> str:
    """`url` with so many seconds as SQLite's time to wait for a lock."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        address = address.update_query_dict({"timeout": str(seconds)})
    return address.render_as_string(hide_password=False)


def _shown(url: str) -> str:
    """The file of an SQLite gradebook, or the address without its password."""
    try:
        address = make_url(url)
    except ArgumentError:
        return printable(url)
    if address.get_backend_name() == "sqlite" and address.database:
        return printable(address.database)
    return printable(address.render_as_string())
