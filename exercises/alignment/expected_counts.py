"""The exercise `expected_counts`: a step of IBM Model 1, a soft alignment by counting. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import counting as solutions

expected_counts = Declaration(
    solutions.expected_counts,
    points=4,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "The weights are right. Try a sentence without a repeated word, and a sentence with one. "
        "What do all counts sum to in each?",
        "What does `a[[0, 0]] += 1` do to `a[0]` in NumPy? Look for an operation that adds up "
        "instead.",
        "Section “How wrong is an alignment?”; NumPy's page on `numpy.add.at`.",
    ),
)


@expected_counts.right
def link_by_link(table, source, target):
    weights = np.zeros((len(target), len(source)), dtype=table.dtype)
    counts = np.zeros(table.shape, dtype=table.dtype)
    for i, f in enumerate(target):
        shares = np.array([table[e, f] for e in source])
        weights[i] = shares / shares.sum()
        for j, e in enumerate(source):
            counts[e, f] += weights[i, j]
    return weights, counts


@expected_counts.right
def one_hot(table, source, target):
    from_source = np.eye(table.shape[0], dtype=table.dtype)[source]  # (n, E)
    from_target = np.eye(table.shape[1], dtype=table.dtype)[target]  # (m, F)
    likely = from_target @ table.T @ from_source.T
    weights = likely / likely.sum(axis=-1)[:, None]
    return weights, from_source.T @ weights.T @ from_target


@expected_counts.right
def binned(table, source, target):
    likely = np.array([table[source, f] for f in target]).reshape(len(target), len(source))
    weights = likely / np.einsum("mn->m", likely)[:, None]
    cell = source[None, :] * table.shape[1] + target[:, None]
    counts = np.bincount(cell.ravel(), weights.ravel(), minlength=table.size)
    return weights, counts.reshape(table.shape).astype(table.dtype)


@expected_counts.right
def plain(table, source, target):
    likely = table[source][:, target].T
    weights = likely / likely.sum(axis=1, keepdims=True)
    counts = np.zeros_like(table)
    np.add.at(counts, (source[:, None], target), weights.T)
    return weights, counts


expected_counts.wrong(
    "repeated words count once",
    "Take a sentence in which “the” occurs twice. What do all your counts sum to, and what should "
    "they sum to?",
    plain.edit(
        "np.add.at(counts, (source[:, None], target), weights.T)",
        "counts[source[:, None], target] += weights.T",
    ),
    released=True,
)
expected_counts.wrong(
    "a source word shared out among target words",
    "Which sums of your weights are 1: those of the rows or those of the columns? Which words are "
    "shared out, and among which?",
    plain.edit("axis=1", "axis=0"),
)
expected_counts.wrong(
    "the largest takes all",
    "Does your function count a share of 0.3 as 0.3, or as nothing?",
    plain.edit(
        "counts = np.zeros_like(table)",
        "weights = np.eye(len(source), dtype=table.dtype)[weights.argmax(axis=1)]\n"
        "counts = np.zeros_like(table)",
    ),
)
expected_counts.wrong(
    "the table ignored",
    "Change one number of the table. Do your weights change?",
    plain.edit("table[source][:, target].T", "np.ones_like(table)[source][:, target].T"),
)
expected_counts.wrong(
    "never shared out",
    "What does a row of your weights sum to?",
    plain.edit("likely / likely.sum(axis=1, keepdims=True)", "likely"),
)
expected_counts.wrong(
    "counts already turned into probabilities",
    "How much should one target word add to the counts in total?",
    plain.edit(
        "return weights, counts",
        "return weights, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)",
    ),
)
expected_counts.wrong(
    "the table counts as well",
    "What is the count of two words that are not in the sentence?",
    plain.edit("np.zeros_like(table)", "table.copy()"),
)


@expected_counts.public
def _(rng):
    table = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    yield Case("two words, all different", (table, np.array([0, 1]), np.array([0, 2]))).holds(
        "table: (E, F), not negative, the probability of each of F target words given each of E "
        "source words",
        "weights: (m, n), row i is target word i, shared out in proportion to its probability "
        "given each source word; a row sums to 1",
    )
    yield Case("a source word twice", (table, np.array([0, 1, 0]), np.array([2]))).holds(
        "source: (n,), the ids of a sentence's words, n at least 1; a word may stand in it several "
        "times",
        "Returns (weights, counts)",
        "counts: (E, F), for each two words the sum of the weights between them, and 0 for words "
        "that are not in the sentence",
    )
    yield Case("a target word twice", (table, np.array([1, 0]), np.array([1, 2, 1]))).holds(
        "target: (m,), those of its translation, m may be 0; a word may stand in it several times",
        "counts…",
    )
    yield Case("both twice", (_table(rng, 5, 4), _ids(4, 1, 4, 0), _ids(3, 2, 3))).holds("counts…")
    yield Case("ids that are not in order", (_table(rng, 6, 7), _ids(5, 2, 0), _ids(6, 1))).holds(
        "counts…", "weights…"
    )
    yield Case("a long sentence", _sentence(rng, 6, 7, 12, 9)).holds("weights…", "counts…")
    yield Case("as many source as target words", _sentence(rng, 5, 5, 6, 6)).holds("weights…")
    yield Case("one source word", (_table(rng, 3, 4), _ids(2), _ids(0, 3, 0))).holds("source…")
    yield Case("no target word", (_table(rng, 3, 4), _ids(2, 1), _ids())).holds("target…")
    yield Case("a table of one source word", (_table(rng, 1, 4), _ids(0, 0), _ids(3, 1))).holds(
        "table: (E…"
    )
    yield Case("a table of one target word", (_table(rng, 3, 1), _ids(2, 0), _ids(0, 0))).holds(
        "table: (E…"
    )
    sparse = np.array([[0.0, 1.0, 0.0], [0.25, 0.25, 0.5], [0.0, 0.0, 1.0]])
    yield Case("zeros in the table", (sparse, _ids(0, 1, 2, 1), _ids(0, 1, 2, 0))).holds(
        "Each target word has a probability above 0 given some word of the source"
    )
    tiny = _table(rng, 4, 5) * 1e-14
    yield Case("tiny numbers", (tiny, _ids(0, 1, 3, 0), _ids(2, 4, 2))).holds(
        "some numbers may be tiny"
    )
    yield Case(
        "float32", (_table(rng, 4, 5).astype(np.float32), _ids(0, 2, 0), _ids(1, 4, 1))
    ).holds("table: (E…")


@expected_counts.hidden
def _(rng):
    E, F, n, m = (int(size) for size in rng.permutation([4, 5, 7, 8]))
    yield Case("all sizes differ", _sentence(rng, E, F, n, m))
    yield Case("repeated words", _sentence(rng, 3, 4, 9, 8))
    yield Case("as many words as the table has", _sentence(rng, 5, 5, 5, 5))
    unlike = rng.permutation(6)[:4], rng.permutation(7)[:5]
    yield Case("no word twice", (_table(rng, 6, 7), *unlike))
    yield Case("one source word", (_table(rng, E, F), rng.integers(E, size=1), _ids(0, 1, 0)))
    yield Case("no target word", (_table(rng, E, F), rng.integers(E, size=n), _ids()))
    yield Case("tiny numbers", (_table(rng, E, F) * 1e-14, *_sentence(rng, E, F, n, m)[1:]))
    small = _sentence(rng, E, F, n, m)
    yield Case("float32", (small[0].astype(np.float32), *small[1:]))
    yield Case("a table of one source word", (_table(rng, 1, F), _ids(0, 0, 0), _ids(1, 0, 1)))
    yield Case("a table of one target word", (_table(rng, E, 1), _ids(1, 0, 1), _ids(0, 0)))
    zeros = _table(rng, 4, 5)
    zeros[1:, 2:] = 0
    yield Case("zeros in the table", (zeros, _ids(0, 1, 3, 1), _ids(0, 2, 4, 2)))


def _table(rng: np.random.Generator, E: int, F: int) -> np.ndarray:
    return rng.dirichlet(np.full(F, 0.7), size=E)


def _ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def _sentence(
    rng: np.random.Generator, E: int, F: int, n: int, m: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _table(rng, E, F), rng.integers(E, size=n), rng.integers(F, size=m)
