"""The exercise `alignment_error_rate`: where the decoder looked, against the gold. To debug.

The given function is the formula of the page, word for word. It is right for gold tables in which
every sure link is also marked as possible, and wrong for tables that mark each link only once.
"""

from collections.abc import Iterable

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import alignment as solutions

alignment_error_rate = Declaration(
    solutions.alignment_error_rate,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Take one target word, one source word and one sure link. What may the two gold tables "
        "look like, and what does the function return for each possibility?",
        "What does the docstring say about how the two tables are related, and where does the "
        "function rely on more than that?",
        "Section “How wrong is an alignment?”.",
    ),
)


@alignment_error_rate.right
def sets_of_pairs(weights, sure, possible):
    wanted = {(int(i), int(j)) for i, j in np.argwhere(sure)}
    allowed = wanted | {(int(i), int(j)) for i, j in np.argwhere(possible)}
    claimed = {(i, int(np.argmax(row))) for i, row in enumerate(weights) if max(row) > 0}
    if not claimed and not wanted:
        return 0.0
    agreed = len(claimed & wanted) + len(claimed & allowed)
    return 1 - agreed / (len(claimed) + len(wanted))


@alignment_error_rate.right
def loop(weights, sure, possible):
    claimed = hits = near = 0
    for i in range(len(weights)):
        best = 0
        for j in range(1, len(weights[i])):
            if weights[i, j] > weights[i, best]:
                best = j
        if weights[i, best] > 0:
            claimed += 1
            hits += int(sure[i, best])
            near += int(sure[i, best] or possible[i, best])
    total = claimed + int(sure.sum())
    return 1 - (hits + near) / total if total else 0.0


@alignment_error_rate.right
def by_gathering(weights, sure, possible):
    best = weights.argmax(axis=-1)[:, None]
    claims = np.take_along_axis(weights, best, axis=-1) > 0
    hits = np.take_along_axis(sure, best, axis=-1)[claims]
    near = np.take_along_axis(sure | possible, best, axis=-1)[claims]
    total = claims.sum() + sure.sum()
    wrong = total - hits.sum() - near.sum()
    return float(wrong / max(total, 1))


@alignment_error_rate.right
def plain(weights, sure, possible):
    largest = np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)
    claimed = largest & (weights > 0)
    hits, near = (claimed & sure).sum(), (claimed & (sure | possible)).sum()
    total = claimed.sum() + sure.sum()
    if total == 0:
        return 0.0
    return float(1 - (hits + near) / total)


alignment_error_rate.wrong(
    "precision only",
    "Suppose that a model claims a single link, and that link is right. Which fault of the model "
    "does your rate not see?",
    plain.edit("claimed.sum() + sure.sum()", "claimed.sum()").edit("(hits + near)", "near"),
)
alignment_error_rate.wrong(
    "recall only",
    "Is a claimed link that is in neither table an error? Does your rate grow with it?",
    plain.edit("claimed.sum() + sure.sum()", "sure.sum()").edit("(hits + near)", "hits"),
)
alignment_error_rate.wrong(
    "sure and possible swapped",
    "Must every possible link be found? Which of the two tables says what must be there?",
    plain.edit("claimed.sum() + sure.sum()", "claimed.sum() + (sure | possible).sum()"),
)
alignment_error_rate.wrong(
    "agreement in place of error",
    "What does your function return for a perfect alignment, and what should it?",
    plain.edit("1 - (hits + near) / total", "(hits + near) / total"),
)
alignment_error_rate.wrong(
    "one link for each column",
    "Which tokens claim links, those of the target or those of the source? Along which axis does "
    "a row run?",
    plain.edit(
        "np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)",
        "np.arange(weights.shape[0])[:, None] == weights.argmax(axis=0, keepdims=True)",
    ),
)
alignment_error_rate.wrong(
    "every weight above one half",
    "A row has the weights 0.4, 0.3, 0.3. Which link does it claim in your function?",
    plain.edit("largest & (weights > 0)", "weights > 0.5"),
)
alignment_error_rate.wrong(
    "weights summed in place of links counted",
    "How many links does a row claim in your function? Does the rate change when the largest "
    "weight grows and stays the largest?",
    plain.edit("largest & (weights > 0)", "weights").edit("claimed &", "claimed *", times=2),
)
alignment_error_rate.wrong(
    "all of the largest weights claimed",
    "Suppose that the two largest weights of a row are equal. How many links may the row claim?",
    plain.edit(
        "np.arange(weights.shape[1]) == weights.argmax(axis=1, keepdims=True)",
        "weights == weights.max(axis=1, keepdims=True)",
    ),
)
alignment_error_rate.wrong(
    "possible links forgotten",
    "A row claims a link that is possible and not sure. Is that an error?",
    plain.edit("(hits + near)", "2 * hits"),
)
alignment_error_rate.wrong(
    "sure links not taken for possible",
    "Some gold tables list in `possible` only the links that are not sure. What does the "
    "docstring say about a sure link?",
    plain.edit("claimed & (sure | possible)", "claimed & possible"),
    released=True,
)
alignment_error_rate.wrong(
    "rows of zeros claim a link",
    "What does argmax return for a row of zeros? Did that row look anywhere?",
    plain.edit("largest & (weights > 0)", "largest"),
)
alignment_error_rate.wrong(
    "nothing divided by nothing",
    "Suppose that no link is claimed and none is sure. What do you divide by?",
    plain.edit("if total == 0:\n    return 0.0", ""),
)
alignment_error_rate.wrong(
    "0 whenever no link is sure",
    "No link is sure, and the rows claim links that are not even possible. Is that a perfect "
    "alignment?",
    plain.edit("total == 0", "not sure.any()"),
)
alignment_error_rate.wrong(
    "0 whenever no link is claimed",
    "Five links are sure, and no row claims any. Is that a perfect alignment?",
    plain.edit("total == 0", "not claimed.any()"),
)
alignment_error_rate.wrong(
    "small weights taken for zeros",
    "The weights of a row are all 1e-9, except one of 3e-9. Is it a row of zeros? Which weight is "
    "the largest?",
    plain.edit("weights > 0", "weights > 1e-6"),
)


LINKS: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...] = (
    # the peak of the row, its places of sure links, of links that are possible only
    (0, (0,), ()),  # right
    (1, (1,), ()),  # right
    (2, (), (2,)),  # an article: right, and only possible
    (3, (4,), (3, 1)),  # finds what is possible, misses what is sure
    (0, (3,), ()),  # wrong
    (4, (2, 4), ()),  # a contraction: one link of two
    (1, (), ()),  # a word without a translation
)
"""A small alignment problem in which every count that a formula may use is another number."""


@alignment_error_rate.public
def _(rng):
    weights = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    sure = np.array([[True, False, False], [False, True, False]])
    yield Case("two words, one of them right", (weights, sure, sure.copy()))
    yield Case("sure and possible links", _problem(rng, range(7))).holds(
        "sure and possible: boolean (m, n), the gold links; a sure link is possible too, whether "
        "or not `possible` has it.",
        "Returns Och and Ney's alignment error rate (2003) as a float: 0 is best, 1 is worst.",
    )
    yield Case("as many target words as source words", _problem(rng, (0, 2, 3, 4, 5))).holds(
        "weights: (m, n), not negative, a row for each target token, m may be 0, n at least 1."
    )
    weights, sure, possible = _problem(rng, range(7))
    yield Case("a sure link that `possible` lacks", (weights, sure, possible & ~sure)).holds(
        "sure and…"
    )
    weights, sure, possible = _problem(rng, range(7))
    weights[[0, 4]] = 0
    yield Case("two rows of zeros", (weights, sure, possible)).holds("A row of zeros claims none.")
    yield Case("two equal largest weights", _tied(rng)).holds(
        "Each row of the weights claims one link, to its largest weight, however small that is: "
        "to the first, if several are the largest."
    )
    nothing = np.zeros((2, 3))
    yield Case("nothing claimed, nothing sure", (nothing, nothing > 0, nothing > 0)).holds(
        "It is 0.0 if no link is claimed and none is sure."
    )
    yield Case("float32", _problem(rng, (1, 3, 2, 6, 5, 0, 4, 4), np.float32)).holds("weights: (m…")
    weights, sure, possible = _problem(rng, range(7))
    yield Case("links claimed, none sure", (weights, sure & False, possible)).holds("Returns Och…")
    yield Case("no link claimed, some sure", (weights * 0, sure, possible)).holds("Returns Och…")
    yield Case(
        "rows of tiny weights", (weights * 10.0 ** -np.arange(2, 23, 3)[:, None], sure, possible)
    ).holds("Each row…")
    yield Case("a largest weight that is hardly larger", _nearly_tied(rng)).holds("Each row…")
    yield Case(
        "no target word", (np.zeros((0, 3)), np.zeros((0, 3), bool), np.zeros((0, 3), bool))
    ).holds("weights: (m…", "It is 0.0…")
    yield Case("one target word", _problem(rng, (3,))).holds("weights: (m…")
    single = np.eye(1, 3)
    yield Case("one link claimed, none sure", (single, single < 0, single < 0)).holds("It is 0.0…")
    yield Case("no link claimed, one sure", (0 * single, single > 0, single > 0)).holds(
        "It is 0.0…"
    )
    one = np.ones((2, 1))
    yield Case("one source word", (one, one > 0, one > 0)).holds("weights: (m…")


@alignment_error_rate.hidden
def _(rng):
    extra = rng.integers(0, 6, size=2)
    yield Case("sure and possible links", _problem(rng, (*range(7), *extra)))
    yield Case("more source words than target words", _problem(rng, (0, 2, 3, 4))).holds(
        "weights: (m…"
    )
    weights, sure, possible = _problem(rng, (*range(6), *extra))
    yield Case("sure links that `possible` lacks", (weights, sure, possible & ~sure)).holds(
        "sure and…"
    )
    weights, sure, possible = _problem(rng, (*range(7), extra[0]))
    weights[rng.permutation(7)[:3]] = 0
    yield Case("three rows of zeros", (weights, sure, possible)).holds("A row of…")
    yield Case("two equal largest weights", _tied(rng))
    nothing = np.zeros((3, 2))
    yield Case("nothing claimed, nothing sure", (nothing, nothing > 0, nothing > 0))
    yield Case("float32", _problem(rng, (*extra, *range(7)), np.float32))
    weights, sure, possible = _problem(rng, (*range(7), *extra))
    yield Case("links claimed, none sure", (weights, sure & False, possible))
    yield Case("no link claimed, some sure", (weights * 0, sure, possible))
    small = 10.0 ** rng.uniform(-30, -10, size=(9, 1))
    yield Case("rows of tiny weights", (weights * small, sure, possible))
    yield Case("a largest weight that is hardly larger", _nearly_tied(rng))
    nobody = np.zeros((0, int(rng.integers(2, 6))))
    yield Case("no target word", (nobody, nobody > 0, nobody > 0))
    yield Case("one target word", _problem(rng, (3,)))
    gold = np.arange(4)[:, None] > rng.integers(1, 4)
    yield Case("one source word", (rng.uniform(0.1, 1, size=(4, 1)), gold, gold))


def _problem(
    rng: np.random.Generator, rows: Iterable[int], dtype: type = float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights with the peaks of LINKS in `rows`, and the gold; the five places are shuffled.

    The first row has its peak below one half.
    """
    place = rng.permutation(5)
    chosen = [LINKS[row] for row in rows]
    shape = (len(chosen), 5)
    weights, sure = rng.uniform(0.5, 1, size=shape), np.zeros(shape, bool)
    possible = np.zeros(shape, bool)
    for i, (peak, sure_places, possible_places) in enumerate(chosen):
        weights[i, place[peak]] = 1.2 if i == 0 else 6
        sure[i, place[np.array(sure_places, dtype=int)]] = True
        either = np.array(sure_places + possible_places, dtype=int)
        possible[i, place[either]] = True
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights.astype(dtype), sure, possible


def _tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three rows; the second has two largest weights, and the sure link is the first of them."""
    weights = np.array([[0.1, 0.8, 0.1, 0.0], [0.1, 0.4, 0.1, 0.4], [0.6, 0.2, 0.1, 0.1]])
    gold = np.zeros((3, 4), dtype=bool)
    gold[[0, 1, 2], [1, 1, int(rng.integers(0, 4))]] = True
    return weights, gold, gold.copy()


def _nearly_tied(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, with the second of the two larger by a hair, and the sure link there."""
    weights, gold, _ = _tied(rng)
    weights[1, 3] += 1e-9
    gold[1] = [False, False, False, True]
    return weights, gold, gold.copy()


alignment_error_rate.mutant(
    "weights below 1e-8 taken for 0", "np.max(row) > 0", "np.max(row) > 1e-8"
)
alignment_error_rate.mutant("weights below 0.1 taken for 0", "np.max(row) > 0", "np.max(row) > 0.1")
alignment_error_rate.mutant("a single link is none", "total == 0", "total <= 1")
