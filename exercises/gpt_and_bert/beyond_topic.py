"""The exercise `beyond_topic`: what is left of a word's meaning beside its nulls."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import filling_gaps as solutions

beyond_topic = Declaration(
    solutions.beyond_topic,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.01,
    help=(
        "First write a function for one set of vectors: for what share of the sentences has the "
        "nearest other one the same meaning? Which sentence is the nearest to each, if you do not "
        "take care?",
        "Scale the vectors to length 1, take all dot products, put -inf on the diagonal, and take "
        "`argmax`. Then subtract the best of the nulls, not their mean.",
        "Section “The date”, on the page about BERT.",
    ),
)


@beyond_topic.right
def one_by_one(vectors, nulls, kinds):
    def share(rows):
        right = 0
        for at, row in enumerate(rows):
            others = [n for n in range(len(rows)) if n != at]
            cosines = [
                row @ rows[n] / np.linalg.norm(row) / np.linalg.norm(rows[n]) for n in others
            ]
            right += kinds[others[int(np.argmax(cosines))]] == kinds[at]
        return right / len(rows)

    return float(share(vectors) - max(share(one) for one in nulls))


@beyond_topic.right
def all_at_once(vectors, nulls, kinds):
    every = np.concatenate([vectors[None], nulls])
    every = every / np.sqrt((every**2).sum(-1, keepdims=True))
    alike = every @ every.swapaxes(1, 2) - 3 * np.eye(len(kinds))
    shares = (kinds[alike.argmax(-1)] == kinds).mean(-1)
    return float(shares[0] - shares[1:].max())


@beyond_topic.right
def ranked(vectors, nulls, kinds):
    found = []
    for some in [vectors, *nulls]:
        unit = (some.T / np.linalg.norm(some, axis=1)).T
        order = np.argsort(-(unit @ unit.T), axis=1)
        own = np.arange(len(kinds))
        nearest = np.where(order[:, 0] == own, order[:, 1], order[:, 0])
        found.append(np.mean(kinds[nearest] == kinds))
    return float(found[0] - max(found[1:]))


@beyond_topic.right
def plain(vectors, nulls, kinds):
    def share(some):
        unit = some / np.linalg.norm(some, axis=1, keepdims=True)
        alike = unit @ unit.T
        alike[np.diag_indices(len(alike))] = -np.inf
        return (kinds[alike.argmax(axis=1)] == kinds).mean()

    return float(share(vectors) - max(share(one) for one in nulls))


beyond_topic.wrong(
    "no null taken off",
    "A full stop is sorted nearly as well. What does your number say of the word?",
    plain.edit("share(vectors) - max(share(one) for one in nulls)", "share(vectors)"),
)
beyond_topic.wrong(
    "the mean of the nulls",
    "One of ten nulls does as well as the word, the others are poor. What may you claim?",
    plain.edit("max(share(one) for one in nulls)", "np.mean([share(one) for one in nulls])"),
)
beyond_topic.wrong(
    "the weakest null",
    "Which of the nulls would a reader hold against you?",
    plain.edit("- max(", "- min("),
)
beyond_topic.wrong(
    "each sentence is its own neighbour",
    "Which sentence is nearest to the first, among all of them?",
    plain.edit("= -np.inf", "= np.inf"),
)
beyond_topic.wrong(
    "dot products in place of cosines",
    "One vector is ten times as long as the others. Should it become everybody's neighbour?",
    plain.edit("some / np.linalg.norm(some, axis=1, keepdims=True)", "some"),
)
beyond_topic.wrong(
    "the farthest in place of the nearest",
    "Is the nearest vector the one with the largest cosine, or with the smallest?",
    plain.edit("= -np.inf", "= np.inf").edit("argmax", "argmin"),
)
beyond_topic.wrong(
    "the largest cosine in size",
    "Two vectors that point in opposite directions: are they near?",
    plain.edit("unit @ unit.T", "np.abs(unit @ unit.T)"),
)
beyond_topic.wrong(
    "another meaning counted",
    "Is a sentence sorted if its neighbour has the same meaning, or another one?",
    plain.edit("(kinds[alike.argmax(axis=1)] == kinds)", "(kinds[alike.argmax(axis=1)] != kinds)"),
)
beyond_topic.wrong(
    "the null minus the word",
    "The word is sorted better than its nulls. Should the result be above 0?",
    plain.edit(
        "share(vectors) - max(share(one) for one in nulls)",
        "max(share(one) for one in nulls) - share(vectors)",
    ),
)
beyond_topic.wrong(
    "the number of sentences",
    "Should twice as many sentences of the same sort double the result?",
    plain.edit(".mean()", ".sum()"),
)


@beyond_topic.public
def _(rng):
    yield _case(rng, "six sentences, two meanings, one null", 6, 4, 2, [0.4], 3.0).holds(
        "A sentence is sorted if, of all other sentences, the one whose vector has the largest "
        "cosine with its own has the same meaning",
        "Returns the share of sentences that are sorted by `vectors`, minus the largest such share "
        "of a null, a float",
    )
    yield _case(rng, "24 sentences, three meanings, three nulls", 24, 6, 3, [0, 0.6, 1], 2.0).holds(
        "nulls: (k, n, d), k at least 1, k other vectors of the same sentences",
        "kinds: (n,), which meaning the word has in each sentence, as whole numbers.",
    )
    yield _case(rng, "vectors of very different lengths", 12, 5, 3, [0.5, 0], 2.0, 3.0).holds(
        "vectors: (n, d), one of the word in each of n sentences, n at least 2, none of length 0."
    )
    yield _case(rng, "a null that does better", 15, 4, 3, [3, 0.2], 0.3).holds(
        "below 0 if a null does better."
    )
    yield _case(rng, "many poor nulls, and a good one", 20, 5, 4, [0, 0, 0, 0, 1.5], 1.5, 1.0)
    yield _case(rng, "opposite vectors", 16, 3, 2, [0.5, 0.5], 1.5, 1.0, opposite=True).holds(
        "A sentence…"
    )
    yield _case(rng, "two sentences of one meaning", 2, 3, 1, [0.5], 1.0)
    yield _case(rng, "a meaning that occurs once", 7, 4, 2, [0.3, 0.3], 2.0, once=True)
    yield _case(rng, "as many sentences as features and nulls", 4, 4, 2, [0.5] * 4, 2.0, 1.0)


@beyond_topic.hidden
def _(rng):
    n, d = int(rng.integers(14, 20)), int(rng.integers(4, 7))
    yield _case(rng, "several meanings and nulls", n, d, 3, [0, 0.7, 0.3], 2.0).holds(
        "kinds: (n,)…"
    )
    yield _case(rng, "vectors of very different lengths", n, d, 3, [0.5, 0], 2.0, 3.0)
    yield _case(rng, "a null that does better", n, d, 3, [0.2, 3], 0.3).holds("below 0…")
    yield _case(rng, "many poor nulls, and a good one", n, d, 4, [0, 0, 1.5, 0, 0], 1.5, 1.0)
    yield _case(rng, "opposite vectors", n, 3, 2, [0.5, 0.5], 1.5, 1.0, opposite=True)
    yield _case(rng, "one null", n, d, 2, [0.6], 1.5, 1.0).holds("nulls: (k…")
    yield _case(rng, "a meaning that occurs once", 9, d, 2, [0.3, 0.3], 2.0, once=True)


def _case(
    rng: np.random.Generator,
    note: str,
    n: int,
    d: int,
    meanings: int,
    nulls: list[float],
    size: float,
    spread: float = 0.3,
    opposite: bool = False,
    once: bool = False,
) -> Case:
    """Vectors around a centre for each meaning, `size` away; those of each null, as far as it says.

    spread: of the logarithms of their lengths. opposite: half of the vectors are turned round.
    """
    kinds = rng.permutation(np.arange(n) % meanings)
    if once:
        kinds[0] = meanings
    centres = rng.normal(size=(meanings + 1, d))
    signs = np.where(rng.random((n, 1)) < 0.5, -1, 1) if opposite else 1

    def draw(far: float) -> np.ndarray:
        found = (far * centres[kinds] + rng.normal(size=(n, d))) * signs
        return np.asarray(found * np.exp(rng.normal(size=(n, 1)) * spread))

    return Case(note, (draw(size), np.stack([draw(far) for far in nulls]), kinds))


beyond_topic.lets_through("n of 1 refused", "there are two sentences or more")
beyond_topic.lets_through("inputs rounded to 1e-12", "a cosine does not notice it")
for size in ("100", "10000", "1e+09"):
    beyond_topic.lets_through(f"{size} for infinity", "no cosine is larger than 1")
