"""The exercise `induction_score`: how much a head copies, measured on a text that repeats."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import language_models as solutions

induction_score = Declaration(
    solutions.induction_score,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.01,
    help=(
        "Write the text a b c a b c, and the map of a head that copies perfectly. Which entries "
        "are 1?",
        "They lie on one diagonal. Where does it begin, and from which row on should you count it?",
        "Section “A head that copies”.",
    ),
)


@induction_score.right
def diagonal(weights, period):
    return float(np.diagonal(weights, 1 - period, axis1=1, axis2=2)[:, 1:].mean(axis=1).max())


@induction_score.right
def loop(weights, period):
    best = 0.0
    for head in weights:
        found = [head[i, i - (period - 1)] for i in range(period, len(head))]
        best = max(best, sum(found) / len(found))
    return float(best)


@induction_score.right
def marked(weights, period):
    n = weights.shape[-1]
    places = np.arange(n)
    asked = (places[:, None] - places == period - 1) & (places[:, None] >= period)
    return float(np.einsum("hij,ij->h", weights, asked).max() / asked.sum())


@induction_score.right
def plain(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - period + 1].mean(axis=-1).max())


induction_score.wrong(
    "the copy itself",
    "A head that looks at the earlier copy finds the same token again. Where does it find what "
    "came next?",
    plain.edit("later - period + 1", "later - period"),
)


@induction_score.wrong(
    "the token before the copy",
    "One period earlier is place i - period. Is the place after it one more, or one less?",
)
def _(weights, period):
    later = np.arange(period + 1, weights.shape[-1])
    if len(later) == 0:
        return 0.0
    return float(weights[:, later, later - period - 1].mean(axis=-1).max())


induction_score.wrong(
    "the mean of all heads",
    "One head of eight copies perfectly. What does your function return, and what should it "
    "return?",
    plain.edit(".mean(axis=-1).max()", ".mean()"),
)
induction_score.wrong(
    "the best token",
    "A head that copies once and then never again: what is its score?",
    plain.edit(".mean(axis=-1)", ""),
)
induction_score.wrong(
    "the mean over all tokens",
    "In the first period there is nothing to copy. Do these tokens count?",
    plain.edit(".mean(axis=-1).max()", ".sum(axis=-1).max() / weights.shape[-1]"),
)
induction_score.wrong(
    "columns for rows",
    "Which token attends: that of the row, or that of the column?",
    plain.edit("later, later - period + 1", "later - period + 1, later"),
)
induction_score.wrong(
    "the best head of each token",
    "Is your number the score of one head? Of which head?",
    plain.edit(".mean(axis=-1).max()", ".max(axis=0).mean()"),
)
induction_score.wrong(
    "the number of the head",
    "Should you return which head it is, or how much it copies?",
    plain.edit(
        "float(weights[:, later, later - period + 1].mean(axis=-1).max())",
        "int(weights[:, later, later - period + 1].mean(axis=-1).argmax())",
    ),
)
induction_score.wrong(
    "the previous token",
    "Looking one token back is useful too, but it is not copying. At which place was the same "
    "token one period ago?",
    plain.edit("later - period + 1", "later - 1"),
)


@induction_score.public
def _(rng):
    yield Case("one head that copies well", (_weights(rng, 1, 6, 3, copies=0.8), 3)).holds(
        "weights: (n_heads, n, n), attention of every head on a text of n tokens that repeats "
        "itself after `period` tokens, no token twice within a period"
    )
    yield Case("three heads, one copies", (_weights(rng, 3, 12, 5, copies=0.6), 5)).holds(
        "Row i is what token i attends to.", "Returns the largest score of a head, a float."
    )
    yield Case("three periods", (_weights(rng, 2, 12, 4, copies=0.5), 4)).holds(
        "the score of a head is the mean of these weights, over all tokens from the second "
        "period on."
    )
    yield Case("not a whole number of periods", (_weights(rng, 4, 17, 6, copies=0.7), 6)).holds(
        "the score…"
    )
    yield Case(
        "heads that look at the copy itself", (_weights(rng, 3, 14, 6, copies=0.2, same=0.7), 6)
    ).holds(
        "A token of a later period asks for the token that followed its own copy one period earlier"
    )
    yield Case(
        "heads that look one token back", (_weights(rng, 3, 14, 5, copies=0.2, back=0.7), 5)
    ).holds("A token of…")
    yield Case("nothing copies", (_weights(rng, 4, 16, 8, copies=0.0), 8)).holds("Row i is…")
    yield Case("a period of two", (_weights(rng, 2, 7, 2, copies=0.4), 2)).holds(
        "n is larger than period, and period at least 2."
    )


@induction_score.hidden
def _(rng):
    heads, period = int(rng.integers(2, 6)), int(rng.integers(4, 8))
    n = 2 * period + int(rng.integers(1, period))
    yield Case("one head", (_weights(rng, 1, n, period, copies=0.6), period))
    yield Case("several heads", (_weights(rng, heads, n, period, copies=0.7), period)).holds(
        "Returns the…"
    )
    yield Case("as many heads as tokens", (_weights(rng, n, n, period, copies=0.4), period)).holds(
        "weights: (n_heads…"
    )
    weights = _weights(rng, heads, n, period, copies=0.2, same=0.6)
    yield Case("heads that look at the copy itself", (weights, period))
    weights = _weights(rng, heads, n, period, copies=0.2, back=0.6)
    yield Case("heads that look one token back", (weights, period))
    yield Case(
        "many periods", (_weights(rng, heads, 4 * period, period, copies=0.5), period)
    ).holds("weights: (n_heads…")
    yield Case(
        "one token more than a period", (_weights(rng, heads, period + 1, period, 0.5), period)
    ).holds("n is larger…")


def _weights(
    rng: np.random.Generator,
    n_heads: int,
    n: int,
    period: int,
    copies: float,
    same: float = 0.0,
    back: float = 0.0,
) -> np.ndarray:
    """Causal weights; the last head copies, the others look at the copy, or one token back.

    In the first period the last head looks at the first token, and the farther it is the better.
    """
    raw = np.tril(rng.random((n_heads, n, n)) ** 2 + 0.01)
    weights: np.ndarray = raw / raw.sum(axis=-1, keepdims=True)
    places = np.arange(n)
    later = places[places >= period]
    for head in range(n_heads):
        share = copies * rng.uniform(0.7, 1.0, size=len(later))[:, None]
        target, size = later - period + 1, share
        if head < n_heads - 1 and (same or back):
            target, size = (later - period, same * share / copies) if same else (later - 1, back)
        elif head < n_heads - 1:
            size = share * rng.uniform(0, 0.6)
        weights[head, later] *= 1 - size
        weights[head, later, target] += np.broadcast_to(size, (len(later), 1))[:, 0]
    return weights


induction_score.lets_through("n of 1 refused", "there are three tokens or more")
