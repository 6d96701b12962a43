"""Cheap random choices, and noun phrases drawn with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from .nouns import Noun, nouns_of
from .syntax import NounPhrase
from .words import ADJECTIVE, ADJECTIVES, NUMBERS, POSSESSIVES, THE, THIS, A, Adjective, Determiner

Item = TypeVar("Item")

_BLOCK = 4096


class Draws:
    """Random choices from a NumPy generator, read in blocks of many numbers."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Draw from `rng`."""
        self._rng = rng
        self._numbers: list[float] = []

    def random(self) -> float:
        """Return a number from [0, 1)."""
        if not self._numbers:
            self._numbers = self._rng.random(_BLOCK).tolist()
        return self._numbers.pop()

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.random() < probability

    def below(self, n: int) -> int:
        """Return an integer from 0 to n - 1."""
        return int(self.random() * n)

    def choice(self, items: Sequence[Item]) -> Item:
        """Return one of `items`."""
        return items[int(self.random() * len(items))]


def _describing(kind: str, *groups: str) -> tuple[Adjective, ...]:
    return tuple(a for a in ADJECTIVES if kind in a.kinds and a.group in groups)


_KINDS = sorted({kind for adjective in ADJECTIVES for kind in adjective.kinds})
PREDICATES = {kind: _describing(kind, "before", "after") for kind in _KINDS}
"""The adjectives that may follow "is", by the kind of the subject."""
_BEFORE = {kind: _describing(kind, "before") for kind in _KINDS}
_FACTS = {
    kind: tuple(a for a in _BEFORE[kind] if a.english not in {"good", "bad"}) for kind in _KINDS
}
_AFTER = {kind: _describing(kind, "after", "origin") for kind in _KINDS}
_ORIGINS, _FIELDS = _describing("politics", "origin"), _describing("politics", "field")

_NO_POSSESSOR = {
    noun.number for noun in nouns_of("place politics weather man woman boy girl king queen")
}


def draw_noun_phrase(draw: Draws, noun: Noun, *, described: bool = True) -> NounPhrase:
    """Return a noun phrase with `noun`, and with up to two adjectives if it may be `described`."""
    if noun.kind == "name":
        return NounPhrase(THE, noun, tuple(ADJECTIVE[word] for word in noun.adjectives))
    determiner, plural = _determiner(draw, noun)
    adjectives = _adjectives(draw, noun) if described else ()
    return NounPhrase(determiner, noun, adjectives, plural)


def _determiner(draw: Draws, noun: Noun) -> tuple[Determiner, bool]:
    kind = draw.random()
    if noun.english[1] and kind < 0.18:
        plural = draw.random()
        if plural < 0.5:
            return THE, True
        return (draw.choice(NUMBERS) if plural < 0.8 else THIS), True
    if noun.kind == "weather" or kind < 0.55:
        return THE, False
    if kind < 0.72:
        return (THE if noun.mass else A), False
    if kind < 0.85 or noun.number in _NO_POSSESSOR:
        return THIS, False
    return draw.choice(POSSESSIVES), False


def _adjectives(draw: Draws, noun: Noun) -> tuple[Adjective, ...]:
    if noun.kind == "weather" or draw.chance(0.6):
        return ()
    if noun.kind == "politics":
        origin, field = draw.choice(_ORIGINS), draw.choice(_FIELDS)
        return ((origin,), (field,), (origin, field))[draw.below(3)]
    facts, after = _FACTS[noun.kind], _AFTER[noun.kind]
    if facts and draw.chance(0.15):
        return draw.choice(facts), draw.choice(after)
    return (draw.choice(_BEFORE[noun.kind] + after),)
