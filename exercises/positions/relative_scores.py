"""The exercise `relative_scores`: a learned vector for every distance."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import positions as solutions

relative_scores = Declaration(
    solutions.relative_scores,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Compute all distances, turn each into a row number of the table, take those rows, and "
        "let each query meet them as it meets the keys.",
        "`np.clip(j - i, -r, r) + r` is a row number, for all pairs at once of shape (n_q, n_k). "
        "The rows then have shape (n_q, n_k, d_k); `np.einsum` sums over d_k.",
        "Section “A vector for every distance”.",
    ),
)


@relative_scores.right
def loop(Q, K, table):
    if len(table) % 2 == 0:
        raise ValueError(f"table has {len(table)} rows")
    n_q, n_k, r = Q.shape[-2], K.shape[-2], len(table) // 2
    scores = np.zeros((*Q.shape[:-1], n_k))
    for i in range(n_q):
        for j in range(n_k):
            row = min(max(j - i, -r), r) + r
            scores[..., i, j] = np.sum(Q[..., i, :] * (K[..., j, :] + table[row]), axis=-1)
    return scores / np.sqrt(Q.shape[-1])


@relative_scores.right
def gathered(Q, K, table):
    if not len(table) % 2:
        raise ValueError(f"expected an odd number of rows, got {len(table)}")
    n_q, n_k, r = Q.shape[-2], K.shape[-2], len(table) // 2
    rows = np.clip(np.arange(n_k)[None, :] - np.arange(n_q)[:, None] + r, 0, 2 * r)
    on_rows = Q @ table.T
    by_distance = on_rows[..., np.arange(n_q)[:, None], rows]
    return np.einsum("...id,...jd->...ij", Q, K) / Q.shape[-1] ** 0.5 + by_distance / np.sqrt(
        Q.shape[-1]
    )


@relative_scores.right
def padded(Q, K, table):
    rows, middle = divmod(table.shape[0], 2)
    if middle == 0:
        raise ValueError(f"{2 * rows} rows have no middle")
    n_q, n_k, r = Q.shape[-2], K.shape[-2], len(table) // 2
    wide = np.concatenate([table[:1]] * n_q + [table] + [table[-1:]] * n_k)
    rows = [wide[n_q + r - i : n_q + r - i + n_k] for i in range(n_q)]
    vectors = np.reshape(rows, (n_q, n_k, Q.shape[-1]))
    together = np.expand_dims(K, -3) + vectors
    return np.einsum("...id,...ijd->...ij", Q / Q.shape[-1] ** 0.5, together)


@relative_scores.right
def plain(Q, K, table):
    if len(table) % 2 == 0:
        raise ValueError(f"{len(table)} rows")
    r = len(table) // 2
    distance = np.arange(K.shape[-2]) - np.arange(Q.shape[-2])[:, None]
    vectors = table[np.clip(distance, -r, r) + r]
    content = Q @ np.swapaxes(K, -1, -2)
    by_distance = np.einsum("...id,ijd->...ij", Q, vectors)
    return (content + by_distance) / Q.shape[-1] ** 0.5


unchecked = plain.edit('if len(table) % 2 == 0:\n    raise ValueError(f"{len(table)} rows")', "")

relative_scores.wrong(
    "distance from key to query",
    "The first row of the table is for a key before the query. Is j - i then above or below 0?",
    unchecked.edit("np.clip(distance, -r, r)", "np.clip(-distance, -r, r)"),
)
relative_scores.wrong(
    "no clipping",
    "Which row of the table do you read when the distance is larger than r? And smaller than -r?",
    unchecked.edit("np.clip(distance, -r, r)", "distance"),
)
relative_scores.wrong(
    "distances wrap around",
    "Should a key far behind the query use the same vector as one just ahead of it?",
    unchecked.edit("np.clip(distance, -r, r) + r", "(distance + r) % len(table)"),
)
relative_scores.wrong(
    "rows not counted from -r",
    "Which row of the table belongs to distance 0? What does NumPy read at index -1?",
    unchecked.edit("np.clip(distance, -r, r) + r", "np.clip(distance, -r, r)"),
)
relative_scores.wrong(
    "before and after treated alike",
    "Should two keys, one before and one after the query, get the same vector?",
    unchecked.edit("np.clip(distance, -r, r)", "np.clip(abs(distance), -r, r)"),
)
relative_scores.wrong(
    "no vector for far keys",
    "According to the docstring, does a distance beyond r count as r, or as nothing?",
    unchecked.edit("content + by_distance", "content + by_distance * (abs(distance) <= r)"),
)
relative_scores.wrong(
    "content forgotten",
    "Does your result change when the keys do?",
    unchecked.edit("content + by_distance", "by_distance"),
)


@relative_scores.wrong("distance forgotten", "Does your result change when the table does?")
def _(Q, K, table):
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5


relative_scores.wrong(
    "no scale",
    "What does the docstring divide the scores by?",
    unchecked.edit(" / Q.shape[-1] ** 0.5", ""),
)
relative_scores.wrong(
    "only the content scaled",
    "The query is multiplied by the sum of key and vector. Which part of that product should be "
    "divided?",
    unchecked.edit(
        "(content + by_distance) / Q.shape[-1] ** 0.5", "content / Q.shape[-1] ** 0.5 + by_distance"
    ),
)
relative_scores.wrong(
    "the key multiplied by the table",
    "Which dot product with the vector of the distance does the docstring ask for, the query's or "
    "the key's?",
    unchecked.edit(
        'np.einsum("...id,ijd->...ij", Q, vectors)', 'np.einsum("...jd,ijd->...ij", K, vectors)'
    ),
)
relative_scores.wrong(
    "transpose of all axes",
    "What does `.T` do to an array of shape (2, 3, 5, 4)? Which two axes should be swapped?",
    unchecked.edit("np.swapaxes(K, -1, -2)", "K.T"),
)


@relative_scores.public
def _(rng):
    Q, K = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 3.0]])
    table = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
    yield Case("two queries, two keys, distances -1, 0 and 1", (Q, K, table)).holds(
        "a vector for each distance j - i from -r (first row) to r (last row), r at least 0",
        "Returns the scores, (..., n_q, n_k): the query's dot product with the sum of the key "
        "and the vector of their distance, divided by the square root of d_k.",
    )
    yield Case("distances beyond the table", _inputs(rng, (), 5, 5, 3, 1)).holds(
        "what is farther than r counts as r, on its own side"
    )
    yield Case("more keys than queries", _inputs(rng, (), 3, 6, 5, 2)).holds(
        "Q: (..., n_q, d_k), floating. K: (..., n_k, d_k), floating.", "Returns the…"
    )
    yield Case(
        "a table that reaches farther than the sequence", _inputs(rng, (), 3, 3, 2, 4)
    ).holds("a vector…")
    yield Case("float32, two leading axes", _inputs(rng, (2, 3), 6, 4, 3, 2, np.float32)).holds(
        "Q: (...…"
    )
    yield Case("a table of one row", _inputs(rng, (), 2, 3, 2, 0)).holds("a vector…")
    yield Case("no query", _inputs(rng, (), 0, 3, 2, 1)).holds("n_q and n_k may be 0")
    yield Case("no key", _inputs(rng, (2,), 3, 0, 2, 1)).holds("n_q and n_k…")
    yield Case("one query, one key, one feature", _inputs(rng, (1,), 1, 1, 1, 1)).holds("Q: (...…")
    yield Case("one query, ten keys", _inputs(rng, (), 1, 10, 3, 2)).holds(
        "Query i stands at position i, key j at position j."
    )
    yield Case("ten queries, one key", _inputs(rng, (), 10, 1, 3, 2)).holds("Query i stands…")
    yield Case("two other queries and keys", _inputs(rng, (), 2, 2, 2, 1)).holds("Q: (...…")
    Q, K, table = _inputs(rng, (), 3, 3, 2, 1)
    yield Case("tiny numbers", (1e-9 * Q, K, table)).holds("Q: (...…")
    even = rng.normal(size=(4, 2))
    yield Case("a table of 4 rows", (Q, K, even), raises=Raises("ValueError", ("4",))).holds(
        "Raises ValueError…"
    )
    even = rng.normal(size=(2, 1))
    one = rng.normal(size=(1, 1)), rng.normal(size=(1, 1)), even
    yield Case("one query, one key, a table of 2 rows", one, raises=Raises("ValueError", ("2",)))


@relative_scores.hidden
def _(rng):
    n_q, n_k, d_k = (int(size) for size in rng.permutation([5, 6, 7]))
    yield Case("a table that reaches as far as the sequence", _inputs(rng, (), 3, 3, d_k, 2))
    yield Case("distances beyond the table", _inputs(rng, (), n_q, n_q, d_k, 2))
    yield Case("queries and keys differ in number", _inputs(rng, (), n_q, n_k, d_k, 1)).holds(
        "Query i stands…"
    )
    yield Case("float32, a batch", _inputs(rng, (3,), n_k, n_q, d_k, 2, np.float32))
    yield Case("three leading axes", _inputs(rng, (2, 1, 3), n_q, n_k, d_k, 2)).holds("Q: (...…")
    yield Case("many keys", _inputs(rng, (), n_q, int(rng.integers(70, 90)), d_k, 1)).holds(
        "what is farther…"
    )
    Q, K, _ = _inputs(rng, (), n_q, n_k, d_k, 1)
    for note, rows in (("an even number of rows", 20 + 2 * n_q), ("a table of no rows", 0)):
        even = rng.normal(size=(rows, d_k))
        yield Case(note, (Q, K, even), raises=Raises("ValueError", (str(rows),))).holds(
            "Raises ValueError, with the number of rows in its message, if that number is even."
        )


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    reach: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random Q and K, and a table for the distances -reach to reach."""
    shapes = ((*batch, n_q, d_k), (*batch, n_k, d_k), (2 * reach + 1, d_k))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)
