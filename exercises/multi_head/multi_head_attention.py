"""The exercise `multi_head_attention`: the whole layer."""

import numpy as np

from autograder.exercise.declaring import Declaration
from solutions import multi_head as solutions

from .. import forbidden
from . import multi_head_attention_cases

multi_head_attention = Declaration(
    solutions.multi_head_attention,
    points=5,
    difficulty=4,
    minutes=35,
    forbidden=forbidden.ATTENTION,
    help=(
        "Project three times, split into heads, let each head attend with its own softmax, merge, "
        "and mix with W_o. Return both results.",
        "With the axes batch, head, token, feature, one matrix product over the last two axes "
        "serves all heads. A mask is the same for all heads: give it an axis of length 1 where "
        "the scores have their heads. For each axis of each product, ask: does it count tokens or "
        "features?",
        "Section “Split, attend, merge, mix”; for masks, chapter 5, section “Masks”.",
    ),
)


@multi_head_attention.right
def head_by_head(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    if any(W.shape[1] % n_heads for W in (W_q, W_k, W_v)):
        raise ValueError("n_heads must divide every width")
    d_k, d_v = W_q.shape[1] // n_heads, W_v.shape[1] // n_heads
    seen = np.ones((*X.shape[:-1], X.shape[-2]), dtype=bool)
    seen = seen if mask is None else seen & mask
    output, tables = 0, []
    for h in range(n_heads):
        columns = slice(h * d_k, (h + 1) * d_k)
        scores = X @ W_q[:, columns] @ np.swapaxes(X @ W_k[:, columns], -1, -2) / d_k**0.5
        scores = np.where(seen, scores, -1e30)
        shares = np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        tables.append(shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30))
        rows = slice(h * d_v, (h + 1) * d_v)
        output = output + tables[-1] @ (X @ W_v[:, rows]) @ W_o[rows]
    return output, np.stack(tables, axis=-3)


@multi_head_attention.right
def einsum(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (
        np.einsum("...nd,dhk->...hnk", X, W.reshape(W.shape[0], n_heads, W.shape[1] // n_heads))
        for W in (W_q, W_k, W_v)
    )
    scores = np.einsum("...hik,...hjk->...hij", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        while mask.ndim < X.ndim:
            mask = mask[None]
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    rows = W_o.reshape(n_heads, W_o.shape[0] // n_heads, W_o.shape[1])
    return np.einsum("...hij,...hjv,hvo->...io", weights, V, rows), weights


@multi_head_attention.right
def heads_first(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.array(np.split(X @ W, n_heads, axis=-1)) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    mask = np.ones(1, dtype=bool) if mask is None else mask
    seen = np.broadcast_to(mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30))
    shares = np.where(seen, shares, 0)
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    merged = np.concatenate(list(weights @ V), axis=-1)
    return merged @ W_o, np.moveaxis(weights, 0, -3)


@multi_head_attention.right
def plain(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    full = (*X.shape[:-1], X.shape[-2])
    seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    merged = np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1)
    return merged @ W_o, weights


merged_without_transpose = multi_head_attention.wrong(
    "heads merged without the transpose",
    "Change the last token of X and mask it from all others. Should row 0 of the output change? "
    "Does yours? Whose numbers are in a row after your merge?",
    plain.edit(
        "np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1)",
        "(weights @ V).reshape(*X.shape[:-1], -1)",
    ),
)
multi_head_attention.wrong(
    "heads split without the transpose",
    "In row 0 of your first head's queries, whose features are these? And in row 1?",
    plain.edit(
        "np.stack(np.split(X @ W, n_heads, -1), -3)",
        "(X @ W).reshape(*X.shape[:-2], n_heads, X.shape[-2], -1)",
    ),
)
multi_head_attention.wrong(
    "no transpose at all",
    "A reshape sets new borders and moves nothing. Which token's features are in row 1 of your "
    "first head?",
    merged_without_transpose.edit(
        "np.stack(np.split(X @ W, n_heads, -1), -3)",
        "(X @ W).reshape(*X.shape[:-2], n_heads, X.shape[-2], -1)",
    ),
)
multi_head_attention.wrong(
    "features dealt out in turn",
    "Which columns of W_q belong to the first head: the first d_k of them, or every n_heads-th?",
    plain.edit(
        "np.split(X @ W, n_heads, -1)", "[X @ W[:, h::n_heads] for h in range(n_heads)]"
    ).edit(
        "np.concatenate(np.moveaxis(weights @ V, -3, 0), axis=-1)",
        "np.moveaxis(weights @ V, -3, -1).reshape(*X.shape[:-1], -1)",
    ),
)
multi_head_attention.wrong(
    "heads that share one projection",
    "Compare your heads' weights with each other. What should make them differ?",
    plain.edit(
        "Q, K, V = (np.stack(np.split(X @ W, n_heads, -1), -3) for W in (W_q, W_k, W_v))",
        "firsts = (W[:, : W.shape[1] // n_heads] for W in (W_q, W_k, W_v))\n"
        "Q, K, V = (np.stack([X @ first] * n_heads, -3) for first in firsts)",
    ),
)


@multi_head_attention.wrong(
    "one wide head", "How many softmaxes are there for each token in your answer?"
)
def _(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    scores = X @ W_q @ np.swapaxes(X @ W_k, -1, -2) / (W_q.shape[-1] // n_heads) ** 0.5
    seen = True if mask is None else mask
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    output = weights @ (X @ W_v) @ W_o
    return output, np.stack([weights] * n_heads, axis=-3)


multi_head_attention.wrong(
    "scaled by the width of the model",
    "Over how many features does the dot product of one head sum?",
    plain.edit("Q.shape", "W_q.shape"),
)
multi_head_attention.wrong(
    "no scale",
    "What keeps the scores of a head from growing with its width?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
multi_head_attention.wrong(
    "softmax over the queries",
    "Sum your weights along each axis. Which should share out a total of 1, each query or each "
    "key?",
    plain.edit("axis=-1, keepdims=True", "axis=-2, keepdims=True", times=2),
)
multi_head_attention.wrong(
    "softmax over the heads",
    "Do the heads compete for a key, or do the keys compete within a head? Along which axis do "
    "your weights sum to 1?",
    plain.edit("axis=-1, keepdims=True", "axis=-3, keepdims=True", times=2),
)
multi_head_attention.wrong(
    "values made with the key projection",
    "Does your output change when W_v does?",
    plain.edit("(W_q, W_k, W_v)", "(W_q, W_k, W_k)"),
)
multi_head_attention.wrong(
    "W_o forgotten", "Does your output change when W_o does?", plain.edit("merged @ W_o", "merged")
)
multi_head_attention.wrong(
    "mask not passed on",
    "Does your answer change when the mask does?",
    plain.edit("True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]", "True"),
)
multi_head_attention.wrong(
    "mask lined up with the heads",
    "A mask of shape (batch, 1, n) meets scores of shape (batch, n_heads, n, n). With which axis "
    "of the scores does its batch axis line up?",
    plain.edit(
        "np.broadcast_to(mask, full)[..., None, :, :]", "np.broadcast_to(mask, scores.shape)"
    ),
)
multi_head_attention.wrong(
    "masks of a batch against the order of the heads",
    "Two sentences and three heads, laid out as six tables: to which sentence does the second "
    "table belong, and to which the second mask after your np.tile?",
    plain.edit(
        "seen = True if mask is None else np.broadcast_to(mask, full)[..., None, :, :]",
        "masks = np.broadcast_to(True if mask is None else mask, full).reshape(-1, *full[-2:])\n"
        "seen = np.tile(masks, (n_heads, 1, 1)).reshape(scores.shape)",
    ),
)
multi_head_attention.wrong(
    "a mask of one axis not handled",
    "The docstring promises that the mask can be broadcast to (..., n, n). Which shapes can be? "
    "Where does your new axis go if the mask has one axis, or two?",
    plain.edit(
        "np.broadcast_to(mask, full)[..., None, :, :]",
        "np.broadcast_to(mask[..., None, :, :], scores.shape)",
    ),
)
multi_head_attention.wrong(
    "hidden after the exponential",
    "This is right while scores are small. Suppose that a hidden score is 1000 above all others "
    "in its row. What do you subtract before the exponential, and what is left?",
    plain.edit(", where=seen, initial=-1e30", "").edit(
        "np.where(seen, scores - largest, -1e30)", "scores - largest"
    ),
)
multi_head_attention.wrong(
    "mask inverted",
    "In this course True means “may attend”. Where the mask is True, is your weight 0?",
    plain.edit("np.broadcast_to(mask, full)", "~np.broadcast_to(mask, full)"),
)
minus_a_billion = multi_head_attention.wrong(
    "minus a billion instead of minus infinity",
    "Take a token that may attend to nothing. All its scores are then equal: which weights does "
    "the softmax give for equal scores?",
    plain.edit(
        "largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)\n"
        "shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen",
        "scores = np.where(seen, scores, -1e9)\n"
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True))",
    ),
)
put_in_and_applied_again = multi_head_attention.wrong(
    "minus a billion put in, and the mask applied again",
    "Suppose that all scores of a row are near -1e12. Which of them is the largest after you have "
    "put -1e9 where the mask is False, and what is left of the weights that may be seen?",
    minus_a_billion.edit(
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True))",
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True)) * seen",
    ),
)
multi_head_attention.wrong(
    "minus a billion added, and the mask applied again",
    "Suppose that a hidden score is 1e12 above all others in its row. Which score of the row is "
    "the largest after you have added -1e9, and what is left of the weights that may be seen?",
    put_in_and_applied_again.edit(
        "np.where(seen, scores, -1e9)", "scores + np.where(seen, 0.0, -1e9)"
    ),
)
multi_head_attention.wrong(
    "minus infinity and nothing else",
    "Take a token that may attend to nothing. What is its largest score, and what is infinity "
    "minus infinity?",
    minus_a_billion.edit("-1e9", "-np.inf"),
)
multi_head_attention.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from a row of scores without changing its "
    "weights?",
    plain.edit("np.where(seen, scores - largest, -1e30)", "scores"),
)
multi_head_attention.wrong(
    "weights averaged over the heads",
    "Which shape should the weights have? Where is the head axis in your weights?",
    plain.edit("merged @ W_o, weights", "merged @ W_o, weights.mean(axis=-3)"),
)
multi_head_attention.wrong(
    "weights returned first",
    "In which order does the docstring return the output and the weights?",
    plain.edit("merged @ W_o, weights", "weights, merged @ W_o"),
)
multi_head_attention.wrong(
    "the lowest number instead of minus infinity",
    "No score is below that number. But take a token that may attend to nothing: its scores are "
    "all equal. Which weights does the softmax give for equal scores?",
    plain.edit(
        "largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)\n"
        "shares = np.exp(np.where(seen, scores - largest, -1e30)) * seen",
        "scores = np.where(seen, scores, -1e30)\n"
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True))",
    ),
)
multi_head_attention.wrong(
    "scaled by the width instead of its root",
    "The variance of a score grows like d_k. How does its standard deviation grow?",
    plain.edit(" / Q.shape[-1] ** 0.5", " / Q.shape[-1]"),
)
multi_head_attention.wrong(
    "queries and keys exchanged",
    "Which of the two tokens asks: the one of the row, or the one of the column? From which matrix "
    "does its vector come?",
    plain.edit("Q, K, V =", "K, Q, V ="),
)
multi_head_attention.wrong(
    "keys and values exchanged",
    "Which of the two is compared with the queries, and which is passed on? From which matrix does "
    "each of yours come?",
    plain.edit("Q, K, V =", "Q, V, K ="),
)
multi_head_attention.wrong(
    "the input added to the output",
    "The residual connection belongs to the block around this layer. What does the docstring "
    "return here?",
    plain.edit(
        "return merged @ W_o, weights",
        "output = merged @ W_o\nreturn output + X if output.shape == X.shape else output, weights",
    ),
)


multi_head_attention.public(multi_head_attention_cases.public)
multi_head_attention.hidden(multi_head_attention_cases.hidden)
