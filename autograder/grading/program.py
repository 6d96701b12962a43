"""Judge one submission: probe it in the sandbox, compare what comes back out here."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import itertools
import platform
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from nbformat import NotebookNode

from ..judging import judge
from ..judging.exercise import Assignment, Exercise
from ..judging.judge import AnswerKey, build_key, public_cases
from ..judging.verdict import Judgement, Verdict
from ..sandbox.backends import UNTRUSTED, Sandbox
from ..sandbox.limits import LIMITS
from ..sandbox.untrusted import runner, wire
from ..sandbox.untrusted.values import Observation, Raised
from ..selfcheck.check import read_cases
from . import notebook


class ProgramCell(Protocol):
    """A cell to run: its source, and the exercise that it answers, if any."""

    @property
    def source(self) -> str:
        """Python code."""
        ...

    @property
    def exercise(self) -> str | None:
        """The name of the exercise, or None for a cell that answers none."""
        ...


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
    keys = answer_keys(assignment, course_key, digest)
    wanted = [key for key in keys if only is None or key.exercise in only]
    return judge_keys(program, wanted, sandbox)


def answer_keys(assignment: Assignment, course_key: bytes, digest: str) -> list[AnswerKey]:
    """Return the right answers to the public and the hidden cases of every exercise.

    The hidden cases come from HMAC(course key, submission digest, exercise): no one can know them
    beforehand, and the same submission always meets the same ones.
    """
    return [
        build_key(one, public_cases(one), tuple(one.hidden(_generator(course_key, digest, one))))
        for one in assignment.exercises
    ]


def _generator(course_key: bytes, digest: str, one: Exercise) -> np.random.Generator:
    message = f"{digest}\n{one.name}".encode()
    seed = hmac.new(course_key, message, hashlib.sha256).digest()
    return np.random.default_rng(int.from_bytes(seed, "little"))


def judge_keys(
    program: Sequence[ProgramCell], keys: Sequence[AnswerKey], sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program` against answer keys.

    When an answer takes its sandbox down, the exercises after it get a fresh one: one answer never
    costs another its points. All of them together have one deadline. A sandbox that fails before
    it begins with the student's code is a GRADER_FAULT: no answer did that.
    """
    judgements: dict[str, Judgement] = {}
    pending = list(keys)
    answers = sum(cell.exercise is not None for cell in program)
    allowed = 30 + LIMITS.seconds * (2 * len(keys) + answers + runner.MOST_LEFT_OUT)
    deadline = time.monotonic() + allowed
    while pending:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            return judgements | {key.exercise: _STATUS["timeout"] for key in pending}
        frames = _run(program, pending, sandbox, seconds)
        if not frames or not _is(frames[0], runner.BEGUN):
            return judgements | {key.exercise: _NOT_BEGUN for key in pending}
        for key, frame in zip(pending, frames[1:], strict=False):
            if not isinstance(frame, dict) or not _is(frame.get("exercise"), key.exercise):
                break
            judgements[key.exercise] = _read_answer(key, frame)
        rest = [key for key in pending if key.exercise not in judgements]
        if rest and len(rest) == len(pending):  # the first one ended the whole sandbox
            judgements[rest[0].exercise] = _STATUS["killed"]
            rest = rest[1:]
        pending = rest
    return judgements


def _run(
    program: Sequence[ProgramCell], keys: Sequence[AnswerKey], sandbox: Sandbox, seconds: float
) -> list[Any]:
    """The frames that came back, in order, up to the first that is cut off or malformed."""
    request = wire.encode(
        {
            "cells": [(_bytes(cell.source), cell.exercise) for cell in program],
            "exercises": [(key.exercise, key.calls) for key in keys],
            "limits": LIMITS.for_runner(),
            "torch": any(key.needs_torch for key in keys),
        }
    )
    return list(itertools.islice(_frames(sandbox.run(request, seconds)), len(keys) + 1))


def _bytes(source: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A cell as bytes: the wire's texts are too short for one with data in it."""
    return np.frombuffer(source.encode(), np.uint8)


def _frames(answer: bytes) -> Iterator[Any]:
    place = 0
    while len(answer) > place + 8:
        start = place + 8
        place = start + int.from_bytes(answer[place:start], "little")
        try:
            yield wire.decode(answer[start:place])
        except wire.WireError:
            return


def _read_answer(key: AnswerKey, frame: Mapping[str, Any]) -> Judgement:
    """Turn what the sandbox reports on one exercise into a judgement; only `judge` can pass it."""
    status, result = frame.get("status"), frame.get("result")
    if not _is(status, "ended"):
        return _STATUS.get(status, _MALFORMED) if isinstance(status, str) else _MALFORMED
    if result is None:
        return Judgement(
            Verdict.MISSING,
            f"No {key.noun} called `{key.exercise}` is there after running the cells.",
        )
    if _is(result, "stub"):
        return Judgement(Verdict.MISSING, "Not answered: the stub is as it was released.")
    if isinstance(result, Raised):
        line = f", line {result.line}" if result.line else ""
        return Judgement(
            Verdict.EXCEPTION,
            f"Its cell raises {result.type_name}{line}: {result.message[:300]}",
        )
    if not isinstance(result, list) or not all(isinstance(one, Observation) for one in result):
        return _MALFORMED
    return judge.judge(key, result)


def _is(value: Any, text: str) -> bool:
    """True if `value`, which a student may have forged, is the string `text`."""
    return isinstance(value, str) and value == text


_MALFORMED = Judgement(Verdict.MALFORMED, "What came back from the answer is no result.")
_NOT_BEGUN = Judgement(
    Verdict.GRADER_FAULT,
    "The sandbox did not start, so nothing of the answer has run. See `autograder doctor`.",
)
_STATUS = {
    "timeout": Judgement(
        Verdict.TIMEOUT,
        f"It did not end within {LIMITS.seconds} s. Is there a loop without an end?",
    ),
    "memory": Judgement(
        Verdict.MEMORY, f"It asked for more than {LIMITS.memory // 2**20} MiB of memory."
    ),
    "output": Judgement(
        Verdict.OUTPUT, f"It printed more than {LIMITS.output // 2**10} KiB. Remove the printing."
    ),
    "killed": Judgement(
        Verdict.KILLED, "The process ended before it gave a result (an exit, or a crash)."
    ),
}


def fingerprint(assignment: Assignment, released: NotebookNode) -> str:
    """A digest of all that decides a verdict: checks, references, engine, release, versions.

    A submission with the same digest and fingerprint gets the same verdicts: it need not be
    judged again.
    """
    engine = {notebook, sys.modules[__name__]}
    functions: list[Callable[..., Any]] = []
    parts = [platform.python_version(), f"numpy=={np.__version__}", repr(LIMITS)]
    parts += [cell.source for cell in released.cells]
    for one in assignment.exercises:
        functions += [one.reference, one.cases, one.hidden]
        functions += [misconception.wrong for misconception in one.misconceptions]
        parts.append(repr((one.name, one.points, [(m.name, m.hint) for m in one.misconceptions])))
    modules = engine | _modules_behind(functions)
    if any("torch" in vars(inspect.getmodule(function)) for function in functions):
        parts.append(f"torch=={metadata.version('torch')}")
    parts += [inspect.getsource(m) for m in sorted(modules, key=lambda m: m.__name__)]
    for folder in (Path(judge.__file__).parent, UNTRUSTED):
        parts += [path.read_text() for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _modules_behind(functions: Sequence[Callable[..., Any]]) -> set[ModuleType]:
    """The project's modules that define `functions`, and those whose functions these use."""
    rooms = ("autograder.checks", "solutions")
    waiting, found = list(functions), set()
    while waiting:
        module = inspect.getmodule(waiting.pop())
        if module is not None and module.__name__.startswith(rooms) and module not in found:
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
    return judge_keys(program, read_cases(cases), sandbox)
