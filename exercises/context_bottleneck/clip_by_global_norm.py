"""The exercise `clip_by_global_norm`: gradients whose global norm is too large. To debug.

The given function shortens each array by its own norm. Afterwards no single array is too long, but
all of them together still are, and their direction has changed.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

clip_by_global_norm = Declaration(
    solutions.clip_by_global_norm,
    points=2,
    difficulty=2,
    minutes=10,
    kind=Kind.DEBUG,
    help=(
        "Take two arrays, (3) and (4), and max_norm 1. How long is the result, and which way does "
        "it point?",
        "Think of all gradients of a model as one long vector. How many norms does it have, and "
        "how many factors may there be?",
        "Section “The machine, whole”.",
    ),
)


@clip_by_global_norm.right
def all_in_one_row(gradients, max_norm):
    row = np.concatenate([np.asarray(one, dtype=float).ravel() for one in gradients])
    norm = float(np.linalg.norm(row))
    return [one / max(1.0, norm / max_norm) for one in gradients], norm


@clip_by_global_norm.right
def dot_products(gradients, max_norm):
    total = 0.0
    for one in gradients:
        flat = one.reshape(-1).astype(np.float64)
        total += float(flat @ flat)
    norm = total**0.5
    if norm <= max_norm:
        return [one.copy() for one in gradients], norm
    return [one / norm * max_norm for one in gradients], norm


@clip_by_global_norm.right
def entry_by_entry(gradients, max_norm):
    norm = sum(float(entry) ** 2 for one in gradients for entry in np.ravel(one)) ** 0.5
    factor = 1.0
    if norm > max_norm:
        factor = max_norm / norm
    return [np.multiply(one, factor) for one in gradients], norm


@clip_by_global_norm.right
def plain(gradients, max_norm):
    squares = [np.sum(one.astype(float) ** 2) for one in gradients]
    norm = float(np.sqrt(sum(squares)))
    factor = min(1.0, max_norm / max(norm, 1e-300))
    clipped = [one * factor for one in gradients]
    return clipped, norm


@clip_by_global_norm.wrong(
    "each array by its own norm",
    "Suppose that each of nine gradients is shorter than max_norm. How long are they together? "
    "And does the whole keep its direction when you shorten one array and not another?",
    released=True,
)
def _(gradients, max_norm):
    norms = [np.sqrt(np.sum(one.astype(float) ** 2)) for one in gradients]
    factors = [min(1.0, max_norm / max(n, 1e-300)) for n in norms]
    clipped = [one * factor for one, factor in zip(gradients, factors, strict=True)]
    return clipped, float(np.sqrt(sum(n**2 for n in norms)))


clip_by_global_norm.wrong(
    "entry by entry",
    "Draw the gradient (3, 4), and your result for it with max_norm = 1. Do they point the same "
    "way?",
    plain.edit("one * factor", "np.clip(one, -max_norm, max_norm)"),
)
clip_by_global_norm.wrong(
    "the sum of the norms",
    "Put 3 and 4 into one array: its norm is 5. Should it matter whether the two numbers are in "
    "one array or in two?",
    plain.edit("np.sqrt(sum(squares))", "sum(np.sqrt(squares))"),
)
clip_by_global_norm.wrong(
    "the root forgotten",
    "What is the length of (3, 4)?",
    plain.edit("np.sqrt(sum(squares))", "sum(squares)"),
)
clip_by_global_norm.wrong(
    "short gradients made longer",
    "What is max_norm / norm for a gradient that is shorter than allowed? Should such a gradient "
    "change?",
    plain.edit("min(1.0, max_norm / max(norm, 1e-300))", "max_norm / max(norm, 1e-300)"),
)
clip_by_global_norm.wrong(
    "the norm after the clipping",
    "Somebody plots the norm that you return, to see how large the gradients are during training. "
    "What would the plot show for a gradient of norm 1000?",
    plain.edit("return clipped, norm", "return clipped, norm * factor"),
)
clip_by_global_norm.wrong(
    "shortened to 1",
    "How long is your result when max_norm is 10?",
    plain.edit("one * factor", "one / norm if norm > max_norm else one.copy()"),
)
clip_by_global_norm.wrong(
    "the largest norm in place of the global one",
    "Suppose that each of nine gradients is shorter than max_norm. How long are they together?",
    plain.edit("np.sqrt(sum(squares))", "max(np.sqrt(squares))"),
)
clip_by_global_norm.wrong(
    "a little added to the norm",
    "Is the norm of your result max_norm, to the last digit? What do you add to the norm, and can "
    "you divide by 0 where the norm is larger than max_norm?",
    plain.edit("max(norm, 1e-300)", "(norm + 1e-6)"),
)
clip_by_global_norm.wrong(
    "squares that overflow",
    "The largest float32 number is about 3e38. What is the square of 1e30 in float32?",
    plain.edit("one.astype(float) ** 2", "one**2"),
)


@clip_by_global_norm.public
def _(rng):
    yield Case("(3) and (4), too long together", ([np.array([3.0]), np.array([4.0])], 1.0)).holds(
        "The global norm is the root of the sum of the squares of all entries of all arrays",
        "Returns the tuple (clipped, norm): a list of arrays in the shapes of `gradients`, and "
        "the global norm before the clipping, a float",
    )
    yield Case("(3) and (4), not too long", ([np.array([3.0]), np.array([4.0])], 6.0)).holds(
        "Where it is larger than max_norm, every array is multiplied by max_norm / norm; else "
        "all keep their values"
    )
    yield Case("exactly as long as allowed", ([np.array([3.0]), np.array([-4.0])], 5.0)).holds(
        "Where it…"
    )
    yield Case("barely too long", ([np.array([3.0]), np.array([-4.0])], 4.995)).holds("Where it…")
    yield Case("barely short enough", ([np.array([3.0]), np.array([4.0])], 5.005)).holds(
        "Where it…"
    )
    yield Case("a matrix, a row and a number", (_gradients(rng, (2, 3), (4,), ()), 0.5)).holds(
        "gradients: a list of arrays, at least one, each of any shape", "max_norm: above 0"
    )
    yield Case("each short, and long together", (_short_ones(rng, 9), 1.0)).holds("The global…")
    yield Case("one array", (_gradients(rng, (3, 2)), 0.7)).holds("gradients: a…")
    yield Case("all of them 0", ([np.zeros((2, 2)), np.zeros(3)], 1.0)).holds(
        "Entries may be large, up to 1e100, and all of them may be 0"
    )
    yield Case("large entries", ([1e12 * one for one in _gradients(rng, (2, 2), (3,))], 2.0)).holds(
        "Entries may…"
    )
    yield Case("float32, entries near 1e30", (_single(rng, 1e30), 3.0)).holds("Entries may…")
    yield Case(
        "tiny gradients", ([1e-9 * one for one in _gradients(rng, (2, 2), (3,))], 1.0)
    ).holds("Where it…")
    yield Case(
        "an axis of length 1, and a longest norm of ten", (_far(rng, (1, 3), (2, 1)), 10.0)
    ).holds("gradients: a…")


@clip_by_global_norm.hidden
def _(rng):
    a, b, c = (int(size) for size in rng.permutation([2, 3, 4]))
    most = float(rng.uniform(0.3, 0.9))
    yield Case("too long together", (_gradients(rng, (a, b), (c,)), most)).holds("Where it…")
    yield Case("each short, and long together", (_short_ones(rng, 7 + a), 1.0))
    yield Case("not too long", (_gradients(rng, (a, b), (c,)), 100 * most)).holds(
        "max_norm: above…"
    )
    yield Case("one array", (_gradients(rng, (c, a)), most))
    yield Case("three axes, and a number", (_gradients(rng, (a, 1, b), ()), most)).holds(
        "gradients: a…"
    )
    yield Case("large entries", ([1e12 * one for one in _gradients(rng, (b, c), (a,))], 3 * most))
    yield Case("entries near 1e100", ([1e99 * one for one in _gradients(rng, (b,), (a, c))], most))
    yield Case("float32", (_single(rng, 10.0), most)).holds("Returns the…")
    yield Case("float32, entries near 1e25", (_single(rng, 1e25), most)).holds("Entries may…")
    yield Case("an axis of length 1, and a longest norm of ten", (_far(rng, (1, b), (c, 1)), 10.0))


def _gradients(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Random arrays, each of which has an entry near 2."""
    arrays = [np.asarray(rng.normal(size=shape)) for shape in shapes]
    return [one + 2 * (np.arange(one.size) == 0).reshape(one.shape) for one in arrays]


def _short_ones(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    """Arrays of norms between 0.5 and 0.9."""
    return [rng.uniform(0.35, 0.63, size=2) for _ in range(n)]


def _single(rng: np.random.Generator, size: float) -> list[np.ndarray]:
    return [(size * one).astype(np.float32) for one in _gradients(rng, (2, 3), (4,))]


def _far(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [20 * one for one in _gradients(rng, *shapes)]


clip_by_global_norm.mutant(
    "barely too long left alone", "norm > max_norm", "norm > 1.01 * max_norm"
)
clip_by_global_norm.mutant("short enough, yet changed", "norm > max_norm", "norm > 0.99 * max_norm")
