"""Judge a test that a student wrote, by the implementations that it accepts and those it rejects.

A case gives the test one implementation, of which it sees nothing but what calls of it return. A
wrong one is a mutant, and its case asks for an AssertionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from ..exercise.model import Case
from ..probe.values import Observation, Raised
from .compare import unasked_exception
from .naming import KeyedMisconception
from .verdict import Judgement, Verdict
from .words import all_of

MOST_KINDS = 6
"""So many kinds of mutant that slipped through are named."""


class Outcome(Enum):
    """What a test makes of an implementation."""

    ACCEPTS = "accepts it"
    REJECTS = "rejects it"
    FAILS = "raises another exception"


def outcome(value: Any) -> Outcome:
    """What a call of the test showed: what it returned does not matter."""
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
    """The verdict on a test; the first `public` of the `cases` may be shown with their messages."""
    judgement = _unusable(cases, public, observations)
    if judgement:
        return judgement
    made = [outcome(one.value) for one in observations]
    false = [at for at, case in enumerate(cases) if not case.raises and made[at] != Outcome.ACCEPTS]
    missed = [at for at, case in enumerate(cases) if case.raises and made[at] != Outcome.REJECTS]
    if not false and not missed:
        return Judgement(Verdict.PASS, _counted(cases, missed))
    name, hint = _earned_name(misconceptions, made)
    if false:
        text = _false_alarm(cases, public, false, observations)
        return Judgement(Verdict.FALSE_ALARM, text, name, hint, false[0])
    mutants = sum(1 for case in cases if case.raises)
    text = f"{_counted(cases, missed)} {_slipped(cases, missed, made, observations)}"
    share = 1 - len(missed) / mutants
    return Judgement(Verdict.MISSED, text, name, hint, missed[0], share)


def _unusable(
    cases: Sequence[Case], public: int, observations: Sequence[Observation]
) -> Judgement | None:
    """The verdict on what is no test: it fails, calls nothing, or does not know its own mind."""
    for at, (case, one) in enumerate(zip(cases, observations, strict=True)):
        if case.raises or outcome(one.value) is not Outcome.FAILS:
            continue
        mismatch = unasked_exception(one.value)
        what = mismatch.text if at < public else mismatch.in_general
        called = "" if one.requests else ", before it has called the implementation"
        text = f"Given a right implementation ({case.note}), {what}{called}."
        return Judgement(Verdict.EXCEPTION, text, case=at)
    for at, one in enumerate(observations):
        if not one.requests:
            return Judgement(
                Verdict.FORBIDDEN,
                "It does not call the implementation that it is given. What a test finds has to "
                "come from what the implementation returns: its source and its name are not there.",
                case=at,
            )
    for at, one in enumerate(observations):
        first = next(i for i, case in enumerate(cases) if case.arguments == cases[at].arguments)
        before = outcome(observations[first].value)
        now = outcome(one.again) if outcome(one.value) is before else outcome(one.value)
        if now is not before:
            return Judgement(
                Verdict.NONDETERMINISTIC,
                f"Given the same implementation ({cases[at].note}) again, it {now.value}; before, "
                f"it {before.value}. Does it remember an earlier call, or draw random numbers "
                "without a seed?",
                case=at,
            )
    return None


def _earned_name(
    misconceptions: Iterable[KeyedMisconception], made: Sequence[Outcome]
) -> tuple[str | None, str | None]:
    """The name and hint of the only misconception that makes the same of every implementation.

    None where all are treated alike: that can have any cause, and the message says it.
    """
    if len(set(made)) == 1:
        return None, None
    alike = [
        one
        for one in misconceptions
        if [outcome(theirs.value) for theirs in one.observations[: len(made)]] == list(made)
    ]
    return (alike[0].name, alike[0].hint) if len(alike) == 1 else (None, None)


def _counted(cases: Sequence[Case], missed: Sequence[int]) -> str:
    mutants = sum(1 for case in cases if case.raises)
    rights = len(cases) - mutants
    return (
        f"It accepts {all_of(rights, 'right implementations')}, and rejects "
        f"{mutants - len(missed)} of the {mutants} wrong ones."
    )


def _false_alarm(
    cases: Sequence[Case], public: int, false: Sequence[int], observations: Sequence[Observation]
) -> str:
    """That the test rejects a right implementation, and what it says of it."""
    at = false[0]
    raised = observations[at].value
    message = raised.message.strip()
    where = says = ""
    if at < public and raised.line:
        where = f" in line {raised.line} of its cell" + f": `{raised.code}`" * bool(raised.code)
    if message and at < public:
        says = f" It says: {message[:300]}"
    if all(outcome(one.value) is not Outcome.ACCEPTS for one in observations):
        first = f" The first right one is “{cases[at].note}”, rejected{where}." if where else ""
        return (
            "It rejects every implementation, right ones too: what does it ask for that the "
            f"docstring does not promise?{first}{says}"
        )
    return (
        f"It rejects a right implementation (“{cases[at].note}”){where}, so it earns nothing. "
        "Right ones are written in several ways, and their numbers may differ by rounding: compare "
        f"with a tolerance, and ask for no more than the docstring promises.{says}"
    )


def _slipped(
    cases: Sequence[Case],
    missed: Sequence[int],
    made: Sequence[Outcome],
    observations: Sequence[Observation],
) -> str:
    """The kinds of mutant that slipped through, and how."""
    if all(one is Outcome.ACCEPTS for one in made):
        returned = any(one.value is not None for one in observations)
        instead = (
            "What it returns counts for nothing" if returned else "What is printed is not read"
        )
        return (
            "It accepts every implementation, wrong ones too: what it asserts, if anything, they "
            f"all do. A test rejects by `assert`. {instead}, and from one implementation to the "
            "next it can remember nothing."
        )
    kinds = list(dict.fromkeys(cases[at].note for at in missed if made[at] is Outcome.ACCEPTS))
    sentences = []
    if kinds:
        left = len(kinds) - MOST_KINDS
        more = f", and {left} more kind{'s' * (left > 1)}" if left > 0 else ""
        sentences.append(f"It lets through: {'; '.join(kinds[:MOST_KINDS])}{more}.")
    failing = [at for at in missed if made[at] is Outcome.FAILS]
    if failing:
        general = unasked_exception(observations[failing[0]].value).in_general
        sentences.append(
            f"Given another ({cases[failing[0]].note}), {general}, which is no AssertionError."
        )
    return " ".join(sentences)
