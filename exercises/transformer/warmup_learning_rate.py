"""The exercise `warmup_learning_rate`: a rate that rises in a line and falls with the root."""

import math

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import transformer as solutions

warmup_learning_rate = Declaration(
    solutions.warmup_learning_rate,
    points=2,
    difficulty=1,
    minutes=10,
    help=(
        "There are two numbers: one rises with the step, the other falls. Take the smaller one, "
        "and divide it by the root of the width.",
        "In Python `x**-0.5` is one over the root of x. Where do the two numbers meet?",
        "Section “The learning rate”.",
    ),
)


@warmup_learning_rate.right
def two_pieces(step, d_model, warmup):
    if step < 1:
        raise ValueError(f"step is {step}")
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)


@warmup_learning_rate.right
def numpy(step, d_model, warmup):
    if step <= 0:
        raise ValueError(f"there is no step {step}")
    pieces = np.array([1 / np.sqrt(step), step / np.sqrt(warmup) ** 3])
    return float(pieces.min() / np.sqrt(d_model))


@warmup_learning_rate.right
def logarithms(step, d_model, warmup):
    if step < 1:
        raise ValueError(f"a step of {step}")
    rise = math.log(step) - 1.5 * math.log(warmup)
    fall = -0.5 * math.log(step)
    return math.exp(sorted([rise, fall])[0] - 0.5 * math.log(d_model))


@warmup_learning_rate.base(("step 0", "a step below 0"))
def plain(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


warmup_learning_rate.wrong(
    "the larger of the two",
    "One of the two numbers rises for ever, and the other is large at first. Which one should "
    "hold the rate down at step 1, and which one late?",
    plain.edit("min", "max"),
)
warmup_learning_rate.wrong(
    "one step ahead",
    "The first step is 1 here. At which step is your rate highest?",
    plain.edit("return d_model**-0.5", "step = step + 1\nreturn d_model**-0.5"),
)
warmup_learning_rate.wrong(
    "the width forgotten",
    "Make the model four times as wide. What should happen to the rate?",
    plain.edit("d_model**-0.5 * ", ""),
)
warmup_learning_rate.wrong(
    "the width without its root",
    "Make the model four times as wide. Should the rate become a quarter, or a half?",
    plain.edit(
        "d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)",
        "min(step**-0.5, step * warmup**-1.5) / d_model",
    ),
)
warmup_learning_rate.wrong(
    "a wide model learns faster",
    "What is the sign of the exponent of `d_model`?",
    plain.edit("d_model**-0.5", "d_model**0.5"),
)
warmup_learning_rate.wrong(
    "the warm-up to the power of -1/2",
    "At the step `warmup` the two numbers should be equal. Are yours?",
    plain.edit("warmup**-1.5", "warmup**-0.5"),
)
warmup_learning_rate.wrong(
    "the warm-up to the power of -1",
    "`step / warmup` is 1 at the end of the warm-up. How large is `step**-0.5` there?",
    plain.edit("step * warmup**-1.5", "step / warmup"),
)
warmup_learning_rate.wrong(
    "falls with the step, not with its root",
    "Four times as many steps after the peak: should the rate be a quarter, or a half?",
    plain.edit("step**-0.5", "warmup**0.5 / step"),
)
warmup_learning_rate.wrong(
    "stays where it is highest",
    "What does your rate do after the warm-up?",
    plain.edit("step**-0.5", "warmup**-0.5"),
)
warmup_learning_rate.wrong(
    "no rise",
    "What does your function do with the argument `warmup`?",
    plain.edit("min(step**-0.5, step * warmup**-1.5)", "step**-0.5"),
)


warmup_learning_rate.wrong(
    "the first two steps alike",
    "What are your rates at steps 1 and 2? By what factor should they differ?",
    plain.edit("return d_model**-0.5", "step = max(step - 1, 1)\nreturn d_model**-0.5"),
)
warmup_learning_rate.wrong(
    "the warm-up in place of the width",
    "Make the model four times as wide. Should the rate change? Does yours?",
    plain.edit("d_model**-0.5", "warmup**0.5"),
)


@warmup_learning_rate.public
def _(rng):
    yield Case("the first step", (1, 16, 4)).holds("step: counts from 1.")
    yield Case("on the way up", (2, 16, 4)).holds(
        "The rate is d_model^(-1/2) times the smaller of step^(-1/2) and step * warmup^(-3/2)."
    )
    yield Case("the highest point", (4, 16, 4)).holds(
        "warmup: the step at which the rate is highest, 1 or more."
    )
    yield Case("on the way down", (16, 16, 4)).holds("The rate…")
    yield Case("another width", (9, 100, 4)).holds("The rate…")
    yield Case("no warm-up but the first step", (3, 64, 1)).holds("step: counts…", "warmup: the…")
    yield Case("the sizes of the paper", (100_000, 512, 4000)).holds("The rate…")
    yield Case("step 0", (0, 16, 4), raises=Raises("ValueError", ("0",))).holds(
        "Raises ValueError, with the step in its message, if it is below 1."
    )
    yield Case("a step below 0", (-3, 16, 4), raises=Raises("ValueError", ("-3",))).holds(
        "Raises ValueError…"
    )


@warmup_learning_rate.hidden
def _(rng):
    d_model, warmup = (int(one) for one in rng.integers(8, 900, size=2))
    yield Case("the first step", (1, d_model, warmup))
    yield Case("on the way up", (int(rng.integers(2, warmup)), d_model, warmup))
    yield Case("the highest point", (warmup, d_model, warmup))
    yield Case("one step after it", (warmup + 1, d_model, warmup)).holds("warmup: the…")
    late = int(rng.integers(2 * warmup, 9 * warmup))
    yield Case("on the way down", (late, d_model, warmup))
    yield Case("no warm-up but the first step", (int(rng.integers(2, 99)), d_model, 1))
    step = -int(rng.integers(2, 99))
    yield Case("step 0", (0, d_model, warmup), raises=Raises("ValueError", ("0",)))
    yield Case("a step below 0", (step, d_model, 1), raises=Raises("ValueError", (str(step),)))


warmup_learning_rate.mutant(
    "whole numbers divided as such", "step * warmup**-1.5", "step // warmup * warmup**-0.5"
)
