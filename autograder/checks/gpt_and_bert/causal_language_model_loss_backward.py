"""The exercise `causal_language_model_loss_backward`: what each logit is told. To derive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.variants import language_models as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def backward_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one text of three tokens, two candidates", _inputs(rng, (3,), 2))
    yield Case("a batch of two texts", _inputs(rng, (2, 4), 5))
    yield Case("as many tokens as candidates", _inputs(rng, (3, 3), 3))
    yield Case("float32, two leading axes", _inputs(rng, (2, 3, 4), 6, dtype=np.float32))
    yield Case("three leading axes, one of length 1", _inputs(rng, (2, 1, 2, 3), 4))
    yield Case("large scores", _inputs(rng, (2, 3), 4, size=400.0))
    yield Case("scores near a million", _far_from_0(rng, (2, 3), 4))
    yield Case("two tokens, a batch of one", _inputs(rng, (1, 2), 3))
    yield Case("one candidate", _inputs(rng, (2, 3), 1))


def backward_hidden(rng: np.random.Generator) -> Iterator[Case]:
    batch, n, V = (int(one) for one in rng.permutation([3, 4, 5]))
    yield Case("one text", _inputs(rng, (n,), V))
    yield Case("a batch", _inputs(rng, (batch, n), V))
    yield Case("as many tokens as candidates", _inputs(rng, (batch, V), V))
    yield Case("float32, two leading axes", _inputs(rng, (2, batch, n), V, dtype=np.float32))
    yield Case("large scores", _inputs(rng, (batch, n), V, size=400.0))
    yield Case("scores near a million", _far_from_0(rng, (batch, n), V))
    yield Case("two tokens", _inputs(rng, (batch, 2), V))


def _inputs(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    V: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, np.ndarray]:
    """Logits for V candidates, and tokens of `shape`."""
    logits = (rng.normal(size=(*shape, V)) * size).astype(dtype)
    return logits, rng.integers(V, size=shape)


def _far_from_0(
    rng: np.random.Generator, shape: tuple[int, ...], V: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that differ by about a million from each other, and little within themselves."""
    logits, tokens = _inputs(rng, shape, V)
    return np.round(logits * 64) / 64 + rng.choice([-1e6, 1e6], size=(*shape, 1)), tokens


def backward__sign(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = -weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] += np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., -1, :] = 0
    return d_logits / tokens[..., 1:].size


def backward__not_shifted(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits -= np.arange(logits.shape[-1]) == tokens[..., None]
    return d_logits / tokens.size


def backward__last_row_not_0(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] -= np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    return d_logits / tokens[..., 1:].size


def backward__mean_forgotten(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] -= np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., -1, :] = 0
    return d_logits


def backward__mean_of_one_text(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] -= np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., -1, :] = 0
    return d_logits / (tokens.shape[-1] - 1)


def backward__mean_over_all_tokens(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] -= np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., -1, :] = 0
    return d_logits / tokens.size


def backward__right_candidate_only(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    d_logits = np.zeros_like(weights)
    right = np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., :-1, :] = (weights[..., :-1, :] - 1) * right
    return d_logits / tokens[..., 1:].size


def backward__wrong_candidates_only(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] *= np.arange(logits.shape[-1]) != tokens[..., 1:, None]
    d_logits[..., -1, :] = 0
    return d_logits / tokens[..., 1:].size


def backward__with_respect_to_the_probabilities(logits, tokens):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights = np.maximum(weights / weights.sum(axis=-1, keepdims=True), 1e-300)
    d_logits = np.zeros_like(weights)
    right = np.arange(logits.shape[-1]) == tokens[..., 1:, None]
    d_logits[..., :-1, :] = np.where(right, -1 / weights[..., :-1, :], 0)
    return d_logits / tokens[..., 1:].size


def backward__loop(logits, tokens):
    d_logits = np.zeros_like(logits)
    for place in np.ndindex(*tokens.shape):
        if place[-1] + 1 < tokens.shape[-1]:
            shares = np.exp(logits[place] - np.max(logits[place]))
            d_logits[place] = shares / shares.sum()
            d_logits[(*place, tokens[(*place[:-1], place[-1] + 1)])] -= 1
    return d_logits / (tokens.size // tokens.shape[-1] * (tokens.shape[-1] - 1))


def backward__identity(logits, tokens):
    predicted = logits[..., :-1, :]
    log_total = np.logaddexp.reduce(predicted, axis=-1, keepdims=True)
    difference = np.exp(predicted - log_total) - np.eye(logits.shape[-1])[tokens[..., 1:]]
    last = np.zeros_like(logits[..., -1:, :])
    return np.concatenate([difference / difference[..., 0].size, last], axis=-2)


def backward__by_jacobian(logits, tokens):
    V = logits.shape[-1]
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    jacobian = np.eye(V) - shares[..., None, :]  # d log share_j / d logit_k
    counted = np.zeros((*tokens.shape, V))
    counted[..., :-1, :] = -np.eye(V)[tokens[..., 1:]]
    return np.einsum("...j,...jk->...k", counted, jacobian) / tokens[..., 1:].size


CAUSAL_LANGUAGE_MODEL_LOSS_BACKWARD = Exercise(
    name="causal_language_model_loss_backward",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.causal_language_model_loss_backward,
    cases=backward_cases,
    hidden=backward_hidden,
    misconceptions=(
        Misconception(
            "the other sign",
            backward__sign,
            "Raise the logit of the right token a little. Does the loss rise or fall? What sign "
            "has your entry there?",
        ),
        Misconception(
            "not shifted",
            backward__not_shifted,
            "Which token does row i predict: token i or the one after it?",
        ),
        Misconception(
            "a last row that is not 0",
            backward__last_row_not_0,
            "Change the last row of the logits. Does the loss change?",
        ),
        Misconception(
            "the mean forgotten",
            backward__mean_forgotten,
            "The loss is a mean. What does that make of each row's gradient?",
        ),
        Misconception(
            "the mean of one text",
            backward__mean_of_one_text,
            "With two texts in the batch, over how many predictions is the mean?",
        ),
        Misconception(
            "the mean over all tokens",
            backward__mean_over_all_tokens,
            "A text of n tokens: how many of them are predicted?",
        ),
        Misconception(
            "the right candidate only",
            backward__right_candidate_only,
            "Add the same number to all logits of a row: the loss stays as it is. What must the "
            "gradients of a row sum to?",
        ),
        Misconception(
            "the wrong candidates only",
            backward__wrong_candidates_only,
            "Does the loss not depend on the logit of the right token? What must the gradients of "
            "a row sum to?",
        ),
        Misconception(
            "with respect to the probabilities",
            backward__with_respect_to_the_probabilities,
            "-1/p is the derivative by a probability. The logits stand one step further back: "
            "which function lies between?",
        ),
    ),
    alternatives=(backward__loop, backward__identity, backward__by_jacobian),
    help=(
        "Write the loss of one row as log(sum of exp(logits)) minus the right logit, and "
        "differentiate both terms.",
        "The first term gives the softmax, the second one a 1 at the right token. Then divide by "
        "how many rows count.",
        "Chapter 10, “Every token is a question”; “What you need”, the chain rule.",
    ),
    promises=(
        Promise(
            "logits: (..., n, V), and may be large",
            ("large scores", "scores near a million", "three leading axes, one of length 1"),
        ),
        Promise(
            "row i scores what follows token i",
            ("one text of three tokens, two candidates", "as many tokens as candidates"),
        ),
        Promise("tokens: ids (..., n), n at least 2.", ("two tokens", "one text")),
        Promise(
            "The loss is the mean of -log softmax(row i)[token i + 1] over all rows but the last, "
            "and over all leading axes.",
            ("a batch of two texts", "float32, two leading axes", "two tokens, a batch of one"),
        ),
        Promise("Returns the shape of `logits`.", ("one text of three tokens, two candidates",)),
    ),
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
)
