"""The exercise `lookup_temperature`: a soft dictionary that you can only query."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction
from solutions.variants import looking_up as solutions

lookup_temperature = Declaration(
    solutions.lookup_temperature,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.02,
    help=(
        "From the blend and the two values you can work out the share of the first key. From the "
        "share you can work out by how much its score, divided by the temperature, is larger.",
        "The difference of the scores, divided by the temperature, is log(share / (1 - share)). "
        "Ask with a multiple of keys[0] - keys[1]. If the share is 1 to all digits, "
        "ask more weakly; if it is one half to many digits, ask more strongly.",
        "Section “The soft dictionary”.",
    ),
)


@lookup_temperature.right
def bisection(lookup, keys, values):
    apart = keys[0] - keys[1]
    low, high = 1e-9, 1e9
    for _ in range(100):
        size = (low * high) ** 0.5
        share = (lookup(size * apart / np.dot(apart, apart)) - values[1]) / (values[0] - values[1])
        low, high = (size, high) if share < 0.75 else (low, size)
    return size / np.log(3)


@lookup_temperature.right
def many_queries(lookup, keys, values):
    apart = keys[0] - keys[1]
    found = []
    for size in np.geomspace(1e-5, 1e5, 400):
        query = -size * apart / (apart**2).sum()
        share = (lookup(query) - values[0]) / (values[1] - values[0])
        if 0.6 < share < 0.95:
            found.append(size / (np.log(share) - np.log1p(-share)))
    return float(np.median(found))


@lookup_temperature.right
def one_feature(lookup, keys, values):
    feature = int(np.argmax(np.abs(keys[0] - keys[1])))
    apart = keys[0, feature] - keys[1, feature]
    for exponent in np.arange(-10.0, 10.0, 0.1):
        query = np.zeros(keys.shape[1])
        query[feature] = 10**exponent / apart
        share = (lookup(query) - values[1]) / (values[0] - values[1])
        if share > 0.7:
            return float(10**exponent / np.log(share / (1 - share)))
    return 0.0


@lookup_temperature.right
def plain(lookup, keys, values):
    apart = keys[0] - keys[1]
    for size in np.geomspace(1e-5, 1e5, 300):
        query = size * apart / (apart @ apart)
        share = (lookup(query) - values[1]) / (values[0] - values[1])
        if share > 0.6:
            break
    difference = query @ keys[0] - query @ keys[1]
    return float(difference / np.log(share / (1 - share)))


lookup_temperature.wrong(
    "the reciprocal of the temperature",
    "Ask a cold dictionary and a hot one the same question. Which of the two gives the larger "
    "share to the better key, and for which of the two is your answer larger?",
    plain.edit(
        "difference / np.log(share / (1 - share))", "np.log(share / (1 - share)) / difference"
    ),
)
lookup_temperature.wrong(
    "the logarithm of the share alone",
    "A softmax over two keys: which ratio of the two shares is e to the power of the difference "
    "of the scores?",
    plain.edit("share / (1 - share)", "share"),
)
lookup_temperature.wrong(
    "the size of the query in place of the scores",
    "By how much does your query score the first key higher than the second? Does that depend on "
    "the keys?",
    plain.edit("query @ keys[0] - query @ keys[1]", "np.sqrt(query @ query)"),
)
lookup_temperature.wrong(
    "the score of one key alone",
    "Softmax looks at differences of scores. What is the score of the second key?",
    plain.edit("query @ keys[0] - query @ keys[1]", "query @ keys[0]"),
)
lookup_temperature.wrong(
    "the blend taken for the share",
    "What does the lookup return, a share or a blend of values? Try the values 10 and 20.",
    plain.edit("(lookup(query) - values[1]) / (values[0] - values[1])", "lookup(query)").edit(
        "np.log(share / (1 - share))", "np.log(np.abs(share / (1 - share)) + 1e-9)"
    ),
)
lookup_temperature.wrong(
    "the values swapped",
    "If the first key gets everything, what does the lookup return?",
    plain.edit(
        "(lookup(query) - values[1]) / (values[0] - values[1])",
        "(lookup(-query) - values[0]) / (values[1] - values[0])",
    ).edit("difference / np", "-difference / np"),
)
lookup_temperature.wrong(
    "one query of a fixed size",
    "What does your function measure on a dictionary so cold that the better key gets everything, "
    "to the last digit?",
    plain.edit("np.geomspace(1e-5, 1e5, 300)", "(1.0,)").edit(
        "share / (1 - share)", "(share + 1e-12) / (1 - share + 1e-12)"
    ),
)


def _lookup(keys: np.ndarray, values: np.ndarray, temperature: float) -> SourceFunction:
    """A soft dictionary with these keys and values, as a function of the query."""
    return SourceFunction(
        "lookup",
        f"""
def lookup(query):
    keys, values = np.array({keys.tolist()}), np.array({values.tolist()})
    scores = keys @ query / {temperature!r}
    weights = np.exp(scores - scores.max())
    return float(weights @ values / weights.sum())
""",
    )


def _case(note: str, keys: np.ndarray, values: np.ndarray, temperature: float) -> Case:
    return Case(note, (_lookup(keys, values, temperature), keys, values))


@lookup_temperature.public
def _(rng):
    price = np.array([10.0, 20.0])
    yield _case("temperature 1, the keys (2, 0) and (0, 2)", 2 * np.eye(2), price, 1.0).holds(
        "lookup: takes a query (d,) and returns one number, the blend softmax(keys @ query / "
        "temperature) @ values"
    )
    keys = rng.normal(size=(2, 5))
    yield _case("temperature 3, five features", keys, np.array([-4.0, 9.0]), 3.0).holds(
        "keys: (2, d), two different keys", "values: (2,), two different numbers"
    )
    yield _case("very cold", rng.normal(size=(2, 4)), price, 0.002).holds(
        "Returns the temperature, a float from a thousandth to a thousand", "computed in float64"
    )
    yield _case("very hot", rng.normal(size=(2, 4)), price, 800.0).holds("Returns the…")
    keys = np.array([[5.0, 1.0, 3.0], [5.0, 1.0, 3.5]])
    yield _case("keys that differ in one feature", keys, price[::-1].copy(), 0.7).holds("keys: (2…")
    yield _case("keys of one feature", np.array([[0.5], [-2.0]]), price, 20.0).holds("keys: (2…")
    yield _case("values close together", rng.normal(size=(2, 3)), np.array([7.0, 7.01]), 0.3).holds(
        "values: (2…"
    )
    yield _case("tiny keys", 1e-3 * rng.normal(size=(2, 3)), np.array([1.0, 0.0]), 0.05).holds(
        "keys: (2…"
    )
    yield _case("keys near 1e-13", 1e-13 * rng.normal(size=(2, 3)), price, 2.0).holds("keys: (2…")


@lookup_temperature.hidden
def _(rng):
    for note, temperature in (("a temperature", 2.5), ("a cold one", 0.004), ("a hot one", 350.0)):
        d = int(rng.integers(2, 7))
        keys, values = rng.normal(size=(2, d)), 10 * rng.normal(size=2)
        yield _case(note, keys, values, temperature * rng.uniform(0.8, 1.2))
    keys = np.repeat(rng.normal(size=(1, 4)), 2, axis=0)
    keys[1, 2] += 1.5
    yield _case("keys that differ in one feature", keys, rng.normal(size=2), 0.6)
    yield _case("large keys", 50 * rng.normal(size=(2, 3)), np.array([2.0, -1.0]), 8.0)
    yield _case(
        "keys of one feature",
        np.array([[1.0], [-1.0]]) + rng.uniform(size=(2, 1)),
        np.arange(2.0),
        5.0,
    )
