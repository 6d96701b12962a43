"""The exercise `pairs_answered`: what a linear reader can tell from blends."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import removing_heads as solutions

pairs_answered = Declaration(
    solutions.pairs_answered,
    points=4,
    difficulty=3,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "Take one sentence, *x* gave something to *y*, and follow it all the way: what each head "
        "finds, what stands side by side, the logits, the two answers. Then count.",
        "Two loops over the names, and inside `merged = np.concatenate([a * values[x] + b * "
        "values[y] for a, b in shares])`. The giver's answer is the place of the largest of "
        "`merged @ readers[0]`. Which name should it be?",
        "Sections “Who gave?” and “Two lines of proof”.",
    ),
)


@pairs_answered.right
def by_lists(values, shares, readers):
    found = []
    m = len(values)
    for x in range(m):
        for y in [*range(x), *range(x + 1, m)]:
            merged = []
            for share_of_x, share_of_y in shares:
                merged.extend(share_of_x * values[x] + share_of_y * values[y])
            named = [int(np.argmax(np.dot(merged, reader))) for reader in readers]
            found.append((named == [x, y], named[0] == x, named[1] == y))
    return np.sum(np.array(found, dtype=int), axis=0)


@pairs_answered.right
def tables_of_logits(values, shares, readers):
    # every logit is a sum of a part from the giver and one from the receiver
    m, d = values.shape
    rows = readers.reshape(2, len(shares), d, m)
    read = np.einsum("xd,ahdk->ahxk", values, rows)
    giver = np.einsum("h,ahxk->axk", shares[:, 0], read)
    receiver = np.einsum("h,ahyk->ayk", shares[:, 1], read)
    named = (giver[:, :, None] + receiver[:, None, :]).argmax(axis=-1)
    different = ~np.eye(m, dtype=bool)
    first = (named[0] == np.arange(m)[:, None]) & different
    second = (named[1] == np.arange(m)) & different
    return np.array([(first & second).sum(), first.sum(), second.sum()])


@pairs_answered.right
def no_other_is_larger(values, shares, readers):
    both = first = second = 0
    for x, giver in enumerate(values):
        for y, receiver in enumerate(values):
            if x == y:
                continue
            merged = np.hstack([a * giver + b * receiver for a, b in shares])
            logits = merged @ readers[0], merged @ readers[1]
            a_right = np.all(np.delete(logits[0], x) < logits[0][x])
            b_right = np.all(np.delete(logits[1], y) < logits[1][y])
            both, first, second = both + (a_right and b_right), first + a_right, second + b_right
    return np.array([int(both), int(first), int(second)])


@pairs_answered.right
def plain(values, shares, readers):
    counts = np.zeros(3, dtype=int)
    for x in range(len(values)):
        for y in range(len(values)):
            if x == y:
                continue
            heads = [a * values[x] + b * values[y] for a, b in shares]
            merged = np.concatenate(heads)
            giver, receiver = (merged @ readers[0]).argmax(), (merged @ readers[1]).argmax()
            counts += [giver == x and receiver == y, giver == x, receiver == y]
    return counts


pairs_answered.wrong(
    "a name that gives to itself counted",
    "How many ordered pairs of different names are there among three names? How many do you try?",
    plain.edit("if x == y:\n    continue", ""),
)
pairs_answered.wrong(
    "each pair in one order only",
    "Is *Mary gave to Susan* the same sentence as *Susan gave to Mary*?",
    plain.edit("if x == y", "if x >= y"),
)
pairs_answered.wrong(
    "the order of the answers ignored",
    "Which name should the first reader name, and which the second? Does naming the right two "
    "people the wrong way round count?",
    plain.edit("giver == x and receiver == y", "{giver, receiver} == {x, y}"),
)
pairs_answered.wrong(
    "one answer is enough for both",
    "If the giver is right and the receiver is not, are both answers right?",
    plain.edit("giver == x and receiver == y", "giver == x or receiver == y"),
)
pairs_answered.wrong(
    "heads added up and not laid side by side",
    "With two heads, how many rows does a reader have? Which of them read the second head?",
    plain.edit(
        "merged = np.concatenate(heads)",
        "merged = np.concatenate([np.sum(heads, axis=0)] * len(heads))",
    ),
)
pairs_answered.wrong(
    "heads in the opposite order",
    "Which rows of a reader read the first head: the first ones, or the last ones?",
    plain.edit("np.concatenate(heads)", "np.concatenate(heads[::-1])"),
)
pairs_answered.wrong(
    "features of the heads dealt out in turn",
    "Where does the second feature of the first head stand, next to its first one or behind the "
    "first one of the second head?",
    plain.edit("np.concatenate(heads)", "np.array(heads).T.ravel()"),
)
pairs_answered.wrong(
    "weights of giver and receiver exchanged",
    "The first column of `shares` belongs to the giver. By which name's vector do you multiply it?",
    plain.edit("a * values[x] + b * values[y]", "b * values[x] + a * values[y]"),
)
pairs_answered.wrong(
    "readers exchanged",
    "Which of the two matrices is asked for the giver?",
    plain.edit(
        "(merged @ readers[0]).argmax(), (merged @ readers[1]).argmax()",
        "(merged @ readers[1]).argmax(), (merged @ readers[0]).argmax()",
    ),
)
pairs_answered.wrong(
    "shares in place of counts",
    "The docstring asks how many sentences are understood. What do you divide by?",
    plain.edit("return counts", "return counts / (len(values) * (len(values) - 1))"),
)


def _half_by_hand(m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One head with equal weights; its readers name the larger number and the smaller one."""
    larger, smaller = np.diag(np.arange(1.0, m + 1)), np.diag(np.arange(float(m), 0, -1))
    return np.eye(m), np.array([[0.5, 0.5]]), np.array([larger, smaller])


def _two_heads(m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One head finds the giver, the other the receiver; each has a reader of its own."""
    one, nothing = np.eye(m), np.zeros((m, m))
    readers = np.array([np.vstack([one, nothing]), np.vstack([nothing, one])])
    return one, np.eye(2), readers


TWO_THIRDS = np.array(
    [[[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1.5, 0], [0, -0.5, 0], [0, 1.5, 1]]]
)


@pairs_answered.public
def _(rng):
    yield Case("one head, half and half, readers set by hand", _half_by_hand(3)).holds(
        "The answer is the name with the largest logit",
        "There is a sentence for each ordered pair of different names",
    )
    yield Case("two heads, one for each person", _two_heads(3)).holds(
        "What a head finds is the sum of the two names' vectors, each times its weight, and what "
        "all heads find is laid side by side, the first head first",
        "Returns three whole numbers, of shape (3,): the sentences with both answers right, those "
        "with the giver right, and those with the receiver right",
    )
    yield Case("one head, 2/3 and 1/3", (np.eye(3), np.array([[2 / 3, 1 / 3]]), TWO_THIRDS)).holds(
        "the weights that each head gives to the giver and to the receiver, in every sentence"
    )
    yield Case("one head with all its weight on the receiver", _certain_of_one(rng, 4)).holds(
        "the weights…"
    )
    yield Case("two heads, six names in three features", _trained(rng, 6, 3, 2)).holds(
        "values: (m, d), the vector of each of m names, m at least 2",
        "The product with the first matrix gives a logit to each name as the giver, and that with "
        "the second a logit as the receiver",
        "readers: (2, n_heads * d, m)",
    )
    yield Case("three heads, seven names in two features", _trained(rng, 7, 2, 3)).holds(
        "readers: (2…"
    )
    yield Case("two names", _trained(rng, 2, 2, 2)).holds("values: (m…")
    yield Case("one head, names of one feature", _trained(rng, 4, 1, 1)).holds("n_heads at least 1")
    values, shares, readers = _trained(rng, 5, 3, 2)
    yield Case("tiny vectors", (1e-13 * values, shares, readers))
    yield Case("float32", tuple(one.astype(np.float32) for one in _trained(rng, 5, 4, 2)))
    yield Case("two heads, eight names in three features", _trained(rng, 8, 3, 2))


@pairs_answered.hidden
def _(rng):
    m, d, n_heads = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("several heads", _trained(rng, m + 3, d, n_heads)).holds("What a…")
    yield Case("other heads", _trained(rng, m + 4, d, 2)).holds("The product…")
    yield Case("half and half, readers set by hand", _half_by_hand(m)).holds("There is…")
    yield Case("one head for each person", _two_heads(m)).holds("Returns three…")
    yield Case("one head with all its weight on the receiver", _certain_of_one(rng, m))
    yield Case("one head", _trained(rng, 6, d, 1)).holds("n_heads at…")
    values, shares, readers = _trained(rng, 6, 3, 2)
    yield Case("tiny vectors", (1e-13 * values, shares, readers))


def _certain_of_one(rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One head that finds only the receiver, and a reader that guesses the giver."""
    guess = np.eye(m)[rng.permutation(m)]
    return np.eye(m), np.array([[0.0, 1.0]]), np.array([guess, np.eye(m)])


def _trained(
    rng: np.random.Generator, m: int, d: int, n_heads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random vectors and shares, and readers that were fitted to part of the sentences."""
    values = rng.normal(size=(m, d))
    shares = rng.uniform(0.05, 1, size=(n_heads, 2))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    x, y = np.nonzero(~np.eye(m, dtype=bool))
    heads = [a * values[x] + b * values[y] for a, b in shares]
    merged = np.concatenate(heads, axis=-1)
    fitted = [np.linalg.pinv(merged) @ np.eye(m)[answer] for answer in (x, y)]
    readers = np.array(fitted)
    return values, shares, readers + 0.1 * np.abs(readers).mean() * rng.normal(size=readers.shape)


THREE = "the result always has three numbers"
pairs_answered.lets_through("a last axis of length 1 squeezed", THREE)
pairs_answered.lets_through("axes of length 1 squeezed", THREE)
pairs_answered.lets_through("m of 1 refused", "there are two names or more")
