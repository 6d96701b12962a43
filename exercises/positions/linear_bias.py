"""The exercise `linear_bias`: far keys count less."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import positions as solutions

linear_bias = Declaration(
    solutions.linear_bias,
    points=2,
    difficulty=2,
    minutes=15,
    help=(
        "Make a table of distances and a slope for each head, and multiply them by broadcasting.",
        "`places[:, None] - places` has shape (n, n). Multiplied by slopes of shape (n_heads, 1, "
        "1), it has shape (n_heads, n, n). Mind the sign, twice.",
        "Section “A penalty for distance”.",
    ),
)


@linear_bias.right
def loop(n, n_heads):
    bias = np.zeros((n_heads, n, n))
    for h in range(1, n_heads + 1):
        for i in range(n):
            for j in range(n):
                bias[h - 1, i, j] = -(2 ** (-8 * h / n_heads)) * abs(i - j)
    return bias


@linear_bias.right
def outer(n, n_heads):
    slopes = np.exp2(np.linspace(-8 / n_heads, -8, n_heads))
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return -np.multiply.outer(slopes, distance)


@linear_bias.right
def triangles(n, n_heads):
    slopes = np.cumprod(np.full(n_heads, 2 ** (-8 / n_heads)))
    grid = np.indices((n, n))
    return np.einsum("h,ij->hij", slopes, grid.min(axis=0) - grid.max(axis=0))


@linear_bias.right
def plain(n, n_heads):
    slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)
    places = np.arange(n)
    offset = places - places[:, None]
    return slopes[:, None, None] * -np.abs(offset)


linear_bias.wrong(
    "far keys favoured",
    "The bias is added to the scores. Should a far key end with a higher score or a lower?",
    plain.edit("-np.abs(offset)", "np.abs(offset)"),
)
linear_bias.wrong(
    "heads counted from 0",
    "What is the slope of the last head: 2^(-8), or more?",
    plain.edit("np.arange(1, n_heads + 1)", "np.arange(n_heads)"),
)
linear_bias.wrong(
    "the slopes of eight heads",
    "With eight heads the slopes are 1/2, 1/4, 1/8, ... Which slopes does the formula give for "
    "four heads?",
    plain.edit(
        "2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)", "2.0 ** -np.arange(1, n_heads + 1)"
    ),
)
linear_bias.wrong(
    "slopes in reverse",
    "Which head sees less far: the first or the last?",
    plain.edit("np.arange(1, n_heads + 1)", "np.arange(n_heads, 0, -1)"),
)
linear_bias.wrong(
    "slopes evenly spaced",
    "From one head to the next, is a slope multiplied by something, or is something added?",
    plain.edit(
        "2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)", "np.arange(1, n_heads + 1) / n_heads"
    ),
)


linear_bias.wrong(
    "two sequences of slopes",
    "Some libraries take the slopes from two sequences when n_heads is not a power of two. What "
    "does the docstring say about that?",
    plain.edit(
        "slopes = 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)",
        "power = 2 ** int(np.log2(n_heads))\n"
        "slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)\n"
        "between = 2.0 ** (-4 * np.arange(1, 2 * power, 2) / power)\n"
        "slopes = np.concatenate([slopes, between])[:n_heads]",
    ),
)
linear_bias.wrong(
    "heads in the last axis",
    "The bias is added to scores of shape (n_heads, n, n). Where is your axis for the heads?",
    plain.edit("slopes[:, None, None] * -np.abs(offset)", "-np.abs(offset)[:, :, None] * slopes"),
)
linear_bias.wrong(
    "the sign of the distance kept",
    "Does a key after the query get a bias above or below 0? Can a distance be negative?",
    plain.edit("-np.abs(offset)", "offset"),
)
linear_bias.wrong(
    "keys after the query left alone",
    "The bias should be symmetric. Is the upper triangle of yours the mirror image of the lower?",
    plain.edit("-np.abs(offset)", "np.minimum(offset, 0)"),
)
linear_bias.wrong(
    "a causal mask built in",
    "The bias hides nothing; a mask is a separate thing. Which entries of your bias are not "
    "finite?",
    plain.edit("-np.abs(offset)", "np.where(offset <= 0, offset, -np.inf)"),
)
linear_bias.wrong(
    "the square of the distance",
    "How much lower is the score at distance 2 than at distance 1? And at 3 than at 2?",
    plain.edit("-np.abs(offset)", "-(offset**2.0)"),
)
linear_bias.wrong(
    "distance from the last token",
    "Every query measures distances from itself. Do the rows of your bias differ?",
    plain.edit("places - places[:, None]", "np.tile(places - (n - 1), (n, 1))"),
)


@linear_bias.public
def _(rng):
    yield Case("three tokens, two heads", (3, 2)).holds(
        "Returns an array of shape (n_heads, n, n): entry [h - 1, i, j] is minus slope times the "
        "distance of i and j",
        "The bias is symmetric, 0 on the diagonal, and hides nothing",
    )
    yield Case("five tokens, four heads", (5, 4)).holds("Returns an…")
    yield Case("three heads: not a power of two", (4, 3)).holds(
        "the slope of head h = 1 ... n_heads is 2^(-8h/n_heads), for every n_heads, a power of "
        "two or not"
    )
    yield Case("as many tokens as heads", (8, 8)).holds("Returns an…")
    yield Case("one token", (1, 2)).holds("n: the number of tokens, 0 or more")
    yield Case("no token", (0, 2)).holds("n: the number…")
    yield Case("one head", (3, 1)).holds("n_heads: 1 or more")
    yield Case("one token, one head", (1, 1)).holds("n_heads: 1…")
    yield Case("many tokens", (40, 1)).holds("n: the number…", "The bias…")


@linear_bias.hidden
def _(rng):
    yield Case("a power of two", (int(rng.integers(3, 9)), int(rng.choice([2, 4, 16])))).holds(
        "the slope…"
    )
    heads = int(rng.choice([3, 5, 6, 7, 12]))
    yield Case("not a power of two", (int(rng.integers(3, 9)), heads)).holds("the slope…")
    yield Case("as many tokens as heads", (heads, heads))
    yield Case("many tokens", (int(rng.integers(130, 150)), 2))
    yield Case("one head", (int(rng.integers(3, 9)), 1))


linear_bias.lets_through("one buffer for all results", "results of one shape are all equal")
