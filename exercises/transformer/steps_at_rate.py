"""The exercise `steps_at_rate`: the schedule of 2017, read backwards."""

import math

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions.variants import translating as solutions

steps_at_rate = Declaration(
    solutions.steps_at_rate,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "The rate is large enough if *both* numbers are. Ask each of them on its own: from which "
        "step on, and up to which step?",
        "The first number gives step <= 1 / (rate² d_model), the second step >= rate * "
        "d_model^(1/2) * warmup^(3/2). Steps are whole: round each to the right side.",
        "Section “The learning rate”.",
    ),
)


@steps_at_rate.right
def by_search(rate, d_model, warmup):
    def reached(step):
        return min(step**-0.5, step * warmup**-1.5) >= rate * d_model**0.5

    if not reached(warmup):
        raise ValueError(f"a warm-up of {warmup} is too long")
    first = last = warmup
    while first > 1 and reached(first - 1):
        first -= 1
    stride = 1
    while stride:
        stride = stride * 2 if reached(last + stride) else 0
        last += stride // 2
    low, high = last, 4 * last + 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return first, low


@steps_at_rate.right
def by_peak(rate, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    if rate > peak:
        raise ValueError(f"warmup {warmup}: the rate is {peak} at most")
    return math.ceil(warmup * rate / peak), int(warmup * (peak / rate) ** 2)


@steps_at_rate.right
def logarithms(rate, d_model, warmup):
    log = math.log(rate) + math.log(d_model) / 2
    first = int(np.ceil(np.exp(log + 1.5 * math.log(warmup))))
    last = int(np.floor(np.exp(-2 * log)))
    if last < first:
        raise ValueError(f"not reached with warmup = {warmup}")
    return first, last


@steps_at_rate.base(
    (
        "a rate above the highest one",
        "a rate far above the highest one",
        "one feature, one step of warm-up",
    )
)
def plain(rate, d_model, warmup):
    scaled = rate * d_model**0.5
    return math.ceil(scaled * warmup**1.5), math.floor(scaled**-2)


steps_at_rate.wrong(
    "rounded to the other side",
    "Put your first and your last step into the formula. Is the rate large enough at both?",
    plain.edit("math.ceil(scaled * warmup**1.5)", "math.floor(scaled * warmup**1.5)").edit(
        "math.floor(scaled**-2)", "math.ceil(scaled**-2)"
    ),
)
steps_at_rate.wrong(
    "one step too many at the end",
    "The last step must still have the rate. Is 1 / (rate² d_model) a whole number?",
    plain.edit("math.floor(scaled**-2)", "math.floor(scaled**-2) + 1"),
)
steps_at_rate.wrong(
    "from the first step on",
    "Is the rate high enough at step 1, when the warm-up has only begun?",
    plain.edit("math.ceil(scaled * warmup**1.5)", "1"),
)
steps_at_rate.wrong(
    "until the end of the warm-up only",
    "After the warm-up the rate falls. Is it too low at once?",
    plain.edit("math.floor(scaled**-2)", "warmup"),
)
steps_at_rate.wrong(
    "from the end of the warm-up on",
    "Is the rate too low at every step of the rise?",
    plain.edit("math.ceil(scaled * warmup**1.5)", "warmup"),
)
steps_at_rate.wrong(
    "the width forgotten",
    "Make the model four times as wide, and its rates become half as high. What happens to your "
    "steps?",
    plain.edit("rate * d_model**0.5", "rate"),
)
steps_at_rate.wrong(
    "the width without its root",
    "The formula has d_model^(-1/2). What do you multiply by to get rid of it?",
    plain.edit("d_model**0.5", "d_model"),
)
steps_at_rate.wrong(
    "the fall not squared",
    "At which step is step^(-1/2) equal to 1/3?",
    plain.edit("scaled**-2", "1 / scaled"),
)
steps_at_rate.wrong(
    "the rise without its power",
    "At which step is step * warmup^(-3/2) equal to the rate times the root of the width?",
    plain.edit("scaled * warmup**1.5", "scaled * warmup"),
)


steps_at_rate.wrong(
    "the width divided",
    "The formula multiplies by d_model^(-1/2). To solve it for the step, do you multiply the rate "
    "by the root of the width, or divide it?",
    plain.edit("rate * d_model**0.5", "rate / d_model**0.5"),
)
steps_at_rate.wrong(
    "the warm-up in place of the width",
    "Make the model four times as wide. Do your steps change?",
    plain.edit("d_model**0.5", "warmup**0.5"),
)
steps_at_rate.wrong(
    "one step too late",
    "Steps count from 1, and the first step has the rate of step 1. Put your first step into the "
    "formula, and the one before it.",
    plain.edit("math.ceil(scaled * warmup**1.5)", "math.ceil(scaled * warmup**1.5) + 1").edit(
        "math.floor(scaled**-2)", "math.floor(scaled**-2) + 1"
    ),
)


@steps_at_rate.public
def _(rng):
    yield Case("a rate of 0.06", (0.06, 16, 4)).holds(
        "the rate of a step is d_model^(-1/2) times the smaller of step^(-1/2) and step * "
        "warmup^(-3/2).",
        "Returns (first, last).",
    )
    yield Case("a lower rate", (0.03, 16, 4)).holds("rate: above 0.", "Steps count from 1")
    yield Case("another width", (0.011, 100, 60)).holds("the rate of…")
    yield Case("a wide model", (0.0003, 512, 4000)).holds("the rate of…")
    yield Case("close to the highest rate", (0.1249, 16, 4)).holds("Returns (first…")
    yield Case("no warm-up but the first step", (0.11, 16, 1)).holds("warmup: 1 or more.")
    yield Case("so low that it is there at once", (0.0004, 64, 9)).holds("Steps count…")
    yield Case(
        "a rate above the highest one", (0.13, 16, 4), raises=Raises("ValueError", ("4",))
    ).holds(
        "Raises ValueError, with `warmup` in its message, if the rate is not reached at any step."
    )
    yield Case(
        "a rate far above the highest one", (3.0, 9, 50), raises=Raises("ValueError", ("50",))
    ).holds("Raises ValueError…")
    yield Case(
        "one feature, one step of warm-up", (1.5, 1, 1), raises=Raises("ValueError", ("1",))
    ).holds("Raises ValueError…")


@steps_at_rate.hidden
def _(rng):
    for note, low, high in (
        ("half the highest rate", 0.45, 0.6),
        ("a tenth of the highest rate", 0.05, 0.15),
        ("close to the highest rate", 0.9, 0.95),
    ):
        yield _case(rng, note, float(rng.uniform(low, high)))
    yield _case(rng, "no warm-up but the first step", 0.4, warmup=1)
    yield _case(rng, "so low that it is there at once", 0.001, warmup=12)
    d_model, warmup = (int(size) for size in rng.integers(8, 900, size=2))
    peak = (d_model * warmup) ** -0.5
    yield Case(
        "a rate above the highest one",
        (1.2 * peak, d_model, warmup),
        raises=Raises("ValueError", (str(warmup),)),
    )
    yield Case(
        "one feature, one step of warm-up",
        (float(rng.uniform(1.2, 3)), 1, 1),
        raises=Raises("ValueError", ("1",)),
    )


def _case(rng: np.random.Generator, note: str, share: float, warmup: int | None = None) -> Case:
    """Return a case with about `share` of the highest rate, where rounding cannot decide."""
    d_model = int(rng.integers(8, 900))
    warmup = warmup or int(rng.integers(20, 900))
    rate = share * (d_model * warmup) ** -0.5
    scaled = rate * d_model**0.5
    while any(abs(x - round(x)) < 1e-3 for x in (scaled * warmup**1.5, scaled**-2)):
        scaled *= 1.0001
    return Case(note, (scaled / d_model**0.5, d_model, warmup))
