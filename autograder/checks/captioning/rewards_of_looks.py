"""The exercise `rewards_of_looks`: what a look brought, in captions of several lengths. To debug.

The function that is given leaves out the word of the look itself. So the last look of a caption is
never rewarded, and the shapes give no sign of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import captioning as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def rewards_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("a caption of one word", (np.array([-0.7]), np.array([True])))
    yield Case("three words", (np.array([-1.0, -2.0, -4.0]), np.ones(3, dtype=bool)))
    yield Case("three words, two of padding", _captions(rng, [3], 5, alone=True))
    yield Case("two captions, one shorter", _captions(rng, [4, 2], 4))
    yield Case("as many captions as words", _captions(rng, [3, 1, 2], 3))
    yield Case("NaN at the padding", _captions(rng, [2, 4, 1], 5, padding=np.nan))
    yield Case("minus infinity at the padding", _captions(rng, [3, 2], 4, padding=-np.inf))
    yield Case("a caption with no word, NaN at the padding", _captions(rng, [0, 3], 3, np.nan))
    yield Case("float32", _single(_captions(rng, [5, 2, 3], 5)))
    yield Case("no word at all", (np.zeros((2, 0)), np.zeros((2, 0), dtype=bool)))
    said, real = _captions(rng, [2, 3, 1, 3, 0, 2], 3)
    yield Case("three leading axes", (said.reshape(2, 1, 3, 3), real.reshape(2, 1, 3, 3)))
    said, real = _captions(rng, [4, 3], 4)
    yield Case("tiny log likelihoods", (said * 1e-9, real))


def rewards_hidden(rng: np.random.Generator) -> Iterator[Case]:
    m = int(rng.integers(5, 9))
    yield Case("one caption with padding", _captions(rng, [m - 2], m, alone=True))
    yield Case("captions of several lengths", _captions(rng, rng.integers(1, m, 4), m))
    yield Case("as many captions as words", _captions(rng, rng.integers(1, m + 1, m), m))
    yield Case("NaN at the padding", _captions(rng, rng.integers(1, m, 3), m, padding=np.nan))
    yield Case("a caption with no word", _captions(rng, rng.permutation([0, m]), m))
    yield Case("a batch of one, one word", _captions(rng, [1], 1))
    yield Case("float32", _single(_captions(rng, rng.integers(1, m, 3), m)))
    said, real = _captions(rng, rng.integers(1, m, 6), m)
    yield Case("two leading axes", (said.reshape(3, 2, m), real.reshape(3, 2, m)))


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


def rewards__own_word_left_out(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    total = np.sum(said, axis=-1, keepdims=True)
    so_far = np.cumsum(said, axis=-1)
    return np.where(real, total - so_far, 0)


def rewards__words_before(log_likelihoods, real):
    return np.where(real, np.cumsum(np.where(real, log_likelihoods, 0), axis=-1), 0)


def rewards__whole_caption(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    return np.where(real, said.sum(axis=-1, keepdims=True), 0)


def rewards__own_word_alone(log_likelihoods, real):
    return np.where(real, log_likelihoods, 0)


def rewards__padding_counted(log_likelihoods, real):
    rewards = np.cumsum(log_likelihoods[..., ::-1], axis=-1)[..., ::-1]
    return np.where(real, rewards, 0)


def rewards__zero_times_nan(log_likelihoods, real):
    said = log_likelihoods * real
    return np.cumsum(said[..., ::-1], axis=-1)[..., ::-1]


def rewards__mean(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    sums = np.cumsum(said[..., ::-1], axis=-1)[..., ::-1]
    counts = np.cumsum(real[..., ::-1], axis=-1)[..., ::-1]
    return np.where(real, sums / np.maximum(counts, 1), 0)


def rewards__order_of_the_end(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    return np.cumsum(said[..., ::-1], axis=-1)


def rewards__total_kept_at_the_padding(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    rewards = np.cumsum(said[..., ::-1], axis=-1)[..., ::-1]
    return np.where(real, rewards, said.sum(axis=-1, keepdims=True))


def rewards__own_word_added(log_likelihoods, real):
    said = np.where(real, log_likelihoods, 0)
    total = np.sum(said, axis=-1, keepdims=True)
    so_far = np.cumsum(said, axis=-1)
    return np.where(real, total - so_far + said, 0)


def rewards__backwards_in_a_loop(log_likelihoods, real):
    rewards = np.zeros_like(log_likelihoods)
    later = np.zeros(log_likelihoods.shape[:-1])
    for i in reversed(range(log_likelihoods.shape[-1])):
        later = later + np.where(real[..., i], log_likelihoods[..., i], 0)
        rewards[..., i] = np.where(real[..., i], later, 0)
    return rewards


def rewards__triangle(log_likelihoods, real):
    m = log_likelihoods.shape[-1]
    said = log_likelihoods.copy()
    said[~real] = 0
    return said @ np.tril(np.ones((m, m), dtype=said.dtype))


REWARDS_OF_LOOKS = Exercise(
    name="rewards_of_looks",
    points=2,
    difficulty=2,
    minutes=15,
    reference=solutions.rewards_of_looks,
    cases=rewards_cases,
    hidden=rewards_hidden,
    misconceptions=(
        Misconception(
            "the look's own word left out",
            rewards__own_word_left_out,
            "A look that comes just before the last word: what does it bring in yours?",
        ),
        Misconception(
            "the words before the look",
            rewards__words_before,
            "Can a look change a word that was said before it?",
        ),
        Misconception(
            "the whole caption for every look",
            rewards__whole_caption,
            "Can the third look change the first word? Should it be rewarded for it?",
        ),
        Misconception(
            "the look's own word alone",
            rewards__own_word_alone,
            "The place of a look goes into the decoder's state. Which words does that change?",
        ),
        Misconception(
            "padding counted",
            rewards__padding_counted,
            "Change a log likelihood at the padding. Does any reward of yours change?",
        ),
        Misconception(
            "zero times NaN",
            rewards__zero_times_nan,
            "What is 0 * nan, and what is 0 * -inf? Can you choose instead of multiplying?",
        ),
        Misconception(
            "the mean in place of the sum",
            rewards__mean,
            "The caption gets a longer end, all of it badly said. Does the first look's reward "
            "fall by all of it?",
        ),
        Misconception(
            "in the order of the end",
            rewards__order_of_the_end,
            "Is the first number that you return that of the first look, or that of the last?",
        ),
        Misconception(
            "the total kept at the padding",
            rewards__total_kept_at_the_padding,
            "What does the docstring ask for at the padding?",
        ),
    ),
    alternatives=(
        rewards__own_word_added,
        rewards__backwards_in_a_loop,
        rewards__triangle,
    ),
    help=(
        "Write down the rewards of a caption of two words by hand, and compare them with what the "
        "function returns.",
        "What has already been taken away from the total when the look is rewarded, and what "
        "should have been?",
        "Section “Learning from draws”.",
    ),
    promises=(
        Promise(
            "the natural logarithm of the probability that the decoder gave to each true word, "
            "one word a look, in the order of the caption",
            ("three words", "captions of several lengths", "tiny log likelihoods"),
        ),
        Promise(
            "real: (..., m), boolean, True for the words of a caption and False for the padding "
            "behind them",
            ("three words, two of padding", "two captions, one shorter", "three leading axes"),
        ),
        Promise(
            "At the padding, a log likelihood may be anything, even NaN or minus infinity",
            ("NaN at the padding", "minus infinity at the padding"),
        ),
        Promise(
            "m may be 0, and a caption may have no word",
            ("no word at all", "a caption with no word", "a batch of one, one word"),
        ),
        Promise(
            "for each look the sum of the log likelihoods of its word and of all words after it "
            "in the same caption",
            ("three words", "as many captions as words", "two leading axes"),
        ),
        Promise("and 0 at the padding", ("two captions, one shorter", "one caption with padding")),
    ),
    kind=Kind.DEBUG,
    released=rewards__own_word_left_out,
)
