"""Collect what a student wrote outside of the exercises' answers: written answers and other text.

A person reads these texts, so none is dropped, whichever cell it is in and even if that cell has
lost its mark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..exercise.outline import Outline
from .placing import Placed, same_text

NOT_RUN = "This was handed in, and was not run:"
CHANGED = "In the notebook that was handed in, the cell above reads:"


@dataclass(frozen=True)
class BesideCell:
    """A text that people are shown after the released cell `after`, or first if that is None.

    `kind` is the type of the cell that it comes from; `note` is a line above it, or empty.
    """

    kind: str
    source: str
    after: str | None
    note: str = ""


@dataclass(frozen=True)
class Written:
    """The written answers by question; `answered` has the questions with any text near them.

    `taken` are cells added by the student that became answers.
    """

    answers: dict[str, str]
    answered: frozenset[str]
    taken: tuple[Placed, ...]


def written_answers(
    placed: Sequence[Placed], assignment: Outline, stubs: Mapping[str, str]
) -> Written:
    """Return the answers to the written questions. `stubs` maps all released cells to their texts.

    All cells with the mark of an answer are part of it, such as both halves of a split cell. If
    there is no such cell, the texts below the question are the answer.
    """
    answers: dict[str, str] = {}
    answered: set[str] = set()
    taken: list[Placed] = []
    order = list(stubs)
    for name in (part.name for part in assignment.written if part.name in stubs):
        position = order.index(name)
        # The cell before the question, and the question's cell; None is the beginning.
        before, question = [None, None, *order][position : position + 2]
        cells = [cell for cell in placed if cell.name == name]
        if not cells:
            cells = [cell for cell in placed if _is_own_text(cell) and cell.after == question]
            taken += cells
        texts = [cell.text for cell in cells if cell.text and not same_text(cell.text, stubs[name])]
        if texts:
            answers[name] = "\n\n".join(dict.fromkeys(texts))
        lost = not {question, name} & {cell.name for cell in placed}
        nearby = [
            cell
            for cell in placed
            if (cell.name == name and cell.cell.source is None)
            or (cell.name == question and not same_text(cell.text, stubs.get(question or "", "")))
            or (cell.name is None and cell.after in (question, name))
            or (_is_own_text(cell) and (lost or cell.after in (before, order[-1])))
        ]
        if texts or any(cell.text or cell.cell.source is None for cell in nearby):
            answered.add(name)
    return Written(answers, frozenset(answered), tuple(taken))


def cells_beside(
    placed: Sequence[Placed],
    stubs: Mapping[str, str],
    *,
    answers: Mapping[str, Sequence[str]],
    exercises: Collection[str],
    elsewhere: Collection[Placed],
    longest: int,
) -> Iterator[BesideCell]:
    """Yield every text that is not part of an answer, in the student's order.

    `answers` has, for each exercise that is run, its earlier attempts. The cells in `elsewhere`
    are already shown. A code cell with more than `longest` characters was not run.
    """
    order = list(stubs)
    for cell in placed:
        name, kind, text = cell.name, cell.cell.kind, cell.text
        if not text or cell in elsewhere or (name and same_text(text, stubs[name])):
            continue
        if name is None:
            note = NOT_RUN if len(cell.code or "") > longest else ""
            yield BesideCell(kind, text, cell.after, note)
        elif name not in exercises:
            yield BesideCell(kind, text, name, CHANGED)
        elif cell.code is None or name not in answers:
            yield BesideCell(kind, text, name, NOT_RUN)
        elif text in answers[name]:
            yield BesideCell(kind, text, ([None, *order])[order.index(name)])


def _is_own_text(cell: Placed) -> bool:
    """Return True for a cell with text, not code, that the student added."""
    return cell.name is None and cell.code is None and bool(cell.text)
