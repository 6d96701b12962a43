"""Mistakes that people make with `scaled_dot_product_attention`, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def attention__no_scale(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_d(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_value_width(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / V.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_by_length(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / K.shape[-2] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__scaled_after_softmax(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2)
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1) / Q.shape[-1] ** 0.5
    return weights @ V, weights


def attention__over_queries(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-2, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-2, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__plain_transpose(Q, K, V, mask=None):
    scores = Q @ K.T / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__keys_and_values_swapped(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(V, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ K, weights


def attention__overflow(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__mask_inverted(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else ~mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__mask_ignored(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__scores_times_mask(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores * mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__weights_times_mask(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * mask
    return weights @ V, weights


def attention__shared_out_again(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        weights = weights * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights @ V, weights


def attention__mask_added(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_a_billion(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_a_billion_added(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e9)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__minus_infinity_alone(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention__weights_first(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    weights = np.exp(np.where(mask, scores - largest, -1e30)) * mask
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total > 0, total, 1)
    return weights, weights @ V


MISCONCEPTIONS = (
    Misconception(
        "no scale",
        attention__no_scale,
        "How large are the scores when d_k = 512? What does the softmax make of them?",
    ),
    Misconception(
        "scaled by d instead of its root",
        attention__scaled_by_d,
        "The variance of a score grows like d_k. How does its standard deviation grow?",
    ),
    Misconception(
        "scaled by the width of the values",
        attention__scaled_by_value_width,
        "Over which axis does the dot product of a query and a key sum? How long is that axis?",
    ),
    Misconception(
        "scaled by the number of keys",
        attention__scaled_by_length,
        "Over which axis does the dot product of a query and a key sum? Is it the number of keys?",
    ),
    Misconception(
        "scaled after the softmax",
        attention__scaled_after_softmax,
        "Sum a row of your weights. Does it still sum to 1?",
    ),
    Misconception(
        "softmax over the queries",
        attention__over_queries,
        "Sum your weights along each axis. Is it each query or each key that shares out a "
        "total of 1?",
    ),
    Misconception(
        "a plain transpose",
        attention__plain_transpose,
        "What does `.T` do to an array of shape (batch, n, d)? Which two axes did you mean "
        "to swap?",
    ),
    Misconception(
        "keys and values swapped",
        attention__keys_and_values_swapped,
        "Which of K and V is compared with the query, and which is passed on?",
    ),
    Misconception(
        "exponential overflows",
        attention__overflow,
        "What is np.exp(1000)? What may you subtract from a row of scores without changing "
        "its weights?",
    ),
    Misconception(
        "mask inverted",
        attention__mask_inverted,
        "In this course True means “may attend”. Where the mask is True, is your weight 0?",
    ),
    Misconception(
        "mask ignored",
        attention__mask_ignored,
        "Does your answer change when the mask does?",
    ),
    Misconception(
        "score 0 where masked",
        attention__scores_times_mask,
        "What is the exponential of a score of 0? What score would give a weight of exactly 0?",
    ),
    Misconception(
        "weights multiplied by the mask",
        attention__weights_times_mask,
        "Sum a masked row of your weights. Where did the share go that the hidden keys were given?",
    ),
    Misconception(
        "hidden after the exponential",
        attention__shared_out_again,
        "Right while scores are small. Suppose that a hidden score is greater by 1000 than all "
        "others of its row. What do you subtract before the exponential, and what is left?",
    ),
    Misconception(
        "mask added to the scores",
        attention__mask_added,
        "What do True and False count for in a sum? By how much does that move a score?",
    ),
    Misconception(
        "minus a billion instead of minus infinity",
        attention__minus_a_billion,
        "Take a row in which nothing may be attended to. All its scores are equal then: "
        "what does the softmax make of equal scores?",
    ),
    Misconception(
        "minus a billion added to the score",
        attention__minus_a_billion_added,
        "Take a row in which nothing may be attended to. If every score falls by the same "
        "amount, do the weights change?",
    ),
    Misconception(
        "minus infinity and nothing else",
        attention__minus_infinity_alone,
        "Take a row in which nothing may be attended to. What is its largest score, and "
        "what is infinity minus infinity?",
    ),
    Misconception(
        "weights returned first",
        attention__weights_first,
        "In which order does the docstring return output and weights?",
    ),
)
