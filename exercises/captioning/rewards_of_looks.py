"""The exercise `rewards_of_looks`: what a look brought, in captions of several lengths. To debug.

The given function leaves out the look's own word. So the last look of a caption is never rewarded,
and the shapes do not show it.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import captioning as solutions

rewards_of_looks = Declaration(
    solutions.rewards_of_looks,
    points=2,
    difficulty=2,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Write down the rewards of a caption of two words by hand, and compare them with what the "
        "function returns.",
        "What has already been subtracted from the total when a look is rewarded, and what should "
        "have been?",
        "Section “Learning from draws”.",
    ),
)


@rewards_of_looks.right
def own_word_added(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    total = np.sum(said, axis=-1, keepdims=True)
    so_far = np.cumsum(said, axis=-1)
    return np.where(real, total - so_far + said, 0)


@rewards_of_looks.right
def backwards_in_a_loop(log_likelihoods, real):
    rewards = np.zeros_like(log_likelihoods)
    later = np.zeros(log_likelihoods.shape[:-1])
    for i in reversed(range(log_likelihoods.shape[-1])):
        later = later + np.where(real[..., i], log_likelihoods[..., i], 0)
        rewards[..., i] = np.where(real[..., i], later, 0)
    return rewards


@rewards_of_looks.right
def triangle(log_likelihoods, real):
    m = log_likelihoods.shape[-1]
    said = log_likelihoods.copy()
    said[~real] = 0
    return said @ np.tril(np.ones((m, m), dtype=said.dtype))


@rewards_of_looks.right
def plain(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    rewards = np.cumsum(said[..., ::-1], axis=-1)[..., ::-1]
    return rewards


rewards_of_looks.wrong(
    "the look's own word left out",
    "Take the look just before the last word. Which reward does it get from your function?",
    own_word_added.edit("total - so_far + said", "total - so_far"),
    released=True,
)
rewards_of_looks.wrong(
    "the words before the look",
    "Can a look change a word that was written before it?",
    own_word_added.edit("total - so_far + said", "so_far"),
)
rewards_of_looks.wrong(
    "the whole caption for every look",
    "Can the third look change the first word? Should it be rewarded for it?",
    own_word_added.edit("total - so_far + said", "total"),
)
rewards_of_looks.wrong(
    "the look's own word alone",
    "The place of a look goes into the decoder's state. Which words can that change?",
    own_word_added.edit("total - so_far + said", "said"),
)
rewards_of_looks.wrong(
    "padding counted",
    "Change a log likelihood at the padding. Does any reward of yours change?",
    plain.edit("np.where(real, log_likelihoods, 0)", "log_likelihoods").edit(
        "return rewards", "return np.where(real, rewards, 0)"
    ),
)
rewards_of_looks.wrong(
    "zero times NaN",
    "What is 0 * nan, and what is 0 * -inf? Can you choose instead of multiplying?",
    plain.edit("np.where(real, log_likelihoods, 0)", "log_likelihoods * real"),
)
rewards_of_looks.wrong(
    "the mean in place of the sum",
    "Suppose that the caption gets a longer ending, and every word of it is bad. Does the first "
    "look's reward fall by the full log likelihoods of all these words?",
    plain.edit(
        "return rewards",
        "counts = np.cumsum(real[..., ::-1], axis=-1)[..., ::-1]\n"
        "return np.where(real, rewards / np.maximum(counts, 1), 0)",
    ),
)
rewards_of_looks.wrong(
    "in reverse order",
    "Does the first number that you return belong to the first look or to the last one?",
    plain.edit("return rewards", "return rewards[..., ::-1]"),
)
rewards_of_looks.wrong(
    "the total kept at the padding",
    "What does the docstring ask for at the padding?",
    plain.edit(
        "return rewards", "return np.where(real, rewards, said.sum(axis=-1, keepdims=True))"
    ),
)


@rewards_of_looks.public
def _(rng):
    yield Case("a caption of one word", (np.array([-0.7]), np.array([True])))
    yield Case("three words", (np.array([-1.0, -2.0, -4.0]), np.ones(3, dtype=bool))).holds(
        "the natural logarithm of the probability that the decoder gave to each true word, one "
        "word a look, in the order of the caption",
        "for each look the sum of the log likelihoods of its word and of all words after it in "
        "the same caption",
    )
    yield Case("three words, two of padding", _captions(rng, [3], 5, alone=True)).holds(
        "real: (..., m), boolean, True for the words of a caption and False for the padding "
        "behind them"
    )
    yield Case("two captions, one shorter", _captions(rng, [4, 2], 4)).holds(
        "real: (...…", "and 0 at the padding"
    )
    yield Case("as many captions as words", _captions(rng, [3, 1, 2], 3)).holds("for each…")
    yield Case("NaN at the padding", _captions(rng, [2, 4, 1], 5, padding=np.nan)).holds(
        "At the padding, a log likelihood may be anything, even NaN or minus infinity"
    )
    yield Case("minus infinity at the padding", _captions(rng, [3, 2], 4, padding=-np.inf)).holds(
        "At the padding…"
    )
    yield Case("a caption without words, NaN at the padding", _captions(rng, [0, 3], 3, np.nan))
    yield Case("float32", _single(_captions(rng, [5, 2, 3], 5)))
    yield Case("no words at all", (np.zeros((2, 0)), np.zeros((2, 0), dtype=bool))).holds(
        "m may be 0, and a caption may have no word"
    )
    said, real = _captions(rng, [2, 3, 1, 3, 0, 2], 3)
    yield Case("three leading axes", (said.reshape(2, 1, 3, 3), real.reshape(2, 1, 3, 3))).holds(
        "real: (...…"
    )
    said, real = _captions(rng, [4, 3], 4)
    yield Case("tiny log likelihoods", (said * 1e-9, real)).holds("the natural…")


@rewards_of_looks.hidden
def _(rng):
    m = int(rng.integers(5, 9))
    yield Case("one caption with padding", _captions(rng, [m - 2], m, alone=True)).holds(
        "and 0 at…"
    )
    yield Case("captions of several lengths", _captions(rng, rng.integers(1, m, 4), m)).holds(
        "the natural…"
    )
    yield Case("as many captions as words", _captions(rng, rng.integers(1, m + 1, m), m))
    yield Case("NaN at the padding", _captions(rng, rng.integers(1, m, 3), m, padding=np.nan))
    yield Case("a caption without words", _captions(rng, rng.permutation([0, m]), m)).holds(
        "m may be…"
    )
    yield Case("a batch of one, one word", _captions(rng, [1], 1)).holds("m may be…")
    yield Case("float32", _single(_captions(rng, rng.integers(1, m, 3), m)))
    said, real = _captions(rng, rng.integers(1, m, 6), m)
    yield Case("two leading axes", (said.reshape(3, 2, m), real.reshape(3, 2, m))).holds(
        "for each…"
    )


def _captions(
    rng: np.random.Generator,
    lengths: list[int] | np.ndarray,
    m: int,
    padding: float = -3.5,
    alone: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Random log likelihoods of captions with so many words, and which words are real."""
    real = np.arange(m) < np.asarray(lengths)[:, None]
    said = np.where(real, -rng.exponential(size=real.shape), padding)
    return (said[0], real[0]) if alone else (said, real)


def _single(inputs: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return inputs[0].astype(np.float32), inputs[1]
