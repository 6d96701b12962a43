"""Read a submitted notebook, whatever was done to it: nothing in here raises for a student's file.

Only what a student may write is taken: the answer cells and added code cells. All else comes from
the release, so an edited prompt, self-check, tag, output or mark changes nothing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..classroom.course import SubmissionFile
from ..classroom.marks import is_self_check, mark_of
from ..classroom.plaintext import printable
from ..judging.exercise import Kind
from ..judging.outline import Outline
from ..judging.verdict import AS_GIVEN, Judgement, Verdict

if TYPE_CHECKING:  # its import takes long, and nothing here needs it to run
    import nbformat

MAX_BYTES = 10 * 2**20
"""The largest notebook that is read. One without outputs is a hundred times smaller."""

MAX_CELLS = 500
"""The most cells that are read."""

MAX_SOURCE = 1_000_000
"""The longest cell that is run, in characters: code, with more data in it than anyone pastes."""

HAND_IN_AGAIN = "Save the notebook in Jupyter, look at it once more, and hand it in again."


@dataclass(frozen=True)
class ProgramCell:
    """A code cell to run; `exercise` is the name of the exercise that it answers, or None."""

    source: str
    exercise: str | None


@dataclass(frozen=True)
class Submission:
    """What is taken from one submitted notebook.

    `digest` is the SHA-256 of the bytes that were read. `written` holds the text of the written
    answers. `problems` holds a judgement for every exercise that cannot be run at all. `dropped`
    says, a line each, which added cells are not run, and which given ones are run as they were
    given and not as they stand in the file.
    """

    student: str
    assignment: str
    digest: str
    program: tuple[ProgramCell, ...]
    written: dict[str, str]
    problems: dict[str, Judgement]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A cell as it stands in a file. `source` is None if it is no text."""

    kind: str
    source: str | None
    grade_id: str | None
    id: str | None


class Unreadable(Exception):
    """No cells can be read; `judgement` says why, `digest` is what was read."""

    def __init__(self, verdict: Verdict, message: str, data: bytes | None = None) -> None:
        """`data` is what was read, or None if nothing could be."""
        super().__init__(message)
        self.judgement = Judgement(verdict, message)
        # Without bytes, the reason stands for them: when it changes, so does the digest.
        self.digest = _digest(b"\0" + message.encode() if data is None else data)


def read_submission(
    file: SubmissionFile, assignment: Outline, released: nbformat.NotebookNode
) -> Submission:
    """Read the notebook at `file.path` against the release; never raises for what a student did."""
    try:
        digest, cells = read_cells(file.path, above=2)
    except Unreadable as unreadable:
        problems = {one.name: unreadable.judgement for one in assignment.exercises}
        return Submission(file.student, assignment.name, unreadable.digest, (), {}, problems)
    return assemble(file, assignment, released, digest, cells)


def read_cells(path: Path, above: int = 0) -> tuple[str, list[Cell]]:
    """Read a notebook's bytes once; return their digest and the cells. Raises Unreadable.

    The file and as many folders `above` it must not be symbolic links: a link could show the grader
    a file that the student may not read.
    """
    data = _read_bytes(path, above)
    where = printable(path.name)
    if not data.strip():
        raise Unreadable(Verdict.MALFORMED, f"{where} is empty. {HAND_IN_AGAIN}", data)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "damaged or cut off"
        message = f"{where} is no notebook: its JSON is {reason}. {HAND_IN_AGAIN}"
        raise Unreadable(Verdict.MALFORMED, message, data) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        old = isinstance(content, dict) and "worksheets" in content
        reason = "in the old notebook format 3" if old else "no notebook: it has no cells"
        raise Unreadable(Verdict.MALFORMED, f"{where} is {reason}. {HAND_IN_AGAIN}", data)
    if len(cells) > MAX_CELLS:
        message = f"{where} has {len(cells)} cells; at most {MAX_CELLS} are read. Remove some."
        raise Unreadable(Verdict.MALFORMED, message, data)
    return _digest(data), [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _read_bytes(path: Path, above: int) -> bytes:
    """The content of a regular file of at most MAX_BYTES; opening it cannot block or lead away."""
    where = printable(path.name)
    opened: list[int] = []
    try:
        folder = path.parents[above]
        opened.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        for part in path.relative_to(folder).parts:
            # O_NONBLOCK: a named pipe opens at once, and is then refused below.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        status = os.fstat(opened[-1])
        if not stat.S_ISREG(status.st_mode):
            message = f"{where} is no ordinary file. {HAND_IN_AGAIN}"
            raise Unreadable(Verdict.MALFORMED, message)
        if status.st_size > MAX_BYTES:
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        with os.fdopen(opened.pop(), "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:  # it grew since
            raise Unreadable(Verdict.MALFORMED, _too_large(where))
        return data
    except (FileNotFoundError, NotADirectoryError):
        raise Unreadable(Verdict.MISSING, _missing(path)) from None
    except OSError as error:
        if _leads_away(path, above):
            message = f"{where} is reached by a symbolic link. Hand in the file itself."
        else:
            reason = errno.errorcode.get(error.errno or 0, "error")
            message = f"{where} cannot be read ({reason}). Check its permissions; hand it in again."
        raise Unreadable(Verdict.MALFORMED, message) from None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _leads_away(path: Path, above: int) -> bool:
    return any(part.is_symlink() for part in (path, *list(path.parents)[:above]))


def _missing(path: Path) -> str:
    """Say what is not there, and which other notebook is."""
    where = printable(path.name)
    try:
        others = sorted(one for one in os.listdir(path.parent) if one.endswith(".ipynb"))
    except OSError:
        others = []
    if others:
        return f"There is no {where}, but {printable(others[0][:80])}. Rename it; hand it in again."
    return f"There is no {where}. Hand in the notebook under this name."


def _too_large(where: str) -> str:
    most = MAX_BYTES // 2**20
    return f"{where} is larger than {most} MiB. Clear all outputs, save it, and hand it in again."


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _cell(cell: dict[str, Any]) -> Cell:
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if isinstance(source, str):
        source = source.encode("utf-8", "replace").decode("utf-8")  # lone surrogates become "?"
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    return Cell(
        _text(cell.get("cell_type")) or "",
        _text(source),
        _text(grade_id),
        _text(cell.get("id")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True)
class _Placed:
    """A student's cell, the released cell that it is, and the released cell it stands after."""

    cell: Cell
    name: str | None
    after: str | None

    @property
    def code(self) -> str | None:
        """The source, if this is a code cell."""
        return self.cell.source if self.cell.kind == "code" else None


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
    names = [exercise.name for exercise in assignment.exercises]
    with_bugs = [one.name for one in assignment.exercises if one.kind is Kind.DEBUG]
    stubs = {mark_of(cell): cell.source for cell in released.cells}
    placed = list(_place(cells, released))
    own = [one for one in placed if one.name is None and one.code is not None]
    answers: dict[str, str] = {}
    attempts: dict[str, list[str]] = {}
    problems: dict[str, Judgement] = {}
    for name in names:
        found = [one for one in placed if one.name == name] or _recover(name, own)
        own = [one for one in own if one not in found]
        source, attempts[name] = _answer(name, found, stubs[name])
        if name in with_bugs and _same_code(source, stubs[name]):
            problems[name] = AS_GIVEN
        elif source.strip() and len(source) <= MAX_SOURCE:
            answers[name] = source
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
    written = {
        one.name: _edited(texts, stubs[one.name])
        for one in assignment.written
        if (texts := [p.cell.source for p in placed if p.name == one.name and p.cell.source])
    }
    dropped = tuple(
        f"A code cell of {len(one.code):,} characters was left out (at most {MAX_SOURCE:,} are "
        f"run). It begins with: {printable(one.code.strip()[:40])}"
        for one in own
        if one.code is not None and len(one.code) > MAX_SOURCE
    )
    if answers:  # else there is more to say than this
        dropped += tuple(_given_anew(placed, released, names))
    return Submission(
        file.student, assignment.name, digest, tuple(program), written, problems, dropped
    )


def _given_anew(
    placed: Sequence[_Placed], released: nbformat.NotebookNode, exercises: Sequence[str]
) -> Iterator[str]:
    """A sentence for each given code cell, such as an experiment's, that was changed or removed."""
    sources = {one.name: one.code or "" for one in placed}
    for cell in released.cells:
        name = mark_of(cell)
        if cell.cell_type != "code" or name in exercises or is_self_check(name):
            continue
        if not _same_code(sources.get(name, ""), cell.source):
            what = "changed" if sources.get(name, "").strip() else "removed"
            first = printable(cell.source.strip().partition("\n")[0][:60])
            yield (
                f"A given cell was {what}, and was run as it was given. It begins with: {first}. "
                "What you add belongs in a cell of your own."
            )


def _place(cells: Iterable[Cell], released: nbformat.NotebookNode) -> Iterator[_Placed]:
    """Recognise released cells by their mark; where a tool dropped it, by id or text."""
    marks = {mark_of(cell) for cell in released.cells}
    ids = {cell.get("id"): mark_of(cell) for cell in released.cells}
    texts = {(cell.cell_type, cell.source): mark_of(cell) for cell in released.cells}
    after = None
    for cell in cells:
        name = cell.grade_id
        if name not in marks:
            name = ids.get(cell.id) or texts.get((cell.kind, cell.source))
        after = name or after
        yield _Placed(cell, name, after)


def _recover(name: str, own: Sequence[_Placed]) -> list[_Placed]:
    """The one added cell that defines the function, if there is exactly one; it lost its mark."""
    defining = [one for one in own if _defines(name, one.code or "")]
    return defining if len(defining) == 1 else []


def _answer(name: str, found: Sequence[_Placed], stub: str) -> tuple[str, list[str]]:
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


def _same_code(source: str, released: str) -> bool:
    """True if two cells differ in empty lines and in the blanks at the ends of lines at most."""
    one, other = (
        [line.rstrip() for line in text.splitlines() if line.strip()] for text in (source, released)
    )
    return one == other


def _last(sources: Sequence[str], source: str) -> int:
    """The last place of `source` in `sources`."""
    return len(sources) - 1 - sources[::-1].index(source)


def _problem(name: str, file: SubmissionFile, found: Sequence[_Placed], source: str) -> Judgement:
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


def _own(own: Sequence[_Placed], after: str | None) -> list[ProgramCell]:
    """The student's added cells behind one released cell. One too long to be run is left out."""
    return _added(one.code or "" for one in own if one.after == after)


def _added(sources: Iterable[str]) -> list[ProgramCell]:
    return [ProgramCell(one, None) for one in sources if one.strip() and len(one) <= MAX_SOURCE]


def _defines(name: str, source: str) -> bool:
    return re.search(rf"^(?:def|class)[ \t]+{name}\b", source, re.MULTILINE) is not None


def _binds(name: str, source: str) -> bool:
    assigned = re.search(rf"^{name}[ \t]*=[^=]", source, re.MULTILINE)
    return assigned is not None or _defines(name, source)
