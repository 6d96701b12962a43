"""The exercise `doubly_stochastic_penalty`: every place once."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import captioning as solutions

doubly_stochastic_penalty = Declaration(
    solutions.doubly_stochastic_penalty,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Add up what each place got from all words. Compare each sum with 1.",
        "Two sums over two axes, with a square between them. Which axis is counted by words?",
        "The appendix, section “Every place once?”.",
    ),
)


@doubly_stochastic_penalty.right
def loop(weights):
    penalties = np.zeros(weights.shape[:-2])
    for caption in np.ndindex(penalties.shape):
        for place in range(weights.shape[-1]):
            got = sum(row[place] for row in weights[caption])
            penalties[caption] += (got - 1) ** 2
    return penalties


@doubly_stochastic_penalty.right
def by_ones(weights):
    short = 1 - np.ones(weights.shape[-2]) @ weights
    return np.einsum("...l,...l->...", short, short)


@doubly_stochastic_penalty.right
def multiplied_out(weights):
    looked = np.einsum("...ml->...l", weights)
    total, squares = looked.sum(axis=-1), (looked * looked).sum(axis=-1)
    return weights.shape[-1] - 2 * total + squares


@doubly_stochastic_penalty.right
def plain(weights):
    short = 1 - weights.sum(axis=-2)
    return np.sum(short**2, axis=-1)


doubly_stochastic_penalty.wrong(
    "summed over the places",
    "The weights of one word sum to 1 anyway. Over which axis do you add up what one place got?",
    plain.edit("axis=-2", "axis=-1"),
)
not_squared = doubly_stochastic_penalty.wrong(
    "not squared",
    "One place got 0.5 too much, another 0.5 too little. Should that cost nothing?",
    plain.edit("short**2", "short"),
)
doubly_stochastic_penalty.wrong(
    "absolute value for square",
    "What does a place cost that got 3, and what one that got 2?",
    plain.edit("short**2", "np.abs(short)"),
)
doubly_stochastic_penalty.wrong(
    "mean over the places",
    "What does the docstring say of a caption with no word: 1 or L?",
    plain.edit("np.sum", "np.mean"),
)
doubly_stochastic_penalty.wrong(
    "each word for itself",
    "A place may get its 1 from several words together. When do you add them up: before the "
    "square, or after?",
    plain.edit("1 - weights.sum(axis=-2)", "1 - weights").edit("axis=-1", "axis=(-2, -1)"),
)
doubly_stochastic_penalty.wrong(
    "weights squared before they are added",
    "Two words look at one place with 0.5 each. What did it get, and what does it cost?",
    not_squared.edit("weights.sum(axis=-2)", "np.sum(weights**2, axis=-2)"),
)
doubly_stochastic_penalty.wrong(
    "summed over the batch",
    "Right for one caption. How many penalties do three captions have?",
    plain.edit("np.sum(short**2, axis=-1)", "np.sum(short**2)"),
)
doubly_stochastic_penalty.wrong(
    "an equal share instead of 1",
    "With which number does the docstring compare what a place got?",
    plain.edit("1 - weights", "weights.shape[-2] / weights.shape[-1] - weights"),
)
doubly_stochastic_penalty.wrong(
    "one number for each place",
    "How many numbers does the docstring ask for, for one caption?",
    plain.edit("np.sum(short**2, axis=-1)", "short**2"),
)


@doubly_stochastic_penalty.public
def _(rng):
    yield Case("two words, three places", (np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]),)).holds(
        "weights: (..., m, L): a row for each of m words, which sums to 1; m may be 0.",
        "The penalty of a place is the square of the difference between 1 and the weight that it "
        "got from all words together; the penalty of a caption, of shape (...), is the sum over "
        "its places.",
    )
    yield Case("as many words as places", (_weights(rng, (4, 4)),)).holds("weights: (...…")
    yield Case("a batch, float32", (_weights(rng, (2, 3, 5), np.float32),)).holds("weights: (...…")
    yield Case("two leading axes", (_weights(rng, (2, 3, 6, 4)),)).holds("weights: (...…")
    yield Case("no word", (np.zeros((0, 4)),)).holds("weights: (...…", "With m = 0 it is L.")
    yield Case("two captions of no word", (np.zeros((2, 0, 3)),)).holds("With m =…")
    yield Case("every place looked at once", (np.eye(3)[[2, 0, 1]],)).holds("The penalty…")
    yield Case("another batch, float32", (_weights(rng, (2, 3, 5), np.float32),)).holds(
        "weights: (...…"
    )
    yield Case("a batch of one, one word, one place", (np.ones((1, 1, 1)),)).holds("The penalty…")
    yield Case("four words, one place", (np.ones((4, 1)),)).holds("The penalty…")
    yield Case("three leading axes", (_weights(rng, (2, 1, 3, 4, 2)),)).holds("weights: (...…")


@doubly_stochastic_penalty.hidden
def _(rng):
    m, L = rng.permutation([3, 4, 5, 6])[:2]
    yield Case("one caption", (_weights(rng, (m, L)),))
    yield Case("as many words as places, a batch", (_weights(rng, (2, L, L)),))
    yield Case("as many captions as words, float32", (_weights(rng, (m, m, L), np.float32),))
    yield Case("one word", (_weights(rng, (1, L)),)).holds("weights: (...…")
    yield Case("more words than places", (_weights(rng, (3, 9, 2)),)).holds("The penalty…")
    yield Case("captions of no word", (np.zeros((2, 0, L)),)).holds("With m =…")
    yield Case("every place looked at once", (np.eye(L)[rng.permutation(L)],))
    yield Case("a batch of one", (_weights(rng, (1, m, L)),)).holds("The penalty…")
    yield Case("one place", (np.ones((2, m, 1)),)).holds("weights: (...…")
    yield Case("two leading axes", (_weights(rng, (2, 3, m, L)),))


def _weights(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: type = np.float64
) -> np.ndarray:
    """Random rows that sum to 1."""
    weights = rng.exponential(size=shape)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)
