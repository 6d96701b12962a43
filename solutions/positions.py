"""Where a token stands: four ways to say it, and the rotation that joins the first two.

Sinusoids come from Vaswani et al. (2017), "Attention is all you need"; relative positions from Shaw
et al. (2018), "Self-attention with relative position representations"; rotary positions from Su et
al. (2021), "RoFormer: Enhanced Transformer with rotary position embedding"; linear biases from
Press et al. (2022), "Train short, test long". Positions count from 0.
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
    angles = np.arange(n)[:, None] * _frequencies(d)  # (n, d/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def shift_matrix(d: int, k: int) -> np.ndarray:
    """Return the matrix M that moves every sinusoidal encoding k positions on: PE[p + k] = M PE[p].

    Here PE[p], row p of `sinusoidal_positions`, is read as a column, and M stands on its left. d:
    the width, even. k: how far, any whole number; below 0 is back. M has shape (d, d) and does not
    depend on p. Raises ValueError, with the number d in its message, if d is odd.
    """
    angles = k * _frequencies(d)  # (d/2,)
    even = np.arange(0, d, 2)  # the sines; the cosine of each stands one to the right
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
    angles = np.asarray(positions)[..., None] * _frequencies(X.shape[-1])  # (..., n, d/2)
    first, second = X[..., ::2], X[..., 1::2]  # (..., n, d/2) each
    turned = np.stack(
        [
            first * np.cos(angles) - second * np.sin(angles),
            first * np.sin(angles) + second * np.cos(angles),
        ],
        axis=-1,
    )  # (..., n, d/2, 2)
    return turned.reshape(X.shape).astype(X.dtype)


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
    reach = _reach(table)
    distance = np.arange(K.shape[-2]) - np.arange(Q.shape[-2])[:, None]  # (n_q, n_k), j - i
    vectors = table[np.clip(distance, -reach, reach) + reach]  # (n_q, n_k, d_k)
    by_distance = np.einsum("...id,ijd->...ij", Q, vectors)
    return (Q @ np.swapaxes(K, -1, -2) + by_distance) / math.sqrt(Q.shape[-1])


def _frequencies(d: int) -> np.ndarray:
    """Return how fast each pair of features turns: 10000^(-2i/d), of shape (d/2,)."""
    if d % 2:
        raise ValueError(f"d = {d} is odd, and the features come in pairs")
    return BASE ** (-np.arange(0, d, 2) / d)


def _reach(table: np.ndarray) -> int:
    """Return r for a table of 2r + 1 rows."""
    if len(table) % 2 == 0:
        raise ValueError(f"the table has {len(table)} rows; distances from -r to r need 2r + 1")
    return len(table) // 2
