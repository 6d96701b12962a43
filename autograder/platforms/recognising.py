"""Recognise the platform that an archive is from, and the assignment that a notebook is for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from . import canvas, gradescope, moodle, plain
from .archive import Archive
from .uploads import Contents, stem
from .worksheet import Worksheet, is_worksheet, read_worksheet

LARGEST_PARSED = 10 * 2**20
"""The size in bytes of the largest notebook whose cells are read, as in the grader."""


UNREADABLE = "it is not a readable notebook: damaged, cut off or too large"


@dataclass(frozen=True)
class Guess:
    """The assignment of a notebook, or None if it is from another course, and the reason."""

    assignment: str | None
    why: str


def read_contents(
    archive: Archive, assignments: Collection[str], worksheet: Worksheet | None
) -> Contents:
    """Return the uploads in an archive of any platform. Raises ArchiveError, WorksheetError.

    Without a `worksheet`, a worksheet in the archive is used.
    """
    if contents := gradescope.recognise(archive):
        return contents
    names = sorted(archive.sizes)
    rows = (worksheet or _worksheet_in(archive, names)) if _is_moodle(names) else None
    return (
        moodle.recognise(names, None if rows is None else rows.participants)
        or canvas.recognise(names)
        or plain.recognise(archive, assignments)
    )


def guess(
    ids: frozenset[str] | None, file: str, answer_cells: Mapping[str, Collection[str]]
) -> Guess:
    """Return the assignment of a notebook with cells of these `ids`, which are None if unreadable.

    `answer_cells` has the ids of each assignment's answer cells. Cells decide, since students may
    give a file any name. The name decides only for a notebook that cannot be read or whose cells
    have lost their marks.
    """
    cells = ids or frozenset()
    counts = Counter({name: len(cells & set(answers)) for name, answers in answer_cells.items()})
    best = [name for name, count in counts.items() if count and count == max(counts.values())]
    by_name = next((name for name in answer_cells if stem(file) == name), None)
    if by_name is None:
        by_name = next((name for name in answer_cells if stem(file).endswith(f"_{name}")), None)
    if len(best) == 1:
        why = "" if by_name in (None, best[0]) else f"its cells are from {best[0]}"
        return Guess(best[0], why)
    if by_name is not None and (not best or by_name in best):
        why = UNREADABLE if ids is None else "none of its cells is marked"
        return Guess(by_name, "" if best else f"{why}; the name decides")
    if best:
        return Guess(None, f"its cells are from {' and '.join(best)}")
    return Guess(None, UNREADABLE if ids is None else "it has no cell of this course")


def cell_ids(data: bytes, answers: bool = False) -> frozenset[str] | None:
    """Return nbgrader's ids of a notebook's cells; None if it is damaged or too large to read.

    With `answers`, return the ids of answer cells only.
    """
    if len(data) > LARGEST_PARSED:
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = content.get("cells") if isinstance(content, dict) else None
    marks = [
        cell["metadata"].get("nbgrader")
        for cell in (cells if isinstance(cells, list) else ())
        if isinstance(cell, dict) and isinstance(cell.get("metadata"), dict)
    ]
    return frozenset(
        mark["grade_id"]
        for mark in marks
        if isinstance(mark, dict)
        and isinstance(mark.get("grade_id"), str)
        and (mark.get("solution") is True or not answers)
    )


def _is_moodle(names: Collection[str]) -> bool:
    return moodle.recognise(list(names), None) is not None


def _worksheet_in(archive: Archive, names: Collection[str]) -> Worksheet | None:
    """Return a worksheet from the archive's top folders, never a file from a student."""
    for name in names:
        if name.endswith(".csv") and moodle.BESIDE_STUDENTS.fullmatch(name):
            data = archive.read(name)
            if is_worksheet(data):
                return read_worksheet(f"{archive.path}/{name}", data)
    return None
