"""Random sentences of one to eight clauses, and pairs made from them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from . import english
from .clauses import matrix, question, statement, with_relative
from .draws import Draws
from .pairs import Language, Pair, grammar_of, translate
from .splits import Split
from .syntax import Segment, Sentence
from .words import PHRASES, THAT

SHORTEST, LONGEST = 3, 60
"""The fewest and the most source tokens of a pair, including the final punctuation mark."""

_MOST_CLAUSES = 8


def sample_pairs(
    language: Language,
    n: int,
    rng: np.random.Generator,
    clauses: tuple[int, int] = (1, _MOST_CLAUSES),
    split: Split = "train",
) -> list[Pair]:
    """Return `n` pairs of English and `language` ("german" or "french").

    The number of clauses is drawn uniformly between the two bounds `clauses`, both included. A
    source has 3 to 60 tokens. The same state of `rng` gives the same pairs, and the same English
    sentences for both languages. `rng` is read in blocks, so two calls do not give the same pairs
    as one large call. Raises ValueError for an unknown language or split, a negative `n`, or bounds
    that are not 1 <= lower <= upper <= 8.
    """
    grammar_of(language)
    with _uncollected():
        return [translate(s, language) for s in sample_sentences(n, rng, clauses, split)]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switch off Python's cyclic garbage collector, which would scan all kept objects again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def sample_sentences(
    n: int,
    rng: np.random.Generator,
    clauses: tuple[int, int] = (1, _MOST_CLAUSES),
    split: Split = "train",
) -> list[Sentence]:
    """Return `n` abstract sentences, from which `sample_pairs` makes its pairs."""
    low, high = clauses
    if not 1 <= low <= high <= _MOST_CLAUSES:
        raise ValueError(f"clauses must be two bounds from 1 to 8, the lower first; got {clauses}")
    if split not in {"train", "test"}:
        raise ValueError(f"split must be 'train' or 'test'; got {split!r}")
    if n < 0:
        raise ValueError(f"n must not be negative; got {n}")
    draw = Draws(rng)
    return [_sentence(draw, low + draw.below(high - low + 1), split) for _ in range(n)]


def _sentence(draw: Draws, count: int, split: Split) -> Sentence:
    """Return a sentence of `count` clauses that is not too long."""
    while True:
        segments: list[Segment] = []
        left = count
        while left:
            unit, used = _unit(draw, left, split)
            if segments:
                unit[0] = replace(unit[0], coordinator=draw.choice(PHRASES["coordinator"]))
            segments += unit
            left -= used
        if len(english.sentence(tuple(segments))) <= LONGEST:
            return tuple(segments)


def _unit(draw: Draws, left: int, split: Split) -> tuple[list[Segment], int]:
    """Return a main clause with its subordinate clauses, and the number of all, at most `left`.

    Only the last clause of a sentence asks a question.
    """
    kind = draw.random()
    if left == 1 or kind < 0.3:
        if left == 1 and draw.chance(0.25):
            return [Segment(question(draw, split))], 1
        return [Segment(statement(draw, split, time_first=True))], 1
    if kind < 0.5:
        clause = statement(draw, split, time_first=True)
        described = with_relative(draw, clause, split)
        return ([Segment(described)], 2) if described else ([Segment(clause)], 1)
    if kind < 0.7:
        return _reported(draw, left, split)
    conjunction = draw.choice(PHRASES["subordinator"])
    if kind < 0.85:
        first = Segment(statement(draw, split), subordinator=conjunction, fronted=True)
        return [first, Segment(statement(draw, split))], 2
    last = Segment(statement(draw, split), subordinator=conjunction)
    return [Segment(statement(draw, split, time_first=True)), last], 2


def _reported(draw: Draws, left: int, split: Split) -> tuple[list[Segment], int]:
    """Return "A says that B"; B may contain another "that" while clauses are left."""
    segments = [Segment(matrix(draw, split))]
    while len(segments) < left - 1 and draw.chance(0.2):
        segments.append(Segment(matrix(draw, split), subordinator=THAT))
    segments.append(Segment(statement(draw, split), subordinator=THAT))
    return segments, len(segments)
