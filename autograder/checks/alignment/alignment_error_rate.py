"""The exercise `alignment_error_rate`: where the decoder looked, against the gold alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Misconception

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


def error_rate__precision_only(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not claimed.any():
        return 0.0
    return float(1 - (claimed & (sure | possible)).sum() / claimed.sum())


def error_rate__recall_only(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not sure.any():
        return 0.0
    return float(1 - (claimed & sure).sum() / sure.sum())


def error_rate__sure_and_possible_swapped(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    either = sure | possible
    if not (claimed.any() or either.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & either).sum()
    return float(1 - agreed / (claimed.sum() + either.sum()))


def error_rate__agreement(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(agreed / (claimed.sum() + sure.sum()))


def error_rate__one_link_a_column(weights, sure, possible):
    claimed = (weights > 0) & (
        np.arange(weights.shape[0])[:, None] == weights.argmax(axis=0, keepdims=True)
    )
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__threshold(weights, sure, possible):
    claimed = weights > 0.5
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__soft_links(weights, sure, possible):
    total = weights.sum() + sure.sum()
    if total == 0:
        return 0.0
    agreed = (weights * sure).sum() + (weights * (sure | possible)).sum()
    return float(1 - agreed / total)


def error_rate__all_of_the_largest(weights, sure, possible):
    claimed = (weights > 0) & (weights == weights.max(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__possible_forgotten(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    return float(1 - 2 * (claimed & sure).sum() / (claimed.sum() + sure.sum()))


def error_rate__sure_not_taken_for_possible(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    if not (claimed.any() or sure.any()):
        return 0.0
    agreed = (claimed & sure).sum() + (claimed & possible).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__rows_of_zeros_claim(weights, sure, possible):
    claimed = np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


def error_rate__nothing_by_nothing(weights, sure, possible):
    claimed = (weights > 0) & (np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True))
    agreed = (claimed & sure).sum() + (claimed & (sure | possible)).sum()
    return float(1 - agreed / (claimed.sum() + sure.sum()))


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
    misconceptions=(
        Misconception(
            "precision only",
            error_rate__precision_only,
            "A model that claims one link, and a right one: which of its faults does your rate not "
            "see?",
        ),
        Misconception(
            "recall only",
            error_rate__recall_only,
            "Is a claimed link that is in neither table an error? Does your rate grow with it?",
        ),
        Misconception(
            "sure and possible swapped",
            error_rate__sure_and_possible_swapped,
            "Must every possible link be found? Which of the two tables says what must be there?",
        ),
        Misconception(
            "agreement in place of error",
            error_rate__agreement,
            "What does your function return for a perfect alignment, and what should it?",
        ),
        Misconception(
            "one link a column",
            error_rate__one_link_a_column,
            "Who claims links, the target tokens or the source tokens? Along which axis does a row "
            "run?",
        ),
        Misconception(
            "every weight above one half",
            error_rate__threshold,
            "A row has the weights 0.4, 0.3, 0.3. Which link does it claim in yours?",
        ),
        Misconception(
            "weights summed in place of links counted",
            error_rate__soft_links,
            "How many links does a row claim in your function? Does the rate change when the "
            "largest weight grows and stays the largest?",
        ),
        Misconception(
            "every one of the largest claimed",
            error_rate__all_of_the_largest,
            "Two weights of a row are equal and the largest. How many links may the row claim?",
        ),
        Misconception(
            "possible links forgotten",
            error_rate__possible_forgotten,
            "A row claims a link that is possible and not sure. Is that an error?",
        ),
        Misconception(
            "sure links not taken for possible",
            error_rate__sure_not_taken_for_possible,
            "Some tables list in `possible` only what is not sure. What does the docstring say of "
            "a sure link?",
        ),
        Misconception(
            "rows of zeros claim a link",
            error_rate__rows_of_zeros_claim,
            "What does argmax return for a row of zeros? Did that row look anywhere?",
        ),
        Misconception(
            "nothing divided by nothing",
            error_rate__nothing_by_nothing,
            "No link is claimed and none is sure. What do you divide by?",
        ),
    ),
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
)
