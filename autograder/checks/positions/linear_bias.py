"""The exercise `linear_bias`: far keys count less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def bias_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("three tokens, two heads", (3, 2))
    yield Case("five tokens, four heads", (5, 4))
    yield Case("three heads: not a power of two", (4, 3))
    yield Case("as many tokens as heads", (8, 8))
    yield Case("one token", (1, 2))
    yield Case("no token", (0, 2))
    yield Case("one head", (3, 1))
    yield Case("one token, one head", (1, 1))
    yield Case("many tokens", (40, 1))


def bias_hidden(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("a power of two", (int(rng.integers(3, 9)), int(rng.choice([2, 4, 16]))))
    heads = int(rng.choice([3, 5, 6, 7, 12]))
    yield Case("not a power of two", (int(rng.integers(3, 9)), heads))
    yield Case("as many tokens as heads", (heads, heads))
    yield Case("many tokens", (int(rng.integers(130, 150)), 2))
    yield Case("one head", (int(rng.integers(3, 9)), 1))


def linear_bias__positive(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * np.abs(places[:, None] - places)


def linear_bias__from_zero(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(n_heads) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def linear_bias__eight_heads(n, n_heads):
    slopes = 2.0 ** -np.arange(1, n_heads + 1)
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def linear_bias__reversed(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(n_heads, 0, -1) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def linear_bias__even_slopes(n, n_heads):
    slopes = np.arange(1, n_heads + 1) / n_heads
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def linear_bias__two_sequences(n, n_heads):
    power = 2 ** int(np.log2(n_heads))
    slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-4 * np.arange(1, 2 * power, 2) / power)
    slopes = np.concatenate([slopes, between])[:n_heads]
    places = np.arange(n)
    return slopes[:, None, None] * -np.abs(places[:, None] - places)


def linear_bias__heads_last(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    return -np.abs(places[:, None] - places)[:, :, None] * slopes


def linear_bias__signed(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * (places - places[:, None])


def linear_bias__past_only(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * np.minimum(places - places[:, None], 0)


def linear_bias__masked(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    distance = places[:, None] - places
    return np.where(distance >= 0, slopes[:, None, None] * -np.abs(distance), -np.inf)


def linear_bias__squared(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    return slopes[:, None, None] * -((places[:, None] - places) ** 2.0)


def linear_bias__from_last_key(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    row = slopes[:, None, None] * np.arange(1 - n, 1)
    return np.broadcast_to(row, (n_heads, n, n)).copy()


def linear_bias__loop(n, n_heads):
    bias = np.zeros((n_heads, n, n))
    for h in range(1, n_heads + 1):
        for i in range(n):
            for j in range(n):
                bias[h - 1, i, j] = -(2 ** (-8 * h / n_heads)) * abs(i - j)
    return bias


def linear_bias__outer(n, n_heads):
    slopes = np.exp2(np.linspace(-8 / n_heads, -8, n_heads))
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return -np.multiply.outer(slopes, distance)


def linear_bias__triangles(n, n_heads):
    slopes = np.cumprod(np.full(n_heads, 2 ** (-8 / n_heads)))
    grid = np.indices((n, n))
    return np.einsum("h,ij->hij", slopes, grid.min(axis=0) - grid.max(axis=0))


LINEAR_BIAS = Exercise(
    name="linear_bias",
    points=2,
    difficulty=2,
    minutes=15,
    reference=solutions.linear_bias,
    cases=bias_cases,
    hidden=bias_hidden,
    misconceptions=(
        Misconception(
            "far keys favoured",
            linear_bias__positive,
            "The bias is added to the scores. Should a far key end with a higher score or a lower?",
        ),
        Misconception(
            "heads counted from 0",
            linear_bias__from_zero,
            "What is the slope of the last head: 2^(-8), or more?",
        ),
        Misconception(
            "the slopes of eight heads",
            linear_bias__eight_heads,
            "With eight heads the slopes are 1/2, 1/4, 1/8, ... Which ones does the formula give "
            "for four heads?",
        ),
        Misconception(
            "slopes in reverse",
            linear_bias__reversed,
            "Which head looks least far: the first or the last?",
        ),
        Misconception(
            "slopes evenly spaced",
            linear_bias__even_slopes,
            "From one head to the next, is a slope multiplied by something, or is something added?",
        ),
        Misconception(
            "two sequences of slopes",
            linear_bias__two_sequences,
            "Some libraries take the slopes from two sequences when n_heads is no power of two. "
            "What does the docstring say about that?",
        ),
        Misconception(
            "heads in the last axis",
            linear_bias__heads_last,
            "The bias is added to scores of shape (n_heads, n, n). Where does your axis for the "
            "heads stand?",
        ),
        Misconception(
            "the sign of the distance kept",
            linear_bias__signed,
            "Does a key after the query get a bias above or below 0? Can a distance be negative?",
        ),
        Misconception(
            "keys after the query left alone",
            linear_bias__past_only,
            "The bias is symmetric. Is the upper triangle of yours the mirror of the lower?",
        ),
        Misconception(
            "a causal mask built in",
            linear_bias__masked,
            "The bias hides nothing; who wants a mask gives one. Which entries of yours are not "
            "finite?",
        ),
        Misconception(
            "the square of the distance",
            linear_bias__squared,
            "How much lower is the score at distance 2 than at distance 1? And at 3 than at 2?",
        ),
        Misconception(
            "distance from the last token",
            linear_bias__from_last_key,
            "Every query measures from itself. Do the rows of your bias differ?",
        ),
    ),
    alternatives=(
        linear_bias__loop,
        linear_bias__outer,
        linear_bias__triangles,
    ),
    help=(
        "A table of distances, and a slope for each head; multiply them by broadcasting.",
        "`places[:, None] - places` has shape (n, n). A slope of shape (n_heads, 1, 1) times it "
        "has shape (n_heads, n, n). Mind the sign, twice.",
        "Section “A penalty for distance”.",
    ),
    promises=(
        Promise("n: the number of tokens, 0 or more", ("no token", "one token", "many tokens")),
        Promise("n_heads: 1 or more", ("one head", "one token, one head")),
        Promise(
            "Returns an array of shape (n_heads, n, n): entry [h - 1, i, j] is minus slope times "
            "the distance of i and j",
            ("three tokens, two heads", "five tokens, four heads", "as many tokens as heads"),
        ),
        Promise(
            "the slope of head h = 1 ... n_heads is 2^(-8h/n_heads), for every n_heads, a power of "
            "two or not",
            ("a power of two", "three heads: not a power of two", "not a power of two"),
        ),
        Promise(
            "The bias is symmetric, 0 on the diagonal, and hides nothing",
            ("three tokens, two heads", "many tokens"),
        ),
    ),
)
