"""Compute late penalties with the course's nbgrader plugin, and keep them up to date.

nbgrader computes a penalty while it autogrades, from the score at that moment. This module computes
it again whenever a score, a due date, an extension or a time of submission changes, so that every
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
    """Raised if the plugin for late penalties fails; the message says where and what to do."""


class LatePenalties:
    """The plugin for late penalties of the course at `root`, as `config` sets it.

    Raises PenaltyError if the plugin cannot be loaded.
    """

    def __init__(self, config: Config, root: Path) -> None:
        """Load the plugin. Its module may be in the course directory, as nbgrader documents."""
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
        """Store the penalties of late notebooks, and remove those of notebooks that are not late.

        `only` is a condition on the submitted notebooks. If the plugin fails, PenaltyError is
        raised before anything is stored.
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
        """Return the plugin's penalty, at least 0 and at most the score, as in nbgrader."""
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
        """Return file and number of the last line in the instructor's Python that led to `error`.

        If no such line was run, return nbgrader_config.py, which names the plugin.
        """
        if isinstance(error, SyntaxError) and error.filename:
            return f"{error.filename}, line {error.lineno}"
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(self._root)]
        if not own:
            return str(self._root / "nbgrader_config.py")
        return f"{own[-1].filename}, line {own[-1].lineno}"


def keep_penalties(config: Config, root: Path) -> None:
    """Update the penalties whenever this process changes a mark, a due date or an extension.

    Call this where nbgrader itself writes to the gradebook: in the formgrader and in nbgrader's
    commands. A process may call it for several courses, each with its own `config`.
    """
    if not event.contains(Session, "after_flush", _after_flush):
        event.listen(Session, "after_flush", _after_flush)
    _CONFIGS[root] = config


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
        _penalties_for(session).assign(session.connection(), touched)
    except PenaltyError as error:  # only logged, so that the mark is saved; commands report it
        get_logger().error(str(error))


def _penalties_for(session: Session) -> LatePenalties:
    """Return the penalties of the course that `session` writes to.

    It is built only now because the instructor's settings come after the call of `configure`.
    """
    address = session.get_bind().engine.url.set(query={})
    courses = list(_CONFIGS.items())
    matches = [(root, config) for root, config in courses if _address(config) == address]
    root, config = (matches or courses)[-1]  # no match if `db_url` is set on the command line
    return LatePenalties(config, root)


def _address(config: Config) -> URL | None:
    """Return the address of a course's gradebook, without its options; None if it is not valid."""
    try:
        return make_url(str(config.CourseDirectory.get("db_url"))).set(query={})
    except (ArgumentError, ValueError):  # ValueError: the port is not a number
        return None


def seconds_late(row: Any) -> float:
    """Return the number of seconds between the due date, with its extension, and a late submission.

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
_CONFIGS: dict[Path, Config] = {}
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
"""Selects the notebooks that have a penalty or may need one."""
