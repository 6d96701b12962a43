"""The exercise `divisor_for_entropy`: which scale gives weights that are neither sharp nor flat."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import queries_keys_values as solutions

divisor_for_entropy = Declaration(
    solutions.divisor_for_entropy,
    points=3,
    difficulty=4,
    minutes=25,
    kind=Kind.MEASURE,
    tolerance=0.02,
    help=(
        "First write a function from a divisor to the mean entropy. Then search for the divisor: "
        "the entropy grows with it.",
        "Use bisection, in the logarithm: begin with a divisor that is surely too small and one "
        "that is surely too large, try the square root of their product, and keep the half in "
        "which the answer lies. A fine grid, with steps of a percent, does as well.",
        "Section “Why divide by √d”.",
    ),
)


@divisor_for_entropy.right
def fine_grid(scores, bits):
    best, smallest = 0.0, np.inf
    for divisor in np.geomspace(1e-3, 1e3, 2000):
        shares = np.exp((scores - scores.max(axis=1)[:, None]) / divisor)
        shares = shares / shares.sum(axis=1)[:, None]
        entropy = np.where(shares > 0, -shares * np.log2(shares + (shares == 0)), 0).sum(axis=1)
        if abs(entropy.mean() - bits) < smallest:
            best, smallest = divisor, abs(entropy.mean() - bits)
    return float(best)


@divisor_for_entropy.right
def interpolated(scores, bits):
    divisors = np.geomspace(5e-4, 2e3, 400)
    shifted = (scores - scores.max(axis=-1, keepdims=True)) / divisors[:, None, None]
    log_total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    weights = np.exp(shifted - log_total)
    entropies = (weights * (log_total - shifted)).sum(axis=-1).mean(axis=-1) / np.log(2)
    return float(np.exp(np.interp(bits, entropies, np.log(divisors))))


@divisor_for_entropy.right
def growing_steps(scores, bits):
    def entropy(divisor):
        total = 0.0
        for row in scores:
            shares = np.exp((row - row.max()) / divisor)
            shares = shares / shares.sum()
            shares = shares[shares > 0]
            total -= float((shares * np.log2(shares)).sum())
        return total / len(scores)

    divisor, step = 1e-3, 2.0
    while step > 1.001:
        while entropy(divisor * step) < bits:
            divisor *= step
        step = step**0.5
    return divisor


@divisor_for_entropy.right
def plain(scores, bits):
    low, high = 1e-4, 1e4
    for _ in range(60):
        middle = (low * high) ** 0.5
        weights = np.exp((scores - scores.max(axis=-1, keepdims=True)) / middle)
        weights = weights / weights.sum(axis=-1, keepdims=True)
        entropy = -np.sum(weights * np.log2(np.maximum(weights, 1e-300)), axis=-1).mean()
        low, high = (low, middle) if entropy > bits else (middle, high)
    return float((low * high) ** 0.5)


divisor_for_entropy.wrong(
    "nats in place of bits",
    "Which logarithm gives 1 for two equal shares?",
    plain.edit("np.log2", "np.log"),
)
divisor_for_entropy.wrong(
    "the entropy of the mean weights",
    "Take two queries, each of them certain of a different key. What is the entropy of each, and "
    "what is the entropy of their mean weights? Which of the two does the docstring ask for?",
    plain.edit("entropy =", "weights = weights.mean(axis=0)\nentropy ="),
)
divisor_for_entropy.wrong(
    "entropies summed over the queries",
    "Give the function every row twice. Should the divisor change?",
    plain.edit(", axis=-1).mean()", ")"),
)
divisor_for_entropy.wrong(
    "softmax over the queries",
    "A row belongs to one query. Along which axis do its weights sum to 1?",
    plain.edit("axis=-1", "axis=0", times=3),
)
divisor_for_entropy.wrong(
    "the factor in place of the divisor",
    "Do the weights have the right entropy when you divide the scores by your answer, or when you "
    "multiply by it?",
    plain.edit("float((low * high) ** 0.5)", "float((low * high) ** -0.5)"),
)


@divisor_for_entropy.wrong(
    "the standard deviation of the scores", "Does your answer change when `bits` does?"
)
def _(scores, bits):
    return float(scores.std())


@divisor_for_entropy.public
def _(rng):
    yield Case("two keys, scores 4 and 0", (np.array([[4.0, 0.0]]), 0.5)).holds(
        "n_k at least 2; no two scores of a row are equal"
    )
    yield Case("the experiment, 3 bits", (_scores(rng, 40, 16, 64), 3.0)).holds(
        "The weights are the softmax of scores / divisor along each row",
        "What is asked for is the mean over the rows",
    )
    yield Case("the experiment, 1 bit", (_scores(rng, 40, 16, 64), 1.0)).holds("The weights…")
    yield Case("one query that is certain, and one that is not", (_mixed(rng), 0.9)).holds(
        "in bits, is the sum of -w log2(w) over its weights, where a weight of 0 adds nothing",
        "What is asked…",
    )
    yield Case("scores far from 0, each query in another range", (_far_from_0(rng), 1.5)).holds(
        "(n_q, n_k), one row a query, of any size"
    )
    yield Case("tiny scores", (_divided_by(0.0011, _scores(rng, 5, 8, 16), 1.5), 1.5)).holds(
        "(n_q, n_k)…", "Returns the divisor, a float from a thousandth to a thousand"
    )
    yield Case("large scores", (_divided_by(900.0, _scores(rng, 5, 8, 16), 1.5), 1.5)).holds(
        "(n_q, n_k)…", "in bits…", "Returns the…"
    )


@divisor_for_entropy.hidden
def _(rng):
    n_k, d = (int(one) for one in rng.permutation([6, 12, 20])[:2])
    most = np.log2(n_k)
    yield Case("other scores", (_scores(rng, 20, n_k, d), float(most * rng.uniform(0.3, 0.7))))
    yield Case("nearly sure", (_scores(rng, 20, n_k, d), float(most * 0.12))).holds(
        "between a tenth and nine tenths of log2(n_k), the entropy of equal weights"
    )
    yield Case("nearly equal shares", (_scores(rng, 20, n_k, d), float(most * 0.88))).holds(
        "between a…"
    )
    yield Case("one query that is certain, and one that is not", (_mixed(rng), 0.8))
    yield Case("large scores", (_scores(rng, 9, n_k, d) * 20, float(most * 0.5)))


def _scores(rng: np.random.Generator, n_q: int, n_k: int, d: int) -> np.ndarray:
    """The dot products of random queries and keys."""
    scores: np.ndarray = rng.normal(size=(n_q, d)) @ rng.normal(size=(d, n_k))
    return scores


def _divided_by(divisor: float, scores: np.ndarray, bits: float) -> np.ndarray:
    """The scores in a size at which this divisor is right."""
    return scores * (divisor / solutions.divisor_for_entropy(scores, bits))


def _mixed(rng: np.random.Generator) -> np.ndarray:
    """Two rows, one with scores ten times as far apart."""
    return np.stack([np.arange(4.0) * 10, np.arange(4.0)]) + rng.normal(size=(2, 4)) / 10


def _far_from_0(rng: np.random.Generator) -> np.ndarray:
    """Scores that differ little in a row, and by thousands from row to row."""
    return _scores(rng, 4, 8, 16) + np.array([[5000.0], [-5000], [9000], [0]])


divisor_for_entropy.lets_through(
    "a softmax with 1e-6 in its denominator", "a millionth is far within the tolerance"
)
divisor_for_entropy.mutant("no divisor below 0.002", "1e-4, 1e4", "2e-3, 1e4")
divisor_for_entropy.mutant("no divisor above 500", "1e-4, 1e4", "1e-4, 5e2")
divisor_for_entropy.lets_through("n_k of 1 refused", "there are two keys or more")
