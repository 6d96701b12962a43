"""The exercise `copying_score`: which head of a model copies, beyond what chance would give."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions.variants import reading_models as solutions

copying_score = Declaration(
    solutions.copying_score,
    points=4,
    difficulty=3,
    minutes=20,
    help=(
        "Write the text s a b c a b c, and the map of a head that copies perfectly. Which "
        "entries are 1? And what are they if the look is spread evenly?",
        "It is one entry in each row of the second copy. Subtract the even look row by row, "
        "because a later row sees more tokens. Then find the largest score of the whole table.",
        "Section “A head that copies”, and chapter 10's section on copying.",
    ),
)


@copying_score.right
def loop(weights, length):
    n_layers, n_heads, n, _ = weights.shape
    scores = np.zeros((n_layers, n_heads))
    best = (0, 0)
    for layer in range(n_layers):
        for head in range(n_heads):
            for i in range(n - length, n):
                looked = weights[layer, head, i, i - length + 1]
                scores[layer, head] += (looked - 1 / (i + 1)) / length
            if scores[layer, head] > scores[best]:
                best = (layer, head)
    return scores, best[0], best[1]


@copying_score.right
def marked(weights, length):
    n = weights.shape[-1]
    rows, columns = np.arange(n)[:, None], np.arange(n)
    asked = (rows >= n - length) & (columns == rows - length + 1)
    even = np.tril(np.ones((n, n))) / (rows + 1)
    scores = ((weights - even) * asked).sum(axis=(-2, -1)) / asked.sum()
    where = np.argwhere(scores == scores.max())[0]
    return scores, int(where[0]), int(where[1])


@copying_score.right
def diagonal(weights, length):
    n_heads = weights.shape[1]
    found = np.diagonal(weights, 1 - length, axis1=-2, axis2=-1)[..., -length:]
    even = [1 / (i + 1) for i in range(weights.shape[-1] - length, weights.shape[-1])]
    scores = found.mean(axis=-1) - np.mean(even)
    layer, head = divmod(int(np.argmax(scores)), n_heads)
    return scores, layer, head


@copying_score.right
def plain(weights, length):
    n = weights.shape[-1]
    later = np.arange(n - length, n)
    found = weights[:, :, later, later - length + 1]
    scores = found.mean(axis=-1) - np.mean(1 / (later + 1))
    layer, head = np.unravel_index(np.argmax(scores), scores.shape)
    return scores, int(layer), int(head)


copying_score.wrong(
    "the null not subtracted",
    "A head looks at all visible tokens equally. What score does your function give it?",
    plain.edit(" - np.mean(1 / (later + 1))", ""),
)
copying_score.wrong(
    "an even look at all tokens",
    "How many tokens does row i see under a causal mask? Is it the same number in every row?",
    plain.edit("np.mean(1 / (later + 1))", "1 / n"),
)
copying_score.wrong(
    "an even look without the token itself",
    "Does a token see itself? Over how many tokens is an even look of row i spread?",
    plain.edit("1 / (later + 1)", "1 / later"),
)
copying_score.wrong(
    "an even look at the first copy",
    "Over which tokens is the null's look spread: those of one copy, or all that can be seen?",
    plain.edit("np.mean(1 / (later + 1))", "1 / length"),
)
copying_score.wrong(
    "the mean number of tokens",
    "Is one over the mean of some numbers the same as the mean of one over each?",
    plain.edit("np.mean(1 / (later + 1))", "1 / np.mean(later + 1)"),
)
copying_score.wrong(
    "the copy itself",
    "A head that looks at the earlier copy finds the same token again. Where does it find what "
    "came next?",
    plain.edit("later - length + 1", "later - length"),
)
copying_score.wrong(
    "all rows from the first copy on",
    "Which tokens have an earlier copy? Do you average over these only?",
    plain.edit("later = np.arange(n - length, n)", "later = np.arange(length, n)"),
)
copying_score.wrong(
    "columns for rows",
    "Which token attends: that of the row, or that of the column?",
    plain.edit("later, later - length + 1", "later - length + 1, later"),
)
copying_score.wrong(
    "the number of the head among all heads",
    "The table has a row for each block. In which row is the best head?",
    plain.edit(
        "layer, head = np.unravel_index(np.argmax(scores), scores.shape)",
        "layer, head = np.argmax(scores.max(axis=1)), np.argmax(scores)",
    ),
)
copying_score.wrong(
    "the best block, and the head that is best on average",
    "Must the single best head be in the block whose heads copy best on average?",
    plain.edit(
        "layer, head = np.unravel_index(np.argmax(scores), scores.shape)",
        "layer, head = np.argmax(scores.mean(axis=1)), np.argmax(scores.mean(axis=0))",
    ),
)
copying_score.wrong(
    "the largest in size",
    "Scores can be negative. Which is larger, -0.3 or 0.1?",
    plain.edit("np.argmax(scores)", "np.argmax(np.abs(scores))"),
)
copying_score.wrong(
    "head before layer",
    "In which order does the docstring return the two numbers?",
    plain.edit("int(layer), int(head)", "int(head), int(layer)"),
)
copying_score.wrong(
    "the share of the room above the null",
    "Should you only subtract the null, or also divide by what is left above it?",
    plain.edit(
        "layer, head =",
        "scores = scores / (1 - np.mean(1 / (later + 1)))\nlayer, head =",
    ),
)


@copying_score.public
def _(rng):
    yield _case(rng, "one block, two heads, nothing before the text", 1, 2, 3, 0).holds(
        "row i is the look of token i",
        "A token of the second copy finds itself in the first, and a head that copies looks at "
        "what followed there.",
    )
    yield _case(rng, "three blocks, two heads, a token before the text", 3, 2, 5, 1).holds(
        "The text: `length` different tokens, at least 2, and then the same again; before these, "
        "other tokens may stand, or none.",
        "The score of a head is the mean weight of these looks over the second copy, minus the "
        "mean of what an even look at all visible tokens would leave there: 1 / (i + 1) in row i.",
        "Returns the tuple (scores, layer, head): scores (n_layers, n_heads)",
        "where the largest stands, counted from 0.",
    )
    yield _case(rng, "another three blocks of two heads", 3, 2, 5, 1).holds("The score…")
    yield _case(rng, "two blocks, four heads, four tokens before", 2, 4, 6, 4).holds(
        "weights: (n_layers, n_heads, n, n), what the heads of each block attend to, under a "
        "causal mask",
        "The text…",
    )
    yield _case(rng, "as many blocks as heads", 3, 3, 4, 2).holds("Returns the…")
    yield _case(rng, "as many blocks and heads as tokens", 5, 5, 2, 1).holds("The text…")
    yield _case(rng, "heads that look at the copy itself", 2, 3, 6, 1, aside="same").holds(
        "A token of…", "below 0 for a head that looks elsewhere"
    )
    yield _case(rng, "heads that look evenly", 2, 3, 6, 1, aside="even").holds("The score…")
    yield _case(rng, "nothing copies", 2, 2, 8, 1, copies=0.0).holds("below 0…")
    yield _looking_away(rng, 2, 3).holds("where the…", "below 0…")
    yield _looking_away(rng, 3, 2).holds("where the…", "below 0…")
    yield _case(rng, "one block, one head", 1, 1, 2, 0).holds("No two scores are equal.")
    yield _case(rng, "float32", 2, 3, 5, 2, dtype=np.float32)
    yield _case(rng, "a copy with many tokens before it", 2, 3, 3, 12).holds("The text…")


@copying_score.hidden
def _(rng):
    n_layers, n_heads, length = (int(one) for one in rng.permutation([2, 3, 4]))
    before = int(rng.integers(1, 5))
    yield _case(rng, "one block", 1, n_heads, length + 2, 0)
    yield _case(rng, "several blocks", n_layers, n_heads, length + 3, before)
    yield _case(rng, "as many blocks as heads", n_heads, n_heads, length + 3, before)
    yield _case(rng, "heads that look at the copy itself", n_layers, 3, 6, 1, aside="same")
    yield _case(rng, "heads that look evenly", n_layers, 3, 6, before, aside="even")
    yield _case(rng, "nothing copies", n_layers, n_heads, 7, before, copies=0.0)
    yield _case(rng, "a copy with many tokens before it", n_layers, n_heads, 3, 15)
    yield _looking_away(rng, n_layers, n_heads)
    yield _looking_away(rng, n_heads, n_layers)


def _case(
    rng: np.random.Generator,
    note: str,
    n_layers: int,
    n_heads: int,
    length: int,
    before: int,
    copies: float = 0.8,
    aside: str = "",
    dtype: type = np.float64,
) -> Case:
    """Causal weights on a text of `length` tokens twice, behind `before` others.

    One head copies best. The others look where they like, at the copy itself or evenly. A head of
    another block copies in the first copy's rows, where there is nothing to copy.
    """
    n = before + 2 * length
    raw = np.tril(rng.random((n_layers, n_heads, n, n)) ** 3 + 0.01)
    weights = raw / raw.sum(axis=-1, keepdims=True)
    even = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    later = np.arange(n - length, n)
    best = int(rng.integers(n_layers)), int(rng.integers(n_heads))
    for layer in range(n_layers):
        for head in range(n_heads):
            share = copies * rng.uniform(0.8, 1.0, size=length)
            if (layer, head) != best:
                share = share * rng.uniform(0, 0.5)
                if aside == "even":
                    weights[layer, head] = 0.9 * even + 0.1 * weights[layer, head]
                if aside == "same":
                    weights[layer, head, later] *= 0.3
                    weights[layer, head, later, later - length] += 0.7
            weights[layer, head, later] *= 1 - share[:, None]
            weights[layer, head, later, later - length + 1] += share
    return Case(note, (weights.astype(dtype), length))


def _looking_away(rng: np.random.Generator, n_layers: int, n_heads: int) -> Case:
    """Heads whose scores are far below 0, but for one that copies hardly more than an even look."""
    raw = np.tril(rng.uniform(0.5, 1.0, size=(n_layers, n_heads, 4, 4)))
    later = np.arange(2, 4)
    raw[..., later, later - 1] *= 0.02
    best = int(rng.integers(n_layers)), int(rng.integers(n_heads))
    raw[*best, later, later - 1] = rng.uniform(1.0, 1.3, size=2)
    weights = raw / raw.sum(axis=-1, keepdims=True)
    return Case("one head copies a little, and the others look away", (weights, 2))


copying_score.mutant("the largest in size", "scores.argmax()", "np.abs(scores).argmax()")
copying_score.lets_through("n of 1 refused", "there are four tokens or more")
