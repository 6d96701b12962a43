"""Mistakes that people make with `scaled_dot_product_attention_backward`, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def backward__softmax_entry_by_entry(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    d_scores = weights * (1 - weights) * d_weights / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__softmax_left_out(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_scores = d_output @ np.swapaxes(V, -1, -2) * allowed / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__mean_left_out(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_scores = weights * (d_output @ np.swapaxes(V, -1, -2)) / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__mean_over_the_queries(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    mean = np.sum(weights * d_weights, axis=-2, keepdims=True)
    d_scores = weights * (d_weights - mean) / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__plain_mean(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    mean = np.mean(d_weights, axis=-1, keepdims=True)
    d_scores = weights * (d_weights - mean) / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__scale_forgotten(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


def backward__queries_and_keys_exchanged(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e30)
    weights = np.exp(np.where(allowed, scores - largest, -1e30)) * allowed
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))
    d_scores = d_scores / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_K, d_scores @ K, np.swapaxes(weights, -1, -2) @ d_output


def backward__mask_ignored(Q, K, V, d_output, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    d_weights = d_output @ np.swapaxes(V, -1, -2)
    d_scores = weights * (d_weights - np.sum(weights * d_weights, axis=-1, keepdims=True))
    d_scores = d_scores / Q.shape[-1] ** 0.5
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    return d_scores @ K, d_K, np.swapaxes(weights, -1, -2) @ d_output


MISCONCEPTIONS = (
    Misconception(
        "the softmax differentiated entry by entry",
        backward__softmax_entry_by_entry,
        "w (1 - w) is how a weight answers to its own score. Does it answer to the other scores of "
        "its row too?",
    ),
    Misconception(
        "the softmax left out",
        backward__softmax_left_out,
        "You have the gradient with respect to the weights. The scores stand one step further "
        "back: which function lies between?",
    ),
    Misconception(
        "the normaliser taken for a constant",
        backward__mean_left_out,
        "Add the same number to all scores of a row. The weights stay as they are: what must the "
        "gradients of a row of scores sum to? What do yours sum to?",
    ),
    Misconception(
        "the mean taken over the queries",
        backward__mean_over_the_queries,
        "Each query shares out a total of 1 among the keys. Over which axis, then, do the "
        "gradients of the scores sum to 0?",
    ),
    Misconception(
        "the plain mean in place of the weighted one",
        backward__plain_mean,
        "Write out the sum over j of d_w_j w_j (δ_jk - w_k). Which mean over the keys is in it?",
    ),
    Misconception(
        "the scale forgotten on the way back",
        backward__scale_forgotten,
        "On the way forward the scores are divided by the root of d_k. What happens to a gradient "
        "that passes a division?",
    ),
    Misconception(
        "the gradients of queries and keys exchanged",
        backward__queries_and_keys_exchanged,
        "Move one query a little: which rows of the scores move, and which factor stands beside "
        "it in the product? In which order does the docstring return the three?",
    ),
    Misconception(
        "mask ignored",
        backward__mask_ignored,
        "Do your gradients change when the mask does? What is the gradient of a value that no "
        "query may see?",
    ),
)
