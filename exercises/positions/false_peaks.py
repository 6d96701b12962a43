"""The exercise `false_peaks`: where a head that asks for one distance looks by mistake."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import positions as solutions

false_peaks = Declaration(
    solutions.false_peaks,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "First compute the scores of all distances, and of one more on either side. Then compare "
        "each with its neighbours.",
        "`scores[1:-1] > scores[:-2]` compares every distance but the first and the last with the "
        "one before it. At `asked` every cosine is 1.",
        "Sections “Turn the queries and the keys” and “Where do they look?”.",
    ),
)


@false_peaks.right
def loop(asked, n, d, base, share):
    def score(m):
        return sum(np.cos((m - asked) / base ** (2 * i / d)) for i in range(d // 2))

    found = [
        m
        for m in range(1, n + 1)
        if m != asked
        and score(m) > max(score(m - 1), score(m + 1))
        and score(m) >= share * score(asked)
    ]
    return np.array(found, dtype=int)


@false_peaks.right
def from_rotated_vectors(asked, n, d, base, share):
    pair = np.tile([1.0, 0.0], d // 2).reshape(-1, 2)
    angles = np.arange(n + 2)[:, None] / base ** (np.arange(0, d, 2) / d)
    keys = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    turn = asked / base ** (np.arange(0, d, 2) / d)
    query = np.stack([np.cos(turn), np.sin(turn)], axis=-1) * pair[:, :1]
    scores = (keys * query).sum(axis=(-2, -1))
    high = scores >= share * len(pair)
    rises, falls = np.diff(scores)[:-1] > 0, np.diff(scores)[1:] < 0
    distances = 1 + np.flatnonzero(rises & falls & high[1:-1])
    return np.setdiff1d(distances, [asked])


@false_peaks.right
def plain(asked, n, d, base, share):
    speeds = base ** (-np.arange(0, d, 2) / d)
    m = np.arange(n + 2)
    scores = np.cos((m[:, None] - asked) * speeds).sum(axis=1)
    high = scores >= share * d / 2
    peak = np.zeros(n + 2, dtype=bool)
    peak[1:-1] = (scores[1:-1] > scores[:-2]) & (scores[1:-1] > scores[2:])
    return m[peak & high & (m != asked)]


false_peaks.wrong(
    "the asked distance counted as false",
    "The head asks for `asked`. Is it wrong to look there?",
    plain.edit(" & (m != asked)", ""),
)
false_peaks.wrong(
    "every high score taken for a peak",
    "Next to a peak the score is high as well. Is it higher there than at both neighbours?",
    plain.edit("peak & high", "(m > 0) & (m <= n) & high"),
)
false_peaks.wrong(
    "low peaks counted",
    "Which part has `share` in your result?",
    plain.edit("peak & high", "peak"),
)
false_peaks.wrong(
    "always the base 10,000",
    "What does another base change: the fastest pair, or the others?",
    plain.edit("base **", "10000.0 **"),
)
false_peaks.wrong(
    "asks for distance 0",
    "At which distance is your highest score? At which should it be?",
    plain.edit("m[:, None] - asked", "m[:, None]"),
)
false_peaks.wrong(
    "the exponent doubled",
    "With d = 4 there are two pairs, i = 0 and 1. What is 2i/d for the second?",
    plain.edit("np.arange(0, d, 2) / d", "np.arange(0, d, 2) * 2 / d"),
)
false_peaks.wrong(
    "a share of d in place of d/2",
    "How many cosines are in the sum, and what is it at the asked distance?",
    plain.edit("share * d / 2", "share * d"),
)
false_peaks.wrong(
    "a share of 1 in place of the score",
    "What is the score at the asked distance? It is the sum of how many ones?",
    plain.edit("share * d / 2", "share"),
)
false_peaks.wrong(
    "distances from n on left out",
    "May a false peak be at distance n itself?",
    plain.edit("m = np.arange(n + 2)", "n = n - 1\nm = np.arange(n + 2)"),
)
false_peaks.wrong(
    "compared with one neighbour only",
    "On a slope that rises, every score is higher than the one before. Is each of them a peak?",
    plain.edit(" & (scores[1:-1] > scores[2:])", ""),
)


@false_peaks.public
def _(rng):
    yield _case("one pair", 3, 25, 2, 10_000.0, 0.95).holds(
        "the score of a key at distance m is the sum over the pairs of cos((m - asked) * "
        "base^(-2i/d)).",
        "Returns, in ascending order and as integers, the distances m from 1 to n, without "
        "`asked`, whose score is higher than that of m - 1 and of m + 1",
    )
    yield _case("two pairs, a large base", 3, 60, 4, 10_000.0, 0.9).holds(
        "pair i = 0 ... d/2 - 1 is rotated by base^(-2i/d) per position."
    )
    yield _case("two pairs, a small base", 3, 60, 4, 100.0, 0.9).holds("pair i…")
    yield _case("a false peak before the asked distance", 30, 40, 4, 10_000.0, 0.9).holds(
        "without `asked`"
    )
    yield _case("a false peak at distance n", 3, 22, 4, 10_000.0, 0.9).holds("Returns, in…")
    yield _case("four pairs", 5, 200, 8, 500.0, 0.6).holds("the score…")
    yield _case("no false peak", 4, 20, 16, 10_000.0, 0.9).holds("Returns, in…")
    yield _case("a low share", 2, 40, 6, 1000.0, 0.2).holds("at least `share` times the score")
    yield _case("one false peak", 3, 10, 2, 10_000.0, 0.9).holds("Returns, in…")
    yield _case("the nearest distance asked for", 1, 30, 2, 10_000.0, 0.9).holds("at least 1")


@false_peaks.hidden
def _(rng):
    asked = int(rng.integers(2, 12))
    for note, n, d, bases, share in (
        ("one pair", 40, 2, (100.0, 10_000.0), 0.9),
        ("two pairs, a large base", 90, 4, (10_000.0, 50_000.0), 0.9),
        ("two pairs, a small base", 90, 4, (60.0, 200.0), 0.8),
        ("four pairs", 250, 8, (300.0, 900.0), 0.5),
        ("a low share", 60, 6, (500.0, 2000.0), 0.2),
    ):
        yield _case(note, asked, n, d, float(rng.uniform(*bases)), share)
    yield _case("one false peak", 2 + asked % 5, 9 + asked % 5, 2, 10_000.0, 0.9)
    yield _case("the nearest distance asked for", 1, 40, 4, 10_000.0, 0.8)
    yield _case("far apart", asked + 40, 120, 4, 10_000.0, 0.9)
    last = solutions.false_peaks(asked, 60, 4, 10_000.0, 0.9)[-1]
    yield _case("a false peak at distance n", asked, int(last), 4, 10_000.0, 0.9)


def _case(note: str, asked: int, n: int, d: int, base: float, share: float) -> Case:
    """Return a case with the next lower share at which rounding cannot decide."""
    speeds = base ** (-np.arange(0, d, 2) / d)
    scores = np.cos((np.arange(n + 2)[:, None] - asked) * speeds).sum(axis=1)
    while np.abs(scores - share * d / 2).min() < 1e-6:
        share -= 1e-3
    return Case(note, (asked, n, d, base, share))
