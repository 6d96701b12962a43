"""Wrong and other right answers to `local_weights`."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def local__no_bell(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return weights.astype(scores.dtype)


def local__normalised_again(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    bent = weights * np.exp(-2 * (distance / reach) ** 2)
    return (bent / np.maximum(bent.sum(axis=-1, keepdims=True), 1e-300)).astype(scores.dtype)


def local__whole_length(s, scores, mask, W_p, v_p, reach):
    n = np.full((*mask.shape[:-1], 1), scores.shape[-1])
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__sigma_is_the_reach(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-0.5 * (distance / reach) ** 2)).astype(scores.dtype)


def local__bell_without_a_2(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-4 * (distance / reach) ** 2)).astype(scores.dtype)


def local__no_window(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (distance == distance)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__softmax_of_all(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    shares = np.where(mask, np.exp(np.where(mask, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (window * weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__rounded(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = np.round(n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None])
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__bell_on_the_scores(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    scores = scores * np.exp(-2 * (distance / reach) ** 2)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return weights.astype(s.dtype)


def local__tanh_forgotten(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(s @ W_p @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__mask_ignored_in_the_window(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask.any(axis=-1, keepdims=True) & (np.abs(distance) <= reach)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__window_open_at_its_ends(s, scores, mask, W_p, v_p, reach):
    n = mask.sum(axis=-1)[..., None]
    p = n / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))[..., None]
    distance = np.arange(scores.shape[-1]) - p
    window = mask & (np.abs(distance) < reach - 0.5)
    largest = np.max(scores, axis=-1, keepdims=True, where=window, initial=-1e30)
    shares = np.where(window, np.exp(np.where(window, scores - largest, 0)), 0)
    total = shares.sum(axis=-1, keepdims=True)
    weights = shares / np.where(total > 0, total, 1)
    return (weights * np.exp(-2 * (distance / reach) ** 2)).astype(scores.dtype)


def local__loop(s, scores, mask, W_p, v_p, reach):
    weights = np.zeros_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        n = int(mask[place].sum())
        p = n / (1 + np.exp(-np.tanh(s[place] @ W_p) @ v_p))
        near = [j for j in range(n) if abs(j - p) <= reach]
        if near:
            shares = np.exp(scores[place][near] - scores[place][near].max())
            bell = [np.exp(-((j - p) ** 2) / (2 * (reach / 2) ** 2)) for j in near]
            weights[place][near] = shares / shares.sum() * bell
    return weights


def local__by_logarithms(s, scores, mask, W_p, v_p, reach):
    share = 1 / (1 + np.exp(-(np.tanh(s @ W_p) @ v_p)))
    p = (mask.sum(axis=-1) * share)[..., None]
    distance = np.arange(scores.shape[-1]) - p
    masked = np.where(mask & (abs(distance) <= reach), scores, -np.inf)
    total = np.logaddexp.reduce(masked, axis=-1, keepdims=True)
    total = np.where(np.isinf(total), 0, total)
    return np.exp(masked - total - distance**2 / (reach**2 / 2)).astype(scores.dtype)


def local__bell_first(s, scores, mask, W_p, v_p, reach):
    hidden = np.tanh(np.einsum("...s,sp->...p", s, W_p))
    n = np.count_nonzero(mask, axis=-1)
    p = np.expand_dims(n * (0.5 + 0.5 * np.tanh(0.5 * (hidden * v_p).sum(axis=-1))), -1)
    positions = np.arange(scores.shape[-1])
    bell = np.exp(-0.5 * ((positions - p) / (reach / 2)) ** 2)
    inside = (positions >= p - reach) & (positions <= p + reach) & mask
    lifted = scores - np.max(np.where(inside, scores, -1e30), axis=-1, keepdims=True)
    shares = np.exp(np.where(inside, lifted, -1e30))
    total = np.maximum(shares.sum(axis=-1, keepdims=True), 1)  # the largest has exp(0)
    return np.where(inside, bell * shares / total, 0).astype(scores.dtype)


ALTERNATIVES = (local__loop, local__by_logarithms, local__bell_first)

MISCONCEPTIONS = (
    Misconception(
        "bell forgotten",
        local__no_bell,
        "Two words of the window have equal scores. Has the nearer one to p the larger "
        "weight in yours?",
    ),
    Misconception(
        "normalised again",
        local__normalised_again,
        "Does the docstring want weights that sum to 1? What is the sum for five equal scores?",
    ),
    Misconception(
        "padding counted in the length",
        local__whole_length,
        "Of which sentence is p a share: the padded one or the real one?",
    ),
    Misconception(
        "sigma is the reach",
        local__sigma_is_the_reach,
        "How wide is the bell, compared with the window?",
    ),
    Misconception(
        "the 2 of the bell forgotten",
        local__bell_without_a_2,
        "What stands under the fraction in the exponent of the bell, sigma squared or twice that?",
    ),
    Misconception(
        "window forgotten",
        local__no_window,
        "Which weight has a word that is far from p in yours? Is it exactly 0?",
    ),
    Misconception(
        "softmax over the whole source",
        local__softmax_of_all,
        "Over which words is the softmax taken? Whose exponentials stand in your denominator?",
    ),
    Misconception(
        "position rounded",
        local__rounded,
        "May p lie between two words? Is a rounded p what is asked for?",
    ),
    Misconception(
        "bell on the scores",
        local__bell_on_the_scores,
        "Is the bell a factor of the weights or of the scores? What does it do to a "
        "negative score?",
    ),
    Misconception(
        "tanh forgotten",
        local__tanh_forgotten,
        "Which function stands between W_p and v_p?",
    ),
    Misconception(
        "padding in the window",
        local__mask_ignored_in_the_window,
        "A word of the window may be padding. Which weight has it in yours?",
    ),
    Misconception(
        "window too narrow",
        local__window_open_at_its_ends,
        "With p = 2.5 and a reach of 2, which positions are in the window?",
    ),
)
