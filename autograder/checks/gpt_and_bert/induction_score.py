"""The exercise `induction_score`: how much a head copies, measured on a text that repeats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.variants import language_models as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def score_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one head that copies well", (_weights(rng, 1, 6, 3, copies=0.8), 3))
    yield Case("three heads, one copies", (_weights(rng, 3, 12, 5, copies=0.6), 5))
    yield Case("three periods", (_weights(rng, 2, 12, 4, copies=0.5), 4))
    yield Case("no whole number of periods", (_weights(rng, 4, 17, 6, copies=0.7), 6))
    yield Case(
        "heads that look at the copy itself", (_weights(rng, 3, 14, 6, copies=0.2, same=0.7), 6)
    )
    yield Case("heads that look one token back", (_weights(rng, 3, 14, 5, copies=0.2, back=0.7), 5))
    yield Case("nothing copies", (_weights(rng, 4, 16, 8, copies=0.0), 8))
    yield Case("a period of two", (_weights(rng, 2, 7, 2, copies=0.4), 2))


def score_hidden(rng: np.random.Generator) -> Iterator[Case]:
    heads, period = int(rng.integers(2, 6)), int(rng.integers(4, 8))
    n = 2 * period + int(rng.integers(1, period))
    yield Case("one head", (_weights(rng, 1, n, period, copies=0.6), period))
    yield Case("several heads", (_weights(rng, heads, n, period, copies=0.7), period))
    yield Case("as many heads as tokens", (_weights(rng, n, n, period, copies=0.4), period))
    weights = _weights(rng, heads, n, period, copies=0.2, same=0.6)
    yield Case("heads that look at the copy itself", (weights, period))
    weights = _weights(rng, heads, n, period, copies=0.2, back=0.6)
    yield Case("heads that look one token back", (weights, period))
    yield Case("many periods", (_weights(rng, heads, 4 * period, period, copies=0.5), period))
    yield Case(
        "one token more than a period", (_weights(rng, heads, period + 1, period, 0.5), period)
    )


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


def score__copy_itself(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - period].mean(axis=-1).max())


def score__token_before_the_copy(weights, period):
    later = np.arange(period + 1, weights.shape[-1])
    if len(later) == 0:
        return 0.0
    return float(weights[:, later, later - period - 1].mean(axis=-1).max())


def score__mean_of_the_heads(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - period + 1].mean())


def score__best_token(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - period + 1].max())


def score__over_all_tokens(weights, period):
    later = np.arange(period, weights.shape[-1])
    copied = weights[:, later, later - period + 1].sum(axis=-1)
    return float(copied.max() / weights.shape[-1])


def score__columns_for_rows(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later - period + 1, later].mean(axis=-1).max())


def score__best_head_by_token(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - period + 1].max(axis=0).mean())


def score__number_of_the_head(weights, period):
    later = np.arange(period, weights.shape[-1])
    return int(weights[:, later, later - period + 1].mean(axis=-1).argmax())


def score__previous_token(weights, period):
    later = np.arange(period, weights.shape[-1])
    return float(weights[:, later, later - 1].mean(axis=-1).max())


def score__diagonal(weights, period):
    return float(np.diagonal(weights, 1 - period, axis1=1, axis2=2)[:, 1:].mean(axis=1).max())


def score__loop(weights, period):
    best = 0.0
    for head in weights:
        found = [head[i, i - (period - 1)] for i in range(period, len(head))]
        best = max(best, sum(found) / len(found))
    return float(best)


def score__marked(weights, period):
    n = weights.shape[-1]
    places = np.arange(n)
    asked = (places[:, None] - places == period - 1) & (places[:, None] >= period)
    return float(np.einsum("hij,ij->h", weights, asked).max() / asked.sum())


INDUCTION_SCORE = Exercise(
    name="induction_score",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.induction_score,
    cases=score_cases,
    hidden=score_hidden,
    misconceptions=(
        Misconception(
            "the copy itself",
            score__copy_itself,
            "A head that looks at the earlier copy finds the same token again. Where does it find "
            "what came next?",
        ),
        Misconception(
            "the token before the copy",
            score__token_before_the_copy,
            "One period earlier is place i - period. Is what follows it one more, or one less?",
        ),
        Misconception(
            "the mean of all heads",
            score__mean_of_the_heads,
            "One head of eight copies perfectly. What is your number, and what should it be?",
        ),
        Misconception(
            "the best token",
            score__best_token,
            "A head that copies once and then never again: what is its score?",
        ),
        Misconception(
            "the mean over all tokens",
            score__over_all_tokens,
            "In the first period there is nothing to copy. Do these tokens count?",
        ),
        Misconception(
            "columns for rows",
            score__columns_for_rows,
            "Who attends: the token of the row, or that of the column?",
        ),
        Misconception(
            "the best head of each token",
            score__best_head_by_token,
            "Is your number the score of one head? Of which?",
        ),
        Misconception(
            "the number of the head",
            score__number_of_the_head,
            "What is asked for: which head it is, or how much it copies?",
        ),
        Misconception(
            "the previous token",
            score__previous_token,
            "Looking one token back is useful, and something else. Where did the token stand one "
            "period ago?",
        ),
    ),
    alternatives=(score__diagonal, score__loop, score__marked),
    help=(
        "Write the text a b c a b c, and the map of a head that copies perfectly. Which entries "
        "are 1?",
        "They lie on one diagonal. Where does it begin, and from which row on does it count?",
        "Chapter 10, the section on copying.",
    ),
    promises=(
        Promise(
            "weights: (n_heads, n, n), attention of every head on a text of n tokens that repeats "
            "itself after `period` tokens, no token twice within a period",
            ("one head that copies well", "as many heads as tokens", "many periods"),
        ),
        Promise(
            "n is larger than period, and period at least 2.",
            ("a period of two", "one token more than a period"),
        ),
        Promise(
            "Row i is what token i attends to.",
            ("three heads, one copies", "nothing copies"),
        ),
        Promise(
            "A token of a later period asks for the token that followed its own copy one period "
            "earlier",
            ("heads that look at the copy itself", "heads that look one token back"),
        ),
        Promise(
            "the score of a head is the mean of these weights, over all tokens from the second "
            "period on.",
            ("no whole number of periods", "three periods"),
        ),
        Promise(
            "Returns the largest score of a head, a float.",
            ("three heads, one copies", "several heads"),
        ),
    ),
    kind=Kind.MEASURE,
    tolerance=0.01,
)
