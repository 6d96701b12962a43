"""What a submission is asked: the public cases, the hidden ones that it gets, and what is right."""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..exercise.model import Assignment, Exercise, public_cases
from ..judging.judge import AnswerKey, build_key, with_hidden
from ..sandbox.limits import LIMITS

DRAWS = 4
"""So many draws of hidden cases a course has; the digest of a submission chooses one."""

TIMES_THE_REFERENCE = 20
"""So many times as long as the reference may a right answer take."""

CALLS = 3
"""So often is an answer called for each case: once in the first pass, twice in the second. The
reference is called once."""


@dataclass(frozen=True)
class Question:
    """An exercise to observe: its public key, its whole key, and the seconds of its calls."""

    public: AnswerKey
    whole: AnswerKey
    seconds: float

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self.whole.exercise


def draw_questions(assignment: Assignment, course_key: bytes, digest: str) -> list[Question]:
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
    return Question(public, whole, LIMITS.seconds + TIMES_THE_REFERENCE * CALLS * seconds)


@lru_cache(maxsize=1024)
def _public_key(one: Exercise) -> tuple[AnswerKey, float]:
    """The key for the public cases, and the seconds of a processor that the reference took."""
    begun = time.process_time()
    key = build_key(one, public_cases(one), ())
    return key, time.process_time() - begun
