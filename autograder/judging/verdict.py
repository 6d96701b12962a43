"""Define the verdicts, and the judgement, which carries a verdict and a message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The outcome of an exercise in a submission."""

    PASS = "PASS"
    WRONG_VALUE = "WRONG_VALUE"
    WRONG_SHAPE = "WRONG_SHAPE"
    WRONG_DTYPE = "WRONG_DTYPE"
    WRONG_TYPE = "WRONG_TYPE"
    WRONG_PARAMETERS = "WRONG_PARAMETERS"
    NONFINITE = "NONFINITE"
    MUTATED_INPUT = "MUTATED_INPUT"
    MUTATED_RESULT = "MUTATED_RESULT"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    EXCEPTION = "EXCEPTION"
    WRONG_EXCEPTION = "WRONG_EXCEPTION"
    MISSED = "MISSED"
    FALSE_ALARM = "FALSE_ALARM"
    TIMEOUT = "TIMEOUT"
    MEMORY = "MEMORY"
    OUTPUT = "OUTPUT"
    KILLED = "KILLED"
    FORBIDDEN = "FORBIDDEN"
    MISSING = "MISSING"
    MALFORMED = "MALFORMED"
    GRADER_FAULT = "GRADER_FAULT"


IN_WORDS = {
    Verdict.WRONG_VALUE: "wrong value",
    Verdict.WRONG_SHAPE: "wrong shape",
    Verdict.WRONG_DTYPE: "wrong dtype",
    Verdict.WRONG_TYPE: "wrong type",
    Verdict.WRONG_PARAMETERS: "wrong parameters",
    Verdict.NONFINITE: "NaN or an infinity",
    Verdict.MUTATED_INPUT: "changed its argument",
    Verdict.MUTATED_RESULT: "changed an earlier result",
    Verdict.NONDETERMINISTIC: "two results of two equal calls",
    Verdict.EXCEPTION: "raised an exception",
    Verdict.WRONG_EXCEPTION: "wrong exception, or none",
    Verdict.MISSED: "lets wrong implementations through",
    Verdict.FALSE_ALARM: "rejects a right implementation",
    Verdict.TIMEOUT: "ran too long",
    Verdict.MEMORY: "took too much memory",
    Verdict.OUTPUT: "printed too much",
    Verdict.KILLED: "ended its process",
    Verdict.FORBIDDEN: "did what is forbidden",
    Verdict.MISSING: "no answer",
    Verdict.MALFORMED: "could not be read",
}
"""A few words for every verdict that the answer itself can cause, except PASS."""

ERRORS_SHARE = 0.25
"""The share of an exercise's points for the cases that ask for a promised exception."""

ALL_BUT_ERRORS = "Everything else is right, and earns three quarters of the points."


RIGHT_ON_PUBLIC = "Right on the public cases."
"""The first sentence of a message about a hidden case."""


@dataclass(frozen=True)
class Example:
    """A public case on which an answer is wrong: its index, its note, and the answer's value.

    `value` is text that `examples.value_of` reads.
    """

    case: int
    note: str
    value: str


@dataclass(frozen=True)
class Judgement:
    """The verdict on an exercise, with the message for the student.

    `misconception` is the name of the mistake that the answer makes, or None. `hint` is the
    question that goes with it. `case` is the index of the case that the message is about, or None:
    the first that fails, or the first that the misconception explains. `share` is the share of the
    task that is done, if not all of it: for a test that a student wrote, and for an answer that
    lacks only promised exceptions. `also` is the name of a second misconception, which the message
    explains. `example` is what the feedback page draws; only grading fills it in.
    """

    verdict: Verdict
    message: str
    misconception: str | None = None
    hint: str | None = None
    case: int | None = None
    share: float = 0.0
    also: str | None = None
    example: Example | None = None

    @property
    def passed(self) -> bool:
        """Return True for full points."""
        return self.verdict is Verdict.PASS

    @property
    def earns(self) -> bool:
        """Return True for full or partial points; every other judgement earns 0."""
        return self.passed or self.share > 0

    def points(self, maximum: int) -> float:
        """Return the points out of `maximum`; a share is rounded to a tenth of a point."""
        if self.passed or not self.share:
            return maximum if self.passed else 0
        return round(maximum * self.share, 1)


AS_GIVEN = Judgement(
    Verdict.MISSING,
    "It still behaves exactly like the buggy function you were given. Find the smallest input on "
    "which it fails: then you know where to look.",
)
"""The judgement on a debug exercise whose bug is unchanged, even if the code was rewritten.

It says nothing about the bug."""

IN_A_PROCESS = Judgement(
    Verdict.FORBIDDEN,
    "It starts a process, where the grader cannot see whether ready-made code runs. Compute the "
    "result in the function itself: writing it is the exercise.",
)
"""The judgement on an answer that starts a process although the exercise forbids something."""
