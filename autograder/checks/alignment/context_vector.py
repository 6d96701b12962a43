"""The exercise `context_vector`: a blend of the encoder's states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def context_cases(rng: np.random.Generator) -> Iterator[Case]:
    H = np.array([[4.0, 0.0], [0.0, 8.0], [2.0, 2.0]])
    yield Case("three places", (np.array([0.25, 0.5, 0.25]), H))
    yield Case("as many places as features", _inputs(rng, (), 3, 3))
    yield Case("nothing to attend to", (np.zeros(3), rng.normal(size=(3, 2))))
    yield Case("a batch, as many sentences as places", _inputs(rng, (3,), 3, 4))
    yield Case("float32, two leading batch axes", _inputs(rng, (2, 3), 4, 5, np.float32))
    _, H = _inputs(rng, (2,), 3, 2)
    yield Case("weights that do not sum to 1", (rng.normal(size=(2, 3)), H))
    yield Case("a batch of one, one place, one feature", _inputs(rng, (1,), 1, 1))
    weights, H = _inputs(rng, (2, 1, 2), 3, 2)
    yield Case("three leading batch axes, tiny states", (weights, 1e-6 * H))


def context_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d, batch = rng.permutation([2, 3, 5])
    yield Case("as many places as features", _inputs(rng, (), n, n))
    yield Case("more or fewer places than features", _inputs(rng, (), n, d))
    yield Case("a batch, as many sentences as places", _inputs(rng, (n,), n, d))
    weights, H = _inputs(rng, (batch,), n, d)
    weights[0] = 0
    yield Case("a sentence with nothing to attend to", (weights, H))
    yield Case("float32, a batch", _inputs(rng, (batch,), n, d, np.float32))
    _, H = _inputs(rng, (batch,), n, d)
    yield Case("weights that do not sum to 1", (3 * rng.random(size=(batch, n)), H))
    yield Case("a batch of one, one feature", _inputs(rng, (1,), n, 1))
    weights, H = _inputs(rng, (2, 3), n, d)
    yield Case("two leading batch axes, tiny states", (weights, 1e-6 * H))


def _inputs(
    rng: np.random.Generator, batch: tuple[int, ...], n: int, d: int, dtype: type = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """Random weights that sum to 1, and random states."""
    weights = rng.dirichlet(np.ones(n), size=batch)
    return weights.astype(dtype), rng.normal(size=(*batch, n, d)).astype(dtype)


def context_vector__plain_average(weights, H):
    return H.mean(axis=-2)


def context_vector__mean_of_products(weights, H):
    return (weights[..., None] * H).mean(axis=-2)


def context_vector__not_summed(weights, H):
    return weights[..., None] * H


def context_vector__summed_over_features(weights, H):
    return (weights[..., None] * H).sum(axis=-1)


def context_vector__strongest_place_only(weights, H):
    best = np.argmax(weights, axis=-1)[..., None, None]
    return np.take_along_axis(H, best, axis=-2)[..., 0, :]


def context_vector__softmax_again(weights, H):
    exponentials = np.exp(weights - weights.max(axis=-1, keepdims=True))
    shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.einsum("...t,...td->...d", shares, H)


def context_vector__divided_by_the_sum(weights, H):
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("...t,...td->...d", shares, H)


def context_vector__batch_taken_for_rows(weights, H):
    return weights @ H


def context_vector__states_on_the_left(weights, H):
    return (H @ weights[..., None])[..., 0]


def context_vector__squeezed(weights, H):
    return np.squeeze(weights[..., None, :] @ H)


def context_vector__loop(weights, H):
    context = np.zeros_like(H[..., 0, :])
    for j in range(H.shape[-2]):
        context = context + weights[..., j, None] * H[..., j, :]
    return context


def context_vector__einsum(weights, H):
    return np.einsum("...t,...td->...d", weights, H)


def context_vector__transposed(weights, H):
    return np.squeeze(np.swapaxes(H, -1, -2) @ weights[..., None], axis=-1)


CONTEXT_VECTOR = Exercise(
    name="context_vector",
    points=1,
    difficulty=1,
    minutes=8,
    reference=solutions.context_vector,
    cases=context_cases,
    hidden=context_hidden,
    misconceptions=(
        Misconception(
            "plain average",
            context_vector__plain_average,
            "Change the weights. Does your context change?",
        ),
        Misconception(
            "mean in place of the sum",
            context_vector__mean_of_products,
            "The weights sum to 1 already. What does the division by T do to the context?",
        ),
        Misconception(
            "not summed",
            context_vector__not_summed,
            "How many vectors should come out: one for each place, or one?",
        ),
        Misconception(
            "summed over the features",
            context_vector__summed_over_features,
            "Which axis should be gone from the result, that of the places or of the features?",
        ),
        Misconception(
            "strongest place only",
            context_vector__strongest_place_only,
            "What do the other places contribute? How would a small change of the weights show?",
        ),
        Misconception(
            "softmax applied again",
            context_vector__softmax_again,
            "These are weights already. What does a second softmax make of the weights 1, 0, 0?",
        ),
        Misconception(
            "divided by the sum of the weights",
            context_vector__divided_by_the_sum,
            "The weights are used as they are. What do you divide by when all of them are 0?",
        ),
        Misconception(
            "batch taken for rows",
            context_vector__batch_taken_for_rows,
            "`weights` of a batch has shape (batch, T), and `@` takes that for one matrix. Which "
            "sentence's states does its second row meet?",
        ),
        Misconception(
            "states on the left",
            context_vector__states_on_the_left,
            "Write the shapes side by side. Do your weights meet the places, or the features?",
        ),
        Misconception(
            "every axis of length 1 squeezed away",
            context_vector__squeezed,
            "`np.squeeze` without an axis takes every axis of length 1. Which ones are there in a "
            "batch of one sentence?",
        ),
    ),
    alternatives=(
        context_vector__loop,
        context_vector__einsum,
        context_vector__transposed,
    ),
    help=(
        "Multiply each state by its weight and add up over the places.",
        "A row of weights times the matrix H. For a batch, make the weights a matrix of one row "
        "each: `weights[..., None, :]`.",
        "Section “The context vector”.",
    ),
    promises=(
        Promise(
            "Blend the encoder's states by the weights, which are used as they are.",
            ("three places", "weights that do not sum to 1"),
        ),
        Promise(
            "weights: (..., T); they need not sum to 1. H: (..., T, d_h), with the same leading "
            "axes.",
            (
                "weights that do not sum to 1",
                "as many places as features",
                "a batch, as many sentences as places",
                "float32, two leading batch axes",
                "three leading batch axes, tiny states",
            ),
        ),
        Promise(
            "Returns an array of shape (..., d_h).",
            ("a batch of one, one place, one feature", "a batch of one, one feature"),
        ),
        Promise(
            "Where all weights are 0, the context is 0",
            ("nothing to attend to", "a sentence with nothing to attend to"),
        ),
    ),
)
