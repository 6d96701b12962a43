"""What `test_masked_blend` tells apart: masked blends, right ones in several styles and mutants.

Each is written out, because only its own lines reach the process in which it runs.
"""

from __future__ import annotations

import numpy as np

from ...judging.written_tests import mutant, right


def minus_infinity(scores, values, mask):
    scores = np.where(mask, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1) @ values


def query_by_query(scores, values, mask):
    output = np.zeros((len(scores), values.shape[1]))
    for i, seen in enumerate(mask):
        if seen.any():
            weights = np.exp(scores[i, seen] - scores[i, seen].max())
            output[i] = weights @ values[seen] / weights.sum()
    return output


def by_logarithms(scores, values, mask):
    total = np.full(len(scores), -np.inf)
    for key in range(scores.shape[1]):
        total = np.where(mask[:, key], np.logaddexp(total, scores[:, key]), total)
    shifted = scores - np.where(np.isfinite(total), total, 0)[:, None]
    weights = np.exp(np.where(mask, shifted, -np.inf))
    return np.einsum("qk,kd->qd", weights, values)


def running(scores, values, mask):
    output = np.zeros((len(scores), values.shape[1]))
    for i in range(len(scores)):
        best, total = -np.inf, 0.0
        for score, value, seen in zip(scores[i], values, mask[i], strict=True):
            if seen:
                before = np.exp(best - max(best, score))
                best = max(best, score)
                now = np.exp(score - best)
                total = total * before + now
                output[i] = output[i] * before + now * value
        if total:
            output[i] /= total
    return output


def mask_ignored(scores, values, mask):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


def mask_turned_round(scores, values, mask):
    scores = np.where(mask, -np.inf, scores)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights * mask.any(axis=-1, keepdims=True) @ values


def masked_after_the_softmax(scores, values, mask):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask @ values


def hidden_scores_are_zero(scores, values, mask):
    scores = np.where(mask, scores, 0)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


def first_mask_for_all(scores, values, mask):
    seen = np.broadcast_to(mask[:1], mask.shape)
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights * mask.any(axis=-1, keepdims=True) @ values


def small_penalty(scores, values, mask):
    scores = np.where(mask, scores, scores - 1e4)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


def mean_of_nothing(scores, values, mask):
    scores = np.where(mask, scores, -1e30)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values


def nan_of_nothing(scores, values, mask):
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ values


def over_the_queries(scores, values, mask):
    scores = np.where(mask, scores, -np.inf)
    largest = np.max(scores, axis=0, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=0, keepdims=True)
    return weights / np.where(total > 0, total, 1) @ values


def overflow(scores, values, mask):
    with np.errstate(all="ignore"):
        weights = np.exp(np.where(mask, scores, -np.inf))
        total = np.sum(weights, axis=-1, keepdims=True)
        return weights / np.where(total > 0, total, 1) @ values


def last_key_forgotten(scores, values, mask):
    seen = mask.copy()
    seen[:, -1] = seen[:, -1] & ~mask[:, :-1].any(axis=-1)
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1) @ values


def hidden_values_are_zero(scores, values, mask):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    output = weights * mask @ values
    return np.where(mask.sum(axis=-1, keepdims=True) > 1, output, mask @ values)


def any_query_may(scores, values, mask):
    seen = np.broadcast_to(mask.any(axis=0), mask.shape)
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


STYLES = (
    right("hidden scores are minus infinity", minus_infinity),
    right("a loop over the queries", query_by_query),
    right("with logarithms", by_logarithms),
    right("one key after the other", running),
)
PUBLIC = (
    mutant("the mask is ignored", mask_ignored),
    mutant("True hides", mask_turned_round),
    mutant("hidden after the softmax: the weights no longer sum to 1", masked_after_the_softmax),
    mutant("a hidden score counts as 0", hidden_scores_are_zero),
    mutant("the first query's mask for every query", first_mask_for_all),
    mutant("hidden by a penalty that a large score outweighs", small_penalty),
    mutant("a query that may attend to nothing gets the mean of all values", mean_of_nothing),
    mutant("large scores overflow", overflow),
)
UNSEEN = (
    mutant("a query that may attend to nothing gets NaN", nan_of_nothing),
    mutant("a softmax over the queries", over_the_queries),
    mutant("the last key is never looked at", last_key_forgotten),
    mutant("what any query may attend to, every query sees", any_query_may),
    mutant("hidden after the softmax, right where one key is left", hidden_values_are_zero),
)
