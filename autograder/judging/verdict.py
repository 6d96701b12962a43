"""The verdicts, and the judgement that carries one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What became of one exercise of one submission."""

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
    TIMEOUT = "TIMEOUT"
    MEMORY = "MEMORY"
    OUTPUT = "OUTPUT"
    KILLED = "KILLED"
    FORBIDDEN = "FORBIDDEN"
    MISSING = "MISSING"
    MALFORMED = "MALFORMED"
    GRADER_FAULT = "GRADER_FAULT"


@dataclass(frozen=True)
class Judgement:
    """The verdict on one exercise, with what a student should read.

    `misconception` is the name of the mistake that the answer equals, or None. `hint` is the
    question that goes with it. `case` is the index of the first case that failed, or None.
    """

    verdict: Verdict
    message: str
    misconception: str | None = None
    hint: str | None = None
    case: int | None = None

    @property
    def passed(self) -> bool:
        """True for full points; there is no other way to points."""
        return self.verdict is Verdict.PASS
