"""The exercise `gradient_of_the_top`: how uneven learning is when the scores are not divided."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import looking_up as solutions

gradient_of_the_top = Declaration(
    solutions.gradient_of_the_top,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.MEASURE,
    tolerance=0.001,
    help=(
        "First write down the derivative of one weight with respect to the query: the chain rule, "
        "through the scores. Then its size for each query, and sort.",
        "The scores are keys @ query / divisor, so a score's derivative with respect to the query "
        "is its key / divisor. With the derivative of softmax, weight i has the gradient "
        "w_i (k_i - the mean of the keys, weighted by w) / divisor.",
        "Section “Why divide by √d”.",
    ),
)


@gradient_of_the_top.right
def with_the_jacobian(queries, keys, divisor, count):
    sizes = []
    for query, own in zip(queries, keys, strict=True):
        scores = own @ query / divisor
        w = np.exp(scores - scores.max())
        w = w / w.sum()
        gradient = (np.diag(w) - np.outer(w, w)) @ own / divisor
        sizes.append(np.linalg.norm(gradient))
    sizes = sorted(sizes, reverse=True)
    return sum(sizes[:count]) / sum(sizes)


@gradient_of_the_top.right
def einsum(queries, keys, divisor, count):
    scores = np.einsum("nd,nkd->nk", queries, keys) / divisor
    w = np.exp(scores - scores.max(axis=1, keepdims=True))
    w /= w.sum(axis=1, keepdims=True)
    J = np.einsum("ni,ij->nij", w, np.eye(w.shape[1])) - np.einsum("ni,nj->nij", w, w)
    sizes = np.sqrt((np.einsum("nij,njd->nid", J, keys) ** 2).sum(axis=(1, 2)))
    largest = np.argsort(-sizes)[:count]
    return float(sizes[largest].sum() / sizes.sum())


@gradient_of_the_top.right
def without_the_divisor(queries, keys, divisor, count):
    # every size is divided by the same number, which the share does not show
    scores = (keys * queries[:, None]).sum(axis=2) / divisor
    w = np.exp(scores - np.max(scores, axis=1)[:, None])
    w = (w / np.sum(w, axis=1)[:, None])[..., None]
    away = keys - (w * keys).sum(axis=1, keepdims=True)
    sizes = np.sqrt(((w * away) ** 2).sum(axis=2).sum(axis=1))
    return float(np.partition(sizes, len(sizes) - count)[len(sizes) - count :].sum() / sizes.sum())


@gradient_of_the_top.right
def plain(queries, keys, divisor, count):
    scores = np.einsum("nd,nkd->nk", queries, keys) / divisor
    w = np.exp(scores - scores.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True)
    mean = np.einsum("nk,nkd->nd", w, keys)
    gradient = w[:, :, None] * (keys - mean[:, None])
    sizes = np.sort(np.sqrt((gradient**2).sum(axis=(1, 2))))
    return float(sizes[-count:].sum() / sizes.sum())


gradient_of_the_top.wrong(
    "the derivative with respect to the scores",
    "The query moves the scores through the keys. Where are the keys in your derivative?",
    plain.edit(
        "gradient = w[:, :, None] * (keys - mean[:, None])",
        "gradient = w[:, :, None] * (np.eye(w.shape[1]) - w[:, None])",
    ),
)
gradient_of_the_top.wrong(
    "the mean of the keys left out",
    "If one score grows, what happens to the weights of the other keys?",
    plain.edit("(keys - mean[:, None])", "keys"),
)
gradient_of_the_top.wrong(
    "the mean of the keys not weighted",
    "Which mean of the keys comes out when you multiply diag(w) - w wᵀ with them?",
    plain.edit('np.einsum("nk,nkd->nd", w, keys)', "keys.mean(axis=1)"),
)
gradient_of_the_top.wrong(
    "the scores not divided",
    "Where in the layer does the divisor stand, before the softmax or after it?",
    plain.edit(" / divisor", ""),
)
gradient_of_the_top.wrong(
    "squares in place of sizes",
    "A size is a root of a sum of squares. What becomes of the share if you leave the root out?",
    plain.edit("np.sqrt((gradient**2).sum(axis=(1, 2)))", "(gradient**2).sum(axis=(1, 2))"),
)
gradient_of_the_top.wrong(
    "the smallest in place of the largest",
    "Sorted from small to large, where are the queries that receive the most?",
    plain.edit("sizes[-count:]", "sizes[:count]"),
)
gradient_of_the_top.wrong(
    "the share of one query too many",
    "How many sizes does your slice take if `count` is 1?",
    plain.edit("sizes[-count:]", "sizes[-count - 1 :]"),
)
gradient_of_the_top.wrong(
    "softmax over the queries",
    "Along which axis do the weights of a query lie?",
    plain.edit("axis=1, keepdims=True", "axis=0, keepdims=True", times=2),
)


@gradient_of_the_top.public
def _(rng):
    queries, keys = np.array([[0.0], [4.0]]), np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    yield Case("two queries of one feature", (queries, keys, 1.0, 1)).holds(
        "queries: (n, d). keys: (n, n_k, d), n_k at least 2: each query has keys of its own"
    )
    yield Case("not divided", (*_random(rng, 20, 8, 64), 1.0, 2)).holds(
        "of shape (n_k, d), and its size is the root of the sum of the squares of all its numbers",
        "Returns a float from 0 to 1: the sum of the `count` largest sizes, divided by the sum of "
        "all",
    )
    yield Case("the same, divided by the root of d", (*_random(rng, 20, 8, 64), 8.0, 2)).holds(
        "Scores are dot products, divided by `divisor`",
        "weights are their softmax over a query's keys",
    )
    queries, keys = _random(rng, 6, 4, 3)
    yield Case("large scores", (40 * queries, 40 * keys, 2.0, 2)).holds(
        "and may be large, above 0 or below"
    )
    below = (np.ones((6, 3)), keys - 1000, 1.0, 2)
    yield Case("all scores far below 0", below).holds("and may be…")
    yield Case("other queries, not divided", (*_random(rng, 20, 8, 64), 1.0, 2)).holds("of shape…")
    yield Case("all queries counted", (*_random(rng, 5, 4, 3), 1.5, 5)).holds("count: from 1 to n")
    yield Case("keys far from 0", (queries, keys + 5, 3.0, 1)).holds("of shape…")
    yield Case("one query, one key of two far away", (queries[:1], keys[:1, :2], 1.0, 1)).holds(
        "count: from…"
    )
    yield Case("tiny queries", (1e-7 * queries, keys, 1.0, 3)).holds("Returns a…")
    yield Case("tiny keys", (queries, 1e-13 * keys, 1.0, 3)).holds("Returns a…")


@gradient_of_the_top.hidden
def _(rng):
    n, n_k, d = (int(size) for size in rng.permutation([7, 9, 12]))
    yield Case("not divided", (*_random(rng, 2 * n, n_k, 10 * d), 1.0, 3))
    yield Case("divided", (*_random(rng, 2 * n, n_k, 10 * d), float(np.sqrt(10 * d)), 3))
    queries, keys = _random(rng, n, n_k, d)
    yield Case("keys far from 0", (queries, keys - 4, 2.5, 2)).holds("of shape…")
    yield Case("again", (*_random(rng, n, n_k, d), 2.5, 2))
    yield Case("all scores far below 0", (np.ones((n, d)), keys - 2000, 1.0, 2))
    yield Case("large scores", (30 * queries, 30 * keys, 1.0, 4)).holds("At least one size is")
    yield Case("all but one counted", (queries, keys, 0.5, n - 1))
    yield Case("two keys each", (*_random(rng, 8, 2, 4), 1.0, 1))


def _random(rng: np.random.Generator, n: int, n_k: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal queries, each with keys of its own."""
    return rng.normal(size=(n, d)), rng.normal(size=(n, n_k, d))


gradient_of_the_top.lets_through("n_k of 1 refused", "there are two keys or more")
