"""Moodle's grading worksheet: a CSV with a row for each participant of an assignment."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

IDENTIFIER = "Identifier"
NAME = "Full name"
GRADE = "Grade"
MAXIMUM = ("Maximum grade", "Maximum Grade")
MODIFIED = "Last modified (submission)"
EMAIL = "Email address"
IDS = ("ID number", "Username")


class WorksheetError(Exception):
    """Raised if a worksheet cannot be used; the message says why, where and what to do."""


@dataclass(frozen=True)
class Participant:
    """A row: the full `name`, the `ids` that the site shows, and the time of the last change."""

    name: str
    ids: tuple[str, ...]
    email: str | None
    modified: str
    late: bool


@dataclass(frozen=True)
class Worksheet:
    """The columns and rows of a grading worksheet's file."""

    place: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]

    @property
    def participants(self) -> dict[str, Participant]:
        """The participants by number; the names in Moodle's archive have the same numbers."""
        return {number_of(row): _participant(row) for row in self.rows}


def is_worksheet(data: bytes) -> bool:
    """Return True if a CSV looks like a grading worksheet, in English."""
    first = data[:2000].decode("utf-8-sig", "replace").partition("\n")[0]
    return IDENTIFIER in first and GRADE in first


def read_worksheet(place: str, data: bytes) -> Worksheet:
    """Read the content of the worksheet at `place`. Raises WorksheetError for another CSV."""
    try:
        text = data.decode("utf-8-sig")
        table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise WorksheetError(
            f"{place}: not a CSV in UTF-8 ({error}). Download the grading worksheet again, and do "
            "not save it from a spreadsheet program."
        ) from error
    columns = tuple(table[0]) if table else ()
    if IDENTIFIER not in columns or GRADE not in columns:
        raise WorksheetError(
            f"{place}: not a grading worksheet of Moodle in English, which has the columns "
            f"{IDENTIFIER} and {GRADE}. Set Moodle's language to English, then download it again."
        )
    if doubled := sorted({name for name in columns if columns.count(name) > 1}):
        raise WorksheetError(f"{place}: two columns are called {doubled[0]}. Rename one.")
    rows = [row for row in table[1:] if any(row)]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(columns):
            raise WorksheetError(
                f"{place}: row {number} has {len(row)} cells, but the header has {len(columns)}. "
                "Download the grading worksheet again."
            )
    cells = tuple(dict(zip(columns, row, strict=True)) for row in rows)
    numbers = [number_of(row) for row in cells]
    if "" in numbers or len(set(numbers)) < len(numbers):
        raise WorksheetError(
            f"{place}: an identifier has no number or occurs twice. Download the grading "
            "worksheet again."
        )
    return Worksheet(place, columns, cells)


def number_of(row: Mapping[str, str]) -> str:
    """Return the participant's number, which ends the row's identifier in every language."""
    match = re.search(r"(\d+)$", row[IDENTIFIER].strip(), re.ASCII)
    return match[1] if match else ""


def _participant(row: Mapping[str, str]) -> Participant:
    email = row.get(EMAIL, "").strip() or None
    ids: Sequence[str] = [row.get(name, "").strip() for name in IDS]
    return Participant(
        row.get(NAME, "").strip(),
        tuple(filter(None, (*ids, email))),
        email,
        row.get(MODIFIED, ""),
        re.search(r"\blate\b", row.get("Status", "")) is not None,
    )
