"""The exercise `multi_head_parameters`: what many heads cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def parameter_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("four features, two heads", (4, 2))
    yield Case("one wide head", (6, 1))
    yield Case("six features, three heads, with biases", (6, 3), {"bias": True})
    yield Case("a head for each feature", (5, 5))
    yield Case("the base model of 2017", (512, 8))
    yield Case("the base model of 2017, with biases", (512, 8), {"bias": True})
    asked = Raises("ValueError", ("10", "4"))
    yield Case("ten features, four heads", (10, 4), raises=asked)


def parameter_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head = (int(size) for size in rng.choice(np.arange(3, 20), size=2, replace=False))
    yield Case("no bias", (n_heads * d_head, n_heads))
    yield Case("with biases", (n_heads * d_head, n_heads), {"bias": True})
    yield Case("one wide head, with biases", (n_heads * d_head, 1), {"bias": True})
    d_model = n_heads * d_head + 1
    asked = Raises("ValueError", (str(d_model), str(n_heads)))
    yield Case("a feature too many to be shared out equally", (d_model, n_heads), raises=asked)


def parameters__every_head_wide(d_model, n_heads, bias=False):
    return (3 * n_heads + 1) * d_model * (d_model + int(bias))


def parameters__no_output_projection(d_model, n_heads, bias=False):
    return 3 * d_model * (d_model + int(bias))


def parameters__one_head_counted(d_model, n_heads, bias=False):
    d_head = d_model // n_heads
    return 3 * d_head * (d_model + int(bias)) + d_model * (d_model + int(bias))


def parameters__heads_read_their_part(d_model, n_heads, bias=False):
    d_head = d_model // n_heads
    return 3 * n_heads * d_head * (d_head + int(bias)) + d_model * (d_model + int(bias))


def parameters__bias_ignored(d_model, n_heads, bias=False):
    return 4 * d_model * d_model


def parameters__bias_always(d_model, n_heads, bias=False):
    return 4 * d_model * (d_model + 1)


def parameters__one_number_as_bias(d_model, n_heads, bias=False):
    return 4 * (d_model * d_model + int(bias))


def parameters__no_bias_at_the_output(d_model, n_heads, bias=False):
    return 4 * d_model * d_model + 3 * d_model * int(bias)


def parameters__float(d_model, n_heads, bias=False):
    d_head = d_model / n_heads
    return 3 * n_heads * d_head * (d_model + int(bias)) + d_model * (d_model + int(bias))


def parameters__never_refused(d_model, n_heads, bias=False):
    return 4 * d_model * (d_model + int(bias))


def parameters__no_numbers(d_model, n_heads, bias=False):
    if d_model % n_heads:
        raise ValueError("d_model is not divisible by n_heads")
    return 4 * d_model * (d_model + int(bias))


def parameters__asserted(d_model, n_heads, bias=False):
    assert d_model % n_heads == 0, f"{d_model} is not divisible by {n_heads}"
    return 4 * d_model * (d_model + int(bias))


def parameters__by_formula(d_model, n_heads, bias=False):
    if d_model % n_heads != 0:
        raise ValueError(f"{n_heads} does not divide {d_model}")
    return 4 * d_model**2 + (4 * d_model if bias else 0)


def parameters__by_matrices(d_model, n_heads, bias=False):
    if n_heads * (d_model // n_heads) != d_model:
        raise ValueError("n_heads", n_heads, "d_model", d_model)
    shapes = [(d_model, d_model)] * 4 + [(d_model,)] * 4 * int(bias)
    return int(sum(np.prod(shape) for shape in shapes))


def parameters__head_by_head(d_model, n_heads, bias=False):
    total, (d_head, rest) = 0, divmod(d_model, n_heads)
    if rest:
        raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads}).")
    for _ in range(n_heads):
        total += 3 * d_model * d_head  # its columns of W_q, W_k, W_v
        total += d_head * d_model  # its rows of W_o
        total += 3 * d_head if bias else 0
    return total + d_model if bias else total


MULTI_HEAD_PARAMETERS = Exercise(
    name="multi_head_parameters",
    points=1,
    difficulty=1,
    minutes=8,
    reference=solutions.multi_head_parameters,
    cases=parameter_cases,
    hidden=parameter_hidden,
    misconceptions=(
        Misconception(
            "every head as wide as the model",
            parameters__every_head_wide,
            "How wide is one head, when all heads side by side are as wide as the model?",
        ),
        Misconception(
            "W_o forgotten",
            parameters__no_output_projection,
            "After the merge, who mixes what the heads found?",
        ),
        Misconception(
            "only one head counted",
            parameters__one_head_counted,
            "How many columns of W_q belong to one head? And to all heads?",
        ),
        Misconception(
            "heads that read only their part of the token",
            parameters__heads_read_their_part,
            "From how many features of a token is one entry of a query made: from all of them, or "
            "from those of its head?",
        ),
        Misconception(
            "biases never counted",
            parameters__bias_ignored,
            "Does your answer change with `bias`?",
        ),
        Misconception(
            "biases always counted",
            parameters__bias_always,
            "Does your answer change with `bias`? What is its default?",
        ),
        Misconception(
            "one number as the bias of a matrix",
            parameters__one_number_as_bias,
            "A bias is added to the result of a projection, a number to each feature. How many "
            "features has the result?",
        ),
        Misconception(
            "no bias at W_o",
            parameters__no_bias_at_the_output,
            "How many of the four projections did you give a bias?",
        ),
        Misconception(
            "a float",
            parameters__float,
            "Which of `/` and `//` gives a whole number its type?",
        ),
        Misconception(
            "heads that do not fit are counted",
            parameters__never_refused,
            "Ten features, four heads: how wide is one head? What does the docstring promise for "
            "such a layer?",
        ),
        Misconception(
            "no word about the two numbers",
            parameters__no_numbers,
            "Read the message of your error as somebody would who has not seen the call. Which two "
            "numbers tell that person what to change?",
        ),
        Misconception(
            "an assertion instead of a ValueError",
            parameters__asserted,
            "Which exception does an `assert` raise, and which one does the docstring promise? "
            "What becomes of an assertion under `python -O`?",
        ),
    ),
    alternatives=(
        parameters__by_formula,
        parameters__by_matrices,
        parameters__head_by_head,
    ),
    help=(
        "Four matrices, and four vectors if there are biases. Count their entries.",
        "Write down the shape of each matrix for all heads together. Does the number of heads "
        "stand in any of these shapes?",
        "Section “What it costs: nothing”.",
    ),
    promises=(
        Promise(
            "the width of the tokens and of all four projections together with their output",
            ("four features, two heads", "one wide head", "a head for each feature", "no bias"),
        ),
        Promise(
            "whether each of the four also adds a learned vector to its result",
            ("six features, three heads, with biases", "with biases", "no bias"),
        ),
        Promise("Returns a whole number (int)", ("four features, two heads",)),
        Promise(
            "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
            "n_heads",
            ("ten features, four heads", "a feature too many to be shared out equally"),
        ),
    ),
)
