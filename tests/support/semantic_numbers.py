"""Semantic mutants that fail at certain numbers: tiny, large, equal, far or out of range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from keys import declared
from spoiling import (
    Answer,
    Inputs,
    differs,
    each,
    fed,
    for_each_head,
    instead,
    is_array,
    is_floating,
    sized,
    spoilt,
)

from autograder.exercise.model import Exercise
from solutions import alignment

Mutants = Iterator[tuple[str, Answer]]


def tiny_inputs(exercise: Exercise) -> Mutants:
    """Yield an answer that takes numbers below 1e-12 for 0, where inputs of 1e-9 matter."""

    def change(array: Any) -> Any:
        if not is_floating(array):
            return array
        if isinstance(array, torch.Tensor):  # rounded, but with the original's gradient
            return array + (torch.round(array, decimals=12) - array).detach()
        return np.round(array, 12)

    answer = fed(exercise, lambda inputs: {n: each(v, change) for n, v in inputs.arguments.items()})
    if differs(exercise, answer, sized(exercise, 1e-9)):
        yield "inputs rounded to 1e-12", answer


def large_scores(exercise: Exercise) -> Mutants:
    """Yield answers whose softmax or tanh is right only for scores of ordinary size."""
    kinds = {
        "a softmax that overflows": _unshifted,
        "a softmax shifted by the largest of all": _shifted_by_all,
        "a softmax shifted by no less than 0": _shifted_down,
        "a softmax with 1e-6 in its denominator": _with_epsilon,
    }
    for name, weigh in kinds.items():
        answer = instead(exercise, _softmaxes(weigh))
        if answer:
            yield name, answer
    answer = instead(exercise, {(np, "tanh"): _tanh_by_exponentials})
    if answer:
        yield "a tanh that overflows", answer


def _unshifted(scores: Any, axis: int, exp: Any) -> Any:
    e = exp(scores)
    return e / e.sum(axis, keepdims=True)


def _shifted_by_all(scores: Any, axis: int, exp: Any) -> Any:
    finite = scores[scores > -math.inf]
    e = exp(scores - (finite.max() if math.prod(finite.shape) else 0))
    return e / e.sum(axis, keepdims=True)


def _shifted_down(scores: Any, axis: int, exp: Any) -> Any:
    largest = _largest(scores, axis)
    largest[largest < 0] = 0
    e = exp(scores - largest)
    return e / e.sum(axis, keepdims=True)


def _largest(scores: Any, axis: int) -> Any:
    if isinstance(scores, np.ndarray):
        return scores.max(axis, keepdims=True)
    return scores.detach().amax(axis, keepdim=True)


def _with_epsilon(scores: Any, axis: int, exp: Any) -> Any:
    largest = _largest(scores, axis)
    largest[largest == -math.inf] = 0
    e = exp(scores - largest)
    return e / (e.sum(axis, keepdims=True) + 1e-6)


def _softmaxes(weigh: Any) -> dict[Any, Answer]:
    """Return the replacements of the course's softmaxes."""

    def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
        return weigh(x, axis, np.exp) if x.size else np.array(x)

    def masked(scores: np.ndarray, mask: Any = None, axis: int = -1) -> np.ndarray:
        if mask is None:
            return softmax(scores, axis)
        mask = np.broadcast_to(mask, scores.shape)
        weights = softmax(np.where(mask, scores, -np.inf).astype(scores.dtype), axis)
        return np.where(mask.any(axis, keepdims=True), weights, 0)

    def attend(
        Q: torch.Tensor,
        K: torch.Tensor,
        V: torch.Tensor,
        mask: Any = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        K, V = for_each_head(Q, K, V) if enable_gqa else (K, V)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if not scores.numel():
            return scores @ V
        if mask is None:
            return weigh(scores, -1, torch.exp) @ V
        any_visible = mask.any(-1, keepdim=True)
        hidden = scores.masked_fill(~mask & any_visible, -math.inf)  # no NaN to differentiate
        return weigh(hidden, -1, torch.exp) * any_visible @ V

    def log_softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
        return weigh(x, dim, torch.exp).log()

    return {
        alignment.softmax: softmax,
        alignment.masked_softmax: masked,
        (F, "scaled_dot_product_attention"): attend,
        (torch.Tensor, "log_softmax"): log_softmax,
    }


def _tanh_by_exponentials(x: np.ndarray) -> np.ndarray:
    e = np.exp(2 * x)
    return (e - 1) / (e + 1)


def logarithms(exercise: Exercise) -> Mutants:
    """Yield answers with logarithms of probabilities that have become 0, or were clipped."""

    def replacement(epsilon: float) -> dict[Any, Answer]:
        return {
            (torch.Tensor, "log_softmax"): lambda x, dim: (x.softmax(dim) + epsilon).log(),
        }

    for name, epsilon in (
        ("the logarithm of a softmax", 0.0),
        ("1e-12 in the logarithm", 1e-12),
    ):
        answer = instead(exercise, replacement(epsilon))
        if answer:
            yield name, answer


def equal_scores(exercise: Exercise) -> Mutants:
    """Yield an answer that takes the last of equal scores, not the first."""

    def last(array: np.ndarray, axis: int = -1) -> Any:
        return array.shape[axis] - 1 - _argmax(np.flip(array, axis), axis=axis)

    answer = instead(exercise, {(np, "argmax"): last})
    if answer:
        yield "the last of equal scores", answer


_argmax = np.argmax

BEYOND = {
    "shift_matrix": ("k", (16, 64, 512)),
    "rotary": ("positions", (16, 64, 512, 4096)),
    "relative_scores": ("n_k", (8,)),
    "padding_mask": ("n", (16,)),
    "greedy_decode": ("max_len", (16, 64)),
    "beam_search": ("max_len", (16, 64)),
    "Transformer": ("m", (16,)),
}
"""Lengths and positions for which a table or a limit might be too short."""


def far_positions(exercise: Exercise) -> Mutants:
    """Yield answers with a table of fixed size."""
    name, limits = BEYOND.get(exercise.name, ("", ()))

    def farthest(inputs: Inputs) -> float:
        value = inputs.lengths.get(name, inputs.arguments.get(name, 0))
        return np.max(value, initial=0)

    for limit in limits:
        yield (
            f"{name} beyond {limit} refused",
            spoilt(exercise, lambda inputs, limit=limit: farthest(inputs) > limit),
        )


PLACES: dict[str, dict[str, Callable[[Inputs], Any]]] = {
    "shift_matrix": {"k below 0": lambda inputs: inputs.arguments["k"] < 0},
    "rotary": {
        "positions below 0": lambda inputs: np.min(inputs.arguments["positions"], initial=0) < 0
    },
    "hard_attention": {
        "minus infinity": lambda inputs: np.isneginf(inputs.arguments["scores"]).any(),
    },
    "padding_mask": {
        "a length of 0": lambda inputs: 0 in inputs.arguments["lengths"],
        "a length of n": lambda inputs: inputs.arguments["n"] in inputs.arguments["lengths"],
    },
    "greedy_decode": {
        "a context that is no array": lambda inputs: not is_array(inputs.arguments["context"]),
    },
    "softmax": {
        "an axis that counts from the front": lambda inputs: inputs.arguments.get("axis", -1) >= 0,
        "an axis of -2": lambda inputs: inputs.arguments.get("axis", -1) == -2,
    },
    "masked_softmax": {
        "an axis that counts from the front": lambda inputs: inputs.arguments.get("axis", -1) >= 0,
        "an axis of -2": lambda inputs: inputs.arguments.get("axis", -1) == -2,
    },
}
"""For each exercise: a name, and the condition that selects the calls."""


def places(exercise: Exercise) -> Mutants:
    """Yield answers that refuse single values that the docstring mentions."""
    for name, condition in PLACES.get(exercise.name, {}).items():
        yield (
            f"{name} refused",
            spoilt(exercise, lambda inputs, condition=condition: bool(condition(inputs))),
        )


def edits(exercise: Exercise) -> Mutants:
    """Yield the slips that the exercise declares as edits of its reference."""
    for name, answer in declared(exercise).mutants.items():
        yield name, answer.function


NUMBER_WRAPPERS = (
    tiny_inputs,
    large_scores,
    logarithms,
    equal_scores,
    far_positions,
    places,
    edits,
)
