"""Soft and hard attention on a grid of features, the gradient of the hard one, and where it looks.

Both kinds of attention, and the penalty, are those of Xu et al. (2015), "Show, attend and tell:
neural image caption generation with visual attention". The gradient is the score-function estimator
of Williams (1992), "Simple statistical gradient-following algorithms for connectionist
reinforcement learning". The baseline of a draw from the other draws is that of Kool et al. (2019),
"Buy 4 REINFORCE samples, get a baseline for free!", and the straight-through estimator that of Jang
et al. (2017), "Categorical reparameterization with Gumbel-softmax".
"""

import numpy as np

from .alignment import additive_scores, context_vector, softmax


def grid_to_annotations(features: np.ndarray) -> np.ndarray:
    """Lay the grid of features that a CNN makes of a picture out as a set of vectors.

    features: (..., C, H, W), C channels on a grid of H rows and W columns. Returns the annotations,
    one a row, of shape (..., H * W, C). They are in reading order: the first row of the grid from
    left to right, then the second.
    """
    *leading, C, H, W = features.shape
    by_place = np.moveaxis(features, -3, -1)  # (..., H, W, C)
    return by_place.reshape(*leading, H * W, C)


def soft_attention(
    s: np.ndarray, annotations: np.ndarray, params: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Look at all places of a picture at once, at some more than at others (Xu et al. 2015, 4.2).

    s: (..., d_s), the state of the decoder. annotations: (..., L, C), one a place, with the same
    leading axes. params: the tuple (W_s, W_a, v) of a small network that scores an annotation
    against the state: (d_s, d_a), (C, d_a) and (d_a,), one hidden layer of d_a tanh units, which
    reads both, a linear output, no bias. States and scores may be large.
    Returns (context, weights) of shapes (..., C) and (..., L). The weights sum to 1, and the
    context blends the annotations by them.
    """
    W_s, W_a, v = params
    scores = additive_scores(s, annotations, W_s, W_a, v)  # (..., L)
    weights = softmax(scores)  # (..., L), sums to 1
    return context_vector(weights, annotations), weights


def hard_attention(
    scores: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | float]:
    """Look at one place, drawn at random by the softmax of the scores (Xu et al. 2015, 4.1).

    scores: (..., L). They may be large, and minus infinity at a place that must never be drawn, but
    not at all places of a row. rng: each row takes one number from it, between 0 and 1, by
    `rng.random()`, the first row the first number, and so on; `rng.random(scores.shape[:-1])` takes
    them all at once. The place drawn is the first at which the weights, added up from place 0 on,
    exceed the row's number. (`rng.choice(L, p=weights)` does just that for one row.)
    Returns (one_hot, log_probability), of shapes (..., L) and (...), both of floats: a 1 at the
    place drawn and 0 elsewhere, and the natural logarithm of the probability with which that place
    was drawn.
    """
    weights = softmax(scores)  # (..., L)
    draws = rng.random(scores.shape[:-1])  # (...)
    passed = np.cumsum(weights, axis=-1)[..., :-1] <= draws[..., None]  # (..., L - 1)
    place = np.sum(passed, axis=-1)  # (...), from 0 to L - 1
    one_hot = np.arange(scores.shape[-1]) == place[..., None]  # (..., L)
    log_probability = np.log(np.sum(weights * one_hot, axis=-1))  # (...)
    return one_hot.astype(scores.dtype), log_probability


def score_function_gradient(
    scores: np.ndarray,
    sampled: np.ndarray,
    reward: np.ndarray | float,
    baseline: np.ndarray | float,
) -> np.ndarray:
    """Estimate from one draw the gradient of the expected reward (Williams 1992).

    scores: (..., L); a place is drawn by their softmax, and they may be large. sampled: (..., L),
    one-hot, the place that was drawn. reward: (...), what the draw brought. baseline: (...), or one
    number for all; it must not depend on the draw. Leading axes broadcast: scores (L,) with sampled
    (n, L) and reward (n,) are n draws from one row.
    Returns an estimate for each draw, of shape (..., L): the direction in which the scores should
    go for a higher reward, its mean over the draws the true gradient.
    """
    advantage = np.asarray(reward - baseline)  # (...)
    return advantage[..., None] * (sampled - softmax(scores))


def rewards_of_looks(log_likelihoods: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Return what each look of a caption brought: its own word and all words after it.

    log_likelihoods: (..., m), the natural logarithm of the probability that the decoder gave to
    each true word, one word a look, in the order of the caption. real: (..., m), boolean, True for
    the words of a caption and False for the padding behind them. At the padding, a log likelihood
    may be anything, even NaN or minus infinity. m may be 0, and a caption may have no word.
    Returns the rewards, of shape (..., m): for each look the sum of the log likelihoods of its word
    and of all words after it in the same caption, and 0 at the padding.
    """
    said = np.where(real, log_likelihoods, 0)
    return np.cumsum(said[..., ::-1], axis=-1)[..., ::-1]


def leave_one_out_gradient(
    scores: np.ndarray, sampled: np.ndarray, rewards: np.ndarray
) -> np.ndarray:
    """Estimate a gradient from several draws, each judged by the others (Kool et al. 2019).

    scores: (..., L); places are drawn by their softmax, and they may be large. sampled:
    (..., k, L), one-hot, k independent draws from each row of scores. rewards: (..., k), what each
    draw brought. The baseline of a draw is the mean reward of the other k - 1 draws from its row.
    Returns the estimate of each draw, of shape (..., k, L), as the score function gives it with
    that baseline. Raises ValueError, which names the number of draws, if there are fewer than 2.
    """
    k = rewards.shape[-1]
    if k < 2:
        raise ValueError(
            f"a draw cannot be compared with others: there are {k} draws, not 2 or more"
        )
    others = (np.sum(rewards, axis=-1, keepdims=True) - rewards) / (k - 1)  # (..., k)
    return score_function_gradient(scores[..., None, :], sampled, rewards, others)


def best_baseline(scores: np.ndarray, rewards: np.ndarray) -> float:
    """Return the baseline by which the estimated gradient varies least (Greensmith et al. 2004).

    scores: (L,), of at least two places; a place is drawn by their softmax. rewards: (L,), what
    each place brings when it is drawn, all below 0. The estimate is that of one draw, by the score
    function with one number as the baseline of all draws. Its variance is summed over its L
    components. Returns the baseline that makes this sum smallest.
    """
    weights = softmax(scores)  # (L,)
    squares = 1 - 2 * weights + np.sum(weights**2)  # |one-hot - weights|^2 for each place
    return float(np.sum(weights * squares * rewards) / np.sum(weights * squares))


def straight_through_backward(
    scores: np.ndarray, noise: np.ndarray, temperature: np.ndarray, d_look: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Send a gradient back through a hard look as if it had been a soft one (Jang et al. 2017).

    scores: (..., n, L), which may be large. noise: (..., n, L), added to them. temperature:
    (..., n), positive; each row of scores plus noise is divided by its own. On the way forward the
    look is one-hot, at the largest number of the row. On the way back it is treated as the softmax
    of the row. d_look: (..., n, L), the gradient of the loss with respect to the look. Returns
    (d_scores, d_temperature), of shapes (..., n, L) and (..., n): the gradients with respect to the
    scores and to the temperatures.
    """
    tempered = (scores + noise) / temperature[..., None]
    relaxed = softmax(tempered)  # (..., n, L)
    mean = np.sum(relaxed * d_look, axis=-1, keepdims=True)  # (..., n, 1)
    d_scores = relaxed * (d_look - mean) / temperature[..., None]
    return d_scores, -np.sum(d_scores * tempered, axis=-1)


def doubly_stochastic_penalty(weights: np.ndarray) -> np.ndarray | float:
    """Return how far a caption is from having looked at every place once (Xu et al. 2015, 4.2.1).

    weights: (..., m, L): a row for each of m words, which sums to 1; m may be 0. The penalty of a
    place is the square of the difference between 1 and the sum of its weights over all words; the
    penalty of a caption, of shape (...), is the sum over its places. With m = 0 it is L.
    """
    looked = np.sum(weights, axis=-2)  # (..., L)
    return np.sum((1 - looked) ** 2, axis=-1)


def localisation(
    weights: np.ndarray, box: np.ndarray, grid_shape: tuple[int, int]
) -> np.ndarray | float:
    """Return the share of the weight that lies inside a box.

    weights: (..., H * W), over the cells of a grid in reading order; each row sums to 1.
    grid_shape: (H, W). box: (..., 4), top, left, bottom and right, in cells: from row line `top` to
    row line `bottom`, where 0 is the top edge of the grid and H its bottom edge; columns likewise.
    Top is never below bottom, nor left beyond right. Fractions are meant: of a cell that lies
    partly inside, the part of its weight counts that its area says. What is outside the grid counts
    for nothing, and a box with no area gives 0. Leading axes broadcast: one box may stand for many
    rows of weights, and many boxes may meet one row. Returns an array of shape (...).
    """
    H, W = grid_shape
    top, left, bottom, right = np.moveaxis(box, -1, 0)[..., None]  # (..., 1) each
    lines = np.arange(H + 1), np.arange(W + 1)
    rows: np.ndarray = np.diff(np.clip(lines[0], top, bottom))  # (..., H), the part inside
    columns: np.ndarray = np.diff(np.clip(lines[1], left, right))  # (..., W)
    area = rows[..., :, None] * columns[..., None, :]  # (..., H, W)
    return np.sum(weights * area.reshape(*area.shape[:-2], H * W), axis=-1)
