"""The exercise `looks_with_coverage`: less for what was looked at before. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import alignment as solutions

looks_with_coverage = Declaration(
    solutions.looks_with_coverage,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "One line is wrong. The weights are right: look at the coverage.",
        "How many arrays does the loop make for the coverage, and how many rows does it keep?",
        "The appendix, “Does it know where it has looked?”.",
    ),
)


@looks_with_coverage.right
def cumulative(scores, penalty):
    weights = []
    for i in range(scores.shape[-2]):
        before = sum(weights, np.zeros_like(scores[..., i, :]))
        row = scores[..., i, :] - penalty * before
        shares = np.exp(row - row.max(axis=-1, keepdims=True))
        weights.append(shares / shares.sum(axis=-1, keepdims=True))
    table = np.stack(weights, axis=-2)
    return table, np.concatenate(
        [np.zeros_like(table[..., :1, :]), np.cumsum(table, axis=-2)[..., :-1, :]], axis=-2
    )


@looks_with_coverage.right
def copied(scores, penalty):
    seen = np.zeros_like(scores[..., 0, :])
    weights, coverage = np.empty_like(scores), np.empty_like(scores)
    for i in range(scores.shape[-2]):
        coverage[..., i, :] = seen.copy()
        logits = scores[..., i, :] - penalty * seen
        weights[..., i, :] = np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))
        seen += weights[..., i, :]
    return weights, coverage


@looks_with_coverage.right
def sentence_by_sentence(scores, penalty):
    if scores.ndim > 2:
        parts = [sentence_by_sentence(one, penalty) for one in scores]
        return tuple(np.stack(part) for part in zip(*parts, strict=True))
    weights, coverage = np.zeros((2, *scores.shape), dtype=scores.dtype)
    for i, row in enumerate(scores):
        coverage[i] = weights[:i].sum(axis=0)
        lowered = row - penalty * coverage[i]
        shares = np.exp(lowered - lowered.max())
        weights[i] = shares / shares.sum()
    return weights, coverage


@looks_with_coverage.right
def plain(scores, penalty):
    seen = np.zeros(scores[..., 0, :].shape, dtype=scores.dtype)
    weights, coverage = [], []
    for i in range(scores.shape[-2]):
        row = scores[..., i, :] - penalty * seen
        row = np.exp(row - np.max(row, axis=-1, keepdims=True))
        row = row / np.sum(row, axis=-1, keepdims=True)
        weights.append(row)
        coverage.append(seen)
        seen = seen + row
    return np.stack(weights, axis=-2), np.stack(coverage, axis=-2)


looks_with_coverage.wrong(
    "one array for all rows",
    "Print the coverage while the loop runs, and again after it. Did the rows that you had "
    "already stored change? What does `+=` do to an array?",
    plain.edit("seen = seen + row", "seen += row"),
    released=True,
)
looks_with_coverage.wrong(
    "coverage after the word",
    "Should row 0 of the coverage already count what word 0 looks at?",
    plain.edit(
        "coverage.append(seen)\nseen = seen + row", "seen = seen + row\ncoverage.append(seen)"
    ),
)
looks_with_coverage.wrong(
    "the last word alone",
    "Which earlier words does your coverage count, apart from the last one? What is the sum of "
    "row 2 of the coverage?",
    plain.edit("seen = seen + row", "seen = row"),
)
looks_with_coverage.wrong(
    "more for what was looked at",
    "Suppose that two words want the same token. Does your second word get more of it than the "
    "first, or less?",
    plain.edit("- penalty * seen", "+ penalty * seen"),
)
looks_with_coverage.wrong(
    "scores added up in place of weights",
    "What is the sum of a row of the coverage? How much does each word have to give away?",
    plain.edit("seen + row", "seen + scores[..., i, :]"),
)
looks_with_coverage.wrong(
    "the mean in place of the sum",
    "Should a token that ten words looked at have the same coverage as a token that a single word "
    "looked at?",
    plain.edit("penalty * seen", "penalty * seen / max(i, 1)"),
)
looks_with_coverage.wrong(
    "weights lowered, not scores",
    "Where do you subtract the penalty, before the softmax or after it? Do the weights of a row "
    "sum to 1?",
    plain.edit("scores[..., i, :] - penalty * seen", "scores[..., i, :]").edit(
        "weights.append(row)", "row = np.maximum(row - penalty * seen, 0)\nweights.append(row)"
    ),
)
looks_with_coverage.wrong(
    "penalty ignored",
    "Change the penalty. Do your weights change?",
    plain.edit("penalty * seen", "0 * seen"),
)


@looks_with_coverage.public
def _(rng):
    yield Case("two words, equal scores", (np.zeros((2, 2)), 1.0)).holds(
        "All source tokens are real",
        "The coverage of a source token before target word i is the sum of the weights that the "
        "words before i gave it; before the first it is 0",
    )
    yield Case(
        "two words that want the same token", (np.array([[2.0, 0.0], [2.0, 0.0]]), 4.0)
    ).holds(
        "The weights of word i are the softmax of its scores, each less the penalty times the "
        "coverage before i"
    )
    yield Case("four words, five tokens", (_scores(rng, (), 4, 5), 1.5)).holds(
        "scores: (..., m, T), one row a target word, m and T at least 1, of any size",
        "The coverage…",
    )
    yield Case("four other words, five tokens", (_scores(rng, (), 4, 5), 1.5))
    yield Case("as many words as tokens", (_scores(rng, (), 4, 4), 0.5)).holds(
        "Returns (weights, coverage), both (..., m, T); row i of the coverage is that before word i"
    )
    yield Case("no penalty", (_scores(rng, (), 3, 4), 0.0)).holds(
        "penalty: a number, not below 0", "The weights…"
    )
    yield Case("a batch, as many sentences as words", (_scores(rng, (3,), 3, 4), 2.0)).holds(
        "Returns (weights…"
    )
    yield Case(
        "float32, two leading axes", (_scores(rng, (2, 3), 5, 3).astype(np.float32), 1.5)
    ).holds("scores: (...…")
    yield Case("one word", (_scores(rng, (), 1, 4), 2.0)).holds("scores: (...…", "The coverage…")
    yield Case("a batch of one, one token", (_scores(rng, (1,), 3, 1), 2.0)).holds("scores: (...…")
    yield Case("scores near a thousand", (_scores(rng, (2,), 3, 4) + 1000.0, 1.0)).holds(
        "scores: (...…"
    )
    apart = _scores(rng, (2,), 3, 4) - [[[0.0]], [[3000.0]]]
    yield Case("a batch, one sentence's scores far below the other's", (apart, 1.0)).holds(
        "scores: (...…"
    )
    yield Case("a large penalty", (_scores(rng, (), 5, 3), 2000.0)).holds(
        "penalty: a…", "The weights…"
    )


@looks_with_coverage.hidden
def _(rng):
    m, n, batch = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("all sizes differ", (_scores(rng, (batch,), m, n), float(rng.uniform(1, 3))))
    yield Case("one sentence", (_scores(rng, (), m, n), float(rng.uniform(1, 3))))
    yield Case("as many words as tokens", (_scores(rng, (), m, m), 1.0))
    yield Case("as many sentences as words", (_scores(rng, (m,), m, n), 1.0))
    yield Case("float32, three leading axes", (_scores(rng, (2, 1, 3), m, n).astype("f4"), 1.5))
    yield Case("one word", (_scores(rng, (2,), 1, n), 1.5))
    yield Case("scores far below 0", (_scores(rng, (), m, n) - 3000.0, 1.0))


def _scores(rng: np.random.Generator, batch: tuple[int, ...], m: int, n: int) -> np.ndarray:
    return rng.normal(size=(*batch, m, n)) * 1.5


looks_with_coverage.lets_through(
    "inputs rounded to 1e-12", "only a penalty of thousands makes so much of so little"
)
