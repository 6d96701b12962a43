"""Prove an exercise, and try small changes of its reference."""

from __future__ import annotations

import contextlib
import io
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..exercise.answers import EditError
from ..exercise.model import Exercise, Kind
from ..judging.keys import AnswerKey
from .checks import CHECKS, QUICK_CHECKS, Check, fails
from .evidence import Evidence
from .mutants import mutants

SECONDS = 5.0
"""Seconds of processor time that a changed reference may take; a reference takes less than one."""

Change = tuple[str, Callable[..., Any]]


def problems(exercise: Exercise, seeds: Sequence[int] = (0, 1)) -> list[str]:
    """Return a sentence for each thing that is missing from a proof; none if it is proved.

    `seeds` are those of the draws of hidden cases.
    """
    return _problems(exercise, seeds, CHECKS)


def obvious_problems(exercise: Exercise) -> list[str]:
    """Return what the public cases alone show in a second or two; see `problems`."""
    return _problems(exercise, (), QUICK_CHECKS)


def _problems(exercise: Exercise, seeds: Sequence[int], checks: Iterable[Check]) -> list[str]:
    try:
        evidence = Evidence(exercise, seeds)
        evidence.keys  # noqa: B018 - raises ValueError where the reference fails
    except (EditError, ValueError) as error:
        return [str(error)]
    missing: list[str] = []
    for check in checks:
        try:
            missing += check(evidence)
        except (EditError, ValueError) as error:
            missing.append(str(error))
    return list(dict.fromkeys(missing))


@dataclass(frozen=True)
class Changes:
    """The results of small changes of a reference; `passed` describes those that passed."""

    tried: int
    passed: tuple[str, ...]


def try_changes(exercise: Exercise) -> Changes:
    """Judge small changes of the reference, with the public cases and a draw of hidden ones.

    Tests that students write are skipped, because a changed test may be just as good.
    """
    if exercise.kind is Kind.TEST:
        return Changes(0, ())
    key = Evidence(exercise, (0,)).keys[-1]
    changed: list[Change] = list(mutants(exercise.reference))
    passed = tuple(change for change, mutant in changed if survives(mutant, key))
    return Changes(len(changed), passed)


def survives(mutant: Callable[..., Any], key: AnswerKey, seconds: float = SECONDS) -> bool:
    """Return True if `judge` would let the mutant pass; it stops at the first case that fails.

    A mutant that does not end in `seconds` of processor time does not pass.
    """
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(TimeoutError),
        _limited(seconds),
    ):
        return not fails(mutant, key)
    return False


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after these seconds, and then every second.

    The signal repeats because the code that runs may catch the exception. Where there is no
    SIGPROF, as on Windows, there is no limit.
    """
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
