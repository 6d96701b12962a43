"""The exercise `permute_equivariantly`: sets, not sequences."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise.declaring import Case, Declaration, SourceFunction
from solutions import self_attention as solutions

permute_equivariantly = Declaration(
    solutions.permute_equivariantly,
    points=3,
    difficulty=3,
    minutes=15,
    help=(
        "There are two routes to one destination: permute and then attend, or attend and then "
        "permute.",
        "`X[..., permutation, :]` permutes the tokens, on a batch too. As a share of the largest "
        "output, how large may a difference be that comes from rounding alone? The text above "
        "says which limits will do.",
        "Section “A multiset, not a sequence”.",
    ),
)


@permute_equivariantly.right
def by_a_matrix(attend, X, permutation):
    P = np.eye(len(permutation), dtype=X.dtype)[permutation]
    Y, Z = P @ attend(X), attend(P @ X)
    return bool(np.allclose(Z, Y, rtol=0, atol=1e-5 * np.abs(Y).max()))


@permute_equivariantly.right
def token_by_token(attend, X, permutation):
    moved = np.empty_like(X)
    for new, old in enumerate(permutation):
        moved[..., new, :] = X[..., old, :]
    Y, Z = attend(X), attend(moved)
    size = np.linalg.norm(Y)
    return all(
        bool(np.linalg.norm(Z[..., new, :] - Y[..., old, :]) <= 1e-5 * size)
        for new, old in enumerate(permutation)
    )


@permute_equivariantly.right
def brought_back(attend, X, permutation):
    back = np.argsort(permutation)
    Y = attend(X)
    Z = np.take(attend(np.take(X, permutation, axis=-2)), back, axis=-2)
    size = np.max(np.abs(Y))
    return bool(size == 0 or np.all(np.abs(Z / size - Y / size) < 1e-5))


@permute_equivariantly.right
def plain(attend, X, permutation):
    Y, Z = attend(X)[..., permutation, :], attend(X[..., permutation, :])
    return bool(np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max())


permute_equivariantly.wrong(
    "output not permuted",
    "When the tokens change places, should the outputs stay in theirs, or move with them?",
    plain.edit("attend(X)[..., permutation, :]", "attend(X)"),
)
permute_equivariantly.wrong(
    "inverse permutation on the output",
    "Where is token 0 in X[permutation], and where is output 0 in the array that you compare "
    "with? Swapping two tokens hides the difference; try [1, 2, 3, 0].",
    plain.edit("attend(X)[..., permutation, :]", "attend(X)[..., np.argsort(permutation), :]"),
)


permute_equivariantly.wrong(
    "equal to the last bit",
    "Is (a + b) + c always the same floating-point number as a + (b + c)? What happens to a sum "
    "over the tokens when the order of the tokens changes?",
    plain.edit("np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max()", "np.array_equal(Z, Y)"),
)
permute_equivariantly.wrong(
    "a tolerance that ignores how large the outputs are",
    "Is 0.05 a large difference between float32 numbers near a million? And between numbers near "
    "0.1? With what should you compare a difference?",
    plain.edit("<= 1e-4 * np.abs(Y).max()", "< 1e-6"),
)
permute_equivariantly.wrong(
    "each number compared with its own size",
    "One output is near 1000, and another, a difference of numbers near 1000, is 0.05. By how "
    "much may rounding change the second one? How much does np.allclose allow?",
    plain.edit("np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max()", "np.allclose(Z, Y)"),
)
permute_equivariantly.wrong(
    "first axis permuted",
    "Your answer is right for one sequence. Which axis holds the tokens when X has shape (2, 5, "
    "3)?",
    plain.edit("[..., permutation, :]", "[permutation]", times=2),
)
permute_equivariantly.wrong(
    "compared as sets",
    "An `attend` that gives every token the output of another one returns the same set of rows. "
    "Does it pass your test? Should it?",
    plain.edit("return bool", "Y, Z = np.sort(Y, axis=-2), np.sort(Z, axis=-2)\nreturn bool"),
)
permute_equivariantly.wrong(
    "another permutation used",
    "Where does your function use `permutation`? Could `attend` commute with one permutation and "
    "not with another?",
    plain.edit("Y, Z =", "permutation = np.arange(X.shape[-2])[::-1]\nY, Z ="),
)


permute_equivariantly.wrong(
    "always True",
    "For which `attend` does your function return False? Try one that adds the positions. Do you "
    "compare the numbers, or only their shapes?",
    plain.edit("np.abs(Z - Y).max() <= 1e-4 * np.abs(Y).max()", "Z.shape == Y.shape"),
)
SELF_ATTEND = SourceFunction(
    "attend",
    """
def attend(X):
    scores = X @ np.swapaxes(X, -1, -2)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ X
""",
)

MEAN_ADDED = SourceFunction(
    "attend",
    """
def attend(X):
    total = 0
    for i in range(X.shape[-2]):  # in the order of the tokens: rounding differs
        total = total + X[..., i : i + 1, :]
    return X + total / X.shape[-2]
""",
)

CENTRED = SourceFunction(
    "attend",
    """
def attend(X):
    total = 0
    for i in range(X.shape[-2]):  # in the order of the tokens: rounding differs
        total = total + X[..., i : i + 1, :]
    return X - total / X.shape[-2]  # near 0 where the tokens hardly differ
""",
)

POSITIONS_ADDED = SourceFunction(
    "attend",
    """
def attend(X):
    return X + np.abs(X).max() * np.arange(X.shape[-2], dtype=X.dtype)[:, None]
""",
)

POSITIONS_HINTED = SourceFunction(
    "attend",
    """
def attend(X):
    return X + 0.01 * np.abs(X).max() * np.arange(X.shape[-2], dtype=X.dtype)[:, None]
""",
)

POSITIONS_WHISPERED = SourceFunction("attend", POSITIONS_HINTED.source.replace("0.01", "0.0001"))

NOTHING = SourceFunction(
    "attend",
    """
def attend(X):
    return np.zeros_like(X)
""",
)

NEIGHBOURS_AVERAGED = SourceFunction(
    "attend",
    """
def attend(X):
    return (np.roll(X, 1, axis=-2) + X + np.roll(X, -1, axis=-2)) / 3
""",
)

FIRST_TOKEN_ADDED = SourceFunction(
    "attend",
    """
def attend(X):
    return X + X[..., :1, :]
""",
)

SORTED_BY_FEATURE = SourceFunction(
    "attend",
    """
def attend(X):
    return np.sort(X, axis=-2)
""",
)

TURNED_ROUND = SourceFunction(
    "attend",
    """
def attend(X):
    return X[..., ::-1, :].copy()
""",
)

TURN_OF_FOUR = np.array([1, 2, 3, 0])


def a_turn(rng: np.random.Generator, n: int) -> np.ndarray:
    """A permutation of n >= 3 places that moves every token and is not its own inverse."""
    order = rng.permutation(n)
    permutation = np.empty(n, dtype=int)
    permutation[order] = np.roll(order, 1)
    return permutation


@permute_equivariantly.public
def _(rng):
    X = rng.normal(size=(4, 3))
    yield Case("self-attention", (SELF_ATTEND, X, TURN_OF_FOUR)).holds(
        "takes tokens of the shape of X and returns outputs of that shape",
        "the permuted sequence has token permutation[i] of the old one in place i",
    )
    yield Case("positions are added", (POSITIONS_ADDED, X, TURN_OF_FOUR))
    yield Case("the first token is added to all", (FIRST_TOKEN_ADDED, X, TURN_OF_FOUR))
    yield Case(
        "the first token is added to all, and this permutation leaves it in its place",
        (FIRST_TOKEN_ADDED, X, np.array([0, 2, 3, 1])),
    ).holds("the permuted…")
    yield Case("every feature is sorted over the tokens", (SORTED_BY_FEATURE, X, TURN_OF_FOUR))
    yield Case("the order of the tokens is reversed", (TURNED_ROUND, X, TURN_OF_FOUR))
    many = rng.uniform(1, 2, size=(30, 8)).astype(np.float32)
    many[:, 0] = 0
    yield Case(
        "float32, equal up to rounding, one feature 0 everywhere",
        (MEAN_ADDED, many, a_turn(rng, 30)),
    ).holds(
        "(..., n, d), float32 or float64", "Outputs that differ by rounding alone count as equal"
    )
    yield Case("a batch", (SELF_ATTEND, rng.normal(size=(2, 5, 3)), a_turn(rng, 5))).holds(
        "takes tokens…", "(..., n…"
    )
    batch = _alike_but_for(1, rng.normal(size=(3, 5, 2)))
    yield Case(
        "a batch, and it fails in one sequence only", (FIRST_TOKEN_ADDED, batch, a_turn(rng, 5))
    ).holds("for a batch, whether it is so in every sequence")
    X = rng.normal(size=(2, 1, 2, 4, 3))
    yield Case("three leading batch axes, one of length 1", (SELF_ATTEND, X, TURN_OF_FOUR)).holds(
        "(..., n…"
    )
    yield Case("one token", (POSITIONS_ADDED, rng.normal(size=(1, 3)), np.array([0]))).holds(
        "(..., n…"
    )
    yield Case(
        "positions show in the second digit", (POSITIONS_HINTED, X[0, 0, 0], TURN_OF_FOUR)
    ).holds("no others do")
    yield Case(
        "positions show in the fourth digit", (POSITIONS_WHISPERED, X[0, 0, 0], TURN_OF_FOUR)
    ).holds("no others do")
    small = _small(rng, 4)
    yield Case(
        "small outputs, the first token is added", (FIRST_TOKEN_ADDED, small, TURN_OF_FOUR)
    ).holds("their largest number may lie anywhere from 0.001 to 1e6")
    large = _sized(1e6, rng.uniform(0.5, 1, size=(30, 8))).astype(np.float32)
    yield Case(
        "float32, large outputs, equal up to rounding", (MEAN_ADDED, large, a_turn(rng, 30))
    ).holds("their largest…")
    yield Case("all outputs are 0", (NOTHING, X[0, 0, 1], TURN_OF_FOUR)).holds("they may all be 0")
    nearly = _nearly_alike(rng, 30)
    yield Case(
        "outputs near 0 next to large ones, equal up to rounding",
        (CENTRED, nearly, a_turn(rng, 30)),
    ).holds("Outputs that…")


def _alike_but_for(one: int, batch: np.ndarray) -> np.ndarray:
    """The batch with all tokens alike in every sequence but `one`: there no order can matter."""
    alike = np.broadcast_to(batch[..., :1, :], batch.shape).copy()
    alike[one] = batch[one]
    return alike


def _nearly_alike(rng: np.random.Generator, n: int) -> np.ndarray:
    """n tokens in float32, which differ much in one feature, and little in the others."""
    X = 1000 + rng.normal(size=(n, 8)) * np.where(np.arange(8) == 0, 1000, 0.05)
    return np.asarray(X, np.float32)


def _small(rng: np.random.Generator, n: int) -> np.ndarray:
    """n tokens with numbers up to 0.0005, every two of which differ by more than 0.0001."""
    X = rng.uniform(0, 1, size=(n, 2))
    X[:, 0] = rng.permutation(np.linspace(0, 1, n))
    return _sized(1e-3, X)


def _sized(size: float, X: np.ndarray) -> np.ndarray:
    """X, so scaled that twice its largest number is `size`."""
    return X * (size / 2 / np.abs(X).max())


@permute_equivariantly.hidden
def _(rng):
    """Every kind once and more, in an order of its own: the answers are yes or no."""
    cases = [*hidden_kinds(rng), *more_hidden(rng)]
    return [cases[i] for i in rng.permutation(len(cases))]


def more_hidden(rng: np.random.Generator) -> Iterator[Case]:
    """Only a call of `attend` tells: as many kinds say yes as no, and nothing else differs."""
    kinds = (SELF_ATTEND, MEAN_ADDED, POSITIONS_ADDED, FIRST_TOKEN_ADDED)
    for kind in rng.integers(len(kinds), size=12):
        X = rng.uniform(1, 2, size=(6, 3))
        yield Case("one of the kinds above", (kinds[kind], X, a_turn(rng, 6)))


def hidden_kinds(rng: np.random.Generator) -> Iterator[Case]:
    X = rng.normal(size=(5, 4))
    yield Case("self-attention", (SELF_ATTEND, X, a_turn(rng, 5)))
    yield Case("neighbours are averaged", (NEIGHBOURS_AVERAGED, X, np.array([2, 0, 1, 4, 3])))
    yield Case(
        "neighbours on a ring are averaged, and this permutation rotates the ring",
        (NEIGHBOURS_AVERAGED, X, np.array([2, 3, 4, 0, 1])),
    )
    yield Case("the order is kept", (POSITIONS_ADDED, X, np.arange(5)))
    yield Case("every feature is sorted over the tokens", (SORTED_BY_FEATURE, X, a_turn(rng, 5)))
    yield Case("the order of the tokens is reversed", (TURNED_ROUND, X, a_turn(rng, 5)))
    many = _sized(1e6, rng.uniform(0.5, 1, size=(40, 6))).astype(np.float32)
    many[:, 2] = 0
    yield Case(
        "float32, large outputs, equal up to rounding, one feature 0 everywhere",
        (MEAN_ADDED, many, a_turn(rng, 40)),
    ).holds("Outputs that…")
    small = _small(rng, 5)
    yield Case(
        "small outputs, the first token is added", (FIRST_TOKEN_ADDED, small, a_turn(rng, 5))
    )
    yield Case("positions show in the second digit", (POSITIONS_HINTED, X, a_turn(rng, 5)))
    yield Case("positions show in the fourth digit", (POSITIONS_WHISPERED, X, a_turn(rng, 5)))
    yield Case("all outputs are 0", (NOTHING, X, a_turn(rng, 5)))
    nearly = _nearly_alike(rng, 40)
    yield Case(
        "outputs near 0 next to large ones, equal up to rounding",
        (CENTRED, nearly, a_turn(rng, 40)),
    )
    yield Case("one token", (POSITIONS_ADDED, X[:1], np.array([0])))
    batch = _alike_but_for(1, rng.normal(size=(3, 6, 2)))
    yield Case(
        "a batch, and it fails in one sequence only", (FIRST_TOKEN_ADDED, batch, a_turn(rng, 6))
    )
    batch = rng.uniform(0.5, 1.5, size=(3, 6, 2)).astype(np.float32)
    yield Case("a batch, float32", (SELF_ATTEND, batch, a_turn(rng, 6)))
    yield Case("a batch, positions added", (POSITIONS_ADDED, batch, a_turn(rng, 6))).holds(
        "for a batch…"
    )
    deep = rng.normal(size=(2, 1, 2, 5, 3))
    yield Case("three leading batch axes, one of length 1", (SELF_ATTEND, deep, a_turn(rng, 5)))


permute_equivariantly.mutant(
    "an absolute tolerance",
    "np.sqrt(np.finfo(X.dtype).eps) * largest",
    "np.sqrt(np.finfo(X.dtype).eps)",
)
permute_equivariantly.mutant("no tolerance", "np.sqrt(np.finfo(X.dtype).eps)", "0")
permute_equivariantly.mutant(
    "the tolerance of float64", "np.finfo(X.dtype).eps", "np.finfo(float).eps"
)
permute_equivariantly.mutant(
    "a thousandth taken for rounding", "np.sqrt(np.finfo(X.dtype).eps)", "1e-3"
)
