"""The exercise `masked_softmax`: weights over the places where attention may go."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import alignment as solutions

from .. import forbidden

masked_softmax = Declaration(
    solutions.masked_softmax,
    points=2,
    difficulty=3,
    minutes=15,
    forbidden=forbidden.SOFTMAX,
    help=(
        "Give hidden positions the score minus infinity, then take a softmax that can handle a "
        "row in which every score is minus infinity.",
        "`np.where(mask, scores, -np.inf)`. Which number do you subtract when the largest score "
        "of a row is minus infinity, and by which number do you divide when its sum is 0?",
        "Section “Large scores, and padding”.",
    ),
)


@masked_softmax.right
def loop(scores, mask=None, axis=-1):
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    moved, open_places = np.moveaxis(scores, axis, -1), np.moveaxis(mask, axis, -1)
    weights = np.zeros_like(moved)
    for index in np.ndindex(moved.shape[:-1]):
        here = open_places[index]
        if here.any():
            exponentials = np.exp(moved[index][here] - moved[index][here].max())
            weights[index][here] = exponentials / exponentials.sum()
    return np.moveaxis(weights, -1, axis)


@masked_softmax.right
def by_logarithms(scores, mask=None, axis=-1):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    total = np.logaddexp.reduce(scores, axis=axis, keepdims=True)
    return np.exp(scores - np.where(np.isinf(total), 0, total))


@masked_softmax.right
def nan_to_zero(scores, mask=None, axis=-1):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
        weights = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return np.nan_to_num(weights)


mask_ignored = nan_to_zero.edit(
    "if mask is not None:\n    scores = np.where(mask, scores, -np.inf)", ""
)
masked_after = masked_softmax.wrong(
    "mask multiplied after the softmax",
    "Sum a row in which something is hidden. Is the sum 1? Which scores are still in the "
    "denominator?",
    mask_ignored.edit("np.nan_to_num(weights)", "weights if mask is None else weights * mask"),
)
masked_softmax.wrong(
    "renormalised after the softmax",
    "This is right in exact arithmetic. What is left of the visible weights when a hidden score "
    "is 1000 above theirs?",
    masked_after.edit(
        "return weights if mask is None else weights * mask",
        "weights = weights if mask is None else weights * mask\n"
        "total = weights.sum(axis=axis, keepdims=True)\n"
        "return weights / np.where(total > 0, total, 1)",
    ),
)
masked_softmax.wrong(
    "mask inverted",
    "In this course True means “may attend”. Which weights are 0 in your result?",
    nan_to_zero.edit("np.where(mask, scores, -np.inf)", "np.where(~mask, scores, -np.inf)"),
)
masked_softmax.wrong(
    "minus a billion in place of minus infinity",
    "Suppose that all scores of a row have become -1e9. What are its weights, and what should "
    "they be?",
    nan_to_zero.edit("-np.inf", "-1e9"),
)
masked_softmax.wrong(
    "minus a billion added",
    "Suppose that you add -1e9 to every score of a row. Which differences between the scores "
    "change?",
    nan_to_zero.edit("np.where(mask, scores, -np.inf)", "scores + np.where(mask, 0.0, -1e9)"),
)
added = masked_softmax.wrong(
    "minus a billion added, and the mask applied again",
    "Suppose that a hidden score is 1e12 above all others in its row. Which score of the row is "
    "the largest after you have added -1e9, and what is left of the weights that may be seen?",
    nan_to_zero.edit("np.where(mask, scores, -np.inf)", "scores + np.where(mask, 0.0, -1e9)").edit(
        "np.nan_to_num(weights)", "weights if mask is None else weights * mask"
    ),
)
masked_softmax.wrong(
    "minus a billion put in, and the mask applied again",
    "Suppose that all scores of a row are near -1e12. Which of them is the largest after you have "
    "put -1e9 where the mask is False, and what is left of the weights that may be seen?",
    added.edit("scores + np.where(mask, 0.0, -1e9)", "np.where(mask, scores, -1e9)"),
)
masked_softmax.wrong(
    "minus infinity and nothing else",
    "In a row with nothing to attend to, you subtract minus infinity from minus infinity. What is "
    "the result?",
    nan_to_zero.edit("np.nan_to_num(weights)", "weights"),
)


@masked_softmax.wrong(
    "minus ten thousand in place of minus infinity",
    "The visible scores of a row are -1000000. Which score of the row is the largest in your "
    "function?",
)
def _(scores, mask=None, axis=-1):
    mask = np.broadcast_to(True if mask is None else mask, scores.shape)
    lowered = np.where(mask, scores, -1e4)
    exponentials = np.exp(lowered - lowered.max(axis=axis, keepdims=True))
    weights = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return np.where(mask.any(axis=axis, keepdims=True), weights, 0)


masked_softmax.wrong(
    "largest score of all rows subtracted",
    "One row has scores near 1000, and the next has scores near -1000. What is left of the second "
    "row's exponentials in your function?",
    nan_to_zero.edit("scores.max(axis=axis, keepdims=True)", "scores.max()"),
)
masked_softmax.wrong(
    "score 0 for what is hidden",
    "What is exp(0)? Which score would give a weight of 0?",
    nan_to_zero.edit("np.where(mask, scores, -np.inf)", "scores * mask"),
)
masked_softmax.wrong(
    "mask ignored", "Set one entry of the mask to False. Does your result change?", mask_ignored
)
masked_softmax.wrong(
    "axis ignored",
    "With axis=0, which sums are 1 in your result: those of the rows or of the columns?",
    nan_to_zero.edit("axis=axis", "axis=-1", times=2),
)
masked_softmax.wrong(
    "always the first axis",
    "Sum your result along the axis that was asked for. Along which axis is the sum 1?",
    nan_to_zero.edit("axis=axis", "axis=0", times=2),
)


@masked_softmax.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from the scores of a row without changing its "
    "weights?",
)
def _(scores, mask=None, axis=-1):
    exponentials = np.exp(scores)
    if mask is not None:
        exponentials = np.where(mask, exponentials, 0)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total > 0, total, 1)


masked_softmax.wrong(
    "the lowest number in place of minus infinity",
    "No score is below that number. But suppose that all scores of a row have become it: what are "
    "the weights of that row, and what should they be?",
    nan_to_zero.edit("-np.inf", "-1e30"),
)


@masked_softmax.public
def _(rng):
    hidden_last = np.array([True, True, False])
    yield Case("three scores, the last hidden", (np.array([1.0, 2.0, 5.0]), hidden_last)).holds(
        "the weight elsewhere is exactly 0.",
        "scores: (..., n_q, n_k), or of any other shape, and as large as they like.",
    )
    yield Case("no mask", (rng.normal(size=(2, 3)), None)).holds(
        "mask: boolean, broadcastable to `scores`, True where attention may go; None hides "
        "nothing.",
        "Returns weights of the shape of `scores`, which sum to 1 along `axis`.",
    )
    yield Case("no mask, axis 0", (rng.normal(size=(3, 2)), None), {"axis": 0}).holds(
        "axis: any axis of `scores`, counted from the start or, below 0, from the end."
    )
    mask = np.array([[True, False, True], [False, False, False], [True, True, False]])
    yield Case("a row with nothing to attend to", (rng.normal(size=(3, 3)), mask)).holds(
        "Where nothing may be attended to, all weights are 0, never NaN."
    )
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    yield Case("a square table, axis 0", (rng.normal(size=(3, 3)), mask), {"axis": 0}).holds(
        "axis: any…"
    )
    far = np.array([[1000.0, 1001.0, 1.0], [-1000.0, -1001.0, 1.0]])
    yield Case("scores of 1000, and a hidden one far above the others", (far, hidden_last)).holds(
        "scores: (...…"
    )
    yield _padded(
        rng, 2, 3, 4, np.float32, "float32, a batch, one row of the mask for all queries"
    ).holds("mask: boolean…")
    million = np.array([[1e6, 1e6 - 1, -1e6], [-1e6, -1e6 - 1, 1e6]])
    yield Case("scores of a million, on either side of 0", (million, hidden_last)).holds(
        "the weight…", "scores: (...…"
    )
    apart = rng.normal(size=(3, 4)) + np.array([[1000.0], [-1000.0], [0.0]])
    yield Case("rows with very different scores, no mask", (apart, None)).holds("scores: (...…")
    yield Case("called with the scores alone", (rng.normal(size=4),)).holds("mask: boolean…")
    one_mask = _mask(rng, 3, 4)
    yield Case(
        "three leading axes, one mask for all", (rng.normal(size=(2, 1, 2, 3, 4)), one_mask)
    ).holds("scores: (...…", "mask: boolean…")
    some_queries = np.array([[True], [False], [True]])
    yield Case("whole queries hidden", (rng.normal(size=(2, 3, 4)), some_queries)).holds(
        "mask: boolean…", "Where nothing…"
    )
    mask = np.array([[True, False, True], [False, False, True]])
    yield Case(
        "a column with nothing to attend to", (rng.normal(size=(2, 3)), mask), {"axis": 0}
    ).holds("Where nothing…")
    tables = rng.normal(size=(2, 3, 4)), _mask(rng, 3, 4)
    yield Case("a batch, axis 1", tables, {"axis": 1}).holds("axis: any…")
    yield Case("a batch, axis -2", tables, {"axis": -2}).holds("axis: any…")
    yield Case(
        "a batch of one, one query, one key", (rng.normal(size=(1, 1, 1)), np.array([True]))
    ).holds("scores: (...…", "Returns weights…")
    low = np.array([[-4e12, -2e12, -3e12], [-1e12, -2e12, 0.0]])
    yield Case("scores below any stand-in for infinity", (low, hidden_last))
    tables = rng.normal(size=(3, 3, 4)), _mask(rng, 3, 4)
    yield Case("as many tables as queries, one mask for all", tables)


@masked_softmax.hidden
def _(rng):
    n_q, n_k = rng.permutation([3, 4, 5])[:2]
    yield Case("no mask", (rng.normal(size=(n_q, n_k)), None))
    yield Case("no mask, axis 0", (rng.normal(size=(n_q, n_k)), None), {"axis": 0})
    yield Case("a mask", (rng.normal(size=(n_q, n_k)), _mask(rng, n_q, n_k)))
    yield Case("axis 0", (rng.normal(size=(n_q, n_k)), _mask(rng, n_k, n_q).T), {"axis": 0})
    mask = _mask(rng, n_q, n_k)
    mask[rng.integers(n_q)] = False
    yield Case("a row with nothing to attend to", (rng.normal(size=(n_q, n_k)), mask))
    mask = _mask(rng, n_q, n_k)
    heights = np.where(np.arange(n_q) == 0, 800.0, -800.0)[:, None]
    far = rng.normal(size=(n_q, n_k)) + np.where(mask, heights, -heights)
    yield Case("large scores, hidden ones far above or below the others", (far, mask)).holds(
        "the weight…"
    )
    yield _padded(
        rng, 3, n_q, n_k, np.float32, "float32, a batch, an axis of length 1 in the mask"
    ).holds("mask: boolean…")
    far = rng.normal(size=(n_q, n_k)) + np.where(mask, 1.0, -1.0) * heights * 2000
    yield Case("scores of a million, on either side of 0", (far, mask))
    yield Case(
        "rows with very different scores, no mask", (rng.normal(size=(n_q, n_k)) + heights, None)
    )
    columns = _mask(rng, n_k, n_q).T
    columns[:, rng.integers(n_k)] = False
    empty = rng.normal(size=(n_q, n_k)), columns
    yield Case("a column with nothing to attend to, axis -2", empty, {"axis": -2})
    tables = rng.normal(size=(2, 3, n_q, n_k)), _mask(rng, n_q, n_k)
    yield Case("two leading axes, axis 2", tables, {"axis": 2}).holds("axis: any…")
    yield Case("one query, one key", (rng.normal(size=(2, 1, 1)), np.array([True]))).holds(
        "Returns weights…"
    )
    low = -1e12 * (rng.random((n_q, n_k)) + 0.1)
    yield Case("scores below any stand-in for infinity", (low, _mask(rng, n_q, n_k)))


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one place to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))


def _padded(
    rng: np.random.Generator, batch: int, n_q: int, n_k: int, dtype: type, note: str
) -> Case:
    """A batch of sentences of different lengths, the first of them of length 1."""
    lengths = np.array([1, *rng.integers(1, n_k + 1, size=batch - 1)])
    mask = np.arange(n_k) < lengths[:, None, None]  # (batch, 1, n_k)
    return Case(note, (rng.normal(size=(batch, n_q, n_k)).astype(dtype), mask))
