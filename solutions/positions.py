"""The position of a token: four ways to encode it, and a way to stretch one of them.

Sinusoids come from Vaswani et al. (2017), "Attention is all you need"; relative positions from Shaw
et al. (2018), "Self-attention with relative position representations"; rotary positions from Su et
al. (2021), "RoFormer: Enhanced Transformer with rotary position embedding"; linear biases from
Press et al. (2022), "Train short, test long"; stretched positions from Chen et al. (2023),
"Extending context window of large language models via positional interpolation", and Peng et al.
(2024), "YaRN: Efficient context window extension of large language models". Positions count from 0.
"""

import math

import numpy as np

BASE = 10000.0


def sinusoidal_positions(n: int, d: int) -> np.ndarray:
    """Encode the positions 0 to n - 1 in waves (Vaswani et al. 2017, section 3.5).

    n: how many positions, 0 or more, and as many as anyone asks for. d: the width, even. Returns an
    array of shape (n, d). Row p holds, for i = 0 ... d/2 - 1, the sine of p / 10000^(2i/d) in
    column 2i and the cosine of the same angle in column 2i + 1. Raises ValueError, with the number
    d in its message, if d is odd.
    """
    angles = np.arange(n)[:, None] * frequencies(d)  # (n, d/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def shift_matrix(d: int, k: int) -> np.ndarray:
    """Return the matrix M that moves every sinusoidal encoding k positions on: PE[p + k] = M PE[p].

    Here PE[p], row p of `sinusoidal_positions`, is read as a column, and M stands on its left. d:
    the width, even. k: how far, any whole number; below 0 is back. M has shape (d, d) and does not
    depend on p. Raises ValueError, with the number d in its message, if d is odd.
    """
    angles = k * frequencies(d)  # (d/2,)
    even = np.arange(0, d, 2)  # the columns of sines; each cosine is one column further
    M = np.zeros((d, d))
    M[even, even] = M[even + 1, even + 1] = np.cos(angles)
    M[even, even + 1] = np.sin(angles)
    M[even + 1, even] = -np.sin(angles)
    return M


def rotary(X: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Turn every query or key by an angle that says where it stands (Su et al. 2021, section 3.2).

    X: (..., n, d), floating, d even, n may be 0. positions: (n,), or any shape that broadcasts to
    (..., n). They are not necessarily 0, 1, 2 and so on: any numbers, in any order, far ones, below
    0 or between two whole ones. Features 2i and 2i + 1 are a pair, a point in a plane: it is turned
    counter-clockwise, from the first axis towards the second, by position / 10000^(2i/d). Returns
    an array of the shape of X. Raises ValueError, with the number d in its message, if d is odd.
    """
    angles = np.asarray(positions)[..., None] * frequencies(X.shape[-1])  # (..., n, d/2)
    first, second = X[..., ::2], X[..., 1::2]  # (..., n, d/2) each
    turned = np.stack(
        [
            first * np.cos(angles) - second * np.sin(angles),
            first * np.sin(angles) + second * np.cos(angles),
        ],
        axis=-1,
    )  # (..., n, d/2, 2)
    return turned.reshape(X.shape).astype(X.dtype)


def rotary_by_halves(X: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Turn queries or keys as `rotary` does, but with the two halves of the features as partners.

    X: (..., n, d), floating, d even, n may be 0. positions: (n,), or any shape that broadcasts to
    (..., n), any numbers. Features i and i + d/2 are a pair, for i = 0 ... d/2 - 1. It is turned
    counter-clockwise, from feature i towards feature i + d/2, by position / 10000^(2i/d). Returns
    an array of the shape of X. Raises ValueError, with the number d in its message, if d is odd.
    """
    angles = np.asarray(positions)[..., None] * frequencies(X.shape[-1])  # (..., n, d/2)
    first, second = np.split(X, 2, axis=-1)  # (..., n, d/2) each
    turned = np.concatenate(
        [
            first * np.cos(angles) - second * np.sin(angles),
            first * np.sin(angles) + second * np.cos(angles),
        ],
        axis=-1,
    )
    return turned.astype(X.dtype)


def weights_for_halves(W: np.ndarray, n_heads: int) -> np.ndarray:
    """Reorder the columns of W_q or W_k for a library that pairs the halves of a head's features.

    W: (..., n_heads * d_head), floating, d_head even: the weights, or their bias. A token x stands
    on the left, x W; the columns h * d_head to (h + 1) * d_head - 1 are those of head h. W was
    trained with features 2i and 2i + 1 of a head as pair i, as `rotary` has them. The library takes
    features i and i + d_head/2 of a head for pair i, and turns that pair by the same angle in the
    same sense. Returns a new array of the shape of W, with the same columns in another order: with
    it, every feature has in the library the partner, the angle and the role that it was trained
    with. Raises ValueError, with the number d_head in its message, if d_head is odd.
    """
    d_head = W.shape[-1] // n_heads
    if d_head % 2:
        raise ValueError(f"d_head = {d_head} is odd, and the features come in pairs")
    columns = np.arange(W.shape[-1]).reshape(n_heads, d_head // 2, 2)  # row i: pair i of a head
    return W[..., columns.swapaxes(1, 2).ravel()]  # first features, then second ones


def cached_rotary_scores(
    Q: np.ndarray, K: np.ndarray, cache: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Score the newest tokens on all tokens so far, whose turned keys are kept in a cache.

    Q and K: (..., m, d), floating, d even, m at least 1: the queries and keys of the m newest
    tokens, not turned yet. cache: (..., c, d), c at least 0: the keys of the c tokens before them,
    at the positions 0 to c - 1, each turned by its position when it was new. The newest tokens
    stand at the positions c to c + m - 1. Features 2i and 2i + 1 are a pair, and are turned
    counter-clockwise by position / 10000^(2i/d). Returns the tuple (scores, cache). Scores are the
    dot products of every new query with every key so far, divided by the square root of d, of shape
    (..., m, c + m); nothing is masked. The cache that is returned, (..., c + m, d), is a new array,
    and the next call takes it.
    """
    new = cache.shape[-2] + np.arange(K.shape[-2])  # the positions of the newest tokens
    longer = np.concatenate([cache, rotary(K, new)], axis=-2)  # (..., c + m, d)
    scores = rotary(Q, new) @ np.swapaxes(longer, -1, -2)  # (..., m, c + m)
    return scores / math.sqrt(Q.shape[-1]), longer


def interpolated_positions(positions: np.ndarray, trained: int) -> np.ndarray:
    """Squeeze the positions of a long sequence into the trained range (Chen et al. 2023).

    positions: (..., n), n at least 1, whole numbers from 0 on, in any order: a row belongs to one
    sequence, whose length L is its largest position plus 1. trained: the length of the longest
    sequence in training, at least 1. In a sequence that is longer than that, every position is
    multiplied by trained / L; in any other, nothing changes. Returns floats of the shape of
    positions.
    """
    length = np.max(positions, axis=-1, keepdims=True) + 1  # (..., 1)
    return positions * np.minimum(1, trained / length)


def linear_bias(n: int, n_heads: int) -> np.ndarray:
    """Return what to add to the scores so that far keys count less (Press et al. 2022, section 3).

    n: the number of tokens, 0 or more. n_heads: 1 or more. Returns an array of shape (n_heads, n,
    n): entry [h - 1, i, j] is minus slope times the distance of i and j, where the slope of head h
    = 1 ... n_heads is 2^(-8h/n_heads), for every n_heads, a power of two or not. The bias is
    symmetric, 0 on the diagonal, and hides nothing: a causal model needs its mask as well.
    """
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)  # (n_heads,)
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def relative_scores(Q: np.ndarray, K: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Score every query on every key by content and by distance (Shaw et al. 2018, section 3).

    Q: (..., n_q, d_k), floating. K: (..., n_k, d_k), floating. n_q and n_k may be 0. Query i stands
    at position i, key j at position j. table: (2r + 1, d_k), a vector for each distance j - i from
    -r (first row) to r (last row), r at least 0; what is farther than r counts as r, on its own
    side. Returns the scores, (..., n_q, n_k): the query's dot product with the sum of the key and
    the vector of their distance, divided by the square root of d_k. Raises ValueError, with the
    number of rows in its message, if that number is even.
    """
    vectors = table[_rows(Q, K, _reach(table))]  # (n_q, n_k, d_k)
    by_distance = np.einsum("...id,ijd->...ij", Q, vectors)
    return (Q @ np.swapaxes(K, -1, -2) + by_distance) / math.sqrt(Q.shape[-1])


def relative_scores_backward(
    Q: np.ndarray, K: np.ndarray, table: np.ndarray, d_scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the gradients of the inputs of `relative_scores`, given the gradient of the scores.

    Q: (..., n_q, d_k). K: (..., n_k, d_k), with the same leading axes. All sizes are at least 1.
    table: (2r + 1, d_k), shared by all leading axes. d_scores: (..., n_q, n_k), the gradient of the
    loss with respect to the scores. The score of query i on key j is the dot product of Q[i] with
    K[j] + table[c + r], divided by the square root of d_k, where c is j - i, but no less than -r
    and no more than r. Entries may be of very different sizes. Returns the tuple (d_Q, d_K,
    d_table), in the shapes of Q, K and table.
    """
    d_scores = d_scores / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    rows = _rows(Q, K, _reach(table))  # (n_q, n_k)
    d_Q = d_scores @ K + np.einsum("...ij,ijd->...id", d_scores, table[rows])
    d_K = np.swapaxes(d_scores, -1, -2) @ Q
    d_vectors = d_scores[..., None] * Q[..., None, :]  # (..., n_q, n_k, d_k), one for each pair
    d_table = np.zeros_like(table)
    # Many pairs share a row. With +=, all but the last of them would be lost.
    np.add.at(d_table, np.broadcast_to(rows, d_scores.shape), d_vectors)
    return d_Q, d_K, d_table


def frequencies(d: int, base: float = BASE) -> np.ndarray:
    """Return how fast each pair of features turns, in radians a position: base^(-2i/d), (d/2,).

    Raises ValueError, with the number d in its message, if d is odd.
    """
    if d % 2:
        raise ValueError(f"d = {d} is odd, and the features come in pairs")
    return base ** (-np.arange(0, d, 2) / d)


def stretched_frequencies(d: int, trained: int, factor: float, whole: float) -> np.ndarray:
    """Slow down the pairs that made no full turn in training (Peng et al. 2024, section 3.2).

    d: the width, even. trained: the longest length in training. factor: the new length divided by
    the trained length. A pair that makes `whole` turns or more within the trained length keeps its
    speed; the speed of a pair that makes 1 turn or less is divided by the factor; between these
    two, the speed is a mixture of both. Returns an array of shape (d/2,).
    """
    speeds = frequencies(d)
    turns = trained * speeds / (2 * math.pi)
    kept = np.clip((turns - 1) / (whole - 1), 0, 1)
    return kept * speeds + (1 - kept) * speeds / factor


def _rows(Q: np.ndarray, K: np.ndarray, reach: int) -> np.ndarray:
    """Return the index (n_q, n_k) of the table's row for each pair of query and key."""
    distance = np.arange(K.shape[-2]) - np.arange(Q.shape[-2])[:, None]  # j - i
    return np.clip(distance, -reach, reach) + reach


def _reach(table: np.ndarray) -> int:
    """Return r for a table of 2r + 1 rows."""
    if len(table) % 2 == 0:
        raise ValueError(f"the table has {len(table)} rows; distances from -r to r need 2r + 1")
    return len(table) // 2
