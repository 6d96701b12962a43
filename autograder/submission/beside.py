"""What a student wrote that is no answer of an exercise: written answers, and all beside them.

A person reads it. So none of it is dropped here, in whatever cell it stands and whatever became of
that cell's mark.
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
    """A text that people are shown behind the released cell `after`, or first if that is None.

    `kind` is the type of the cell that it stood in; `note` is a line above it, or empty.
    """

    kind: str
    source: str
    after: str | None
    note: str = ""


@dataclass(frozen=True)
class Written:
    """The written answers by question; `answered` has the questions near which anything stands.

    `taken` are the cells of a student's own that became answers.
    """

    answers: dict[str, str]
    answered: frozenset[str]
    taken: tuple[Placed, ...]


def written_answers(
    placed: Sequence[Placed], assignment: Outline, stubs: Mapping[str, str]
) -> Written:
    """What answers the written questions. `stubs` has all released cells' texts, in their order.

    All that stands in the place of an answer is part of it, so that both halves of a split cell
    are. Where no cell is that place, the texts below the question are the answer.
    """
    answers: dict[str, str] = {}
    answered: set[str] = set()
    taken: list[Placed] = []
    order = list(stubs)
    for name in (one.name for one in assignment.written if one.name in stubs):
        place = order.index(name)
        # What stands before the question, and the question; None is the beginning.
        before, question = [None, None, *order][place : place + 2]
        there = [one for one in placed if one.name == name]
        if not there:
            there = [one for one in placed if _own_text(one) and one.after == question]
            taken += there
        texts = [one.text for one in there if one.text and not same_text(one.text, stubs[name])]
        if texts:
            answers[name] = "\n\n".join(dict.fromkeys(texts))
        lost = not {question, name} & {one.name for one in placed}
        near = [
            one
            for one in placed
            if (one.name == name and one.cell.source is None)
            or (one.name == question and not same_text(one.text, stubs.get(question or "", "")))
            or (one.name is None and one.after in (question, name))
            or (_own_text(one) and (lost or one.after in (before, order[-1])))
        ]
        if texts or any(one.text or one.cell.source is None for one in near):
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
    """Every text that stands in no answer, in the student's order.

    `answers` has, for each exercise that is run, its earlier attempts. `elsewhere` are the cells
    that are shown already. A code cell with more than `longest` characters was not run.
    """
    order = list(stubs)
    for one in placed:
        name, kind, text = one.name, one.cell.kind, one.text
        if not text or one in elsewhere or (name and same_text(text, stubs[name])):
            continue
        if name is None:
            note = NOT_RUN if len(one.code or "") > longest else ""
            yield BesideCell(kind, text, one.after, note)
        elif name not in exercises:
            yield BesideCell(kind, text, name, CHANGED)
        elif one.code is None or name not in answers:
            yield BesideCell(kind, text, name, NOT_RUN)
        elif text in answers[name]:
            yield BesideCell(kind, text, ([None, *order])[order.index(name)])


def _own_text(one: Placed) -> bool:
    """True for a cell of the student's own that is no code."""
    return one.name is None and one.code is None and bool(one.text)
