"""The exercise `doubly_stochastic_penalty`: every place once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import captioning as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def penalty_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two words, three places", (np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]),))
    yield Case("as many words as places", (_weights(rng, (4, 4)),))
    yield Case("a batch, float32", (_weights(rng, (2, 3, 5), np.float32),))
    yield Case("two leading axes", (_weights(rng, (2, 3, 6, 4)),))
    yield Case("no word", (np.zeros((0, 4)),))
    yield Case("two captions of no word", (np.zeros((2, 0, 3)),))
    yield Case("every place looked at once", (np.eye(3)[[2, 0, 1]],))
    yield Case("another batch, float32", (_weights(rng, (2, 3, 5), np.float32),))
    yield Case("a batch of one, one word, one place", (np.ones((1, 1, 1)),))
    yield Case("four words, one place", (np.ones((4, 1)),))
    yield Case("three leading axes", (_weights(rng, (2, 1, 3, 4, 2)),))


def penalty_hidden(rng: np.random.Generator) -> Iterator[Case]:
    m, L = rng.permutation([3, 4, 5, 6])[:2]
    yield Case("one caption", (_weights(rng, (m, L)),))
    yield Case("as many words as places, a batch", (_weights(rng, (2, L, L)),))
    yield Case("as many captions as words, float32", (_weights(rng, (m, m, L), np.float32),))
    yield Case("one word", (_weights(rng, (1, L)),))
    yield Case("more words than places", (_weights(rng, (3, 9, 2)),))
    yield Case("captions of no word", (np.zeros((2, 0, L)),))
    yield Case("every place looked at once", (np.eye(L)[rng.permutation(L)],))
    yield Case("a batch of one", (_weights(rng, (1, m, L)),))
    yield Case("one place", (np.ones((2, m, 1)),))
    yield Case("two leading axes", (_weights(rng, (2, 3, m, L)),))


def _weights(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: type = np.float64
) -> np.ndarray:
    """Random rows that sum to 1."""
    weights = rng.exponential(size=shape)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)


def penalty__over_places(weights):
    return np.sum((1 - weights.sum(axis=-1)) ** 2, axis=-1)


def penalty__not_squared(weights):
    return np.sum(1 - weights.sum(axis=-2), axis=-1)


def penalty__absolute(weights):
    return np.sum(np.abs(1 - weights.sum(axis=-2)), axis=-1)


def penalty__mean(weights):
    return np.mean((1 - weights.sum(axis=-2)) ** 2, axis=-1)


def penalty__each_word(weights):
    return np.sum((1 - weights) ** 2, axis=(-2, -1))


def penalty__squared_first(weights):
    return np.sum(1 - np.sum(weights**2, axis=-2), axis=-1)


def penalty__whole_batch(weights):
    return np.sum((1 - weights.sum(axis=-2)) ** 2)


def penalty__fair_share(weights):
    m, L = weights.shape[-2:]
    return np.sum((m / L - weights.sum(axis=-2)) ** 2, axis=-1)


def penalty__each_place(weights):
    return (1 - weights.sum(axis=-2)) ** 2


def penalty__loop(weights):
    penalties = np.zeros(weights.shape[:-2])
    for caption in np.ndindex(penalties.shape):
        for place in range(weights.shape[-1]):
            got = sum(row[place] for row in weights[caption])
            penalties[caption] += (got - 1) ** 2
    return penalties


def penalty__by_ones(weights):
    short = 1 - np.ones(weights.shape[-2]) @ weights
    return np.einsum("...l,...l->...", short, short)


def penalty__multiplied_out(weights):
    looked = np.einsum("...ml->...l", weights)
    total, squares = looked.sum(axis=-1), (looked * looked).sum(axis=-1)
    return weights.shape[-1] - 2 * total + squares


DOUBLY_STOCHASTIC_PENALTY = Exercise(
    name="doubly_stochastic_penalty",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.doubly_stochastic_penalty,
    cases=penalty_cases,
    hidden=penalty_hidden,
    misconceptions=(
        Misconception(
            "summed over the places",
            penalty__over_places,
            "The weights of one word sum to 1 anyway. Over which axis do you add up what one place "
            "got?",
        ),
        Misconception(
            "not squared",
            penalty__not_squared,
            "One place got 0.5 too much, another 0.5 too little. Should that cost nothing?",
        ),
        Misconception(
            "absolute value for square",
            penalty__absolute,
            "What does a place cost that got 3, and what one that got 2?",
        ),
        Misconception(
            "mean over the places",
            penalty__mean,
            "What does the docstring say of a caption with no word: 1 or L?",
        ),
        Misconception(
            "each word for itself",
            penalty__each_word,
            "A place may get its 1 from several words together. When do you add them up: before "
            "the square, or after?",
        ),
        Misconception(
            "weights squared before they are added",
            penalty__squared_first,
            "Two words look at one place with 0.5 each. What did it get, and what does it cost?",
        ),
        Misconception(
            "summed over the batch",
            penalty__whole_batch,
            "Right for one caption. How many penalties do three captions have?",
        ),
        Misconception(
            "an equal share instead of 1",
            penalty__fair_share,
            "With which number does the docstring compare what a place got?",
        ),
        Misconception(
            "one number for each place",
            penalty__each_place,
            "How many numbers does the docstring ask for, for one caption?",
        ),
    ),
    alternatives=(
        penalty__loop,
        penalty__by_ones,
        penalty__multiplied_out,
    ),
    help=(
        "Add up what each place got from all words. Compare each sum with 1.",
        "Two sums over two axes, with a square between them. Which axis is counted by words?",
        "The appendix, section “Every place once?”.",
    ),
    promises=(
        Promise(
            "weights: (..., m, L): a row for each of m words, which sums to 1; m may be 0.",
            (
                "two words, three places",
                "as many words as places",
                "a batch, float32",
                "another batch, float32",
                "two leading axes",
                "three leading axes",
                "one word",
                "one place",
                "no word",
            ),
        ),
        Promise(
            "The penalty of a place is the square of the difference between 1 and the weight that "
            "it got from all words together; the penalty of a caption, of shape (...), is the sum "
            "over its places.",
            (
                "two words, three places",
                "more words than places",
                "every place looked at once",
                "a batch of one, one word, one place",
                "four words, one place",
                "a batch of one",
            ),
        ),
        Promise(
            "With m = 0 it is L.", ("no word", "two captions of no word", "captions of no word")
        ),
    ),
)
