"""Read a submitted notebook. No content of a student's file makes this module raise.

Only the cells in which students may write are run: answer cells and added code cells. Everything
else comes from the release, so an edited prompt, self-check, tag, output or mark changes nothing.
Text that students wrote there is shown to people.
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
from .given import given_files, given_modules
from .marks import is_self_check, mark_of, self_check_id
from .placing import Placed, place, same_text
from .reading import HAND_IN_AGAIN, Cell, Unreadable, other_notebooks, read_bytes, read_cells

if TYPE_CHECKING:  # its import is slow, and only the type is needed here
    import nbformat

MAX_SOURCE = 1_000_000
"""The length in characters of the longest cell that is run, more than anyone types or pastes."""


@dataclass(frozen=True)
class ProgramCell:
    """A code cell to run; `exercise` is the name of the exercise that it answers, or None."""

    source: str
    exercise: str | None


@dataclass(frozen=True)
class Submission:
    """The content of a submitted notebook.

    `digest` is the SHA-256 of the bytes that were read. `written` holds the text of the written
    answers, `answered` the questions that a person must look at, and `beside` all other text of
    the student's. `problems` holds a judgement for every exercise that cannot be run at all.
    `dropped` has a line for each added cell that is not run, each released cell that is run as
    released although the student changed it, and anything else that was ignored. `without_cell`
    are exercises without a cell in the notebook, which was made from an earlier release.
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
        """The text of each answer, code and written answers."""
        code = {cell.exercise: cell.source for cell in self.program if cell.exercise is not None}
        return code | self.written


def read_submission(
    file: SubmissionFile, assignment: Outline, released: nbformat.NotebookNode
) -> Submission:
    """Read the notebook at `file.path` against the release; no student's file makes this raise."""
    try:
        digest, cells = read_cells(file.path, above=2)
    except Unreadable as unreadable:
        problems = {exercise.name: unreadable.judgement for exercise in assignment.exercises}
        written = frozenset(question.name for question in assignment.written)
        answered = written if unreadable.something else frozenset()
        return Submission(
            file.student, assignment.name, unreadable.digest, (), {}, problems, answered
        )
    submission = assemble(file, assignment, released, digest, cells)
    return replace(submission, dropped=(*submission.dropped, *_beside_the_notebook(file, released)))


def _beside_the_notebook(file: SubmissionFile, released: nbformat.NotebookNode) -> Iterator[str]:
    """Yield a sentence for other notebooks in the folder, and for each given file that differs."""
    if others := [printable(name) for name in other_notebooks(file.path)]:
        names = ", ".join(name[:80] for name in others[:3]) + (", ..." if others[3:] else "")
        yield f"Only {file.path.name} is graded. In its folder there is also: {names}."
    for name, text in given_files(released).items():
        try:
            found = read_bytes(file.path.with_name(name), above=2).decode("utf-8", "replace")
        except Unreadable:  # missing, for instance: nothing depends on it
            continue
        if not same_text(found, text):
            yield (
                f"{name} in your folder differs from the file that came with the assignment. Your "
                "answers were run with the latter, so a self-check may have said otherwise. Write "
                "code of yours into a cell of your own."
            )


def assemble(
    file: SubmissionFile,
    assignment: Outline,
    released: nbformat.NotebookNode,
    digest: str,
    cells: Sequence[Cell],
) -> Submission:
    """Combine the release with the student's answers and added code cells.

    Answers are in the release's order; an added cell comes after the released cell that it
    followed in the student's notebook.
    """
    names = [part.name for part in (*assignment.exercises, *assignment.dropped)]
    with_bugs = [part.name for part in assignment.exercises if part.kind is Kind.DEBUG]
    stubs = {mark_of(cell): cell.source for cell in released.cells}
    placed = list(place(cells, released))
    own = [cell for cell in placed if cell.name is None and cell.code is not None]
    answers: dict[str, str] = {}
    attempts: dict[str, list[str]] = {}
    problems: dict[str, Judgement] = {}
    shown: list[Placed] = []
    for name in names:
        candidates = [cell for cell in placed if cell.name == name]
        if all(same_text(cell.text, stubs[name]) for cell in candidates if cell.text):
            changed = [cell for cell in placed if _is_changed(cell, stubs, names)]
            candidates += _defining(name, changed) or ([] if candidates else _recover(name, own))
        own = [cell for cell in own if cell not in candidates]
        source, attempts[name] = _answer(name, candidates, stubs[name])
        if name in with_bugs and same_text(source, stubs[name]):
            problems[name] = AS_GIVEN
        elif source.strip() and len(source) <= MAX_SOURCE:
            answers[name] = source
            shown += [cell for cell in candidates if cell.name != name]
        else:
            problems[name] = _problem(name, file, candidates, source)
    for name in list(problems):
        if any(_binds(name, cell.code or "") for cell in own):
            del problems[name]  # an added cell may answer it; running it decides
    program = [ProgramCell(source, None) for source in given_modules(released)]
    program += _own_after(own, after=None)
    for cell in released.cells:
        name = mark_of(cell)
        if name in answers:
            program += _program_cells(attempts[name])
            program.append(ProgramCell(answers[name], name))
        elif cell.cell_type == "code" and name not in names and not is_self_check(name):
            program.append(ProgramCell(cell.source, None))
        program += _own_after(own, after=name)
    texts = written_answers(placed, assignment, stubs)
    beside = cells_beside(
        placed,
        stubs,
        answers={name: attempts[name] for name in answers},
        exercises=names,
        elsewhere=[*shown, *texts.taken, *(cell for cell in placed if cell.name in texts.answers)],
        longest=MAX_SOURCE,
    )
    dropped = tuple(
        f"A code cell of {len(cell.code):,} characters was left out (at most {MAX_SOURCE:,} are "
        f"run). It begins with: {printable(cell.code.strip()[:40])}"
        for cell in own
        if cell.code is not None and len(cell.code) > MAX_SOURCE
    )
    dropped += tuple(
        f"A cell of your own writes no file: {printable(file.refused[:200])}"
        for file in (written_file(cell.code or "") for cell in own)
        if file is not None and file.refused
    )
    if any(cell.cell.source is None and cell.name not in names for cell in placed):
        dropped += (f"A cell was left out because its content is not text. {HAND_IN_AGAIN}",)
    for part in assignment.dropped:
        problems.pop(part.name, None)
    if answers:  # without answers, other messages are more important
        dropped += tuple(_restored_cells(placed, released, names))
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


def _restored_cells(
    placed: Sequence[Placed], released: nbformat.NotebookNode, exercises: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each given code cell, such as an experiment's, that was altered."""
    sources = {cell.name: cell.code or "" for cell in placed}
    for cell in released.cells:
        name = mark_of(cell)
        if cell.cell_type != "code" or name in exercises or is_self_check(name):
            continue
        if not same_text(sources.get(name, ""), cell.source):
            action = "changed" if sources.get(name, "").strip() else "removed"
            line = cell.source.strip().partition("\n")[0]
            first = printable(line if len(line) <= 60 else f"{line[:57]}...")
            yield (
                f"A given cell was {action}, but was run in its original form. It begins with: "
                f"“{first}”. Write code of yours into a cell of your own."
            )


def _has_cell(name: str, placed: Sequence[Placed]) -> bool:
    """Return True if the notebook has any of the released cells for the exercise `name`."""
    return any(cell.name in (name, f"{name}-task", self_check_id(name)) for cell in placed)


def _is_changed(cell: Placed, stubs: Mapping[str, str], exercises: Sequence[str]) -> bool:
    """Return True for a given cell, such as a self-check, in which the student wrote."""
    is_given = cell.name is not None and cell.name not in exercises
    return is_given and not same_text(cell.text, stubs[cell.name or ""])


def _recover(name: str, own: Sequence[Placed]) -> list[Placed]:
    """Return the added cell that defines the function and lost its mark, if exactly one does."""
    defining = _defining(name, own)
    return defining if len(defining) == 1 else []


def _defining(name: str, cells: Sequence[Placed]) -> list[Placed]:
    return [cell for cell in cells if _defines(name, cell.code or "")]


def _answer(name: str, cells: Sequence[Placed], stub: str) -> tuple[str, list[str]]:
    """Return the source that answers an exercise, or "", and the attempts before it.

    Of several cells that define the function, the last edited one counts, as in Jupyter; the
    attempts may define names that it uses. Cells that do not define the function are pieces of a
    split answer.
    """
    sources = [cell.code for cell in cells if cell.code is not None]
    defining = [source for source in sources if _defines(name, source)]
    chosen = _last(sources, _edited(defining, stub)) if defining else len(sources)
    pieces = [
        source
        for index, source in enumerate(sources)
        if index == chosen or not _defines(name, source)
    ]
    answer = "".join(sources[chosen : chosen + 1])
    attempts = [
        source for source in sources[:chosen] if source in defining and source not in (stub, answer)
    ]
    return "\n\n".join(piece for piece in pieces if piece.strip()), [*dict.fromkeys(attempts)]


def _edited(sources: Sequence[str], stub: str) -> str:
    """Return the last source that differs from "" and the stub; the first if there is none."""
    edited = (source for source in reversed(sources) if source.strip() not in ("", stub.strip()))
    return next(edited, sources[0])


def _last(sources: Sequence[str], source: str) -> int:
    """Return the last index of `source` in `sources`."""
    return len(sources) - 1 - sources[::-1].index(source)


def _problem(name: str, file: SubmissionFile, cells: Sequence[Placed], source: str) -> Judgement:
    """Return a judgement that says why there is nothing to run for an exercise."""
    if source.strip():
        message = f"The answer is longer than {MAX_SOURCE} characters. Shorten it."
        return Judgement(Verdict.MALFORMED, message)
    if any(cell.cell.source is None for cell in cells):
        message = f"The answer cell's source is not text. {HAND_IN_AGAIN}"
        return Judgement(Verdict.MALFORMED, message)
    if not cells:
        message = (
            f"{file.assignment}.ipynb has no answer cell for `{name}`. Get a fresh copy of the "
            "assignment, copy your answers into it and hand it in."
        )
    elif any(cell.code is not None for cell in cells):
        message = "The answer cell is empty. Define the function in it."
    else:
        kind = printable(cells[0].cell.kind[:20])
        message = f"The answer cell is not a code cell ({kind}). Change its type back to code."
    return Judgement(Verdict.MISSING, message)


def _own_after(own: Sequence[Placed], after: str | None) -> list[ProgramCell]:
    """Return the student's added cells after a released cell, except cells too long to run."""
    return _program_cells(cell.code or "" for cell in own if cell.after == after)


def _program_cells(sources: Iterable[str]) -> list[ProgramCell]:
    return [
        ProgramCell(source, None)
        for source in sources
        if source.strip() and len(source) <= MAX_SOURCE
    ]


def _defines(name: str, source: str) -> bool:
    return re.search(rf"^(?:def|class)[ \t]+{name}\b", source, re.MULTILINE) is not None


def _binds(name: str, source: str) -> bool:
    assigned = re.search(rf"^{name}[ \t]*=[^=]", source, re.MULTILINE)
    return assigned is not None or _defines(name, source)
