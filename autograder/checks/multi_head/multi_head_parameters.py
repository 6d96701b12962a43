"""The exercise `multi_head_parameters`: what many heads cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import multi_head as solutions

from ...judging.exercise import Case, Exercise, Misconception


def parameter_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("four features, two heads", (4, 2))
    yield Case("one wide head", (6, 1))
    yield Case("six features, three heads, with biases", (6, 3), {"bias": True})
    yield Case("the base model of 2017", (512, 8))
    yield Case("the base model of 2017, with biases", (512, 8), {"bias": True})


def parameter_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, d_head = (int(size) for size in rng.choice(np.arange(3, 20), size=2, replace=False))
    yield Case("no bias", (n_heads * d_head, n_heads))
    yield Case("with biases", (n_heads * d_head, n_heads), {"bias": True})
    yield Case("one wide head, with biases", (n_heads * d_head, 1), {"bias": True})


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


def parameters__by_formula(d_model, n_heads, bias=False):
    return 4 * d_model**2 + (4 * d_model if bias else 0)


def parameters__by_matrices(d_model, n_heads, bias=False):
    shapes = [(d_model, d_model)] * 4 + [(d_model,)] * 4 * int(bias)
    return int(sum(np.prod(shape) for shape in shapes))


def parameters__head_by_head(d_model, n_heads, bias=False):
    total, d_head = 0, d_model // n_heads
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
)
