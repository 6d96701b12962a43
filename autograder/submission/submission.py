"""Read a submitted notebook, whatever was done to it: nothing in here raises for a student's file.

Only what a student may write is run: the answer cells and added code cells. All else comes from
the release, so an edited prompt, self-check, tag, output or mark changes nothing. What was written
there is shown to people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..course.course import SubmissionFile
from ..course.plaintext import printable
from ..exercise.model import Kind
from ..exercise.outline import Outline
from ..judging.verdict import AS_GIVEN, Judgement, Verdict
from ..probe.writing import written_file
from .beside import BesideCell, cells_beside, written_answers
from .marks import is_self_check, mark_of, self_check_id
from .placing import Placed, place, same_text
from .reading import HAND_IN_AGAIN, Cell, Unreadable, other_notebooks, read_cells

if TYPE_CHECKING:  # its import takes long, and nothing here needs it to run
    import nbformat

MAX_SOURCE = 1_000_000
"""The longest cell that is run, in characters: code, with more data in it than anyone pastes."""


@dataclass(frozen=True)
class ProgramCell:
    """A code cell to run; `exercise` is the name of the exercise that it answers, or None."""

    source: str
    exercise: str | None


@dataclass(frozen=True)
class Submission:
    """What is taken from one submitted notebook.

    `digest` is the SHA-256 of the bytes that were read. `written` holds the text of the written
    answers, and `answered` the questions that a person must look at. `beside` is all else that the
    student wrote. `problems` holds a judgement for every exercise that cannot be run at all.
    `dropped` says, a line each, which added cells are not run, which given ones are run as they
    were given and not as they stand in the file, and what else was not looked at. `without_cell`
    are the exercises of which the notebook has no cell: it was made from an earlier release.
    """

    student: str
    assignment: str
    digest: str
    program: tuple[ProgramCell, ...]
    written: dict[str, str]
    problems: dict[str, Judgement]
    answered: frozenset[str]
    beside: tuple[BesideCell, ...] = ()
    dropped: tuple[str, ...] = ()
    without_cell: tuple[str, ...] = ()

    @property
    def answers(self) -> dict[str, str]:
        """The text of each answer, in code and in words."""
        code = {cell.exercise: cell.source for cell in self.program if cell.exercise is not None}
        return code | self.written


def read_submission(
    file: SubmissionFile, assignment: Outline, released: nbformat.NotebookNode
) -> Submission:
    """Read the notebook at `file.path` against the release; never raises for what a student did."""
    try:
        digest, cells = read_cells(file.path, above=2)
    except Unreadable as unreadable:
        problems = {one.name: unreadable.judgement for one in assignment.exercises}
        asked = frozenset(one.name for one in assignment.written)
        answered = asked if unreadable.something else frozenset()
        return Submission(
            file.student, assignment.name, unreadable.digest, (), {}, problems, answered
        )
    submission = assemble(file, assignment, released, digest, cells)
    others = [printable(name) for name in other_notebooks(file.path)]
    if not others:
        return submission
    named = ", ".join(name[:80] for name in others[:3]) + (", ..." if others[3:] else "")
    line = f"Only {file.path.name} is read. In its folder there is also: {named}."
    return replace(submission, dropped=(*submission.dropped, line))


def assemble(
    file: SubmissionFile,
    assignment: Outline,
    released: nbformat.NotebookNode,
    digest: str,
    cells: Sequence[Cell],
) -> Submission:
    """Put the student's answers and added code cells into the release.

    Answers stand in the release's order; an added cell stands after the released cell that it
    followed in the student's notebook.
    """
    names = [part.name for part in (*assignment.exercises, *assignment.dropped)]
    with_bugs = [one.name for one in assignment.exercises if one.kind is Kind.DEBUG]
    stubs = {mark_of(cell): cell.source for cell in released.cells}
    placed = list(place(cells, released))
    own = [one for one in placed if one.name is None and one.code is not None]
    answers: dict[str, str] = {}
    attempts: dict[str, list[str]] = {}
    problems: dict[str, Judgement] = {}
    shown: list[Placed] = []
    for name in names:
        found = [one for one in placed if one.name == name]
        if all(same_text(one.text, stubs[name]) for one in found if one.text):
            changed = [one for one in placed if _is_changed(one, stubs, names)]
            found += _defining(name, changed) or ([] if found else _recover(name, own))
        own = [one for one in own if one not in found]
        source, attempts[name] = _answer(name, found, stubs[name])
        if name in with_bugs and same_text(source, stubs[name]):
            problems[name] = AS_GIVEN
        elif source.strip() and len(source) <= MAX_SOURCE:
            answers[name] = source
            shown += [one for one in found if one.name != name]
        else:
            problems[name] = _problem(name, file, found, source)
    for name in list(problems):
        if any(_binds(name, one.code or "") for one in own):
            del problems[name]  # an added cell may answer it; running it will tell
    program = _own(own, after=None)
    for cell in released.cells:
        name = mark_of(cell)
        if name in answers:
            program += _added(attempts[name])
            program.append(ProgramCell(answers[name], name))
        elif cell.cell_type == "code" and name not in names and not is_self_check(name):
            program.append(ProgramCell(cell.source, None))
        program += _own(own, after=name)
    texts = written_answers(placed, assignment, stubs)
    beside = cells_beside(
        placed,
        stubs,
        answers={name: attempts[name] for name in answers},
        exercises=names,
        elsewhere=[*shown, *texts.taken, *(one for one in placed if one.name in texts.answers)],
        longest=MAX_SOURCE,
    )
    dropped = tuple(
        f"A code cell of {len(one.code):,} characters was left out (at most {MAX_SOURCE:,} are "
        f"run). It begins with: {printable(one.code.strip()[:40])}"
        for one in own
        if one.code is not None and len(one.code) > MAX_SOURCE
    )
    dropped += tuple(
        f"A cell of your own writes no file: {printable(file.refused[:200])}"
        for file in (written_file(one.code or "") for one in own)
        if file is not None and file.refused
    )
    if any(one.cell.source is None and one.name not in names for one in placed):
        dropped += (f"A cell was left out whose content is no text. {HAND_IN_AGAIN}",)
    for part in assignment.dropped:
        problems.pop(part.name, None)
    if answers:  # else there is more to say than this
        dropped += tuple(_given_anew(placed, released, names))
    return Submission(
        file.student,
        assignment.name,
        digest,
        tuple(program),
        texts.answers,
        problems,
        texts.answered,
        tuple(beside),
        dropped,
        tuple(name for name in problems if not _has_cell(name, placed)),
    )


def _given_anew(
    placed: Sequence[Placed], released: nbformat.NotebookNode, exercises: Sequence[str]
) -> Iterator[str]:
    """A sentence for each given code cell, such as an experiment's, that was changed or removed."""
    sources = {one.name: one.code or "" for one in placed}
    for cell in released.cells:
        name = mark_of(cell)
        if cell.cell_type != "code" or name in exercises or is_self_check(name):
            continue
        if not same_text(sources.get(name, ""), cell.source):
            what = "changed" if sources.get(name, "").strip() else "removed"
            first = printable(cell.source.strip().partition("\n")[0][:60])
            yield (
                f"A given cell was {what}, and was run as it was given. It begins with: {first}. "
                "What you add belongs in a cell of your own."
            )


def _has_cell(name: str, placed: Sequence[Placed]) -> bool:
    """True if the notebook has any of the cells that a release has for the exercise `name`."""
    return any(one.name in (name, f"{name}-task", self_check_id(name)) for one in placed)


def _is_changed(one: Placed, stubs: Mapping[str, str], exercises: Sequence[str]) -> bool:
    """True for a given cell, such as a self-check, in which the student wrote."""
    given = one.name is not None and one.name not in exercises
    return given and not same_text(one.text, stubs[one.name or ""])


def _recover(name: str, own: Sequence[Placed]) -> list[Placed]:
    """The one added cell that defines the function, if there is exactly one; it lost its mark."""
    defining = _defining(name, own)
    return defining if len(defining) == 1 else []


def _defining(name: str, cells: Sequence[Placed]) -> list[Placed]:
    return [one for one in cells if _defines(name, one.code or "")]


def _answer(name: str, found: Sequence[Placed], stub: str) -> tuple[str, list[str]]:
    """The source that answers an exercise, empty if there is none, and the attempts before it.

    Of several cells that define the function, the last that was edited counts, as in Jupyter; the
    attempts may define what it uses. Cells that do not define it are pieces of a split answer.
    """
    sources = [one.code for one in found if one.code is not None]
    defining = [source for source in sources if _defines(name, source)]
    chosen = _last(sources, _edited(defining, stub)) if defining else len(sources)
    pieces = [
        source
        for index, source in enumerate(sources)
        if index == chosen or not _defines(name, source)
    ]
    answer = "".join(sources[chosen : chosen + 1])
    before = [one for one in sources[:chosen] if one in defining and one not in (stub, answer)]
    return "\n\n".join(piece for piece in pieces if piece.strip()), [*dict.fromkeys(before)]


def _edited(sources: Sequence[str], stub: str) -> str:
    """The last source that is neither empty nor as it was released; the first if there is none."""
    edited = (one for one in reversed(sources) if one.strip() not in ("", stub.strip()))
    return next(edited, sources[0])


def _last(sources: Sequence[str], source: str) -> int:
    """The last place of `source` in `sources`."""
    return len(sources) - 1 - sources[::-1].index(source)


def _problem(name: str, file: SubmissionFile, found: Sequence[Placed], source: str) -> Judgement:
    """Why there is nothing to run for an exercise."""
    if source.strip():
        message = f"The answer is longer than {MAX_SOURCE} characters. Shorten it."
        return Judgement(Verdict.MALFORMED, message)
    if any(one.cell.source is None for one in found):
        message = f"The answer cell's source is no text. {HAND_IN_AGAIN}"
        return Judgement(Verdict.MALFORMED, message)
    if not found:
        message = (
            f"{file.assignment}.ipynb has no answer cell for `{name}`. Get the assignment anew, "
            "copy your answers into it and hand it in."
        )
    elif any(one.code is not None for one in found):
        message = "The answer cell is empty. Define the function in it."
    else:
        kind = printable(found[0].cell.kind[:20])
        message = f"The answer cell is no code cell ({kind}). Change its type back to code."
    return Judgement(Verdict.MISSING, message)


def _own(own: Sequence[Placed], after: str | None) -> list[ProgramCell]:
    """The student's added cells behind one released cell. One too long to be run is left out."""
    return _added(one.code or "" for one in own if one.after == after)


def _added(sources: Iterable[str]) -> list[ProgramCell]:
    return [ProgramCell(one, None) for one in sources if one.strip() and len(one) <= MAX_SOURCE]


def _defines(name: str, source: str) -> bool:
    return re.search(rf"^(?:def|class)[ \t]+{name}\b", source, re.MULTILINE) is not None


def _binds(name: str, source: str) -> bool:
    assigned = re.search(rf"^{name}[ \t]*=[^=]", source, re.MULTILINE)
    return assigned is not None or _defines(name, source)
