"""The exercise `ridge_batch`: from which batch on a machine no longer waits for memory."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import cost_of_today as solutions

ridge_batch = Declaration(
    solutions.ridge_batch,
    points=3,
    difficulty=2,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.06,
    help=(
        "Two bounds: so many seconds for reading the matrix, and so many for each vector. Find "
        "the two numbers first.",
        "The smallest batches all measure the first number. The largest ones measure the second: "
        "seconds divided by batch. At which batch is batch times the second equal to the first?",
        "Section “Remember the keys”: its figure of a roof has the same two bounds.",
    ),
)


@ridge_batch.right
def medians(batches, seconds):
    return float(np.median(seconds[:3]) / np.median(seconds[-3:] / batches[-3:]))


@ridge_batch.right
def on_logarithmic_axes(batches, seconds):
    flat = np.log(seconds[:3]).mean()
    each = (np.log(seconds[-3:]) - np.log(batches[-3:])).mean()
    return float(np.exp(flat - each))


@ridge_batch.right
def line_through_the_origin(batches, seconds):
    far, took = batches[-3:], seconds[-3:]
    return float(np.sum(seconds[:3]) / 3 / (far @ took / (far @ far)))


@ridge_batch.right
def plain(batches, seconds):
    flat = seconds[:3].mean()
    each = (seconds[-3:] / batches[-3:]).mean()
    return float(flat / each)


ridge_batch.wrong(
    "the mean over all batches",
    "What does a vector cost when the machine waits for memory, and what when it computes? Which "
    "of them belongs to the second bound?",
    plain.edit("(seconds[-3:] / batches[-3:]).mean()", "(seconds / batches).mean()"),
)
ridge_batch.wrong(
    "the whole time of the largest batch",
    "Is the second bound a time, or a time for each vector?",
    plain.edit("(seconds[-3:] / batches[-3:]).mean()", "seconds[-1]"),
)
ridge_batch.wrong(
    "upside down",
    "Is your number a batch? A machine with faster memory stops waiting at a smaller one.",
    plain.edit("flat / each", "each / flat"),
)


@ridge_batch.wrong(
    "the first batch that takes longer",
    "May the answer be a batch that nobody measured? And which of the two bounds is the larger "
    "one there?",
)
def _(batches, seconds):
    return float(batches[np.argmax(seconds > 1.1 * seconds[0])])


@ridge_batch.wrong(
    "where the time has doubled",
    "At the batch that you look for, both bounds take the same time, and neither has doubled. "
    "What is their common time?",
)
def _(batches, seconds):
    return float(2 * seconds[:3].mean() / (seconds[-3:] / batches[-3:]).mean())


@ridge_batch.wrong(
    "a line with a constant",
    "At no batch at all, how long would arithmetic take? Does your line say so?",
)
def _(batches, seconds):
    each, constant = np.polyfit(batches, seconds, 1)
    return float(constant / each)


@ridge_batch.public
def _(rng):
    sizes = 2.0 ** np.arange(9)
    yield Case("exact, in milliseconds", (sizes, np.maximum(8.0, sizes))).holds(
        "seconds: (m,), above 0, in any unit, of a product of a matrix with that many vectors."
    )
    yield Case(
        "six batches", (np.array([1.0, 2, 4, 64, 128, 256]), np.array([5.0, 5, 5, 32, 64, 128]))
    ).holds("batches: (m,), increasing, m at least 6.")
    yield _case(rng, "measured", sizes, 1.0).holds(
        "For the three smallest batches, memory alone decides: the seconds are the same for all "
        "of them.",
        "For the three largest, arithmetic alone decides: they grow in proportion to the batch.",
        "Every measurement may be off by two percent.",
    )
    yield _case(rng, "slower in between", sizes, 1.6).holds(
        "In between the machine may be slower than either."
    )
    yield _case(rng, "in seconds", sizes, 1.3, unit=1e-6).holds("seconds: (m,)…")
    yield _case(rng, "other batches", np.array([1.0, 3, 5, 20, 60, 300, 700, 1000]), 1.3).holds(
        "batches: (m,)…", "Returns the batch at which the two bounds are equal, a float."
    )
    yield _case(rng, "many batches", np.unique(np.geomspace(1, 2000, 25).round()), 1.4).holds(
        "In between…"
    )
    yield _case(rng, "tiny numbers", sizes, 1.2, unit=1e-14).holds("seconds: (m,)…")


@ridge_batch.hidden
def _(rng):
    sizes = 2.0 ** np.arange(10)
    for slower in (1.0, 1.3, 1.7):
        yield _case(rng, f"slower by {slower} in between", sizes, slower).holds("In between…")
    yield _case(rng, "batches that treble", 3.0 ** np.arange(7), 1.4).holds("batches: (m,)…")
    yield _case(rng, "six batches", np.array([1.0, 2, 4, 200, 300, 500]), 1.0)
    yield _case(rng, "tiny numbers", sizes, 1.3, unit=1e-14).holds("seconds: (m,)…")


def _case(
    rng: np.random.Generator, note: str, batches: np.ndarray, slower: float, unit: float = 1.0
) -> Case:
    """Two bounds that meet between the third batch and the third from the end, with noise."""
    low, high = batches[2], batches[-3]
    ridge = low * (high / low) ** rng.uniform(0.4, 0.7)
    seconds = np.maximum(ridge, batches)
    seconds[3:-3] *= slower
    noise = rng.uniform(0.98, 1.02, size=len(batches))
    return Case(note, (batches, unit * seconds * noise))


ridge_batch.lets_through("m of 1 refused", "there are six batches or more")
