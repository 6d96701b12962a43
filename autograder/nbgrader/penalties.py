"""Late penalties: what the course's nbgrader plugin takes off work that came after its due date.

nbgrader computes a penalty while it autogrades, from the score of that moment. Here it is computed
again whenever a score, a due date, an extension or a time of submission changes, so that every
table shows the same number. The plugin and its settings are nbgrader's own
(`c.LateSubmissionPlugin.penalty_method`, `c.AssignLatePenalties.plugin_class`).
"""

from __future__ import annotations

import math
import sys
import traceback
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    event,
    func,
    make_url,
    or_,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session
from traitlets.config import Config
from traitlets.log import get_logger

from ..course.plaintext import printable
from .database import GradebookError


class PenaltyError(GradebookError):
    """The plugin for late penalties cannot be used; the message says where and what to do."""


class LatePenalties:
    """The plugin for late penalties of the course at `root`, as `config` sets it.

    Raises PenaltyError if the plugin cannot be loaded.
    """

    def __init__(self, config: Config, root: Path) -> None:
        """Load the plugin; its module may stand in the course directory, as nbgrader documents."""
        self._root = root
        if str(root) not in sys.path:
            sys.path.append(str(root))
        try:
            assign = AssignLatePenalties(config=config)
            assign.init_plugin()
        except Exception as error:  # the plugin is the instructor's own Python
            raise PenaltyError(
                f"{self._line(error)}: the plugin for late penalties cannot be loaded "
                f"({type(error).__name__}: {printable(str(error))}). Correct the plugin or "
                "c.AssignLatePenalties.plugin_class, then run the same command again."
            ) from error
        self._plugin = assign.plugin_inst

    def assign(self, connection: Connection, only: ColumnElement[bool] | None = None) -> None:
        """Store the penalty of each late notebook, and remove that of one that is not late.

        `only` chooses among the submitted notebooks. Raises PenaltyError if the plugin fails;
        nothing is stored then.
        """
        chosen = _MAYBE_LATE if only is None else _MAYBE_LATE.where(only)
        rows = connection.execute(chosen).all()
        late = {row.notebook: seconds for row in rows if (seconds := seconds_late(row)) > 0}
        scores = _raw_scores(connection, chosen.with_only_columns(_NOTEBOOK.c.id)) if late else {}
        changed = []
        for row in rows:
            penalty = None
            if row.notebook in late:
                penalty = self._penalty(row, scores.get(row.notebook, 0.0), late[row.notebook])
            if penalty != row.penalty:
                changed.append({"of_notebook": row.notebook, "penalty": penalty})
        if changed:
            statement = update(_NOTEBOOK).where(_NOTEBOOK.c.id == bindparam("of_notebook"))
            values: dict[str, Any] = {"late_submission_penalty": bindparam("penalty")}
            connection.execute(statement.values(values), changed)

    def _penalty(self, row: Any, score: float, seconds: float) -> float | None:
        """Return what the plugin takes off, at least 0 and at most the score, as in nbgrader."""
        try:
            penalty = self._plugin.late_submission_penalty(row.student, score, seconds)
            if penalty is None:
                return None
            penalty = float(penalty)
            if math.isnan(penalty):
                raise ValueError("the penalty is not a number")
        except Exception as error:  # the plugin is the instructor's own Python
            raise PenaltyError(
                f"{self._line(error)}: {type(self._plugin).__name__} fails on the submission of "
                f"{printable(row.student)} for {printable(row.assignment)} ({type(error).__name__}:"
                f" {printable(str(error))}). No penalty was changed. Correct the plugin, then run "
                "the same command again."
            ) from error
        return min(max(penalty, 0.0), score)

    def _line(self, error: Exception) -> str:
        """Return the last line of the instructor's Python that led to `error`, as file and number.

        That is nbgrader_config.py, which names the plugin, where no line of theirs has been run.
        """
        if isinstance(error, SyntaxError) and error.filename:
            return f"{error.filename}, line {error.lineno}"
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [one for one in frames if Path(one.filename).is_relative_to(self._root)]
        if not theirs:
            return str(self._root / "nbgrader_config.py")
        return f"{theirs[-1].filename}, line {theirs[-1].lineno}"


def keep_penalties(config: Config, root: Path) -> None:
    """Update the penalties whenever this process changes a mark, a due date or an extension.

    Use it where nbgrader itself writes: in the formgrader and in its commands. A process may do so
    for several courses, each with its own `config`.
    """
    if not event.contains(Session, "after_flush", _after_flush):
        event.listen(Session, "after_flush", _after_flush)
    _KEPT[root] = config


def _after_flush(session: Session, _: object) -> None:
    written = (*session.new, *session.dirty)
    touched = or_(
        _NOTEBOOK.c.id.in_({row.notebook_id for row in written if isinstance(row, api.Grade)}),
        _SUBMISSION.c.id.in_({row.id for row in written if isinstance(row, _Submitted)}),
        _ASSIGNMENT.c.id.in_({row.id for row in written if isinstance(row, api.Assignment)}),
    )
    if not any(isinstance(row, api.Grade | _Submitted | api.Assignment) for row in written):
        return
    try:
        _kept_penalties(session).assign(session.connection(), touched)
    except PenaltyError as error:  # the mark must not be lost for it; the next command says so too
        get_logger().error(str(error))


def _kept_penalties(session: Session) -> LatePenalties:
    """Return the penalties of the course that `session` writes to.

    The configuration is complete by now: the instructor's settings come after `configure`.
    """
    address = session.get_bind().engine.url.set(query={})
    courses = list(_KEPT.items())
    ours = [(root, config) for root, config in courses if _address(config) == address]
    root, config = (ours or courses)[-1]  # a `db_url` may stand in the command line only
    return LatePenalties(config, root)


def _address(config: Config) -> URL | None:
    """Return the address of a course's gradebook, without its options; None if it is not valid."""
    try:
        return make_url(str(config.CourseDirectory.get("db_url"))).set(query={})
    except (ArgumentError, ValueError):  # ValueError: the port is not a number
        return None


def seconds_late(row: Any) -> float:
    """Return by how many seconds a submission missed its due date, extension included.

    `row` has the columns `timestamp`, `duedate` and `extension`.
    """
    if row.duedate is None or row.timestamp is None:
        return 0.0
    due = row.duedate if row.extension is None else row.duedate + row.extension
    return max(0.0, float((row.timestamp - due).total_seconds()))


def _raw_scores(connection: Connection, notebooks: Select[Any]) -> dict[str, float]:
    """Return the score of each of these submitted notebooks, before any penalty."""
    chosen = api.Grade.notebook_id.in_(notebooks)
    score = func.sum(api.Grade.score)
    statement = select(api.Grade.notebook_id, score).where(chosen).group_by(api.Grade.notebook_id)
    return {notebook: float(total) for notebook, total in connection.execute(statement)}


_Submitted = api.SubmittedAssignment
_KEPT: dict[Path, Config] = {}
"""The configurations of the courses that this process writes to, by their folders."""

_NOTEBOOK: Table = api.SubmittedNotebook.__table__
_SUBMISSION: Table = api.SubmittedAssignment.__table__
_ASSIGNMENT: Table = api.Assignment.__table__
_MAYBE_LATE = (
    select(
        _NOTEBOOK.c.id.label("notebook"),
        _NOTEBOOK.c.late_submission_penalty.label("penalty"),
        _SUBMISSION.c.student_id.label("student"),
        _SUBMISSION.c.timestamp,
        _SUBMISSION.c.extension,
        _ASSIGNMENT.c.name.label("assignment"),
        _ASSIGNMENT.c.duedate,
    )
    .join(_SUBMISSION, _NOTEBOOK.c.assignment_id == _SUBMISSION.c.id)
    .join(_ASSIGNMENT, _SUBMISSION.c.assignment_id == _ASSIGNMENT.c.id)
    .where(
        or_(
            _NOTEBOOK.c.late_submission_penalty.is_not(None),
            _SUBMISSION.c.timestamp > _ASSIGNMENT.c.duedate,
            _SUBMISSION.c.extension.is_not(None),
        )
    )
)
"""The notebooks that have a penalty, or may deserve one."""
