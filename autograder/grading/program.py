"""Judge one submission: observe it in the sandbox, compare what comes back out here."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import platform
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..course.plaintext import printable
from ..exercise.model import Assignment, Exercise, public_cases
from ..judging import judge
from ..judging.judge import AnswerKey, build_key, with_hidden
from ..judging.verdict import IN_A_PROCESS, Judgement, Verdict
from ..notebook.check import read_cases
from ..probe.gate import SEALED
from ..probe.namespaces import MOST_FILES
from ..probe.values import Raised
from ..sandbox.backends import Sandbox
from ..sandbox.limits import LIMITS
from ..sandbox.rooms import NotBegun
from .observing import Observer, ProgramCell, Question
from .seen import Seen

if TYPE_CHECKING:  # its import takes long, and judging does without
    from nbformat import NotebookNode

ENGINE = ("exercise", "grading", "judging", "probe", "sandbox", "submission")
"""The rooms of this package that decide a verdict."""

DRAWS = 4
"""So many draws of hidden cases a course has; the digest of a submission chooses one."""

FEWEST_ASKS = 0.75
"""Of the calls that the reference makes of a function among its arguments, a right answer makes so
many at least; what it hard-codes, or knows from elsewhere, it does not ask for."""

PATIENCE = 20
"""So many times as long as the reference may a right answer take."""

CALLS = 3
"""So often is an answer called for each case: once in the first pass, twice in the second. The
reference is called once."""


def judge_program(
    program: Sequence[ProgramCell],
    assignment: Assignment,
    *,
    course_key: bytes,
    digest: str,
    sandbox: Sandbox,
    only: Collection[str] | None = None,
) -> dict[str, Judgement]:
    """Judge every exercise of `assignment`, or `only` these, on public cases and hidden ones."""
    asked = questions(assignment, course_key, digest)
    wanted = [one for one in asked if only is None or one.name in only]
    return judge_questions(program, wanted, sandbox)


def questions(assignment: Assignment, course_key: bytes, digest: str) -> list[Question]:
    """The right answers to the public and the hidden cases of every exercise.

    The hidden cases are one of DRAWS draws, made of HMAC(course key, exercise, draw): no one can
    know them beforehand, and the same submission always meets the same ones.
    """
    message = f"{digest}\n{assignment.name}".encode()
    draw = hmac.new(course_key, message, hashlib.sha256).digest()[0] % DRAWS
    return [_question(one, course_key, draw) for one in assignment.exercises]


@lru_cache(maxsize=1024)
def _question(one: Exercise, course_key: bytes, draw: int) -> Question:
    public, public_seconds = _public_key(one)
    seed = hmac.new(course_key, f"{one.name}\n{draw}".encode(), hashlib.sha256).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "little"))
    begun = time.process_time()
    whole = with_hidden(public, one, tuple(one.hidden(rng)))
    seconds = public_seconds + time.process_time() - begun
    return Question(public, whole, LIMITS.seconds + PATIENCE * CALLS * seconds)


@lru_cache(maxsize=1024)
def _public_key(one: Exercise) -> tuple[AnswerKey, float]:
    """The key for the public cases, and the seconds of a processor that the reference took."""
    begun = time.process_time()
    key = build_key(one, public_cases(one), ())
    return key, time.process_time() - begun


def judge_questions(
    program: Sequence[ProgramCell], asked: Sequence[Question], sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program`: all exercises in common processes, and what fails there by itself.

    So one answer never costs another its points. A sandbox that fails before it begins with the
    student's code is a GRADER_FAULT: no answer did that. A program that imports torch finds it
    imported already in every room: the import takes longer than most answers.
    """
    torch = imports_torch(program) or any(one.whole.needs_torch for one in asked)
    judgements: dict[str, Judgement] = {}
    batches = [list(asked)]
    while batches:
        batch = batches.pop()
        seen, note = _observed(program, batch, sandbox, torch)
        for one in batch:
            found = seen.get(one.name)
            judgement = _judgement(found, note) if found else _not_begun(note)
            judgements[one.name] = judgement
            if found and not found.alone and not judgement.passed and len(batch) > 1:
                batches.append([one])
    return {one.name: judgements[one.name] for one in asked}


def imports_torch(cells: Iterable[ProgramCell]) -> bool:
    """True if a cell says so."""
    return any("import torch" in cell.source for cell in cells)


def _observed(
    program: Sequence[ProgramCell], asked: Sequence[Question], sandbox: Sandbox, torch: bool
) -> tuple[dict[str, Seen], str]:
    """What the answers do, and a note on cells that were left out; why, if no room stood."""
    try:
        with closing(Observer(program, sandbox, torch)) as observer:
            seen = observer.observe(asked, lambda key, result: judge.judge(key, result).earns)
            return seen, _left_out(program, observer.own_left_out) + (
                _LEFT_OUT_LATER if observer.left_out_later else ""
            )
    except NotBegun as error:
        return {}, str(error)


def _left_out(program: Sequence[ProgramCell], cells: Mapping[int, str]) -> str:
    return "".join(
        f" (A cell of your own was left out, since it {_DID.get(how, 'ended the process')}. "
        f"It begins with: {printable(program[cell].source.strip()[:40])})"
        for cell, how in sorted(cells.items())
    )


def _judgement(seen: Seen, note: str) -> Judgement:
    """Turn what was seen of an answer into a judgement; only `judge` can pass it."""
    judgement = _judgement_alone(seen)
    if judgement.passed or not note:
        return judgement
    return replace(judgement, message=judgement.message + note)


def _judgement_alone(seen: Seen) -> Judgement:
    key, result = seen.key, seen.result
    if seen.status == "timeout" and seen.left:
        return _NEEDS_WHAT_WAS_LEFT
    if seen.status != "ended":
        return _STATUS.get(seen.status, _STATUS["malformed"])
    if result is None:
        return Judgement(
            Verdict.MISSING,
            f"No {key.noun} called `{key.exercise}` is there after running the cells.",
        )
    if isinstance(result, str) and result == "stub":
        return Judgement(Verdict.MISSING, "Not answered: the stub is as it was released.")
    if isinstance(result, Raised):
        line = f", line {result.line}" if result.line else ""
        return Judgement(
            Verdict.EXCEPTION,
            f"Its cell raises {result.type_name}{line}: {result.message[:300]}",
        )
    if not isinstance(result, list):
        return _STATUS["malformed"]
    judgement = judge.judge(key, result)
    if judgement.verdict is Verdict.NONDETERMINISTIC and seen.left:
        return _NEEDS_WHAT_WAS_LEFT
    asks = sum(one.asks for one in result)
    if judgement.earns and FEWEST_ASKS * key.asks > asks:
        return Judgement(
            Verdict.FORBIDDEN,
            "It hardly calls the function that it is given, where the task takes about "
            f"{key.asks} different calls. Its result has to come from what that returns.",
        )
    return judgement


def _not_begun(reason: str) -> Judgement:
    return Judgement(
        Verdict.GRADER_FAULT,
        f"The sandbox did not start ({printable(reason)[:200]}), so nothing of the answer has run. "
        "See `autograder doctor`.",
    )


_LEFT_OUT_LATER = (
    " (A cell of your own was left out: it ran well, but ended the process when it ran again.)"
)
_DID = {
    "timeout": "did not end in time",
    "memory": "asked for too much memory",
    "output": "printed too much",
    "results": "gave back too much",
    "processes": "started too many processes",
    "files": "made too many files",
}
_NEEDS_WHAT_WAS_LEFT = Judgement(
    Verdict.FORBIDDEN,
    "It no longer works when the processes that your cells have left behind are ended, and nothing "
    "would see whether something ready-made runs in one. Compute it in the function itself: "
    "writing it is the exercise.",
)
_STATUS = {
    SEALED: IN_A_PROCESS,
    "timeout": Judgement(
        Verdict.TIMEOUT, "It did not end in time. Is there a loop without an end?"
    ),
    "memory": Judgement(
        Verdict.MEMORY, f"It asked for more than {LIMITS.memory // 2**20} MiB of memory."
    ),
    "output": Judgement(
        Verdict.OUTPUT, f"It printed more than {LIMITS.output // 2**10} KiB. Remove the printing."
    ),
    "results": Judgement(
        Verdict.OUTPUT, f"Its results take more than {LIMITS.answer // 2**20} MiB."
    ),
    "killed": Judgement(
        Verdict.KILLED, "The process ended before it gave a result (an exit, or a crash)."
    ),
    "processes": Judgement(
        Verdict.KILLED, f"It started more than {LIMITS.processes} processes at a time."
    ),
    "files": Judgement(Verdict.KILLED, f"It made more than {MOST_FILES} files."),
    "unsteady": Judgement(
        Verdict.NONDETERMINISTIC, "Run a second time, the cells do not define it as they did."
    ),
    "malformed": Judgement(Verdict.MALFORMED, "What came back from the answer is no result."),
}


def fingerprint(assignment: Assignment, released: NotebookNode, packages: tuple[str, ...]) -> str:
    """A digest of all that decides a verdict: exercises, references, engine, release, versions.

    A submission with the same digest and fingerprint gets the same verdicts: it need not be
    judged again. `packages` are those of the course.
    """
    functions: list[Callable[..., Any]] = []
    parts = [platform.python_version(), f"numpy=={np.__version__}", repr(LIMITS)]
    parts += [cell.source for cell in released.cells]
    for one in assignment.exercises:
        functions += [one.reference, one.cases, one.hidden]
        functions += [misconception.answer.written for misconception in one.misconceptions]
        parts.append(repr((one.name, one.points, [(m.name, m.hint) for m in one.misconceptions])))
    if assignment.torch:
        parts.append(f"torch=={metadata.version('torch')}")
    modules = _modules_behind(functions, packages)
    parts += [inspect.getsource(m) for m in sorted(modules, key=lambda m: m.__name__)]
    engine = Path(__file__).parents[1]
    for room in ENGINE:
        parts += [path.read_text() for path in sorted((engine / room).rglob("*.py"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _modules_behind(
    functions: Sequence[Callable[..., Any]], packages: tuple[str, ...]
) -> set[ModuleType]:
    """The modules of `packages` that define `functions`, and those whose functions these use."""
    waiting, found = list(functions), set()
    while waiting:
        module = inspect.getmodule(waiting.pop())
        if (
            module is not None
            and module.__name__.partition(".")[0] in packages
            and module not in found
        ):
            found.add(module)
            waiting += [
                value
                for value in vars(module).values()
                if inspect.isfunction(value) or inspect.isclass(value)
            ]
    return found


def check_program(
    program: Sequence[ProgramCell], cases: Path, sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program` on the public cases of a release's `.cases` file only."""
    asked = [Question(key, key, LIMITS.cell_seconds) for key in read_cases(cases)]
    return judge_questions(program, asked, sandbox)
