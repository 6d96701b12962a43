"""The exercise `cached_rotary_scores`: rotary with an offset, for a cache of keys. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import positions as solutions

cached_rotary_scores = Declaration(
    solutions.cached_rotary_scores,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "The rotation itself is right. Follow one key through three calls, and write down by how "
        "much it has been rotated after each.",
        "Call the function with one token, and call it again with the next token and the cache "
        "that it returned. Then compare the cache with that of a single call with both tokens. "
        "Which rows differ?",
        "Section “Turn the queries and the keys”.",
    ),
)


@cached_rotary_scores.right
def by_complex(Q, K, cache):
    (m, d), c = Q.shape[-2:], cache.shape[-2]
    angles = np.outer(np.arange(c, c + m), 10000.0 ** (-np.arange(0, d, 2) / d))
    points = [(X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angles) for X in (Q, K)]
    old = cache[..., 0::2] + 1j * cache[..., 1::2]
    keys = np.concatenate([old, points[1]], axis=-2)
    scores = np.einsum("...id,...jd->...ij", points[0], keys.conj()).real / d**0.5
    return scores, np.stack([keys.real, keys.imag], axis=-1).reshape(*keys.shape[:-1], d)


@cached_rotary_scores.right
def token_by_token(Q, K, cache):
    (m, d), c = Q.shape[-2:], cache.shape[-2]
    new, queries = np.zeros(K.shape), np.zeros(Q.shape)
    for at in range(m):
        for i in range(d // 2):
            angle = (c + at) / 10000 ** (2 * i / d)
            R = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            new[..., at, 2 * i : 2 * i + 2] = K[..., at, 2 * i : 2 * i + 2] @ R
            queries[..., at, 2 * i : 2 * i + 2] = Q[..., at, 2 * i : 2 * i + 2] @ R
    keys = np.concatenate([cache, new], axis=-2)
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(d), keys


@cached_rotary_scores.right
def table(Q, K, cache):
    m, d = K.shape[-2:]
    total = cache.shape[-2] + m
    angles = np.repeat(np.arange(total)[:, None] / 10000 ** (np.arange(0, d, 2) / d), 2, axis=-1)
    cosine, sine = np.cos(angles)[-m:], np.sin(angles)[-m:] * np.tile([-1, 1], d // 2)
    exchanged = np.arange(d) ^ 1
    queries, new = (X * cosine + X[..., exchanged] * sine for X in (Q, K))
    keys = np.concatenate([cache, new], axis=-2)
    return np.einsum("...id,...jd->...ij", queries / d**0.5, keys), keys


@cached_rotary_scores.right
def plain(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    new = c + np.arange(m)
    keys = np.concatenate([cache, turn(K, new)], axis=-2)
    scores = turn(Q, new) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


@cached_rotary_scores.wrong(
    "cached keys rotated again",
    "A key is written into the cache at the first call. By what angle has it been rotated after "
    "the second call? And after the third?",
    released=True,
)
def _(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)  # (n, d/2)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    m, d = Q.shape[-2:]
    keys = np.concatenate([cache, K], axis=-2)  # (..., c + m, d)
    positions = np.arange(keys.shape[-2])  # 0 to c + m - 1
    keys = turn(keys, positions)
    queries = turn(Q, positions[-m:])  # the newest tokens come last
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


cached_rotary_scores.wrong(
    "the newest tokens numbered from 0",
    "Three keys are in the cache. What is the position of the next token?",
    plain.edit("c + np.arange(m)", "np.arange(m)"),
)
cached_rotary_scores.wrong(
    "the newest queries numbered from 0",
    "A new token's query meets its own key. How far apart are the two in your function?",
    plain.edit("turn(Q, new)", "turn(Q, np.arange(m))"),
)
cached_rotary_scores.wrong(
    "new keys cached before they are rotated",
    "In what state does the next call expect the keys in the cache?",
    plain.edit("scores, keys", "scores, np.concatenate([cache, K], axis=-2)"),
)
cached_rotary_scores.wrong(
    "all new tokens at one position",
    "Two new tokens come at once. Do they have the same position?",
    plain.edit("c + np.arange(m)", "np.full(m, c + m - 1)"),
)
cached_rotary_scores.wrong(
    "one position too far",
    "Suppose that the cache is empty. By what angle should the first token's key be rotated?",
    plain.edit("c + np.arange(m)", "c + 1 + np.arange(m)"),
)
cached_rotary_scores.wrong(
    "cached keys ignored",
    "How many scores does a new query have: one for each new key, or one for each key so far?",
    plain.edit("np.concatenate([cache, turn(K, new)], axis=-2)", "turn(K, new)").edit(
        "scores, keys", "scores, np.concatenate([cache, keys], axis=-2)"
    ),
)
cached_rotary_scores.wrong(
    "new keys before the old ones",
    "In the cache, row p is the key of position p. In which row is that key in your cache?",
    plain.edit("[cache, turn(K, new)]", "[turn(K, new), cache]"),
)


cached_rotary_scores.wrong(
    "halves as partners",
    "With six features, which one is the partner of feature 0: 1 or 3?",
    plain.edit("X[..., 0::2], X[..., 1::2]", "X[..., : d // 2], X[..., d // 2 :]")
    .edit("turned[..., 0::2]", "turned[..., : d // 2]")
    .edit("turned[..., 1::2]", "turned[..., d // 2 :]"),
)
cached_rotary_scores.wrong(
    "queries not rotated",
    "A score should depend on the distance alone. If only the keys are rotated, on what does it "
    "depend?",
    plain.edit("turn(Q, new)", "Q"),
)
cached_rotary_scores.wrong(
    "not scaled",
    "What does the docstring divide the dot products by?",
    plain.edit(" / np.sqrt(d).astype(Q.dtype)", ""),
)


@cached_rotary_scores.public
def _(rng):
    yield Case("an empty cache, two new tokens", _inputs(rng, (), 2, 0, 2))
    yield Case("one cached key, one new token", _one_and_one()).holds(
        "cache: (..., c, d), c at least 0: the keys of the c tokens before them, at the "
        "positions 0 to c - 1, each turned by its position when it was new.",
        "Returns the tuple (scores, cache).",
    )
    yield Case("an empty cache, one new token", _inputs(rng, (), 1, 0, 4)).holds("cache: (...…")
    yield Case("three cached keys, one new token", _inputs(rng, (), 1, 3, 4)).holds(
        "Q and K: (..., m, d), floating, d even, m at least 1: the queries and keys of the m "
        "newest tokens, not turned yet.",
        "Features 2i and 2i + 1 are a pair, and are turned counter-clockwise by position / "
        "10000^(2i/d).",
    )
    yield Case("three cached keys, two new tokens", _inputs(rng, (), 2, 3, 4)).holds(
        "Q and K…",
        "The newest tokens stand at the positions c to c + m - 1.",
        "Scores are the dot products of every new query with every key so far, divided by the "
        "square root of d, of shape (..., m, c + m); nothing is masked.",
        "The cache that is returned, (..., c + m, d), is a new array, and the next call takes it.",
    )
    yield Case("as many new tokens as cached keys", _inputs(rng, (), 4, 4, 4)).holds("Scores are…")
    yield Case("float32, two leading axes", _inputs(rng, (2, 3), 1, 5, 6, np.float32)).holds(
        "Q and K…"
    )
    yield Case("a batch of one, one pair", _inputs(rng, (1,), 1, 2, 2)).holds("Q and K…")
    yield Case("a long cache", _inputs(rng, (), 1, 600, 4)).holds("cache: (...…")
    Q, K, cache = _inputs(rng, (), 2, 3, 4)
    yield Case("tiny numbers", (1e-9 * Q, K, cache))


@cached_rotary_scores.hidden
def _(rng):
    m, c = (int(one) for one in rng.permutation([2, 3, 5])[:2])
    d = 2 * int(rng.integers(3, 6))
    yield Case("an empty cache", _inputs(rng, (), m, 0, d)).holds("The cache…")
    yield Case("one new token", _inputs(rng, (), 1, c, d))
    yield Case("several new tokens", _inputs(rng, (), m, c, d)).holds("The newest…")
    yield Case("as many new tokens as cached keys", _inputs(rng, (), d, d, d))
    yield Case("float32, a batch", _inputs(rng, (3,), m, c, d, np.float32))
    yield Case("three leading axes", _inputs(rng, (2, 1, 3), m, c, d)).holds("Q and K…")
    yield Case("a long cache", _inputs(rng, (), 1, int(rng.integers(5000, 5200)), 2))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    m: int,
    c: int,
    d: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random queries and keys of m tokens, and a cache of c keys."""
    return tuple(rng.normal(size=(*batch, n, d)).astype(dtype) for n in (m, m, c))


def _one_and_one() -> tuple[np.ndarray, ...]:
    """Two tokens with the key (1, 0); the second one's query is (1, 0) too."""
    return tuple(np.array([[1.0, 0.0]]) for _ in range(3))
