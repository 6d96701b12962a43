"""The exercise `tied_embedding_backward`: one table, read on the way in and on the way out."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import translating as solutions

from .. import forbidden

tied_embedding_backward = Declaration(
    solutions.tied_embedding_backward,
    points=5,
    difficulty=5,
    minutes=30,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Treat the two uses of `E` as two tables, go back through each of them, and add the two "
        "gradients, since it is really one table.",
        "The gradient of the mean cross-entropy with respect to the logits is (shares - one-hot) "
        "/ n. For logits = X @ A.T it gives the gradients of X and of A, as for any product. "
        "`np.add.at` adds once for every time that an id occurs.",
        "Section “What enters a stack”, on one table for both; “What you need”, the chain rule.",
    ),
)


@tied_embedding_backward.right
def token_by_token(E, tokens, targets):
    d_E = np.zeros_like(E)
    for token, target in zip(tokens, targets, strict=True):
        logits = E @ E[token]
        shares = np.exp(logits - logits.max())
        shares = shares / shares.sum()
        shares[target] -= 1
        d_E += np.outer(shares, E[token]) / len(tokens)
        d_E[token] += E.T @ shares / len(tokens)
    return d_E


@tied_embedding_backward.right
def one_hot(E, tokens, targets):
    size = len(E)
    inputs = (tokens[:, None] == np.arange(size)).astype(E.dtype)
    wanted = (targets[:, None] == np.arange(size)).astype(E.dtype)
    logits = inputs @ E @ E.T
    logits = logits - logits.max(axis=1, keepdims=True)
    shares = np.exp(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
    d_logits = (shares - wanted) / len(tokens)
    outer = inputs.T @ d_logits
    return (outer + outer.T) @ E


@tied_embedding_backward.right
def pair_by_pair(E, tokens, targets):
    scores = E @ E.T
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = scores / scores.sum(axis=-1, keepdims=True)
    counts = np.zeros((len(E), len(E)), dtype=E.dtype)
    for token, target in zip(tokens.tolist(), targets.tolist(), strict=True):
        counts[token, target] += 1
    d_scores = counts.sum(axis=1, keepdims=True) * shares - counts
    return (d_scores @ E + d_scores.T @ E) / counts.sum()


@tied_embedding_backward.right
def plain(E, tokens, targets):
    X = E[tokens]
    logits = X @ E.T
    d_logits = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = d_logits / d_logits.sum(axis=-1, keepdims=True)
    d_logits[np.arange(len(tokens)), targets] -= 1
    d_logits = d_logits / len(tokens)
    d_E = d_logits.T @ X
    np.add.at(d_E, tokens, d_logits @ E)
    return d_E


tied_embedding_backward.wrong(
    "as the last map alone",
    "`E` occurs twice in the equation of the logits. Through which of the two did you go back?",
    plain.edit(
        "d_logits = d_logits / len(tokens)\n"
        "d_E = d_logits.T @ X\n"
        "np.add.at(d_E, tokens, d_logits @ E)\n"
        "return d_E",
        "return d_logits.T @ X / len(tokens)",
    ),
)
tied_embedding_backward.wrong(
    "as the embedding alone",
    "A token that is neither an input nor a target still has a logit. What is the gradient of "
    "its row?",
    plain.edit(
        "d_logits = d_logits / len(tokens)\n"
        "d_E = d_logits.T @ X\n"
        "np.add.at(d_E, tokens, d_logits @ E)",
        "d_E = np.zeros_like(E)\nnp.add.at(d_E, tokens, d_logits @ E / len(tokens))",
    ),
)
tied_embedding_backward.wrong(
    "a repeated token counted once",
    "In `d_E[tokens] += ...`, one id occurs three times. How many of the three rows are added?",
    plain.edit("np.add.at(d_E, tokens, d_logits @ E)", "d_E[tokens] += d_logits @ E"),
)
tied_embedding_backward.wrong(
    "the sum for the mean",
    "Pass every token and its target twice. Does the loss change? Does your gradient?",
    plain.edit("d_logits = d_logits / len(tokens)", ""),
)
tied_embedding_backward.wrong(
    "the targets forgotten",
    "What is the derivative of the cross-entropy with respect to the logit of the right token? "
    "Can it be positive?",
    plain.edit("d_logits[np.arange(len(tokens)), targets] -= 1", ""),
)
tied_embedding_backward.wrong(
    "uphill",
    "Take a small step against your gradient. Does the loss fall?",
    plain.edit("d_logits / len(tokens)", "d_logits / -len(tokens)"),
)
tied_embedding_backward.wrong(
    "the rows of the targets",
    "Which rows of `E` were read on the way in: those of the tokens, or those of the targets?",
    plain.edit("np.add.at(d_E, tokens, d_logits @ E)", "np.add.at(d_E, targets, d_logits @ E)"),
)
tied_embedding_backward.wrong(
    "a softmax over the tokens",
    "Which numbers sum to 1: those of one token over all ids, or those of one id over all tokens?",
    plain.edit("axis=-1", "axis=0", times=2),
)
tied_embedding_backward.wrong(
    "overflow",
    "What is exp(1000) on a computer? Does a softmax change if you subtract the same number from "
    "all logits of a token?",
    plain.edit("np.exp(logits - logits.max(axis=-1, keepdims=True))", "np.exp(logits)"),
)


@tied_embedding_backward.public
def _(rng):
    small = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    yield Case("one token of three", (small, np.array([0]), np.array([2]))).holds(
        "tokens: ids (n,), n at least 1; the vector of token i is row `tokens[i]` of `E`, and "
        "the logits of what follows it are the dot products of that row with every row of `E`.",
        "targets: ids (n,), what follows.",
        "Returns the gradient, (V, d): what comes by the way in and what comes by the way out.",
    )
    yield Case("a token that follows itself", (small, np.array([1]), np.array([1]))).holds(
        "targets: ids…"
    )
    yield Case(
        "a token that occurs three times", (small, np.array([0, 0, 0]), np.array([1, 2, 1]))
    ).holds("tokens: ids…", "The loss is the mean over the n tokens of the cross-entropy.")
    yield _case(rng, "six tokens, four features", 5, 4, 6).holds(
        "E: (V, d), the embeddings.", "The loss…", "Returns the…"
    )
    yield _case(rng, "as many tokens as features and ids", 4, 4, 4).holds("tokens: ids…")
    yield _case(rng, "fewer tokens than ids", 9, 3, 4).holds("tokens: ids…")
    yield _case(rng, "float32", 6, 4, 7, dtype=np.float32).holds("E: (V, d)…")
    yield _case(rng, "one feature", 5, 1, 6).holds("E: (V, d)…")
    yield _case(rng, "large logits", 5, 3, 6, size=30.0).holds("The logits may be large.")
    yield _case(rng, "a tiny table", 4, 3, 5, size=1e-12).holds("E: (V, d)…")
    yield _case(rng, "a vocabulary of one token", 1, 3, 2)
    yield _far_from_0(rng, 5, 3, 6)


@tied_embedding_backward.hidden
def _(rng):
    size, d, n = (int(one) for one in rng.permutation([4, 5, 7]))
    yield _case(rng, "one token", size, d, 1)
    table, _, _ = _case(rng, "", size, d, n).arguments
    first, last = (int(one) for one in rng.permutation(size)[:2])
    yield Case("a token that follows itself", (table, np.array([last]), np.array([last])))
    times = (np.full(4, first), np.array([last, last, first, last]))
    yield Case("a token that occurs four times", (table, *times))
    yield _case(rng, "several tokens", size, d, n)
    yield _case(rng, "as many tokens as features and ids", d, d, d)
    yield _case(rng, "fewer tokens than ids", 11, d, 5)
    yield _case(rng, "float32", size, d, n, dtype=np.float32)
    yield _case(rng, "large logits", size, d, n, size=30.0)
    yield _case(rng, "a tiny table", size, d, n, size=1e-12)
    yield _case(rng, "a vocabulary of one token", 1, d, 3)
    yield _far_from_0(rng, size, d, n)


def _case(
    rng: np.random.Generator,
    note: str,
    vocabulary: int,
    d: int,
    n: int,
    dtype: type = np.float64,
    size: float = 0.8,
) -> Case:
    E = (rng.normal(size=(vocabulary, d)) * size).astype(dtype)
    tokens, targets = rng.integers(vocabulary, size=(2, n))
    return Case(note, (E, tokens, targets))


def _far_from_0(rng: np.random.Generator, vocabulary: int, d: int, n: int) -> Case:
    """A shared feature adds the same to all logits of a token: no share depends on its size, but no
    step is small enough to differentiate by differences.
    """
    E, tokens, targets = _case(rng, "", vocabulary, d, n).arguments
    E[:, 0] = 1000.0
    return Case("a feature in the thousands", (E, tokens, targets)).holds("The logits…")
