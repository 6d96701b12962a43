"""What is computed for a proof: cases, keys, and what each answer does on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ..exercise.model import Case, Exercise, Misconception, public_cases
from ..judging.judge import judge
from ..judging.keys import AnswerKey, KeyedMisconception, build_key, observe_quietly
from ..judging.verdict import Judgement
from ..probe.values import Observation

__all__ = ["Evidence", "draw"]


def draw(exercise: Exercise, seed: int) -> tuple[Case, ...]:
    """Draw the hidden cases of an exercise; the same seed draws the same cases."""
    digest = hashlib.sha256(f"{exercise.name} {seed}".encode()).digest()
    return tuple(exercise.hidden(np.random.default_rng(int.from_bytes(digest, "little"))))


class Evidence:
    """The keys of an exercise, and what answers do on their cases.

    There is a key for the public cases, as in the self-check, and for each seed one with the hidden
    cases alone and one with both, as the grader uses it. Raises ValueError where the reference
    itself fails on a case.
    """

    def __init__(self, exercise: Exercise, seeds: Sequence[int]) -> None:
        """Draw the hidden cases of each seed."""
        self.exercise = exercise
        self.public = public_cases(exercise)
        self.draws = [draw(exercise, seed) for seed in seeds]
        self.places = ["the public cases"]
        self.places += [f"the hidden cases of draw {seed}" for seed in seeds]
        self.places += [f"public and hidden cases of draw {seed}" for seed in seeds]
        self.observations = cache(self._observe)

    @cached_property
    def keys(self) -> list[AnswerKey]:
        """The keys, in the order of `places`."""
        keys = [build_key(self.exercise, self.public, ())]
        keys += [build_key(self.exercise, (), hidden) for hidden in self.draws]
        keys += [build_key(self.exercise, self.public, hidden) for hidden in self.draws]
        return [
            replace(key, misconceptions=self._misconceptions(place))
            for place, key in enumerate(keys)
        ]

    def _misconceptions(self, place: int) -> tuple[KeyedMisconception, ...]:
        """Return the misconceptions of a key; each runs once for all keys."""
        return tuple(
            KeyedMisconception(
                misconception.name,
                misconception.hint,
                partial(self._observed_at, misconception, place),
            )
            for misconception in self.exercise.misconceptions
        )

    def _observed_at(self, misconception: Misconception, place: int) -> tuple[Observation, ...]:
        return self.observations(misconception.wrong)[place]

    def _observe(self, answer: Callable[..., Any]) -> list[tuple[Observation, ...]]:
        """Return what `answer` does on the cases of each key.

        It is called once on each case, because what it does there depends on no other case.
        """
        public, *hidden = (
            tuple(observe_quietly(answer, cases)) for cases in (self.public, *self.draws)
        )
        return [public, *hidden, *((*public, *observations) for observations in hidden)]

    def judgements(self, answer: Callable[..., Any]) -> Iterator[tuple[str, Judgement]]:
        """Yield each place with the judgement of `answer` on its cases."""
        observed = self.observations(answer)
        for place, key, observations in zip(self.places, self.keys, observed, strict=True):
            yield place, judge(key, observations)
