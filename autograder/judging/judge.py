"""Judge what an answer did: give a verdict, and name the known mistake that it makes.

The self-check in the notebook and the grader use the same engine and differ only in their cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from ..exercise.model import Case
from ..probe.ready_made import PROCESSES, UNWATCHED
from ..probe.values import Observation
from .agreement import agree
from .common_cases import particulars
from .compare import Mismatch
from .differences import first_clear
from .faults import fault
from .keys import AnswerKey, KeyedMisconception
from .naming import Trial, compared_with_released, earned_names, explained_cases
from .patterns import patterns
from .verdict import (
    ALL_BUT_ERRORS,
    AS_GIVEN,
    ERRORS_SHARE,
    IN_A_PROCESS,
    RIGHT_ON_PUBLIC,
    Judgement,
    Verdict,
)
from .words import all_of
from .written_tests import judge_test


def judge(key: AnswerKey, observations: Sequence[Observation]) -> Judgement:
    """Compare `observations`, one for each case of `key`, with the expected values."""
    if len(observations) != len(key.cases):
        return Judgement(
            Verdict.MALFORMED,
            f"The answer returned {len(observations)} results for {len(key.cases)} cases.",
        )
    ready_made = [name for observation in observations for name in observation.ready_made]
    if ready_made:
        return _judge_ready_made(key, ready_made[0])
    if key.is_test:
        return judge_test(key.cases, key.public, key.misconceptions, observations)
    mismatches = [
        fault(case, expected, observation, key.names)
        for case, expected, observation in zip(key.cases, key.expected, observations, strict=True)
    ]
    if not any(mismatches):
        return Judgement(Verdict.PASS, f"Right on {all_of(len(key.cases), 'cases')}.")
    if _behaves_as_released(key, observations):
        return AS_GIVEN
    first = next(index for index, mismatch in enumerate(mismatches) if mismatch)
    hidden = first >= key.public
    shown = slice(len(key.cases) if hidden else key.public)
    trials = [
        Trial(*parts)
        for parts in zip(key.cases[shown], key.expected, observations, mismatches, strict=False)
    ]
    mistakes = earned_names(key.misconceptions, trials)
    failing = [index for index, trial in enumerate(trials) if trial.mismatch]
    at = first_clear(trials, explained_cases(mistakes[0], trials) if mistakes else failing)
    mismatch = mismatches[at]
    assert mismatch is not None
    share = _share(key.cases, mismatches)
    more = [mismatch.advice]
    if not hidden and mismatch.verdict is Verdict.EXCEPTION:
        more.append(particulars(trials, at, key.names.parameters))
    released = _released(key)
    if released and not mistakes:
        more.append(compared_with_released(released, trials, at, key.noun))
    if not mistakes:
        more.append(patterns(trials, key.names, hidden=hidden))
    if share:
        more.append(ALL_BUT_ERRORS)
    message = _message(key, at, mismatch, more)
    if not mistakes:
        return Judgement(mismatch.verdict, message, case=at, share=share)
    mistake, also = mistakes[0], None
    if len(mistakes) > 1:
        also = mistakes[1].name
        message += (
            f" Two mistakes together explain all the differences: “{mistake.name}” and “{also}”. "
            f"About the second, ask yourself: {mistakes[1].hint}"
        )
    return Judgement(mismatch.verdict, message, mistake.name, mistake.hint, at, share, also)


def _behaves_as_released(key: AnswerKey, observations: Sequence[Observation]) -> bool:
    """Return True if the answer behaves on every case like the function that was released."""
    released = _released(key)
    return released is not None and agree(released.observations, tuple(observations))


def _released(key: AnswerKey) -> KeyedMisconception | None:
    return next((m for m in key.misconceptions if m.name == key.released), None)


def _share(cases: Sequence[Case], mismatches: Sequence[Mismatch | None]) -> float:
    """Return the share of the points if only promised exceptions are wrong, otherwise 0."""
    failing = [case for case, mismatch in zip(cases, mismatches, strict=True) if mismatch]
    others = any(case.raises is None for case in cases)
    return 1 - ERRORS_SHARE if others and all(case.raises for case in failing) else 0.0


def _judge_ready_made(key: AnswerKey, name: str) -> Judgement:
    """Return the verdict on an answer that ran the function `name`.

    The message quotes only the key, because `name` comes from the answer and may carry hidden data.
    """
    pattern = _matching(name, key.forbidden)
    if pattern is not None:
        text = f"It runs `{pattern}`, which is ready-made."
    elif key.forbidden and name in PROCESSES:
        return IN_A_PROCESS
    elif key.forbidden and name in UNWATCHED:
        text = f"It runs `{name}`, where the grader cannot see whether ready-made code runs."
    else:
        return Judgement(Verdict.MALFORMED, "The answer did not return a valid result.")
    return Judgement(Verdict.FORBIDDEN, f"{text} Writing it is the exercise.")


def _message(key: AnswerKey, index: int, mismatch: Mismatch, more: Iterable[str]) -> str:
    note = key.cases[index].note
    general = mismatch.in_general
    if index < key.public:
        first = f"On the case “{note}”: {mismatch.text}."
    else:
        first = f"{RIGHT_ON_PUBLIC} On a hidden one ({note}), {general}."
    return " ".join(sentence for sentence in (first, *more) if sentence)


def _matching(name: str, forbidden: Sequence[str]) -> str | None:
    """Return the first pattern of `forbidden` that matches this name, or None."""
    return next((pattern for pattern in forbidden if fnmatchcase(name, pattern)), None)
