"""What stands in nbgrader's tables for a submission: scores, named feedback, what waits."""

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
"""What nbgrader writes beside a written answer that was left as released."""

TOLD = (Verdict.MISSING, Verdict.MALFORMED)
"""The verdicts whose message says them in words."""

Key = tuple[str, ...]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """What goes into the gradebook for one submission.

    `texts` holds a digest of each answer's text, and `answered` the names of the written questions
    with an answer. `changed` names the answers whose text is not the one that the gradebook's marks
    are for: a mark given by hand then counts until a person has looked again. `submitted` is the
    time of submission, if it is known.
    """

    record: Record
    texts: Mapping[str, str]
    answered: frozenset[str]
    changed: frozenset[str]
    submitted: datetime | None


def write_entries(connection: Connection, entries: Sequence[Entry]) -> list[int]:
    """Write `entries`; return for each how many of its answers wait for a person.

    Whole tables' rows at a time and not nbgrader's objects: those compute scores on every look.
    Raises KeyError for an assignment that the gradebook does not know.
    """
    waiting: dict[tuple[str, str], int] = {}
    known = connection.execute(select(_ASSIGNMENT.c.name, _ASSIGNMENT.c.id))
    assignments = {name: key for name, key in known}
    by_name = sorted(entries, key=lambda entry: entry.record.assignment)
    for name, group in groupby(by_name, key=lambda entry: entry.record.assignment):
        of_one = {entry.record.student: entry for entry in group}
        for student, number in _write(connection, name, assignments[name], of_one).items():
            waiting[student, name] = number
    return [waiting[entry.record.student, entry.record.assignment] for entry in entries]


def _write(
    connection: Connection, name: str, assignment: str, entries: Mapping[str, Entry]
) -> dict[str, int]:
    """Write the entries, by student, of one assignment; return how many answers wait in each.

    `name` is also that of its notebook, and `assignment` its key. What nbgrader has besides in
    other notebooks of the assignment stays as it is.
    """
    _merge(connection, _STUDENT, ("id",), {(student,): {} for student in entries})
    submissions = _merge(
        connection,
        _SUBMISSION,
        ("student_id", "assignment_id"),
        {(one, assignment): {"timestamp": entry.submitted} for one, entry in entries.items()},
    )
    ours = (_NOTEBOOK.c.assignment_id == assignment) & (_NOTEBOOK.c.name == name)
    notebooks = connection.scalars(select(_NOTEBOOK.c.id).where(ours)).all()
    waiting = dict.fromkeys(entries, 0)
    for notebook in notebooks:
        keys: dict[Key, Values] = {(row["id"], notebook): {} for row in submissions.values()}
        submitted = _merge(connection, _SUBMITTED, ("assignment_id", "notebook_id"), keys)
        places = {
            one: submitted[submissions[one, assignment]["id"], notebook]["id"] for one in entries
        }
        _write_scores(connection, notebook, entries, places, waiting)
        _write_comments(connection, notebook, entries, places)
    return waiting


def _write_scores(
    connection: Connection,
    notebook: str,
    entries: Mapping[str, Entry],
    places: Mapping[str, str],
    waiting: dict[str, int],
) -> None:
    cells = _cells(connection, api.GradeCell.__table__, notebook)
    before = _found(connection, _GRADE, ("notebook_id", "cell_id"), places.values())
    rows: dict[Key, Values] = {}
    for student, entry in entries.items():
        for cell, name in cells.items():
            key = (places[student], cell)
            rows[key] = _grade(entry, name, before.get(key, {}))
            waiting[student] += rows[key]["needs_manual_grade"]
    _merge(connection, _GRADE, ("notebook_id", "cell_id"), rows, before)


def _write_comments(
    connection: Connection,
    notebook: str,
    entries: Mapping[str, Entry],
    places: Mapping[str, str],
) -> None:
    cells = _cells(connection, api.SolutionCell.__table__, notebook)
    rows: dict[Key, Values] = {
        (places[student], cell): {"auto_comment": _comment(entry, name)}
        for student, entry in entries.items()
        for cell, name in cells.items()
    }
    _merge(connection, _COMMENT, ("notebook_id", "cell_id"), rows)


def _grade(entry: Entry, cell: str, before: Values) -> Values:
    """What stands in the row of a grade; `before` is what stood there."""
    row = next((one for one in entry.record.rows if one.exercise == cell), None)
    judged = cell not in entry.answered if row is None else row.verdict != Verdict.GRADER_FAULT
    points = 0.0 if row is None else float(row.points)
    marked = before.get("manual_score") is not None
    needs = (before["needs_manual_grade"] or cell in entry.changed) if marked else not judged
    return {"auto_score": points if judged else None, "needs_manual_grade": needs}


def _comment(entry: Entry, cell: str) -> str:
    """What the grader says of an answer: empty where a person reads it, for who handed in."""
    row = next((one for one in entry.record.rows if one.exercise == cell), None)
    if row is not None:
        return describe(row, entry.record)
    return "" if cell in entry.answered else NO_ANSWER


def describe(row: Row, record: Record) -> str:
    """The feedback on one exercise, in plain text of a few lines."""
    if row.verdict == Verdict.PASS:
        lines = [f"{row.points:g} of {row.max_points} points. {row.message}".strip()]
    elif row.verdict == Verdict.GRADER_FAULT:
        lines = [
            "The grader failed here, not the answer. No points are lost: a person marks this "
            "exercise.",
            row.message,
        ]
    else:
        words = "" if row.verdict in TOLD else IN_WORDS[Verdict(row.verdict)]
        said = f" {words[0].upper()}{words[1:]}." if words else ""
        lines = [f"{row.points:g} of {row.max_points} points.{said} {row.message}"]
        if row.misconception is not None:
            lines.append(f"Misconception: {row.misconception}.")
        if row.exercise in record.hints:
            lines.append(f"Ask yourself: {record.hints[row.exercise]}")
    if record.trusted:
        lines.append("Graded without isolation (--trust).")
    return "\n".join(printable(line) for part in lines for line in part.splitlines())


def _cells(connection: Connection, kind: Table, notebook: str) -> dict[str, str]:
    """The names of a notebook's cells of one kind, by their keys."""
    cells = select(_CELL.c.id, _CELL.c.name).join(kind, kind.c.id == _CELL.c.id)
    found = connection.execute(cells.where(_CELL.c.notebook_id == notebook))
    return {key: name for key, name in found}


def _merge(
    connection: Connection,
    table: Table,
    key: Key,
    rows: Mapping[Key, Values],
    before: Mapping[Key, Values] | None = None,
) -> Mapping[Key, Values]:
    """Put `rows`, by their `key`, into `table`; return all of them as they stand there now.

    `before` is what stands there, if the caller knows.
    """
    if before is None:
        before = _found(connection, table, key, {one[0] for one in rows})
    fresh = [{**dict(zip(key, one, strict=True)), **rows[one]} for one in rows if one not in before]
    changed = [
        {"_id": before[one]["id"], **values}
        for one, values in rows.items()
        if one in before and any(before[one][name] != value for name, value in values.items())
    ]
    if changed:
        fields: dict[str, Any] = {name: bindparam(name) for name in changed[0] if name != "_id"}
        connection.execute(
            update(table).where(table.c.id == bindparam("_id")).values(fields), changed
        )
    if not fresh:
        return before
    connection.execute(insert(table), fresh)
    return _found(connection, table, key, {one[0] for one in rows})


def _found(
    connection: Connection, table: Table, key: Key, values: Iterable[str]
) -> dict[Key, Values]:
    """The rows of `table` whose first part of the key is one of `values`, by their key."""
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
