"""The exercise `reach_of_bias`: how far a head sees that pays for every step."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import positions as solutions

reach_of_bias = Declaration(
    solutions.reach_of_bias,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "Two weights of one softmax have the same denominator. So their ratio depends on nothing "
        "but the difference of their scores.",
        "With the same dot product the scores differ by `m * slope`, so the weights have the ratio "
        "exp(-m * slope). For which m is it `share`?",
        "Section “A penalty for distance”.",
    ),
)


@reach_of_bias.right
def loop(n_heads, share):
    reach = np.zeros(n_heads)
    for h in range(1, n_heads + 1):
        reach[h - 1] = np.log(1 / share) * 2 ** (8 * h / n_heads)
    return reach


@reach_of_bias.right
def in_bits(n_heads, share):
    heads = np.linspace(8 / n_heads, 8, n_heads)
    return -np.log2(share) * np.log(2) * np.exp2(heads)


@reach_of_bias.right
def multiplied_up(n_heads, share):
    inverse_slopes = np.cumprod(np.full(n_heads, 256 ** (1 / n_heads)))
    return inverse_slopes * -np.log(share)


@reach_of_bias.right
def plain(n_heads, share):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    return -np.log(share) / slopes


reach_of_bias.wrong(
    "the share lost taken for the share left",
    "At distance 0 nothing is lost yet. Which share has a key there, and which distance do you "
    "return for a share of 1?",
    plain.edit("np.log(share)", "np.log(1 - share + 1e-9)"),
)
reach_of_bias.wrong(
    "powers of two in the softmax",
    "The slopes are powers of 2. Of what does the softmax take powers?",
    plain.edit("np.log(share)", "np.log2(share)"),
)
reach_of_bias.wrong(
    "multiplied by the slope",
    "Which head sees farther: one that pays 1/2 for each step, or one that pays 1/256?",
    plain.edit("-np.log(share) / slopes", "-np.log(share) * slopes"),
)
reach_of_bias.wrong(
    "the weight falls in a straight line",
    "The *score* falls in a straight line. What does the softmax make of that?",
    plain.edit("-np.log(share)", "(1 - share)"),
)
reach_of_bias.wrong(
    "below 0",
    "Can a distance be negative? Which sign has the logarithm of a share below 1?",
    plain.edit("-np.log(share)", "np.log(share)"),
)
reach_of_bias.wrong(
    "the slopes of eight heads",
    "With eight heads the slopes are 1/2, 1/4, 1/8, ... Which slopes does the formula give for "
    "four heads?",
    plain.edit(
        "2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)", "2.0 ** -np.arange(1, n_heads + 1)"
    ),
)
reach_of_bias.wrong(
    "heads counted from 0",
    "What is the slope of the last head: 2^(-8), or more?",
    plain.edit("np.arange(1, n_heads + 1)", "np.arange(n_heads)"),
)
reach_of_bias.wrong(
    "heads in reverse",
    "Which head sees less far: the first or the last?",
    plain.edit("np.arange(1, n_heads + 1)", "np.arange(n_heads, 0, -1)"),
)
reach_of_bias.wrong(
    "whole steps",
    "The result is not rounded. What does the first head have for a share of 0.9?",
    plain.edit("-np.log(share) / slopes", "np.floor(-np.log(share) / slopes)"),
)


@reach_of_bias.public
def _(rng):
    yield Case("two heads, a share of one half", (2, 0.5)).holds(
        "The slope of head h = 1 ... n_heads is 2^(-8h/n_heads), and the score of a key at "
        "distance m is lowered by m slopes.",
        "Returns, of shape (n_heads,), the distance at which a key gets `share` times the weight "
        "of the query's own key",
    )
    yield Case("two heads, a share of 1/e", (2, float(np.exp(-1)))).holds("Returns, of…")
    yield Case("four heads", (4, 0.1)).holds("The slope…")
    yield Case("three heads: not a power of two", (3, 0.2)).holds("n_heads: 1 or more.")
    yield Case("eight heads", (8, 0.7)).holds("It is not rounded.")
    yield Case("one head", (1, 0.9)).holds("n_heads: 1…")
    yield Case("nothing lost", (2, 1.0)).holds("share: above 0 and at most 1.")
    yield Case("nearly all lost", (4, 1e-6)).holds("share: above…")


@reach_of_bias.hidden
def _(rng):
    share = float(rng.uniform(0.2, 0.6))
    yield Case("a power of two", (int(rng.choice([2, 4, 16])), share))
    yield Case("not a power of two", (int(rng.choice([3, 5, 6, 7, 12])), share))
    yield Case("eight heads", (8, float(rng.uniform(0.7, 0.95))))
    yield Case("one head", (1, share))
    yield Case("nearly all lost", (int(rng.integers(2, 6)), float(rng.uniform(1e-9, 1e-6))))
    yield Case("nothing lost", (3, 1.0))
