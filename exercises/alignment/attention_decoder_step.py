"""The exercise `attention_decoder_step`: look back, then move on."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import alignment as solutions

attention_decoder_step = Declaration(
    solutions.attention_decoder_step,
    points=4,
    difficulty=4,
    minutes=25,
    help=(
        "Compute four things in this order: the scores from s, the weights, the context, and then "
        "the next state from the embedding, the context and s.",
        "`W_s, W_h, v, W_xh, W_hh, b = params`. Put embedding and context side by side along the "
        "last axis; the cell is tanh(x W_xh + s W_hh + b), as in chapter 1.",
        "Section “One step of the decoder”.",
    ),
)


@attention_decoder_step.right
def loop(y_embedding, s, H, mask, params):
    if s.ndim > 1:
        parts = zip(y_embedding, s, H, mask, strict=True)
        looks = [loop(*part, params) for part in parts]
        return tuple(np.stack(column) for column in zip(*looks, strict=True))
    W_s, W_h, v, W_xh, W_hh, b = params
    weights, context = np.zeros_like(H[:, 0]), np.zeros_like(H[0])
    seen = [j for j in range(len(H)) if mask[j]]
    scores = {j: np.tanh(s @ W_s + H[j] @ W_h) @ v for j in seen}
    total = sum(np.exp(scores[j] - max(scores.values())) for j in seen)
    for j in seen:
        weights[j] = np.exp(scores[j] - max(scores.values())) / total
    for j in range(len(H)):
        context = context + weights[j] * H[j]
    d_y = len(y_embedding)
    s_next = np.tanh(y_embedding @ W_xh[:d_y] + context @ W_xh[d_y:] + s @ W_hh + b)
    return s_next, context, weights


@attention_decoder_step.right
def one_wide_product(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    repeated = np.broadcast_to(s[..., None, :], (*H.shape[:-1], s.shape[-1]))
    hidden = np.tanh(np.concatenate((repeated, H), axis=-1) @ np.concatenate((W_s, W_h)))
    scores = np.where(mask, hidden @ v, -np.inf)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(total), 0, total))
    context = np.sum(weights[..., None] * H, axis=-2)
    read = np.concatenate((y_embedding, context, s), axis=-1)
    return np.tanh(read @ np.concatenate((W_xh, W_hh)) + b), context, weights


@attention_decoder_step.right
def columns(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params
    columns = np.swapaxes(H, -1, -2)  # (..., d_h, T)
    hidden = np.tanh(np.einsum("...s,sa->...a", s, W_s)[..., None] + W_h.T @ columns)
    scores = np.ma.array(np.einsum("a,...at->...t", v, hidden), mask=~mask)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)).filled(0)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)
    context = (columns @ weights[..., None])[..., 0]
    d_y = y_embedding.shape[-1]
    from_input = y_embedding @ W_xh[:d_y] + context @ W_xh[d_y:]
    return np.tanh(from_input + s @ W_hh + b), context, weights


@attention_decoder_step.right
def plain(y_embedding, s, H, mask, params):
    W_s, W_h, v, W_xh, W_hh, b = params

    def look(state):
        both = (state @ W_s)[..., None, :] + H @ W_h
        scores = np.tanh(both) @ v
        peak = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e30)
        exponentials = np.exp(np.minimum(scores - peak, 0)) * mask
        total = exponentials.sum(axis=-1, keepdims=True)
        weights = exponentials / np.where(total > 0, total, 1)
        return np.einsum("...t,...td->...d", weights, H), weights

    context, weights = look(s)
    x = np.concatenate((y_embedding, context), axis=-1)
    s_next = np.tanh(x @ W_xh + s @ W_hh + b)
    return s_next, context, weights


attention_decoder_step.wrong(
    "looks back after the step",
    "Which state asks where to look: the one before this step, or the one that the step makes? "
    "Whose context made s_next?",
    plain.edit("return s_next, context, weights", "return s_next, *look(s_next)"),
)
attention_decoder_step.wrong(
    "context before the embedding",
    "The first d_y rows of W_xh belong to the embedding. What do they multiply in your function?",
    plain.edit("(y_embedding, context)", "(context, y_embedding)"),
)
attention_decoder_step.wrong(
    "previous state forgotten",
    "Which matrix of the cell does your update not use? What would the decoder still know about "
    "its first words?",
    plain.edit("x @ W_xh + s @ W_hh + b", "x @ W_xh + b"),
)
attention_decoder_step.wrong(
    "bias forgotten",
    "How many of the params do you unpack, and how many do you use?",
    plain.edit("x @ W_xh + s @ W_hh + b", "x @ W_xh + s @ W_hh"),
)
attention_decoder_step.wrong(
    "no tanh in the cell",
    "How large may an entry of s_next become? And after a hundred steps?",
    plain.edit("np.tanh(x @ W_xh + s @ W_hh + b)", "x @ W_xh + s @ W_hh + b"),
)
attention_decoder_step.wrong(
    "no tanh in the scores",
    "Without the tanh, the decoder's state adds the same number to every score. What does softmax "
    "do with such a number?",
    plain.edit("np.tanh(both)", "both"),
)
mask_ignored = attention_decoder_step.wrong(
    "mask ignored",
    "Change the encoder states at the padding. Does your context change?",
    plain.edit(", where=mask, initial=-1e30", "").edit(" * mask", ""),
)
attention_decoder_step.wrong(
    "mask inverted",
    "In this course True means “may attend”. Which weights are 0 in your result?",
    plain.edit("where=mask", "where=~mask").edit("* mask", "* ~mask"),
)
attention_decoder_step.wrong(
    "mask multiplied after the softmax",
    "Sum the weights of a padded sentence. Is the sum 1? Which scores are still in the "
    "denominator?",
    mask_ignored.edit("np.where(total > 0, total, 1)", "total * mask"),
)
attention_decoder_step.wrong(
    "minus a billion in place of minus infinity",
    "A source is all padding, so all its scores are -1e9. Where does your decoder look?",
    mask_ignored.edit("peak =", "scores = np.where(mask, scores, -1e9)\npeak ="),
)
attention_decoder_step.wrong(
    "last encoder state as context",
    "You have computed weights. What do you use them for? Your context is the one of chapter 1.",
    plain.edit('np.einsum("...t,...td->...d", weights, H)', "H[..., -1, :]"),
)
attention_decoder_step.wrong(
    "strongest position only",
    "What do the other positions contribute to your context?",
    plain.edit(
        'return np.einsum("...t,...td->...d", weights, H), weights',
        "strongest = weights * (weights == weights.max(axis=-1, keepdims=True))\n"
        'return np.einsum("...t,...td->...d", np.sign(strongest), H), weights',
    ),
)
attention_decoder_step.wrong(
    "softmax over the batch",
    "In a batch, over which axis do the weights of one sentence sum to 1?",
    plain.edit("axis=-1, keepdims=True", "axis=0", times=2),
)
attention_decoder_step.wrong(
    "weights returned second",
    "In which order does the docstring return the three?",
    plain.edit("return s_next, context, weights", "return s_next, weights, context"),
)
attention_decoder_step.wrong(
    "renormalised after the softmax",
    "This is right in exact arithmetic. What is left of the visible weights when the score of a "
    "padded position is 1000 above theirs?",
    plain.edit(", where=mask, initial=-1e30", ""),
)
attention_decoder_step.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from the scores of a sentence without changing "
    "its weights?",
    plain.edit("np.exp(np.minimum(scores - peak, 0)) * mask", "np.where(mask, np.exp(scores), 0)"),
)


@attention_decoder_step.public
def _(rng):
    yield Case("one sentence, nothing hidden", _inputs(rng, (), 3, 2, 2, 2, 2)).holds(
        "y_embedding: (..., d_y), the target token that was written last.",
        "s: (..., d_s), the decoder's state before the step: the look back is its own.",
        "params: the tuple (W_s, W_h, v, W_xh, W_hh, b). The first three score by the small "
        "network of `additive_scores`: (d_s, d_a), (d_h, d_a), (d_a,). The others are a tanh "
        "cell whose input is the embedding, followed by the context: W_xh (d_y + d_h, d_s), W_hh "
        "(d_s, d_s), b (d_s,).",
    )
    yield Case(
        "all sizes differ, one position hidden", _inputs(rng, (), 5, 4, 3, 2, 6, hidden=1)
    ).holds("y_embedding: (...…", "params: the…")
    yield Case("a source that is all padding", _inputs(rng, (), 3, 2, 3, 4, 2, hidden=3)).holds(
        "A source that is all padding gets weights 0 and context 0, and the state is still renewed."
    )
    yield Case(
        "a batch, as many sentences as positions", _inputs(rng, (4,), 4, 3, 2, 5, 2, hidden=1)
    ).holds("H: (..., T, d_h), the encoder's states.")
    yield Case(
        "float32, two leading batch axes",
        _inputs(rng, (2, 3), 4, 2, 3, 5, 3, hidden=2, dtype=np.float32),
    ).holds("H: (...…")
    *inputs, params = _inputs(rng, (3,), 4, 2, 3, 4, 3)
    inputs[3] = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 1]], bool)
    yield Case("sentences of different lengths, padding in front", (*inputs, params)).holds(
        "mask: boolean (..., T), True where a source token stands, False at padding, which may "
        "be anywhere."
    )
    yield Case("large scores, also at the padding", _far(rng, 4, 3, 2, 3, 5)).holds(
        "The weights sum to 1 and are exactly 0 at padding, however large the scores are."
    )
    yield Case("large states", _inputs(rng, (), 3, 2, 4, 3, 2, hidden=1, size=2000.0)).holds(
        "States may be large."
    )
    yield Case("a batch of one, one position, one unit", _inputs(rng, (1,), 1, 1, 1, 1, 1)).holds(
        "H: (...…",
        "Returns the tuple (s_next, context, weights) of shapes (..., d_s), (..., d_h), (..., T).",
    )
    yield Case(
        "three leading batch axes, tiny states", _inputs(rng, (2, 1, 3), 2, 3, 2, 3, 2, size=1e-6)
    ).holds("H: (...…")
    zeros = _inputs(rng, (2,), 4, 2, 3, 4, 3, hidden=1)
    zeros[2][:, 1] = 0
    yield Case("a source token of zeros", zeros)
    yield Case("scores below any stand-in for infinity", _lowest(rng))


@attention_decoder_step.hidden
def _(rng):
    n, *widths = rng.permutation([3, 4, 5, 6, 7])
    yield Case("one sentence, nothing hidden", _inputs(rng, (), n, *widths))
    yield Case("positions hidden", _inputs(rng, (), n, *widths, hidden=2)).holds(
        "mask: boolean…", "The weights…"
    )
    yield Case("a source that is all padding", _inputs(rng, (), n, *widths, hidden=n))
    yield Case("a batch, as many sentences as positions", _inputs(rng, (n,), n, *widths, hidden=1))
    yield Case("float32, a batch", _inputs(rng, (2,), n, *widths, hidden=2, dtype=np.float32))
    *inputs, params = _inputs(rng, (3,), n, *widths)
    inputs[3] = rng.permuted(np.arange(n) <= np.arange(3)[:, None], axis=-1)
    yield Case("padding in different places", (*inputs, params)).holds("mask: boolean…")
    yield Case("large scores, also at the padding", _far(rng, n, *widths))
    large = _inputs(rng, (2,), n, *widths, hidden=1, size=2000.0)
    yield Case("large states", large)
    yield Case("a batch of one, one position", _inputs(rng, (1,), 1, *widths)).holds("Returns the…")


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
    size: float = 1.0,
) -> tuple:
    """Random arguments of a step; the last `hidden` of the n places are padding.

    `size` multiplies the embedding and the states.
    """
    y, s, H = (size * rng.normal(size=(*batch, *shape)) for shape in ((d_y,), (d_s,), (n, d_h)))
    shapes = (d_s, d_a), (d_h, d_a), (d_a,), (d_y + d_h, d_s), (d_s, d_s), (d_s,)
    params: tuple[np.ndarray, ...] = tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)
    mask = np.broadcast_to(np.arange(n) < n - hidden, (*batch, n)).copy()
    return y.astype(dtype), s.astype(dtype), H.astype(dtype), mask, params


def _far(rng: np.random.Generator, n: int, *sizes: int) -> tuple:
    """Two sentences with scores of up to a million; the last place of each is padding.

    In the first sentence the padding scores highest; the others of the second are far below 0.
    """
    while True:
        y, s, H, mask, params = _inputs(rng, (2,), n, *sizes, hidden=1)
        params = (*params[:2], 1e6 * params[2], *params[3:])
        scores = solutions.additive_scores(s, H, *params[:3])
        highest = scores[:, :-1].max(axis=-1)
        if scores[0, -1] > highest[0] + 2000 and highest[0] > 2000 and highest[1] < -20000:
            return y, s, H, mask, params


def _lowest(rng: np.random.Generator) -> tuple:
    """A sentence whose scores all lie near -1e12, the last place of which is padding."""
    y, s, H, mask, (W_s, W_h, v, *cell) = _inputs(rng, (), 4, 2, 3, 4, 3, hidden=1)
    positive = (np.abs(one) / 8 for one in (W_s, W_h))
    return y, np.abs(s), np.abs(H), mask, (*positive, -1e12 * np.abs(v), *cell)
