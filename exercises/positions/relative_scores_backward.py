"""The exercise `relative_scores_backward`: the gradient of a table that many pairs share."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import positions as solutions

from .. import forbidden

relative_scores_backward = Declaration(
    solutions.relative_scores_backward,
    points=4,
    difficulty=5,
    minutes=35,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Write down one score, and its derivative with respect to its query, its key and its row "
        "of the table. Then, for each of these, sum over all the scores that it is a part of.",
        "The derivative of q · (k + a) with respect to q is k + a, and with respect to k and a it "
        "is q. Many pairs share a row, and so do all batches: `np.add.at` adds up when an index "
        "is repeated, `+=` does not.",
        "Section “A vector for every distance”; “What you need”, the chain rule.",
    ),
)


@relative_scores_backward.right
def loop(Q, K, table, d_scores):
    d_Q, d_K, d_table = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(table)
    r, scale = len(table) // 2, Q.shape[-1] ** -0.5
    for place in np.ndindex(*d_scores.shape):
        *batch, i, j = place
        query, key = (*batch, i), (*batch, j)
        row = min(max(j - i, -r), r) + r
        d_Q[query] += d_scores[place] * scale * (K[key] + table[row])
        d_K[key] += d_scores[place] * scale * Q[query]
        d_table[row] += d_scores[place] * scale * Q[query]
    return d_Q, d_K, d_table


@relative_scores_backward.right
def one_hot(Q, K, table, d_scores):
    r = len(table) // 2
    rows = np.clip(np.subtract.outer(-np.arange(Q.shape[-2]), -np.arange(K.shape[-2])), -r, r) + r
    picks = np.eye(len(table), dtype=Q.dtype)[rows]  # (n_q, n_k, rows of the table)
    d_rows = np.einsum("...ij,ijt->...it", d_scores, picks) / np.sqrt(Q.shape[-1])
    d_content = d_scores / np.sqrt(Q.shape[-1])
    d_table = np.tensordot(d_rows, Q, (range(Q.ndim - 1), range(Q.ndim - 1)))
    return d_content @ K + d_rows @ table, np.einsum("...ij,...id->...jd", d_content, Q), d_table


@relative_scores_backward.right
def row_by_row(Q, K, table, d_scores):
    r = len(table) // 2
    queries = Q / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    distance = np.arange(K.shape[-2])[None, :] - np.arange(Q.shape[-2])[:, None]
    d_Q, d_table = d_scores @ K, np.zeros_like(table)
    for row in range(len(table)):
        here = np.clip(distance, -r, r) == row - r
        weight = np.sum(d_scores * here, axis=-1, keepdims=True)  # (..., n_q, 1)
        d_Q = d_Q + weight * table[row]
        d_table[row] = np.sum((weight * queries).reshape(-1, Q.shape[-1]), axis=0)
    return d_Q / np.sqrt(Q.shape[-1]), np.swapaxes(d_scores, -1, -2) @ queries, d_table


@relative_scores_backward.right
def plain(Q, K, table, d_scores):
    r = len(table) // 2
    distance = np.arange(K.shape[-2]) - np.arange(Q.shape[-2])[:, None]
    rows = np.clip(distance, -r, r) + r
    scaled = d_scores / Q.shape[-1] ** 0.5
    d_Q = scaled @ K + np.einsum("...ij,ijd->...id", scaled, table[rows])
    d_K = np.swapaxes(scaled, -1, -2) @ Q
    d_vectors = scaled[..., None] * Q[..., None, :]
    d_table = np.zeros_like(table)
    np.add.at(d_table, np.broadcast_to(rows, scaled.shape), d_vectors)
    return d_Q, d_K, d_table


relative_scores_backward.wrong(
    "only one pair for each row",
    "Many pairs use the same row of the table. With rows = np.array([0, 0]), what does "
    "`d_table[np.broadcast_to(rows, d_scores.shape)] += 1` add to row 0: 1 or 2?",
    plain.edit(
        "np.add.at(d_table, np.broadcast_to(rows, scaled.shape), d_vectors)",
        "d_table[np.broadcast_to(rows, scaled.shape)] += d_vectors",
    ),
)
relative_scores_backward.wrong(
    "mean over the pairs",
    "If two scores each rise by 1 when a number of the table rises by 1, by how much does their "
    "sum rise?",
    plain.edit(
        "return d_Q, d_K, d_table",
        "count = np.bincount(rows.ravel(), minlength=len(table)) * (scaled.size // rows.size)\n"
        "return d_Q, d_K, d_table / np.maximum(count, 1)[:, None]",
    ),
)
relative_scores_backward.wrong(
    "queries meet the keys alone",
    "What does a query's score depend on, apart from the key? Does d_Q change when the table does?",
    plain.edit(' + np.einsum("...ij,ijd->...id", scaled, table[rows])', ""),
)
relative_scores_backward.wrong(
    "no scale",
    "The scores were divided by the square root of d_k. What does that do to each gradient?",
    plain.edit(" / Q.shape[-1] ** 0.5", ""),
)
relative_scores_backward.wrong(
    "the table's gradient not scaled",
    "Is the part of a score that comes from the table divided too?",
    plain.edit("scaled[..., None]", "d_scores[..., None]"),
)
relative_scores_backward.wrong(
    "clipped distances omitted",
    "Which row of the table does a pair use whose distance is larger than r? Does its score "
    "change with that row?",
    plain.edit("scaled[..., None]", "(scaled * (abs(distance) <= r))[..., None]"),
)
relative_scores_backward.wrong(
    "distance from key to query",
    "The first row of the table is for a key before the query. Is j - i then above or below 0?",
    plain.edit("np.clip(distance, -r, r)", "np.clip(-distance, -r, r)"),
)
relative_scores_backward.wrong(
    "the key in place of the query",
    "The table's vector is multiplied by the query. What is the derivative of q · a with respect "
    "to a?",
    plain.edit("Q[..., None, :]", "K[..., None, :, :]"),
)


@relative_scores_backward.public
def _(rng):
    one = (np.array([[1.0]]), np.array([[3.0]]), np.array([[5.0]]), np.array([[2.0]]))
    yield Case("one query, one key, a table of one row", one).holds("All sizes are at least 1.")
    yield Case("two queries, two keys", _inputs(rng, (), 2, 2, 2, 1)).holds(
        "d_scores: (..., n_q, n_k), the gradient of the loss with respect to the scores.",
        "Returns the tuple (d_Q, d_K, d_table), in the shapes of Q, K and table.",
    )
    yield Case("distances beyond the table", _inputs(rng, (), 5, 5, 3, 1)).holds(
        "The score of query i on key j is the dot product of Q[i] with K[j] + table[c + r], "
        "divided by the square root of d_k, where c is j - i, but no less than -r and no more "
        "than r."
    )
    yield Case("more keys than queries", _inputs(rng, (), 2, 6, 3, 2)).holds(
        "Q: (..., n_q, d_k). K: (..., n_k, d_k), with the same leading axes.", "Returns the…"
    )
    yield Case("more queries than keys", _inputs(rng, (), 6, 2, 3, 2)).holds("Q: (...…")
    yield Case(
        "a table that reaches farther than the sequence", _inputs(rng, (), 3, 3, 2, 4)
    ).holds("The score…")
    yield Case("a table of one row", _inputs(rng, (), 3, 4, 2, 0)).holds(
        "table: (2r + 1, d_k), shared by all leading axes."
    )
    yield Case("a batch", _inputs(rng, (3,), 3, 4, 5, 1)).holds("table: (2r…")
    yield Case("float32, two leading axes", _inputs(rng, (2, 3), 4, 3, 2, 1, np.float32)).holds(
        "table: (2r…"
    )
    yield Case("a batch of one, all sizes 1", _inputs(rng, (1,), 1, 1, 1, 0)).holds("All sizes…")
    yield Case("keys near a million million", _large(_inputs(rng, (), 3, 4, 3, 1))).holds(
        "Entries may be of very different sizes."
    )
    Q, K, table, d_scores = _inputs(rng, (), 3, 4, 2, 1)
    yield Case("a tiny gradient arrives", (Q, K, table, 1e-9 * d_scores)).holds("d_scores: (...…")


@relative_scores_backward.hidden
def _(rng):
    n_q, n_k, d_k = (int(one) for one in rng.permutation([4, 5, 6]))
    yield Case("distances beyond the table", _inputs(rng, (), n_q, n_k, d_k, 1))
    yield Case("all sizes equal", _inputs(rng, (), n_q, n_q, n_q, 2))
    yield Case("a table that reaches as far as the sequence", _inputs(rng, (), n_q, n_k, d_k, 5))
    yield Case("a table of one row", _inputs(rng, (), n_q, n_k, d_k, 0))
    yield Case("a batch", _inputs(rng, (2,), n_q, n_k, d_k, 2))
    yield Case("float32, a batch", _inputs(rng, (3,), n_q, n_k, d_k, 1, np.float32))
    yield Case("three leading axes", _inputs(rng, (2, 1, 3), n_q, n_k, d_k, 2)).holds("Q: (...…")
    yield Case("keys near a million million", _large(_inputs(rng, (), n_q, n_k, d_k, 1)))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    reach: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random Q, K and table, and the gradient of the scores."""
    shapes = ((*batch, n_q, d_k), (*batch, n_k, d_k), (2 * reach + 1, d_k), (*batch, n_q, n_k))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def _large(inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The same with huge keys: in their scores, what the table adds is lost to rounding."""
    Q, K, table, d_scores = inputs
    return Q, K * 1e12, table, d_scores
