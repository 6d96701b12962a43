"""Choose the public and hidden cases on which a submission runs, and compute the right answers."""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..exercise.model import Assignment, Exercise, public_cases
from ..judging.keys import AnswerKey, build_key, with_hidden
from ..sandbox.limits import LIMITS

DRAWS = 4
"""The number of draws of hidden cases in a course; the digest of a submission chooses one."""

TIMES_THE_REFERENCE = 20
"""A right answer may take up to this many times as long as the reference."""

CALLS = 3
"""The number of calls of an answer per case: one in the first pass, two in the second. The
reference is called once."""


@dataclass(frozen=True)
class Question:
    """An exercise to observe: its public key, its whole key, and the seconds its calls may take."""

    public: AnswerKey
    whole: AnswerKey
    seconds: float

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self.whole.exercise


def draw_questions(assignment: Assignment, course_key: bytes, digest: str) -> list[Question]:
    """Return a question for every exercise, with the right answers to its public and hidden cases.

    The hidden cases are one of DRAWS draws, seeded with HMAC(course key, exercise, draw). They
    cannot be predicted, and the same submission always gets the same ones.
    """
    message = f"{digest}\n{assignment.name}".encode()
    draw = hmac.new(course_key, message, hashlib.sha256).digest()[0] % DRAWS
    return [_question(exercise, course_key, draw) for exercise in assignment.exercises]


@lru_cache(maxsize=1024)
def _question(exercise: Exercise, course_key: bytes, draw: int) -> Question:
    public, public_seconds = _public_key(exercise)
    seed = hmac.new(course_key, f"{exercise.name}\n{draw}".encode(), hashlib.sha256).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "little"))
    started = time.process_time()
    whole = with_hidden(public, exercise, tuple(exercise.hidden(rng)))
    seconds = public_seconds + time.process_time() - started
    return Question(public, whole, LIMITS.seconds + TIMES_THE_REFERENCE * CALLS * seconds)


@lru_cache(maxsize=1024)
def _public_key(exercise: Exercise) -> tuple[AnswerKey, float]:
    """Return the key for the public cases, and the reference's processor time in seconds."""
    started = time.process_time()
    key = build_key(exercise, public_cases(exercise), ())
    return key, time.process_time() - started
