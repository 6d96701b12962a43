"""The exercise `warmup_learning_rate`: a rate that rises in a line and falls with the root."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from solutions import transformer as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def warmup_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("the first step", (1, 16, 4))
    yield Case("on the way up", (2, 16, 4))
    yield Case("the highest point", (4, 16, 4))
    yield Case("on the way down", (16, 16, 4))
    yield Case("another width", (9, 100, 4))
    yield Case("no warm-up but the first step", (3, 64, 1))
    yield Case("the sizes of the paper", (100_000, 512, 4000))
    yield Case("step 0", (0, 16, 4), raises=Raises("ValueError", ("0",)))
    yield Case("a step below 0", (-3, 16, 4), raises=Raises("ValueError", ("-3",)))


def warmup_hidden(rng: np.random.Generator) -> Iterator[Case]:
    d_model, warmup = (int(one) for one in rng.integers(8, 900, size=2))
    yield Case("the first step", (1, d_model, warmup))
    yield Case("on the way up", (int(rng.integers(2, warmup)), d_model, warmup))
    yield Case("the highest point", (warmup, d_model, warmup))
    yield Case("one step after it", (warmup + 1, d_model, warmup))
    late = int(rng.integers(2 * warmup, 9 * warmup))
    yield Case("on the way down", (late, d_model, warmup))
    yield Case("no warm-up but the first step", (int(rng.integers(2, 99)), d_model, 1))
    step = -int(rng.integers(2, 99))
    yield Case("step 0", (0, d_model, warmup), raises=Raises("ValueError", ("0",)))
    yield Case("a step below 0", (step, d_model, 1), raises=Raises("ValueError", (str(step),)))


def warmup__larger(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


def warmup__one_step_ahead(step, d_model, warmup):
    step = step + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def warmup__width_forgotten(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)


def warmup__width_without_root(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model


def warmup__width_raises(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


def warmup__root_of_the_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


def warmup__share_of_the_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


def warmup__falls_with_the_step(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)


def warmup__stays_up(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


def warmup__no_rise(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


def warmup__two_pieces(step, d_model, warmup):
    if step < 1:
        raise ValueError(f"step is {step}")
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)


def warmup__numpy(step, d_model, warmup):
    if step <= 0:
        raise ValueError(f"there is no step {step}")
    pieces = np.array([1 / np.sqrt(step), step / np.sqrt(warmup) ** 3])
    return float(pieces.min() / np.sqrt(d_model))


def warmup__logarithms(step, d_model, warmup):
    if step < 1:
        raise ValueError(f"a step of {step}")
    rise = math.log(step) - 1.5 * math.log(warmup)
    fall = -0.5 * math.log(step)
    return math.exp(sorted([rise, fall])[0] - 0.5 * math.log(d_model))


WARMUP_LEARNING_RATE = Exercise(
    name="warmup_learning_rate",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.warmup_learning_rate,
    cases=warmup_cases,
    hidden=warmup_hidden,
    misconceptions=(
        Misconception(
            "the larger of the two",
            warmup__larger,
            "One of the two numbers rises for ever, the other is large at first. Which one should "
            "hold the rate down at step 1, and which one late?",
        ),
        Misconception(
            "one step ahead",
            warmup__one_step_ahead,
            "The first step is 1 here. At which step is your rate highest?",
        ),
        Misconception(
            "the width forgotten",
            warmup__width_forgotten,
            "Four times the width: what should become of the rate?",
        ),
        Misconception(
            "the width without its root",
            warmup__width_without_root,
            "Four times the width: should the rate be a quarter, or a half?",
        ),
        Misconception(
            "a wide model learns faster",
            warmup__width_raises,
            "What is the sign of the exponent of `d_model`?",
        ),
        Misconception(
            "the warm-up to the power of -1/2",
            warmup__root_of_the_warmup,
            "At the step `warmup` the two numbers should be equal. Are yours?",
        ),
        Misconception(
            "the warm-up to the power of -1",
            warmup__share_of_the_warmup,
            "`step / warmup` is 1 at the end of the warm-up. How large is `step**-0.5` there?",
        ),
        Misconception(
            "falls with the step, not with its root",
            warmup__falls_with_the_step,
            "Four times as many steps after the peak: should the rate be a quarter, or a half?",
        ),
        Misconception(
            "stays where it is highest",
            warmup__stays_up,
            "What does your rate do after the warm-up?",
        ),
        Misconception(
            "no rise",
            warmup__no_rise,
            "What does your function do with the argument `warmup`?",
        ),
    ),
    alternatives=(warmup__two_pieces, warmup__numpy, warmup__logarithms),
    help=(
        "Two numbers, one that rises with the step and one that falls; the smaller counts. Divide "
        "by the root of the width.",
        "In Python `x**-0.5` is one over the root of x. Where do the two numbers meet?",
        "Chapter 9, 'The learning rate'.",
    ),
    promises=(
        Promise("step: counts from 1.", ("the first step", "no warm-up but the first step")),
        Promise(
            "warmup: the step at which the rate is highest, 1 or more.",
            ("the highest point", "one step after it", "no warm-up but the first step"),
        ),
        Promise(
            "The rate is d_model^(-1/2) times the smaller of step^(-1/2) and step * warmup^(-3/2).",
            ("on the way up", "on the way down", "another width", "the sizes of the paper"),
        ),
        Promise(
            "Raises ValueError, with the step in its message, if it is below 1.",
            ("step 0", "a step below 0"),
        ),
    ),
)
