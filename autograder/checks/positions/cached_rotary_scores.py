"""The exercise `cached_rotary_scores`: rotary with an offset, for a cache of keys. To debug."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def cached_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("an empty cache, two new tokens", _inputs(rng, (), 2, 0, 2))
    yield Case("one cached key, one new token", _one_and_one())
    yield Case("an empty cache, one new token", _inputs(rng, (), 1, 0, 4))
    yield Case("three cached keys, one new token", _inputs(rng, (), 1, 3, 4))
    yield Case("three cached keys, two new tokens", _inputs(rng, (), 2, 3, 4))
    yield Case("as many new tokens as cached keys", _inputs(rng, (), 4, 4, 4))
    yield Case("float32, two leading axes", _inputs(rng, (2, 3), 1, 5, 6, np.float32))
    yield Case("a batch of one, one pair", _inputs(rng, (1,), 1, 2, 2))
    yield Case("a long cache", _inputs(rng, (), 1, 600, 4))
    Q, K, cache = _inputs(rng, (), 2, 3, 4)
    yield Case("tiny numbers", (1e-9 * Q, K, cache))


def cached_hidden(rng: np.random.Generator) -> Iterator[Case]:
    m, c = (int(one) for one in rng.permutation([2, 3, 5])[:2])
    d = 2 * int(rng.integers(3, 6))
    yield Case("an empty cache", _inputs(rng, (), m, 0, d))
    yield Case("one new token", _inputs(rng, (), 1, c, d))
    yield Case("several new tokens", _inputs(rng, (), m, c, d))
    yield Case("as many new tokens as cached keys", _inputs(rng, (), d, d, d))
    yield Case("float32, a batch", _inputs(rng, (3,), m, c, d, np.float32))
    yield Case("three leading axes", _inputs(rng, (2, 1, 3), m, c, d))
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


def cached_rotary_scores__turned_again(Q, K, cache):
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


def cached_rotary_scores__from_zero(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    m, d = Q.shape[-2:]
    keys = np.concatenate([cache, turn(K, np.arange(m))], axis=-2)
    scores = turn(Q, np.arange(m)) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


def cached_rotary_scores__queries_from_zero(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    keys = np.concatenate([cache, turn(K, c + np.arange(m))], axis=-2)
    scores = turn(Q, np.arange(m)) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


def cached_rotary_scores__kept_unturned(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    keys = np.concatenate([cache, turn(K, c + np.arange(m))], axis=-2)
    scores = turn(Q, c + np.arange(m)) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, np.concatenate([cache, K], axis=-2)


def cached_rotary_scores__all_at_the_last(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    last = np.full(m, c + m - 1)
    keys = np.concatenate([cache, turn(K, last)], axis=-2)
    scores = turn(Q, last) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


def cached_rotary_scores__one_late(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    new = c + 1 + np.arange(m)
    keys = np.concatenate([cache, turn(K, new)], axis=-2)
    scores = turn(Q, new) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


def cached_rotary_scores__cached_left_out(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    keys = turn(K, c + np.arange(m))
    scores = turn(Q, c + np.arange(m)) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, np.concatenate([cache, keys], axis=-2)


def cached_rotary_scores__new_first(Q, K, cache):
    def turn(X, positions):
        d = X.shape[-1]
        angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
        first, second = X[..., 0::2], X[..., 1::2]
        turned = np.empty_like(X)
        turned[..., 0::2] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., 1::2] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    (m, d), c = Q.shape[-2:], cache.shape[-2]
    keys = np.concatenate([turn(K, c + np.arange(m)), cache], axis=-2)
    scores = turn(Q, c + np.arange(m)) @ np.swapaxes(keys, -1, -2) / np.sqrt(d).astype(Q.dtype)
    return scores, keys


def cached_rotary_scores__complex(Q, K, cache):
    (m, d), c = Q.shape[-2:], cache.shape[-2]
    angles = np.outer(np.arange(c, c + m), 10000.0 ** (-np.arange(0, d, 2) / d))
    points = [(X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angles) for X in (Q, K)]
    old = cache[..., 0::2] + 1j * cache[..., 1::2]
    keys = np.concatenate([old, points[1]], axis=-2)
    scores = np.einsum("...id,...jd->...ij", points[0], keys.conj()).real / d**0.5
    return scores, np.stack([keys.real, keys.imag], axis=-1).reshape(*keys.shape[:-1], d)


def cached_rotary_scores__token_by_token(Q, K, cache):
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


def cached_rotary_scores__table(Q, K, cache):
    m, d = K.shape[-2:]
    total = cache.shape[-2] + m
    angles = np.repeat(np.arange(total)[:, None] / 10000 ** (np.arange(0, d, 2) / d), 2, axis=-1)
    cosine, sine = np.cos(angles)[-m:], np.sin(angles)[-m:] * np.tile([-1, 1], d // 2)
    exchanged = np.arange(d) ^ 1
    queries, new = (X * cosine + X[..., exchanged] * sine for X in (Q, K))
    keys = np.concatenate([cache, new], axis=-2)
    return np.einsum("...id,...jd->...ij", queries / d**0.5, keys), keys


CACHED_ROTARY_SCORES = Exercise(
    name="cached_rotary_scores",
    points=3,
    difficulty=3,
    minutes=15,
    reference=solutions.cached_rotary_scores,
    cases=cached_cases,
    hidden=cached_hidden,
    misconceptions=(
        Misconception(
            "cached keys turned again",
            cached_rotary_scores__turned_again,
            "A key is written into the cache at the first call. By what angle has it been turned "
            "after the second call? And after the third?",
        ),
        Misconception(
            "the newest tokens numbered from 0",
            cached_rotary_scores__from_zero,
            "Three keys are in the cache. At which position does the next token stand?",
        ),
        Misconception(
            "the newest queries numbered from 0",
            cached_rotary_scores__queries_from_zero,
            "A new token's query meets its own key. How far apart do the two stand in your "
            "function?",
        ),
        Misconception(
            "new keys cached before they are turned",
            cached_rotary_scores__kept_unturned,
            "What does the next call expect of the keys in the cache?",
        ),
        Misconception(
            "all new tokens at one position",
            cached_rotary_scores__all_at_the_last,
            "Two tokens come at once. Do they stand at the same position?",
        ),
        Misconception(
            "one position too far",
            cached_rotary_scores__one_late,
            "The cache is empty. By what angle is the first token's key turned?",
        ),
        Misconception(
            "cached keys not asked",
            cached_rotary_scores__cached_left_out,
            "How many scores does a new query have: one for each new key, or one for each key so "
            "far?",
        ),
        Misconception(
            "new keys before the old ones",
            cached_rotary_scores__new_first,
            "In the cache, row p is the key of position p. Where do yours stand?",
        ),
    ),
    alternatives=(
        cached_rotary_scores__complex,
        cached_rotary_scores__token_by_token,
        cached_rotary_scores__table,
    ),
    help=(
        "The turning itself is right. Follow one key through three calls, and write down by how "
        "much it has been turned after each.",
        "Call it with one token, and again with the next one and the cache that came back. Then "
        "compare the cache with that of a single call with both tokens. Which rows differ?",
        "Section “Turn the queries and the keys”.",
    ),
    promises=(
        Promise(
            "Q and K: (..., m, d), floating, d even, m at least 1: the queries and keys of the m "
            "newest tokens, not turned yet.",
            (
                "three cached keys, one new token",
                "three cached keys, two new tokens",
                "float32, two leading axes",
                "three leading axes",
                "a batch of one, one pair",
            ),
        ),
        Promise(
            "cache: (..., c, d), c at least 0: the keys of the c tokens before them, at the "
            "positions 0 to c - 1, each turned by its position when it was new.",
            ("an empty cache, one new token", "one cached key, one new token", "a long cache"),
        ),
        Promise(
            "The newest tokens stand at the positions c to c + m - 1.",
            ("three cached keys, two new tokens", "several new tokens"),
        ),
        Promise(
            "Features 2i and 2i + 1 are a pair, and are turned counter-clockwise by position / "
            "10000^(2i/d).",
            ("three cached keys, one new token",),
        ),
        Promise("Returns the tuple (scores, cache).", ("one cached key, one new token",)),
        Promise(
            "Scores are the dot products of every new query with every key so far, divided by the "
            "square root of d, of shape (..., m, c + m); nothing is masked.",
            ("three cached keys, two new tokens", "as many new tokens as cached keys"),
        ),
        Promise(
            "The cache that is returned, (..., c + m, d), is a new array, and the next call takes "
            "it.",
            ("three cached keys, two new tokens", "an empty cache"),
        ),
    ),
    kind=Kind.DEBUG,
    released=cached_rotary_scores__turned_again,
)
