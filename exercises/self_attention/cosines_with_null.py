"""The exercise `cosines_with_null`: did the sentence move the word, or did any average?"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import mixing as solutions

cosines_with_null = Declaration(
    solutions.cosines_with_null,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "There are three vectors: the token, its output, and the mean of all tokens. Each of them "
        "gets one cosine.",
        "The cosine of a and b is a · b / (‖a‖ ‖b‖). The output of token i is row i of the weights "
        "times X.",
        "Section “A table of real vectors”.",
    ),
)


@cosines_with_null.right
def one_by_one(X, i, target):
    def cosine(a):
        return np.dot(a, target) / np.sqrt(np.dot(a, a) * np.dot(target, target))

    scores = X[i] @ X.T
    weights = np.exp(scores - scores.max())
    output = (weights[:, None] * X).sum(axis=0) / weights.sum()
    return np.array([cosine(X[i]), cosine(output), cosine(X.sum(axis=0))])


@cosines_with_null.right
def unit_vectors(X, i, target):
    scores = X @ X.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    rows = np.stack([np.eye(len(X))[i], weights[i], np.full(len(X), 1 / len(X))]) @ X
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ (target / np.linalg.norm(target))


@cosines_with_null.right
def by_einsum(X, i, target):
    scores = np.einsum("jd,d->j", X, X[i])
    weights = np.exp(scores - np.max(scores))
    found = [X[i], np.einsum("j,jd->d", weights, X), np.einsum("jd->d", X)]
    return np.array([(v / np.linalg.norm(v)) @ target / np.linalg.norm(target) for v in found])


@cosines_with_null.right
def plain(X, i, target):
    scores = X @ X.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    vectors = np.stack([X[i], weights[i] @ X, X.mean(axis=0)])
    lengths = np.sqrt((vectors**2).sum(axis=1)) * np.sqrt((target**2).sum())
    return vectors @ target / lengths


cosines_with_null.wrong(
    "dot products in place of cosines",
    "Multiply `target` by 10. Should your numbers change?",
    plain.edit("vectors @ target / lengths", "vectors @ target"),
)
cosines_with_null.wrong(
    "not divided by the length of the target",
    "What is the cosine of a vector with itself?",
    plain.edit(" * np.sqrt((target**2).sum())", ""),
)
cosines_with_null.wrong(
    "the column of the weights in place of the row",
    "Who gives the weights that blend the output of token i, and do they sum to 1?",
    plain.edit("weights[i] @ X", "weights[:, i] @ X"),
)
cosines_with_null.wrong(
    "the null without the token itself",
    "The null changes one thing, the weights. Is the token one of those that the layer averages?",
    plain.edit("X.mean(axis=0)", "np.delete(X, i, axis=0).mean(axis=0)"),
)
cosines_with_null.wrong(
    "the output of the first token",
    "Whose output does the docstring ask for?",
    plain.edit("weights[i] @ X", "weights[0] @ X"),
)
cosines_with_null.wrong(
    "scores divided by the root of d",
    "That is the layer of chapter 5. What does the docstring say about this one?",
    plain.edit("scores = X @ X.T", "scores = X @ X.T / np.sqrt(X.shape[1])"),
)
cosines_with_null.wrong(
    "weights from cosines",
    "The layer scores tokens by dot products. Does the length of a token count in yours?",
    plain.edit(
        "scores = X @ X.T",
        "U = X / np.sqrt((X**2).sum(axis=1, keepdims=True))\nscores = U @ U.T",
    ),
)
cosines_with_null.wrong(
    "the null taken for the output",
    "Which of your three numbers depends on who is like whom?",
    plain.edit("weights[i] @ X, X.mean(axis=0)", "X.mean(axis=0), weights[i] @ X"),
)


@cosines_with_null.public
def _(rng):
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    yield Case("three tokens of two features", (X, 0, np.array([0.0, 3.0]))).holds(
        "Returns three cosines with `target`, of shape (3,): of token i as it is; of its output, "
        "softmax(X X^T) X; and of the output with equal weights, 1 / n for each of the n tokens"
    )
    X = rng.normal(size=(5, 4))
    yield Case("five tokens, the last", (X, 4, rng.normal(size=4))).holds(
        "X: (n, d), the tokens of a sentence. i: the position of a token, from 0 to n - 1"
    )
    yield Case("a target of the sentence", (X, 1, X[3].copy())).holds(
        "target: (d,), the vector of a word that need not be in the sentence"
    )
    yield Case("large scores", (40 * X, 2, rng.normal(size=4))).holds("Scores may be large")
    yield Case("all scores below 0 but one", (_apart(rng), 0, rng.normal(size=2))).holds("Scores…")
    yield Case("one token", (X[:1], 0, rng.normal(size=4))).holds("Returns three…")
    yield Case("one feature", (np.array([[1.0], [-0.5], [2.0]]), 1, np.ones(1))).holds(
        "Returns three…"
    )
    yield Case("one token of one feature", (-np.ones((1, 1)), 0, np.ones(1))).holds(
        "Returns three…"
    )
    yield Case("float32", (X.astype(np.float32), 3, np.ones(4, dtype=np.float32)))
    yield Case("other tokens, the last", (rng.normal(size=(5, 4)), 4, rng.normal(size=4)))
    yield Case("short tokens", (1e-7 * X, 2, 1e-7 * rng.normal(size=4))).holds(
        "None of the vectors is 0"
    )


@cosines_with_null.hidden
def _(rng):
    n, d = (int(size) for size in rng.permutation([4, 7]))
    X = 1.3 * rng.normal(size=(n, d))
    yield Case("random tokens", (X, int(rng.integers(1, n)), rng.normal(size=d)))
    yield Case("others", (rng.normal(size=(n, d)), int(rng.integers(1, n)), rng.normal(size=d)))
    yield Case("large scores", (50 * X, n - 1, rng.normal(size=d)))
    yield Case("all scores below 0 but one", (_apart(rng), 1, rng.normal(size=2)))
    yield Case("one token", (X[:1], 0, rng.normal(size=d)))
    yield Case("one feature", (np.array([[-1.0], [0.25], [2.5]]), 0, np.ones(1)))
    yield Case("float32", (X.astype(np.float32), 1, rng.normal(size=d).astype(np.float32)))


def _apart(rng: np.random.Generator) -> np.ndarray:
    """Two long tokens that point away from each other."""
    X = 30 * rng.normal(size=(1, 2))
    return np.concatenate([X, -0.9 * X])


cosines_with_null.lets_through(
    "a softmax shifted by no less than 0", "a token's score with itself is never below 0"
)
cosines_with_null.lets_through(
    "a softmax with 1e-6 in its denominator", "a cosine does not depend on the output's length"
)
cosines_with_null.lets_through("axes of length 1 squeezed", "the result always has three numbers")
cosines_with_null.lets_through(
    "a last axis of length 1 squeezed", "the result always has three numbers"
)
