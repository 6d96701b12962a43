"""The exercise `soft_lookup`: a dictionary that answers with a blend."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import queries_keys_values as solutions

from .. import forbidden

soft_lookup = Declaration(
    solutions.soft_lookup,
    points=2,
    difficulty=2,
    minutes=15,
    forbidden=forbidden.ATTENTION,
    help=(
        "Score every key against the query, turn the scores into shares, and blend the values "
        "with these shares.",
        "The temperature divides the scores before the softmax. To be safe with large scores, "
        "subtract the largest first. `query[..., None]` turns the query into a column; "
        "`np.einsum` is another way.",
        "Section “The soft dictionary”.",
    ),
)


@soft_lookup.right
def loop(query, keys, values, temperature=1.0):
    if query.ndim > 1:
        pairs = zip(query, keys, values, strict=True)
        return np.stack([loop(*one, temperature) for one in pairs])
    scores = [float(key @ query) / temperature for key in keys]
    shares = [np.exp(score - max(scores)) for score in scores]
    blend = np.zeros(values.shape[-1])
    for share, value in zip(shares, values, strict=True):
        blend = blend + share / sum(shares) * value
    return blend


@soft_lookup.right
def einsum(query, keys, values, temperature=1.0):
    scores = np.einsum("...d,...nd->...n", query, keys) / temperature
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("...n,...nv->...v", weights, values) / weights.sum(axis=-1, keepdims=True)


@soft_lookup.right
def log_sum(query, keys, values, temperature=1.0):
    scores = np.sum(keys * np.expand_dims(query, -2), axis=-1) / temperature
    log_total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    return np.sum(np.exp(scores - log_total)[..., None] * values, axis=-2)


@soft_lookup.right
def plain(query, keys, values, temperature=1.0):
    scores = np.einsum("...d,...nd->...n", query, keys) / temperature
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("...n,...nv->...v", weights, values)


soft_lookup.wrong(
    "keys blended instead of values",
    "The keys decide how much of each entry you get. Which part of the entry should you get?",
    plain.edit("weights, values", "weights, keys"),
)


@soft_lookup.wrong(
    "hard lookup",
    "How much do the second-best keys contribute to your answer? What should the temperature "
    "change?",
)
def _(query, keys, values, temperature=1.0):
    scores = np.einsum("...d,...nd->...n", query, keys) / temperature
    best = np.argmax(scores, axis=-1)
    return np.take_along_axis(values, best[..., None, None], axis=-2)[..., 0, :]


soft_lookup.wrong(
    "multiplied by the temperature",
    "At a temperature of 100, should the shares be nearly equal, or should one key get nearly "
    "everything?",
    plain.edit("/ temperature", "* temperature"),
)
soft_lookup.wrong(
    "temperature ignored",
    "Does your answer change when the temperature does?",
    plain.edit(" / temperature", ""),
)
soft_lookup.wrong(
    "temperature after the softmax",
    "Sum your weights at temperature 2. Do they still sum to 1?",
    plain.edit(" / temperature", "").edit(
        "weights.sum(axis=-1, keepdims=True)", "weights.sum(axis=-1, keepdims=True) / temperature"
    ),
)
soft_lookup.wrong(
    "scaled by the width as well",
    "This exercise asks for the plain dot product. What else do you divide it by?",
    plain.edit("/ temperature", "/ query.shape[-1] ** 0.5 / temperature"),
)
soft_lookup.wrong(
    "shares without exponentials",
    "What happens to a share when its score is negative? Which function makes every score "
    "positive and keeps the order?",
    plain.edit("np.exp(scores - scores.max(axis=-1, keepdims=True))", "scores"),
)
soft_lookup.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from all scores without changing the shares?",
    plain.edit(" - scores.max(axis=-1, keepdims=True)", ""),
)
soft_lookup.wrong(
    "weights shared over the batch",
    "In a batch, each query has its own dictionary. Over which axis do the weights of one query "
    "sum to 1?",
    plain.edit("axis=-1, keepdims=True", "", times=2),
)
soft_lookup.wrong(
    "a batch of queries taken for a matrix",
    "Two queries of three features have the shape (2, 3). Which of these axes does `keys @ query` "
    "sum over? What shape must each query have, so that `@` sums over its features?",
    plain.edit('np.einsum("...d,...nd->...n", query, keys)', "keys @ query").edit(
        'np.einsum("...n,...nv->...v", weights, values)', "weights @ values"
    ),
)
soft_lookup.wrong(
    "all axes of the keys reversed",
    "What is the shape of `keys.T` if the keys have shape (2, 4, 3)? Two queries have a "
    "dictionary each: does each query meet only its own keys in your function?",
    plain.edit('np.einsum("...d,...nd->...n", query, keys)', "query @ keys.T").edit(
        'np.einsum("...n,...nv->...v", weights, values)', "weights @ values"
    ),
)


@soft_lookup.public
def _(rng):
    keys = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    prices = np.array([[10.0], [20.0], [30.0]])
    yield Case("three keys, one query", (np.array([1.0, 0.0]), keys, prices)).holds(
        "query: (..., d). keys: (..., n, d). values: (..., n, d_v)",
        "the dot product of query and key, not scaled; matches may be large",
    )
    yield Case("temperature 2", (np.array([1.0, 0.5]), keys, prices), {"temperature": 2.0}).holds(
        "the higher it is, the more equal the shares"
    )
    yield Case("values as wide as keys", _lookup(rng, (), 5, 3, 3), {"temperature": 0.5}).holds(
        "query: (...…"
    )
    yield Case(
        "float32, two queries, a dictionary each", _lookup(rng, (2,), 4, 3, 2, np.float32)
    ).holds("All three have the same leading axes")
    query, keys, values = _lookup(rng, (1,), 1, 1, 1)
    yield Case("one key in a batch of one, a tiny value", (query, keys, values * 1e-9)).holds(
        "n at least 1"
    )
    inputs = _lookup(rng, (2, 1, 3), 4, 3, 2)
    yield Case("three leading batch axes, one of length 1", inputs).holds(
        "query: (...…", "All three…"
    )
    yield Case("temperature 100", _lookup(rng, (), 4, 3, 2), {"temperature": 100.0}).holds(
        "the higher…"
    )
    yield Case(
        "a temperature near 0, two equal matches and one slightly worse",
        _nearly_equal(rng),
        {"temperature": 0.001},
    ).holds("above 0; near 0 the best match takes all, and equal ones share it")
    yield Case("large scores", _lookup(rng, (), 3, 2, 1, size=200.0)).holds("the dot product…")
    yield Case(
        "a temperature near 0, all matches below 0",
        _opposed(*_lookup(rng, (2,), 4, 3, 2)),
        {"temperature": 0.0001},
    ).holds("the dot product…")


@soft_lookup.hidden
def _(rng):
    n, d, d_v = rng.permutation([3, 4, 5, 6])[:3]
    yield Case("one query", _lookup(rng, (), n, d, d_v))
    yield Case("a high temperature", _lookup(rng, (), n, d, d_v), {"temperature": 3.0}).holds(
        "the higher…"
    )
    yield Case("a low temperature", _lookup(rng, (), n, d, d), {"temperature": 0.4}).holds(
        "above 0…"
    )
    yield Case("a batch, float32", _lookup(rng, (3,), n, d, d_v, np.float32)).holds(
        "an array of shape (..., d_v)"
    )
    yield Case("large scores, a batch", _lookup(rng, (2,), n, d, d_v, size=200.0)).holds(
        "the dot product…"
    )
    query, keys, values = _lookup(rng, (1,), 1, d, 1)
    yield Case("one key in a batch of one, a tiny value", (query, keys, values * 1e-9))
    inputs = _lookup(rng, (2, 3, 1), n, d, d_v)
    yield Case("three leading batch axes, one of length 1", inputs)
    yield Case(
        "a temperature near 0, two equal matches and one slightly worse",
        _nearly_equal(rng),
        {"temperature": 0.0005},
    )
    yield Case(
        "a temperature near 0, all matches below 0",
        _opposed(*_lookup(rng, (2,), n, d, d_v)),
        {"temperature": 0.0001},
    )


def _opposed(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """The lookup with all queries above 0 and all keys below."""
    return np.abs(query) + 0.5, -np.abs(keys) - 0.5, values


def _nearly_equal(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A query, four keys in random order, of which it matches two alike, and random values."""
    query, keys = np.array([1.0, 2.0]), np.array([[1.0, 0.0], [-1.0, 1.0], [0.999, 0.0], [0, 0]])
    return query, rng.permutation(keys), rng.normal(size=(4, 2))


def _lookup(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d: int,
    d_v: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random query, keys and values; `size` multiplies query and keys."""
    query, keys = rng.normal(size=(*batch, d)) * size, rng.normal(size=(*batch, n, d)) * size
    values = rng.normal(size=(*batch, n, d_v))
    return query.astype(dtype), keys.astype(dtype), values.astype(dtype)


soft_lookup.mutant("1e-6 added to the temperature", "/ temperature", "/ (temperature + 1e-6)")
