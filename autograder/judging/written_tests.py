"""Judge a test that a student wrote, by the implementations that it accepts and rejects.

A case gives the test an implementation, which the test can only call. A wrong implementation is
called a mutant, and its case asks for an AssertionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from ..exercise.model import Case
from ..probe.values import Observation, Raised
from .compare import unexpected_exception
from .keys import KeyedMisconception
from .verdict import Judgement, Verdict
from .words import all_of

MOST_KINDS = 6
"""At most this many kinds of accepted mutants are named in a message."""


class Outcome(Enum):
    """The verdict of a student's test on an implementation."""

    ACCEPTS = "accepts it"
    REJECTS = "rejects it"
    FAILS = "raises another exception"


def outcome(value: Any) -> Outcome:
    """Return the outcome of a call of the test; its return value does not matter."""
    if not isinstance(value, Raised):
        return Outcome.ACCEPTS
    rejected = "AssertionError" in (value.type_name, *value.bases)
    return Outcome.REJECTS if rejected else Outcome.FAILS


def judge_test(
    cases: Sequence[Case],
    public: int,
    misconceptions: Iterable[KeyedMisconception],
    observations: Sequence[Observation],
) -> Judgement:
    """Return the verdict on a test.

    The first `public` of the `cases` may be shown with the messages of their exceptions.
    """
    judgement = _unusable(cases, public, observations)
    if judgement:
        return judgement
    outcomes = [outcome(observation.value) for observation in observations]
    pairs = list(enumerate(zip(cases, outcomes, strict=True)))
    false = [at for at, (case, ended) in pairs if not case.raises and ended != Outcome.ACCEPTS]
    missed = [at for at, (case, ended) in pairs if case.raises and ended != Outcome.REJECTS]
    if not false and not missed:
        return Judgement(Verdict.PASS, _count(cases, missed))
    name, hint = _earned_name(misconceptions, outcomes)
    if false:
        text = _false_alarm(cases, public, false, observations)
        return Judgement(Verdict.FALSE_ALARM, text, name, hint, false[0])
    mutants = sum(1 for case in cases if case.raises)
    text = f"{_count(cases, missed)} {_missed_mutants(cases, missed, outcomes, observations)}"
    share = 1 - len(missed) / mutants
    return Judgement(Verdict.MISSED, text, name, hint, missed[0], share)


def _unusable(
    cases: Sequence[Case], public: int, observations: Sequence[Observation]
) -> Judgement | None:
    """Return the verdict on a test that raises, makes no call, or is inconsistent; else None."""
    for at, (case, observation) in enumerate(zip(cases, observations, strict=True)):
        if case.raises or outcome(observation.value) is not Outcome.FAILS:
            continue
        mismatch = unexpected_exception(observation.value)
        failure = mismatch.text if at < public else mismatch.in_general
        timing = "" if observation.requests else ", before it has called the implementation"
        text = f"Given a right implementation ({case.note}), {failure}{timing}."
        return Judgement(Verdict.EXCEPTION, text, case=at)
    for at, observation in enumerate(observations):
        if not observation.requests:
            return Judgement(
                Verdict.FORBIDDEN,
                "It does not call the implementation that it is given. A test has to decide by the "
                "values that the implementation returns: it cannot see its source or its name.",
                case=at,
            )
    for at, observation in enumerate(observations):
        first = next(i for i, case in enumerate(cases) if case.arguments == cases[at].arguments)
        before, now = outcome(observations[first].value), outcome(observation.value)
        if now is before:
            now = outcome(observation.again)
        if now is not before:
            return Judgement(
                Verdict.NONDETERMINISTIC,
                f"Given the same implementation ({cases[at].note}) a second time, it {now.value}; "
                f"the first time, it {before.value}. Does it remember an earlier call, or draw "
                "random numbers without a seed?",
                case=at,
            )
    return None


def _earned_name(
    misconceptions: Iterable[KeyedMisconception], outcomes: Sequence[Outcome]
) -> tuple[str | None, str | None]:
    """Return name and hint of the only misconception with the same outcomes, or (None, None).

    A test that treats all implementations alike gets no name: that can have any cause, and the
    message says it.
    """
    if len(set(outcomes)) == 1:
        return None, None
    alike = [
        misconception
        for misconception in misconceptions
        if [outcome(known.value) for known in misconception.observations[: len(outcomes)]]
        == list(outcomes)
    ]
    return (alike[0].name, alike[0].hint) if len(alike) == 1 else (None, None)


def _count(cases: Sequence[Case], missed: Sequence[int]) -> str:
    mutants = sum(1 for case in cases if case.raises)
    rights = len(cases) - mutants
    return (
        f"It accepts {all_of(rights, 'right implementations')}, and rejects "
        f"{mutants - len(missed)} of the {mutants} wrong ones."
    )


def _false_alarm(
    cases: Sequence[Case], public: int, false: Sequence[int], observations: Sequence[Observation]
) -> str:
    """Return the message for a test that rejects a right implementation."""
    at = false[0]
    raised = observations[at].value
    message = raised.message.strip()
    where = says = ""
    if at < public and raised.line:
        where = f" in line {raised.line} of its cell" + f": `{raised.code}`" * bool(raised.code)
    if message and at < public:
        says = f" It says: {message[:300]}"
    if all(outcome(observation.value) is not Outcome.ACCEPTS for observation in observations):
        note = cases[at].note
        first = f" The first right implementation is “{note}”, rejected{where}." if where else ""
        return (
            "It rejects every implementation, even the right ones: what does it ask for that the "
            f"docstring does not promise?{first}{says}"
        )
    return (
        f"It rejects a right implementation (“{cases[at].note}”){where}, so it earns 0 points. "
        "Right implementations are written in several ways, and their numbers may differ by "
        "rounding: compare with a tolerance, and ask for no more than the docstring promises."
        f"{says}"
    )


def _missed_mutants(
    cases: Sequence[Case],
    missed: Sequence[int],
    outcomes: Sequence[Outcome],
    observations: Sequence[Observation],
) -> str:
    """Return the sentences that name the kinds of mutants that the test did not reject."""
    if all(verdict is Outcome.ACCEPTS for verdict in outcomes):
        returned = any(observation.value is not None for observation in observations)
        ignored = "return value is ignored" if returned else "printed output is not read"
        return (
            "It accepts every implementation, even the wrong ones: if it asserts anything, they "
            f"all satisfy it. A test rejects by `assert`. Its {ignored}, and it cannot remember "
            "anything from one implementation to the next."
        )
    kinds = list(dict.fromkeys(cases[at].note for at in missed if outcomes[at] is Outcome.ACCEPTS))
    sentences = []
    if kinds:
        left = len(kinds) - MOST_KINDS
        more = f", and {left} more kind{'s' * (left > 1)}" if left > 0 else ""
        sentences.append(f"It lets through: {'; '.join(kinds[:MOST_KINDS])}{more}.")
    failing = [at for at in missed if outcomes[at] is Outcome.FAILS]
    if failing:
        general = unexpected_exception(observations[failing[0]].value).in_general
        sentences.append(
            f"Given another ({cases[failing[0]].note}), {general}, which is not an AssertionError."
        )
    return " ".join(sentences)
