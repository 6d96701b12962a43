"""The exercise `attention_decoder_step`: look back, then move on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Misconception


def step_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one sentence, nothing hidden", _inputs(rng, (), 3, 2, 2, 2, 2))
    yield Case("all sizes differ, one place hidden", _inputs(rng, (), 5, 4, 3, 2, 6, hidden=1))
    yield Case("a source that is all padding", _inputs(rng, (), 3, 2, 3, 4, 2, hidden=3))
    yield Case("a batch, as many sentences as places", _inputs(rng, (4,), 4, 3, 2, 5, 2, hidden=1))
    yield Case(
        "float32, two leading batch axes",
        _inputs(rng, (2, 3), 4, 2, 3, 5, 3, hidden=2, dtype=np.float32),
    )


def step_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_y, d_s, d_h, d_a = rng.permutation([3, 4, 5, 6, 7])
    yield Case("one sentence, nothing hidden", _inputs(rng, (), n, d_y, d_s, d_h, d_a))
    yield Case("places hidden", _inputs(rng, (), n, d_y, d_s, d_h, d_a, hidden=2))
    yield Case("a source that is all padding", _inputs(rng, (), n, d_y, d_s, d_h, d_a, hidden=n))
    yield Case(
        "a batch, as many sentences as places",
        _inputs(rng, (n,), n, d_y, d_s, d_h, d_a, hidden=1),
    )
    yield Case(
        "float32, a batch",
        _inputs(rng, (2,), n, d_y, d_s, d_h, d_a, hidden=2, dtype=np.float32),
    )


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d_y: int,
    d_s: int,
    d_h: int,
    d_a: int,
    *,
    hidden: int = 0,
    dtype: type = np.float64,
) -> tuple:
    """Random arguments of a step; the last `hidden` of the n places are padding."""
    y, s, H = (rng.normal(size=(*batch, *shape)) for shape in ((d_y,), (d_s,), (n, d_h)))
    shapes = (d_s, d_a), (d_h, d_a), (d_a,), (d_y + d_h, d_s), (d_s, d_s), (d_s,)
    params: tuple[np.ndarray, ...] = tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)
    mask = np.broadcast_to(np.arange(n) < n - hidden, (*batch, n)).copy()
    return y.astype(dtype), s.astype(dtype), H.astype(dtype), mask, params


def step__looks_back_after_the_step(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    s_next = np.tanh(x @ W_xh + s @ W_hh + b)
    scores = np.tanh((s_next @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    return s_next, np.einsum("...t,...td->...d", weights, H), weights


def step__context_first(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((context, y_embedding), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__state_forgotten(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, _, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + b), context, weights


def step__bias_forgotten(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, _ = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh), context, weights


def step__no_tanh_in_the_cell(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return x @ W_xh + s @ W_hh + b, context, weights


def step__no_tanh_in_the_scores(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = ((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
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
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * ~mask
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
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = H[..., -1, :]
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__strongest_place_only(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    strongest = weights * (weights == weights.max(axis=-1, keepdims=True))
    context = np.einsum("...t,...td->...d", np.sign(strongest), H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__softmax_over_the_batch(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=0)) * mask
    total = exponentials.sum(axis=0)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), context, weights


def step__weights_returned_second(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total > 0, total, 1)
    context = np.einsum("...t,...td->...d", weights, H)
    x = np.concatenate((y_embedding, context), axis=-1)
    return np.tanh(x @ W_xh + s @ W_hh + b), weights, context


def step__loop(y_embedding, s, H, mask, params):
    if s.ndim > 1:
        parts = zip(y_embedding, s, H, mask, strict=True)
        looks = [step__loop(*part, params) for part in parts]
        return tuple(np.stack(column) for column in zip(*looks, strict=True))
    W_s, W_h, v, W_xh, W_hh, b = params
    weights, context = np.zeros_like(H[:, 0]), np.zeros_like(H[0])
    for j in range(len(H)):
        if mask[j]:  # scores are bounded by the tanh, so no exponential overflows
            weights[j] = np.exp(np.tanh(s @ W_s + H[j] @ W_h) @ v)
    if mask.any():
        weights = weights / weights.sum()
    for j in range(len(H)):
        context = context + weights[j] * H[j]
    d_y = len(y_embedding)
    s_next = np.tanh(y_embedding @ W_xh[:d_y] + context @ W_xh[d_y:] + s @ W_hh + b)
    return s_next, context, weights


def step__one_wide_product(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    repeated = np.broadcast_to(s[..., None, :], (*H.shape[:-1], s.shape[-1]))
    hidden = np.tanh(np.concatenate((repeated, H), axis=-1) @ np.concatenate((W_s, W_h)))
    scores = np.where(mask, hidden @ v, -np.inf)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(total), 0, total))
    context = np.sum(weights[..., None] * H, axis=-2)
    read = np.concatenate((y_embedding, context, s), axis=-1)
    return np.tanh(read @ np.concatenate((W_xh, W_hh)) + b), context, weights


def step__columns(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    columns = np.swapaxes(H, -1, -2)  # (..., d_h, T)
    hidden = np.tanh(np.einsum("...s,sa->...a", s, W_s)[..., None] + W_h.T @ columns)
    exponentials = np.where(mask, np.exp(np.einsum("a,...at->...t", v, hidden)), 0)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    context = (columns @ weights[..., None])[..., 0]
    d_y = y_embedding.shape[-1]
    from_input = y_embedding @ W_xh[:d_y] + context @ W_xh[d_y:]
    return np.tanh(from_input + s @ W_hh + b), context, weights


ATTENTION_DECODER_STEP = Exercise(
    name="attention_decoder_step",
    points=4,
    difficulty=4,
    minutes=25,
    reference=solutions.attention_decoder_step,
    cases=step_cases,
    hidden=step_hidden,
    misconceptions=(
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
    ),
    alternatives=(step__loop, step__one_wide_product, step__columns),
    help=(
        "Four things in this order: scores from s, weights, context, and the next state from the "
        "embedding, the context and s.",
        "`W_s, W_h, v, W_xh, W_hh, b = params`. Put embedding and context side by side along the "
        "last axis; the cell is tanh(x W_xh + s W_hh + b), as in chapter 1.",
        "Section “One step of the decoder”.",
    ),
)
