"""Write a submission into nbgrader's tables: scores, feedback and flags for manual marking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Table, bindparam, insert, select, update

from ..course.journal import Record, Row
from ..course.plaintext import printable
from ..judging.verdict import IN_WORDS, Verdict

NO_ANSWER = "No response."
"""nbgrader's own comment on a written answer that was left as released."""

SELF_EXPLANATORY = (Verdict.MISSING, Verdict.MALFORMED)
"""The verdicts whose messages already describe them in words."""

Key = tuple[str, ...]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """The data of a submission that go into the gradebook.

    `texts` holds a digest of each answer's text, and `answered` the names of the written questions
    with an answer. `changed` names the answers whose text differs from the text that was marked in
    the gradebook: a mark given by hand then counts until a person has looked at the new text.
    `submitted` is the time of submission, if it is known.
    """

    record: Record
    texts: Mapping[str, str]
    answered: frozenset[str]
    changed: frozenset[str]
    submitted: datetime | None


def write_entries(connection: Connection, entries: Sequence[Entry]) -> list[int]:
    """Write `entries`; return for each the number of its answers that a person must mark.

    The rows of a table are written together and without nbgrader's objects, which compute a score
    on every access. Raises KeyError for an assignment that is not in the gradebook.
    """
    waiting: dict[tuple[str, str], int] = {}
    rows = connection.execute(select(_ASSIGNMENT.c.name, _ASSIGNMENT.c.id))
    assignments = {name: key for name, key in rows}
    by_name = sorted(entries, key=lambda entry: entry.record.assignment)
    for name, group in groupby(by_name, key=lambda entry: entry.record.assignment):
        by_student = {entry.record.student: entry for entry in group}
        for student, number in _write(connection, name, assignments[name], by_student).items():
            waiting[student, name] = number
    return [waiting[entry.record.student, entry.record.assignment] for entry in entries]


def _write(
    connection: Connection, name: str, assignment: str, entries: Mapping[str, Entry]
) -> dict[str, int]:
    """Write the entries of an assignment; return the number of answers to mark for each student.

    `entries` are by student. `name` is the name of the assignment and of its notebook, and
    `assignment` its key in the database. Other notebooks of the assignment stay unchanged.
    """
    _merge(connection, _STUDENT, ("id",), {(student,): {} for student in entries})
    submissions = _merge(
        connection,
        _SUBMISSION,
        ("student_id", "assignment_id"),
        {
            (student, assignment): {"timestamp": entry.submitted}
            for student, entry in entries.items()
        },
    )
    condition = (_NOTEBOOK.c.assignment_id == assignment) & (_NOTEBOOK.c.name == name)
    notebooks = connection.scalars(select(_NOTEBOOK.c.id).where(condition)).all()
    waiting = dict.fromkeys(entries, 0)
    for notebook in notebooks:
        keys: dict[Key, Values] = {(row["id"], notebook): {} for row in submissions.values()}
        submitted = _merge(connection, _SUBMITTED, ("assignment_id", "notebook_id"), keys)
        submitted_ids = {
            student: submitted[submissions[student, assignment]["id"], notebook]["id"]
            for student in entries
        }
        _write_scores(connection, notebook, entries, submitted_ids, waiting)
        _write_comments(connection, notebook, entries, submitted_ids)
    return waiting


def _write_scores(
    connection: Connection,
    notebook: str,
    entries: Mapping[str, Entry],
    submitted_ids: Mapping[str, str],
    waiting: dict[str, int],
) -> None:
    cells = _cells(connection, api.GradeCell.__table__, notebook)
    key_columns = ("notebook_id", "cell_id")
    existing = _rows_by_key(connection, _GRADE, key_columns, submitted_ids.values())
    rows: dict[Key, Values] = {}
    for student, entry in entries.items():
        for cell, name in cells.items():
            key = (submitted_ids[student], cell)
            rows[key] = _grade(entry, name, existing.get(key, {}))
            waiting[student] += rows[key]["needs_manual_grade"]
    _merge(connection, _GRADE, key_columns, rows, existing)


def _write_comments(
    connection: Connection,
    notebook: str,
    entries: Mapping[str, Entry],
    submitted_ids: Mapping[str, str],
) -> None:
    cells = _cells(connection, api.SolutionCell.__table__, notebook)
    rows: dict[Key, Values] = {
        (submitted_ids[student], cell): {"auto_comment": _comment(entry, name)}
        for student, entry in entries.items()
        for cell, name in cells.items()
    }
    _merge(connection, _COMMENT, ("notebook_id", "cell_id"), rows)


def _grade(entry: Entry, cell: str, existing: Values) -> Values:
    """Return the new values of a grade's row; `existing` has the values that it has now."""
    row = next((row for row in entry.record.rows if row.exercise == cell), None)
    judged = cell not in entry.answered if row is None else row.verdict != Verdict.GRADER_FAULT
    points = 0.0 if row is None else float(row.points)
    marked = existing.get("manual_score") is not None
    needs = (existing["needs_manual_grade"] or cell in entry.changed) if marked else not judged
    return {"auto_score": points if judged else None, "needs_manual_grade": needs}


def _comment(entry: Entry, cell: str) -> str:
    """Return the grader's comment on an answer; empty for a written answer that a person reads."""
    row = next((row for row in entry.record.rows if row.exercise == cell), None)
    if row is not None:
        return describe(row, entry.record)
    return "" if cell in entry.answered else NO_ANSWER


def describe(row: Row, record: Record) -> str:
    """Return the feedback on an exercise: plain text of a few lines."""
    if row.verdict == Verdict.PASS:
        lines = [f"{row.points:g} of {row.max_points} points. {row.message}".strip()]
    elif row.verdict == Verdict.GRADER_FAULT:
        lines = [
            "This is a fault of the grader, not of the answer. No points are lost: a person will "
            "mark this exercise.",
            row.message,
        ]
    else:
        words = "" if row.verdict in SELF_EXPLANATORY else IN_WORDS[Verdict(row.verdict)]
        sentence = f" {words[0].upper()}{words[1:]}." if words else ""
        lines = [f"{row.points:g} of {row.max_points} points.{sentence} {row.message}"]
        if row.misconception is not None:
            lines.append(f"Misconception: {row.misconception}.")
        if row.exercise in record.hints:
            lines.append(f"Ask yourself: {record.hints[row.exercise]}")
    if record.trusted:
        lines.append("Graded without isolation (--trust).")
    return "\n".join(printable(line) for part in lines for line in part.splitlines())


def _cells(connection: Connection, kind: Table, notebook: str) -> dict[str, str]:
    """Return the names of a notebook's cells of the given kind, by their keys."""
    cells = select(_CELL.c.id, _CELL.c.name).join(kind, kind.c.id == _CELL.c.id)
    rows = connection.execute(cells.where(_CELL.c.notebook_id == notebook))
    return {key: name for key, name in rows}


def _merge(
    connection: Connection,
    table: Table,
    key: Key,
    rows: Mapping[Key, Values],
    existing: Mapping[Key, Values] | None = None,
) -> Mapping[Key, Values]:
    """Insert or update `rows`, by their `key`, in `table`; return them as they are there now.

    `existing` are the rows that are already there, if the caller has read them.
    """
    if existing is None:
        existing = _rows_by_key(connection, table, key, {values[0] for values in rows})
    new = [
        {**dict(zip(key, key_values, strict=True)), **values}
        for key_values, values in rows.items()
        if key_values not in existing
    ]
    changed = [
        {"_id": existing[key_values]["id"], **values}
        for key_values, values in rows.items()
        if key_values in existing
        and any(existing[key_values][name] != value for name, value in values.items())
    ]
    if changed:
        fields: dict[str, Any] = {name: bindparam(name) for name in changed[0] if name != "_id"}
        connection.execute(
            update(table).where(table.c.id == bindparam("_id")).values(fields), changed
        )
    if not new:
        return existing
    connection.execute(insert(table), new)
    return _rows_by_key(connection, table, key, {values[0] for values in rows})


def _rows_by_key(
    connection: Connection, table: Table, key: Key, values: Iterable[str]
) -> dict[Key, Values]:
    """Return the rows of `table` in which the first column of `key` is in `values`, by key."""
    rows = connection.execute(select(table).where(table.c[key[0]].in_(list(values)))).mappings()
    return {tuple(row[name] for name in key): dict(row) for row in rows}


_ASSIGNMENT = api.Assignment.__table__
_NOTEBOOK = api.Notebook.__table__
_CELL = api.BaseCell.__table__
_STUDENT = api.Student.__table__
_SUBMISSION = api.SubmittedAssignment.__table__
_SUBMITTED = api.SubmittedNotebook.__table__
_GRADE = api.Grade.__table__
_COMMENT = api.Comment.__table__
