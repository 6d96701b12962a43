"""Mistakes that people make with `multi_head_attention`, one function each, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def multi_head__merged_without_transpose(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    heads = weights @ V
    return heads.reshape(*X.shape[:-1], W_v.shape[-1]) @ W_o, weights


def multi_head__split_without_transpose(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = ((X @ W).reshape(*X.shape[:-2], n_heads, X.shape[-2], -1) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__no_transpose_at_all(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = ((X @ W).reshape(*X.shape[:-2], n_heads, X.shape[-2], -1) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    heads = weights @ V
    return heads.reshape(*X.shape[:-1], W_v.shape[-1]) @ W_o, weights


def multi_head__interleaved(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (
        np.stack([X @ W[:, h::n_heads] for h in range(n_heads)], -3) for W in (W_q, W_k, W_v)
    )
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    heads = np.moveaxis(weights @ V, -3, -1)
    return heads.reshape(*X.shape[:-1], W_v.shape[-1]) @ W_o, weights


def multi_head__one_projection(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    firsts = (W[:, : W.shape[1] // n_heads] for W in (W_q, W_k, W_v))
    Q, K, V = (np.stack([X @ first] * n_heads, -3) for first in firsts)
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__one_wide_head(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    scores = X @ W_q @ np.swapaxes(X @ W_k, -1, -2) / (W_q.shape[-1] // n_heads) ** 0.5
    seen = True if mask is None else mask
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    output = weights @ (X @ W_v) @ W_o
    return output, np.stack([weights] * n_heads, axis=-3)


def multi_head__scaled_by_model_width(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / W_q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__no_scale(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2)
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__over_queries(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-2, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-2, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__over_heads(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-3, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-3, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__values_from_key_projection(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_k))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__no_output_projection(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1), weights


def multi_head__mask_not_passed_on(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__mask_meets_heads(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    seen = True if mask is None else np.broadcast_to(mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__masks_against_head_order(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    mask = np.broadcast_to(True if mask is None else mask, full).reshape(-1, *full[-2:])
    seen = np.tile(mask, (n_heads, 1, 1)).reshape(scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__mask_of_few_axes(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    seen = np.broadcast_to(True if mask is None else mask[..., None, :, :], scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__hidden_too_late(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__mask_inverted(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else ~np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__minus_a_billion(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        full = (*X.shape[:-1], X.shape[-2])
        scores = np.where(np.broadcast_to(mask, full)[..., None, :, :], scores, -1e9)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__minus_infinity_alone(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        full = (*X.shape[:-1], X.shape[-2])
        scores = np.where(np.broadcast_to(mask, full)[..., None, :, :], scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__overflow(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    shares = np.exp(scores) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o, weights


def multi_head__weights_averaged(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    output = np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o
    return output, weights.mean(axis=-3)


def multi_head__weights_first(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    return weights, np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1) @ W_o


MISCONCEPTIONS = (
    Misconception(
        "heads merged without the transpose",
        multi_head__merged_without_transpose,
        "Change the last token of X and mask it from all others. Should row 0 of the output "
        "change? Does yours? Whose numbers stand in a row after your merge?",
    ),
    Misconception(
        "heads split without the transpose",
        multi_head__split_without_transpose,
        "In row 0 of your first head's queries, whose features are these? And in row 1?",
    ),
    Misconception(
        "no transpose at all",
        multi_head__no_transpose_at_all,
        "A reshape sets new borders and moves nothing. Which token's features stand in row 1 of "
        "your first head?",
    ),
    Misconception(
        "features dealt out in turn",
        multi_head__interleaved,
        "Which columns of W_q belong to the first head: the first d_k of them, or every "
        "n_heads-th?",
    ),
    Misconception(
        "heads that share one projection",
        multi_head__one_projection,
        "Compare your heads' weights with each other. What should make them differ?",
    ),
    Misconception(
        "one wide head",
        multi_head__one_wide_head,
        "How many softmaxes are there for each token in your answer?",
    ),
    Misconception(
        "scaled by the width of the model",
        multi_head__scaled_by_model_width,
        "Over how many features does the dot product of one head sum?",
    ),
    Misconception(
        "no scale",
        multi_head__no_scale,
        "What keeps the scores of a head from growing with its width?",
    ),
    Misconception(
        "softmax over the queries",
        multi_head__over_queries,
        "Sum your weights along each axis. Is it each query or each key that shares out a total "
        "of 1?",
    ),
    Misconception(
        "softmax over the heads",
        multi_head__over_heads,
        "Do the heads compete for a key, or do the keys compete within a head? Along which axis "
        "do your weights sum to 1?",
    ),
    Misconception(
        "values made with the key projection",
        multi_head__values_from_key_projection,
        "Does your output change when W_v does?",
    ),
    Misconception(
        "W_o forgotten",
        multi_head__no_output_projection,
        "Does your output change when W_o does?",
    ),
    Misconception(
        "mask not passed on",
        multi_head__mask_not_passed_on,
        "Does your answer change when the mask does?",
    ),
    Misconception(
        "mask lined up with the heads",
        multi_head__mask_meets_heads,
        "A mask of shape (batch, 1, n) meets scores of shape (batch, n_heads, n, n). With which "
        "axis of the scores does its batch axis line up?",
    ),
    Misconception(
        "masks of a batch against the order of the heads",
        multi_head__masks_against_head_order,
        "Two sentences and three heads, laid out as six tables: to which sentence does the second "
        "table belong, and to which the second mask after your np.tile?",
    ),
    Misconception(
        "a mask of one axis not thought of",
        multi_head__mask_of_few_axes,
        "The docstring asks that the mask can be broadcast to (..., n, n). Which shapes can? Where "
        "does your new axis go if the mask has one axis, or two?",
    ),
    Misconception(
        "hidden after the exponential",
        multi_head__hidden_too_late,
        "Right while scores are small. Suppose that a hidden score is greater by 1000 than all "
        "others of its row. What do you subtract before the exponential, and what is left?",
    ),
    Misconception(
        "mask inverted",
        multi_head__mask_inverted,
        "In this course True means “may attend”. Where the mask is True, is your weight 0?",
    ),
    Misconception(
        "minus a billion instead of minus infinity",
        multi_head__minus_a_billion,
        "Take a token that may attend to nothing. All its scores are equal then: what does the "
        "softmax make of equal scores?",
    ),
    Misconception(
        "minus infinity and nothing else",
        multi_head__minus_infinity_alone,
        "Take a token that may attend to nothing. What is its largest score, and what is infinity "
        "minus infinity?",
    ),
    Misconception(
        "exponential overflows",
        multi_head__overflow,
        "What is np.exp(1000)? What may you subtract from a row of scores without changing its "
        "weights?",
    ),
    Misconception(
        "weights averaged over the heads",
        multi_head__weights_averaged,
        "Which shape should the weights have? Where is the head axis of yours?",
    ),
    Misconception(
        "weights returned first",
        multi_head__weights_first,
        "In which order does the docstring return output and weights?",
    ),
)
