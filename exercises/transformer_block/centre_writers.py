"""The exercise `centre_writers`: a stack with layer norm becomes one with RMSNorm."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import blocks as solutions

centre_writers = Declaration(
    solutions.centre_writers,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "The mean of a sum of tokens is the sum of their means. So it is enough if each of the "
        "things that are added has mean 0: a row of `embedding`, what `W` makes of any x, and `b`.",
        "The mean of W x over its d numbers is (the mean of the rows of `W`) times x. Subtract a "
        "vector from every row of `W`, so that this is 0 for every x.",
        "Sections “Layer normalisation” and “What later models changed”.",
    ),
)


@centre_writers.right
def by_projection(embedding, W, b):
    d = len(b)
    centre = np.eye(d) - np.ones((d, d)) / d
    return embedding @ centre, centre @ W, centre @ b


@centre_writers.right
def by_loops(embedding, W, b):
    new = np.empty_like(embedding), np.empty_like(W), np.empty_like(b)
    for v, row in enumerate(embedding):
        new[0][v] = row - sum(row) / len(row)
    for j in range(W.shape[1]):
        new[1][:, j] = W[:, j] - sum(W[:, j]) / len(W)
    new[2][:] = b - sum(b) / len(b)
    return new


@centre_writers.right
def plain(embedding, W, b):
    embedding = embedding - embedding.mean(axis=1, keepdims=True)
    W = W - W.mean(axis=0, keepdims=True)
    return embedding, W, b - b.mean()


centre_writers.wrong(
    "the rows of W centred",
    "`nn.Linear` stores `W` with a row for each number that comes out. Over which axis does the "
    "mean of W x run?",
    plain.edit("W.mean(axis=0", "W.mean(axis=1"),
)
centre_writers.wrong(
    "the embedding centred over the vocabulary",
    "The norm subtracts the mean of *one* token. Is that the mean over the features of a row, or "
    "over the rows?",
    plain.edit("embedding.mean(axis=1", "embedding.mean(axis=0"),
)
centre_writers.wrong(
    "one mean for the whole table",
    "Two words have the rows (1, 3) and (10, 30). Which mean does the norm subtract from each?",
    plain.edit("embedding.mean(axis=1, keepdims=True)", "embedding.mean()"),
)
centre_writers.wrong(
    "one mean for all of W",
    "Let x be (1, 0), and then (0, 1). Which column of `W` is written each time, and what is the "
    "mean of each?",
    plain.edit("W.mean(axis=0, keepdims=True)", "W.mean()"),
)
centre_writers.wrong(
    "the bias left as it is",
    "Let x be zeros. What does the sublayer write then, and what is the mean of it?",
    plain.edit("b - b.mean()", "b"),
)
centre_writers.wrong(
    "the embedding left as it is",
    "What does the first sublayer read, before any other has written?",
    plain.edit("embedding - embedding.mean(axis=1, keepdims=True)", "embedding"),
)
centre_writers.wrong(
    "W left as it is",
    "Is the mean of W x the same for every x, so that the bias could take it away?",
    plain.edit("W - W.mean(axis=0, keepdims=True)", "W"),
)
centre_writers.wrong(
    "divided by the deviation too",
    "RMSNorm divides the token by its size. What is left of the sum, if each part has been divided "
    "by a size of its own before?",
    plain.edit(
        "W = W",
        "embedding = embedding / np.sqrt((embedding**2).mean(axis=1, keepdims=True) + 1e-5)\nW = W",
    ),
)


@centre_writers.public
def _(rng):
    one = (np.array([[1.0, 3.0]]), np.array([[4.0], [8.0]]), np.array([0.0, 10.0]))
    yield Case("one row, one number that is read", one).holds(
        "a token of the stream is a sum: a row of `embedding`, (V, d), and W x + b for the output "
        "x of a sublayer.",
        "W: (d, d_in), as `nn.Linear` stores it, and b: (d,).",
        "Returns (embedding, W, b), of the same shapes: with them every token of the stream, for "
        "whatever x, is the old token minus the mean of its d features.",
    )
    yield _case(rng, "as many numbers in as out", 4, 3, 3).holds("W: (d, d_in)…")
    yield _case(rng, "more numbers in than out", 2, 3, 5).holds("W: (d, d_in)…")
    yield _case(rng, "one feature", 2, 1, 3).holds("Returns (embedding…")
    centred = _case(rng, "parts whose mean is 0 already", 3, 4, 2)
    centred.arguments[0][:, 0] -= centred.arguments[0].sum(axis=1)
    centred.arguments[1][0] -= centred.arguments[1].sum(axis=0)
    centred.arguments[2][0] -= centred.arguments[2].sum()
    yield centred.holds("A row that is written with mean 0 stays as it is.")
    yield _case(rng, "tiny numbers", 3, 4, 2, size=1e-13).holds("Returns (embedding…")
    yield _case(rng, "float32", 3, 4, 2, dtype=np.float32).holds("a token of…")


@centre_writers.hidden
def _(rng):
    V, d, d_in = (int(size) for size in rng.permutation([3, 4, 5]))
    yield _case(rng, "weights", V, d, d_in)
    yield _case(rng, "other weights of these shapes", V, d, d_in)
    yield _case(rng, "as many numbers in as out", V, d, d)
    yield _case(rng, "three equal sizes", 3, 3, 3)
    yield _case(rng, "one row", 1, d, d_in)
    yield _case(rng, "one feature", V, 1, d_in)
    yield _case(rng, "large numbers", V, d, d_in, size=1e4)
    yield _case(rng, "tiny numbers", V, d, d_in, size=1e-13)
    yield _case(rng, "float32", V, d, d_in, dtype=np.float32)


def _case(
    rng: np.random.Generator,
    note: str,
    V: int,
    d: int,
    d_in: int,
    size: float = 1.0,
    dtype: type = np.float64,
) -> Case:
    """Return a case with weights whose means are not 0."""
    shapes = ((V, d), (d, d_in), (d,))
    weights = ((size * rng.normal(0.5, size=shape)).astype(dtype) for shape in shapes)
    return Case(note, tuple(weights))
