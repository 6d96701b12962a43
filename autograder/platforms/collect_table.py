"""Format the table of files, students and reasons that `autograder collect` asks about."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from ..course.lines import Paragraph
from ..course.plaintext import first_few, printable
from .plan import Action, Plan, Row
from .times import as_timestamp
from .uploads import Person

TITLES = {
    "canvas": "Canvas's archive",
    "moodle": "Moodle's archive",
    "gradescope": "Gradescope's export",
    "files": "Notebooks of no platform",
}

LONGEST_COLUMN = 32
"""The largest width of the column of students, in characters."""

NO_ROSTER = (
    "The gradebook has no roster, so students are named as in the archive. To have them matched, "
    "add them first: nbgrader db student add ID (or nbgrader db student import FILE.csv)."
)

ADDING = (
    "Type the proposed commands in the course's folder. For a student who is in the gradebook "
    "under another name or without an id, give all options: they replace the student's data there."
)


def table(plan: Plan) -> RenderableType:
    """Return the table of a plan, assignment by assignment."""
    students = [row.student for row in plan.rows if row.student is not None]
    width = min(
        max((cell_len(printable(student)) for student in students), default=0), LONGEST_COLUMN
    )
    parts: list[RenderableType] = [Paragraph("", _title(plan), "bold"), Text()]
    shown = [row for row in plan.rows if row.action != Action.NOT]
    for name in sorted({str(row.assignment) for row in shown}):
        rows = [row for row in shown if row.assignment == name]
        parts.append(Paragraph("", f"{name}: {_counts(rows)}", "bold"))
        parts += [_line(row, width) for row in sorted(rows, key=_order)]
        parts.append(Text())
    refused = [row for row in plan.rows if row.action == Action.NOT]
    if refused:
        parts.append(Paragraph("", f"not collected: {len(refused)}", "bold"))
        parts += [Paragraph("  ", _refusal(row)) for row in sorted(refused, key=_order)]
        parts.append(Text())
    if others := list(_others(plan)):
        parts += [*others, Text()]
    parts += [Paragraph("", line) for line in _footers(plan, shown)]
    return Group(*parts)


def _title(plan: Plan) -> str:
    return f"{TITLES[plan.contents.platform]}: {_many(len(plan.contents.uploads), 'notebook')}"


def _counts(rows: Sequence[Row]) -> str:
    count = Counter(row.action for row in rows)
    words = {
        Action.NEW: "new",
        Action.REPLACES: "to replace",
        Action.SAME: "in the course already",
        Action.OLDER: "earlier",
    }
    return ", ".join(f"{count[action]} {word}" for action, word in words.items() if count[action])


def _line(row: Row, width: int) -> Paragraph:
    student = printable(row.student or "")
    blanks = " " * max(width - cell_len(student), 0)
    return Paragraph(f"  {student}{blanks}  ", f"{row.upload.path}: {', '.join(_facts(row))}")


def _facts(row: Row) -> Iterator[str]:
    """Yield the facts about an upload, the most important first."""
    upload = row.upload
    yield row.action
    yield row.why
    if upload.late:
        yield "late"
    if upload.resubmission:
        yield "resubmission"
    yield as_timestamp(upload.time) if upload.time else "no time"
    if upload.file != f"{row.assignment}.ipynb":
        yield "renamed"
    yield from row.notes


def _refusal(row: Row) -> str:
    """Return why an upload is not collected, and what to do if the roster is the reason."""
    reasons = ", ".join(row.notes)
    person = row.upload.person
    label = f" ({person.label})" if person.label != "nobody" else ""
    advice = f". Type: {_command_to_add(person)}" if row.to_add else ""
    return f"{row.upload.path}{label}: {reasons}{advice}"


def _command_to_add(person: Person) -> str:
    """Return the command that adds a person to the roster."""
    words = ["nbgrader", "db", "student", "add"]
    number = next(iter(person.ids), None)
    words.append("ID" if number is None or person.internal else shlex.quote(number))
    if person.internal and number:
        words.append(shlex.quote(f"--lms-user-id={number}"))
    if person.email:
        words.append(shlex.quote(f"--email={person.email}"))
    if not person.internal and number is None:
        words += ["--first-name=...", "--last-name=..."]
    return " ".join(words)


def _others(plan: Plan) -> Iterator[Paragraph]:
    """Yield a sentence for each kind of file that is not a notebook."""
    kinds: dict[str, list[str]] = {}
    for path, kind in plan.contents.others:
        kinds.setdefault(kind, []).append(path)
    for kind, paths in kinds.items():
        yield Paragraph("", f"ignored: {_many(len(paths), 'file')} ({kind}): {first_few(paths)}")


def _footers(plan: Plan, shown: Sequence[Row]) -> Iterator[str]:
    if any(row.upload.time is None for row in shown):
        yield f"{plan.contents.no_time[0].upper()}{plan.contents.no_time[1:]}."
    for source in _unique(row.upload.time_source for row in shown if row.upload.time):
        yield f"Times: {source}."
    if not plan.roster:
        yield NO_ROSTER
    elif any(row.to_add for row in plan.rows):
        yield ADDING


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _order(row: Row) -> tuple[str, int, str]:
    return row.student or "", -row.upload.order, row.upload.path


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"
