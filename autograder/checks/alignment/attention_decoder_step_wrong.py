"""Mistakes that people make with `attention_decoder_step`, one function each, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def step__looks_back_after_the_step(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    s_next = np.tanh(x @ W_xh + s @ W_hh + b)
    scores = np.tanh((s_next @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    return s_next, np.einsum("...t,...td->...d", weights, H), weights


def step__context_first(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((context, y_embedding), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__state_forgotten(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, _, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + b), context, weights


def step__bias_forgotten(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, _ = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh), context, weights


def step__no_tanh_in_the_cell(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return x @ W_xh + s @ W_hh + b, context, weights


def step__no_tanh_in_the_scores(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = ((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__mask_ignored(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__mask_inverted(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=~mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * ~mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__mask_multiplied_after(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True) * mask
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__minus_a_billion(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    scores = np.where(mask, scores, -1e9)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__last_state_as_context(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = H[..., -1, :]
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__strongest_place_only(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    strongest = weights * (weights == weights.max(axis=-1, keepdims=True))
    context = np.einsum("...t,...td->...d", np.sign(strongest), H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__softmax_over_the_batch(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=0, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=0)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__weights_returned_second(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
    exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), weights, context


def step__renormalised(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__overflow(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.where(mask, np.exp(scores), 0)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


MISCONCEPTIONS = (
    Misconception(
        "looks back after the step",
        step__looks_back_after_the_step,
        "Which state asks where to look: the one before this step, or the one that the step "
        "makes? Whose context made s_next?",
    ),
    Misconception(
        "context before the embedding",
        step__context_first,
        "The first d_y rows of W_xh belong to the embedding. What meets them in yours?",
    ),
    Misconception(
        "previous state forgotten",
        step__state_forgotten,
        "Which of the matrices of the cell does your update not use? What would the decoder "
        "still know of its first words?",
    ),
    Misconception(
        "bias forgotten",
        step__bias_forgotten,
        "How many params have you unpacked, and how many used?",
    ),
    Misconception(
        "no tanh in the cell",
        step__no_tanh_in_the_cell,
        "How large may an entry of s_next become? And after a hundred steps?",
    ),
    Misconception(
        "no tanh in the scores",
        step__no_tanh_in_the_scores,
        "Without its tanh, the state adds the same number to every score. What does softmax "
        "make of that?",
    ),
    Misconception(
        "mask ignored",
        step__mask_ignored,
        "Change the states at the padding. Does your context change?",
    ),
    Misconception(
        "mask inverted",
        step__mask_inverted,
        "In this course True means “may attend”. Where are your zeros?",
    ),
    Misconception(
        "mask multiplied after the softmax",
        step__mask_multiplied_after,
        "Sum the weights of a padded sentence. Is it 1? Who still stands in the denominator?",
    ),
    Misconception(
        "minus a billion in place of minus infinity",
        step__minus_a_billion,
        "A source is all padding, and all its scores are -1e9. Where does the decoder look?",
    ),
    Misconception(
        "last encoder state as context",
        step__last_state_as_context,
        "You have made weights. What are they used for? This context would be chapter 1's.",
    ),
    Misconception(
        "strongest place only",
        step__strongest_place_only,
        "What do the other places contribute to your context?",
    ),
    Misconception(
        "softmax over the batch",
        step__softmax_over_the_batch,
        "In a batch, over which axis do the weights of one sentence sum to 1?",
    ),
    Misconception(
        "weights returned second",
        step__weights_returned_second,
        "In which order does the docstring return the three?",
    ),
    Misconception(
        "renormalised after the softmax",
        step__renormalised,
        "Right in exact arithmetic. What is left of the visible weights when the score of a "
        "padded place is 1000 above theirs?",
    ),
    Misconception(
        "exponential overflows",
        step__overflow,
        "What is np.exp(1000)? What may you subtract from the scores of a sentence without "
        "changing its weights?",
    ),
)
