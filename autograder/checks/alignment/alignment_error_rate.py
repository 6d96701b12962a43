"""The exercise `alignment_error_rate`: where the decoder looked, against the gold alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Promise
from .alignment_error_rate_wrong import MISCONCEPTIONS

LINKS: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...] = (
    # the peak of the row, its places of sure links, of links that are possible only
    (0, (0,), ()),  # right
    (1, (1,), ()),  # right
    (2, (), (2,)),  # an article: right, and only possible
    (3, (4,), (3, 1)),  # finds what is possible, misses what is sure
    (0, (3,), ()),  # wrong
    (4, (2, 4), ()),  # a contraction: one link of two
    (1, (), ()),  # a word that nothing stands for
)
"""A small alignment problem in which every count that a formula may use is another number."""


def rate_cases(rng: np.random.Generator) -> Iterator[Case]:
    weights = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    sure = np.array([[True, False, False], [False, True, False]])
    yield Case("two words, one of them right", (weights, sure, sure.copy()))
    yield Case("sure and possible links", _problem(rng, range(7)))
    yield Case("as many target words as source words", _problem(rng, (0, 2, 3, 4, 5)))
    weights, sure, possible = _problem(rng, range(7))
    yield Case("a sure link that `possible` lacks", (weights, sure, possible & ~sure))
    weights, sure, possible = _problem(rng, range(7))
    weights[[0, 4]] = 0
    yield Case("two rows of zeros", (weights, sure, possible))
    yield Case("two weights that are the largest", _tied(rng))
    nothing = np.zeros((2, 3))
    yield Case("nothing claimed, nothing sure", (nothing, nothing > 0, nothing > 0))
    yield Case("float32", _problem(rng, (1, 3, 2, 6, 5, 0, 4, 4), np.float32))
    weights, sure, possible = _problem(rng, range(7))
    yield Case("links claimed, none sure", (weights, sure & False, possible))
    yield Case("no link claimed, some sure", (weights * 0, sure, possible))
    yield Case(
        "rows of tiny weights", (weights * 10.0 ** -np.arange(2, 23, 3)[:, None], sure, possible)
    )
    yield Case("a largest weight that is hardly larger", _nearly_tied(rng))
    yield Case("no target word", (np.zeros((0, 3)), np.zeros((0, 3), bool), np.zeros((0, 3), bool)))
    yield Case("one target word", _problem(rng, (3,)))
    one = np.ones((2, 1))
    yield Case("one source word", (one, one > 0, one > 0))


def rate_hidden(rng: np.random.Generator) -> Iterator[Case]:
    extra = rng.integers(0, 6, size=2)
    yield Case("sure and possible links", _problem(rng, (*range(7), *extra)))
    yield Case("more source words than target words", _problem(rng, (0, 2, 3, 4)))
    weights, sure, possible = _problem(rng, (*range(6), *extra))
    yield Case("sure links that `possible` lacks", (weights, sure, possible & ~sure))
    weights, sure, possible = _problem(rng, (*range(7), extra[0]))
    weights[rng.permutation(7)[:3]] = 0
    yield Case("three rows of zeros", (weights, sure, possible))
    yield Case("two weights that are the largest", _tied(rng))
    nothing = np.zeros((3, 2))
    yield Case("nothing claimed, nothing sure", (nothing, nothing > 0, nothing > 0))
    yield Case("float32", _problem(rng, (*extra, *range(7)), np.float32))
    weights, sure, possible = _problem(rng, (*range(7), *extra))
    yield Case("links claimed, none sure", (weights, sure & False, possible))
    yield Case("no link claimed, some sure", (weights * 0, sure, possible))
    small = 10.0 ** rng.uniform(-30, -10, size=(9, 1))
    yield Case("rows of tiny weights", (weights * small, sure, possible))
    yield Case("a largest weight that is hardly larger", _nearly_tied(rng))
    nobody = np.zeros((0, int(rng.integers(2, 6))))
    yield Case("no target word", (nobody, nobody > 0, nobody > 0))
    yield Case("one target word", _problem(rng, (3,)))
    gold = np.arange(4)[:, None] > rng.integers(1, 4)
    yield Case("one source word", (rng.uniform(0.1, 1, size=(4, 1)), gold, gold))


def _problem(
    rng: np.random.Generator, rows: Iterable[int], dtype: type = float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights with the peaks of LINKS in `rows`, and the gold; the five places are shuffled.

    The first row has its peak below one half.
    """
    place = rng.permutation(5)
    chosen = [LINKS[row] for row in rows]
    shape = (len(chosen), 5)
    weights, sure = rng.uniform(0.5, 1, size=shape), np.zeros(shape, bool)
    possible = np.zeros(shape, bool)
    for i, (peak, sure_places, possible_places) in enumerate(chosen):
        weights[i, place[peak]] = 1.2 if i == 0 else 6
        sure[i, place[np.array(sure_places, dtype=int)]] = True
        either = np.array(sure_places + possible_places, dtype=int)
        possible[i, place[either]] = True
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights.astype(dtype), sure, possible


def _tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three rows; the second has two largest weights, and the sure link is the first of them."""
    weights = np.array([[0.1, 0.8, 0.1, 0.0], [0.1, 0.4, 0.1, 0.4], [0.6, 0.2, 0.1, 0.1]])
    gold = np.zeros((3, 4), dtype=bool)
    gold[[0, 1, 2], [1, 1, int(rng.integers(0, 4))]] = True
    return weights, gold, gold.copy()


def _nearly_tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, with the second of the two larger by a hair, and the sure link there."""
    weights, gold, _ = _tied(rng)
    weights[1, 3] += 1e-9
    gold[1] = [False, False, False, True]
    return weights, gold, gold.copy()


def error_rate__sets_of_pairs(weights, sure, possible):
    wanted = {(int(i), int(j)) for i, j in np.argwhere(sure)}
    allowed = wanted | {(int(i), int(j)) for i, j in np.argwhere(possible)}
    claimed = {(i, int(np.argmax(row))) for i, row in enumerate(weights) if max(row) > 0}
    if not claimed and not wanted:
        return 0.0
    agreed = len(claimed & wanted) + len(claimed & allowed)
    return 1 - agreed / (len(claimed) + len(wanted))


def error_rate__loop(weights, sure, possible):
    claimed = hits = near = 0
    for i in range(len(weights)):
        best = 0
        for j in range(1, len(weights[i])):
            if weights[i, j] > weights[i, best]:
                best = j
        if weights[i, best] > 0:
            claimed += 1
            hits += int(sure[i, best])
            near += int(sure[i, best] or possible[i, best])
    total = claimed + int(sure.sum())
    return 1 - (hits + near) / total if total else 0.0


def error_rate__by_gathering(weights, sure, possible):
    best = weights.argmax(axis=-1)[:, None]
    claims = np.take_along_axis(weights, best, axis=-1) > 0
    hits = np.take_along_axis(sure, best, axis=-1)[claims]
    near = np.take_along_axis(sure | possible, best, axis=-1)[claims]
    total = claims.sum() + sure.sum()
    wrong = total - hits.sum() - near.sum()
    return float(wrong / max(total, 1))


ALIGNMENT_ERROR_RATE = Exercise(
    name="alignment_error_rate",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.alignment_error_rate,
    cases=rate_cases,
    hidden=rate_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        error_rate__sets_of_pairs,
        error_rate__loop,
        error_rate__by_gathering,
    ),
    help=(
        "Make a boolean table of the claimed links, then count what it shares with each of the two "
        "gold tables.",
        "Precision asks the possible links, recall the sure ones, and the rate is 1 less the two "
        "counts of agreement over the two counts of links.",
        "Section “How wrong is an alignment?”.",
    ),
    promises=(
        Promise(
            "weights: (m, n), not negative, a row for each target token, m may be 0, n at least 1.",
            (
                "as many target words as source words",
                "more source words than target words",
                "no target word",
                "one target word",
                "one source word",
                "float32",
            ),
        ),
        Promise(
            "sure and possible: boolean (m, n), the gold links; a sure link is possible too, "
            "whether or not `possible` has it.",
            (
                "sure and possible links",
                "a sure link that `possible` lacks",
                "sure links that `possible` lacks",
            ),
        ),
        Promise(
            "Each row of the weights claims one link, to its largest weight, however small that "
            "is: to the first, if several are the largest.",
            (
                "rows of tiny weights",
                "two weights that are the largest",
                "a largest weight that is hardly larger",
            ),
        ),
        Promise("A row of zeros claims none.", ("two rows of zeros", "three rows of zeros")),
        Promise(
            "Returns Och and Ney's alignment error rate (2003) as a float: 0 is best, 1 is worst.",
            (
                "sure and possible links",
                "links claimed, none sure",
                "no link claimed, some sure",
            ),
        ),
        Promise(
            "It is 0.0 if no link is claimed and none is sure.",
            ("nothing claimed, nothing sure", "no target word"),
        ),
    ),
)
