"""Semantic mutants of slips that once passed: at a size of 1, beyond a stand-in for infinity."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from keys import shown_cases
from spoiling import (
    Answer,
    Call,
    Inputs,
    arrays_in,
    differs,
    docstring,
    fed,
    for_each_head,
    instead,
    is_floating,
    parameters,
    shapes,
    wrapped,
)

from autograder.exercise import answers
from autograder.exercise.model import Exercise
from solutions import alignment

Mutants = Iterator[tuple[str, Answer]]

NAMES = re.compile(r"ValueError, with the name[^.]*\.|ValueError for any other")
"""An error that does not depend on a size."""

STAND_INS = (1e2, 1e4, 1e9)
"""Numbers written for infinity by people who expect no larger score."""


def errors_at_one(exercise: Exercise) -> Mutants:
    """Yield an answer that raises no error where a size is 1 and broadcasts."""
    if "ValueError" not in NAMES.sub("", docstring(exercise)):
        return

    def around(inputs: Inputs, call: Call) -> Any:
        try:
            return call(inputs.arguments)
        except ValueError:
            if _ones(inputs.arguments):
                return None
            raise

    answer = wrapped(exercise, around)
    if isinstance(answer, type):
        answer = _made_anyway(answer)
    yield "ValueError not raised at a size of 1", answer


def _made_anyway(answer: type) -> Answer:
    class Lenient(answer):
        def __init__(self, *arguments, **keywords):
            try:
                super().__init__(*arguments, **keywords)
            except ValueError:
                if 1 not in arguments:
                    raise

    return Lenient


def _ones(arguments: dict[str, Any]) -> bool:
    """Return True if an integer, or one of the last three axes of an array, is 1."""
    sizes = [size for array in arrays_in(arguments) for size in array.shape[-3:]]
    return 1 in sizes or any(type(value) is int and value == 1 for value in arguments.values())


def stand_ins(exercise: Exercise) -> Mutants:
    """Yield answers with a large number in place of infinity."""
    reference = answers.Answer(exercise.name, exercise.reference)
    for size in STAND_INS:
        answer = instead(exercise, _masked_by(size))
        if answer and _masks(exercise):
            yield f"-{size:g} for a hidden score", answer
        for infinity in ("np.inf", "torch.inf", "math.inf"):
            if infinity in reference.source:
                edited = reference.edit(
                    infinity, f"{size:g}", times=reference.source.count(infinity)
                )
                yield f"{size:g} for infinity", edited.function


@functools.cache
def _masks(exercise: Exercise) -> bool:
    """Return True if the reference hides anything on a public case."""
    answer = instead(exercise, _masked_by(0.0))
    return answer is not None and differs(exercise, answer, shown_cases(exercise))


def _masked_by(size: float) -> dict[Any, Answer]:
    """Return the replacements of the course's masked softmaxes."""

    def masked(scores: np.ndarray, mask: Any = None, axis: int = -1) -> np.ndarray:
        if mask is None:
            return alignment.softmax(scores, axis)
        mask = np.broadcast_to(mask, scores.shape)
        weights = alignment.softmax(np.where(mask, scores, -size).astype(scores.dtype), axis)
        return np.where(mask, weights, 0)

    def attend(
        Q: torch.Tensor,
        K: torch.Tensor,
        V: torch.Tensor,
        mask: Any = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        K, V = for_each_head(Q, K, V) if enable_gqa else (K, V)
        if mask is None:
            return _attend(Q, K, V)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        return (scores.masked_fill(~mask, -size).softmax(dim=-1) * mask) @ V

    return {
        alignment.masked_softmax: masked,
        (F, "scaled_dot_product_attention"): attend,
    }


_attend = F.scaled_dot_product_attention


def ambiguous_axes(exercise: Exercise) -> Mutants:
    """Yield answers that read a mask or bias along another axis of the same length."""
    for name, axes in shapes(exercise).items():
        if "broadcastable" not in docstring(exercise) or not re.search("mask|bias", name):
            continue
        if len({*axes} - {"..."}) > 1:
            yield f"{name} of one axis read as one for each query", fed(exercise, _turned(name))
            yield (
                f"{name} of two axes read as one row for each sequence",
                fed(exercise, _for_each_sequence(name)),
            )


def _turned(name: str) -> Callable[[Inputs], dict[str, Any]]:
    def change(inputs: Inputs) -> dict[str, Any]:
        mask, n_q = inputs.arguments.get(name), _queries(inputs)
        if mask is None or mask.ndim != 1 or len(mask) != n_q:
            return {}
        return {name: mask[:, None]}

    return change


def _for_each_sequence(name: str) -> Callable[[Inputs], dict[str, Any]]:
    def change(inputs: Inputs) -> dict[str, Any]:
        mask, first = inputs.arguments.get(name), _asking(inputs)
        if mask is None or mask.ndim != 2 or first.ndim < 3 or len(mask) != len(first):
            return {}
        return {name: mask[:, None, :]}

    return change


def _asking(inputs: Inputs) -> Any:
    """Return the array with one row per query: the first with a row for each token."""
    return next(
        argument for name, argument in inputs.arguments.items() if name in ("Q", "X", "scores")
    )


def _queries(inputs: Inputs) -> int:
    return int(_asking(inputs).shape[-2])


def zeros_as_padding(exercise: Exercise) -> Mutants:
    """Yield answers that take a real token of zeros for padding."""
    for name, axes in shapes(exercise).items():
        hidden = _hidden_by(exercise, name)
        if hidden and len(axes) > 1 and axes[-1].startswith("d"):
            yield f"zeros in {name} taken for padding", fed(exercise, _zeros_hidden(name, hidden))


def _hidden_by(exercise: Exercise, name: str) -> str:
    """Return the name of the mask that marks the real tokens of this array."""
    tokens = {"X", "H", "K", "hidden"} - ({"X"} if "context" in parameters(exercise) else set())
    masks = [
        parameter for parameter in parameters(exercise) if parameter in ("mask", "context_mask")
    ]
    if name == "context" and masks:
        return masks[-1]
    return masks[0] if name in tokens and masks else ""


def _zeros_hidden(name: str, mask: str) -> Callable[[Inputs], dict[str, Any]]:
    def change(inputs: Inputs) -> dict[str, Any]:
        tokens, old = inputs.arguments.get(name), inputs.arguments.get(mask)
        if tokens is None or not is_floating(tokens):
            return {}
        nonzero = (tokens != 0).any(-1)
        if bool(nonzero.all()):
            return {}
        if (
            old is not None
            and old.shape == nonzero.shape
            and "n_q" not in docstring(inputs.exercise)
        ):
            return {mask: old & nonzero}
        nonzero = nonzero[..., None, :]
        return {mask: nonzero if old is None else old & nonzero}

    return change


SLIP_WRAPPERS = (
    errors_at_one,
    stand_ins,
    ambiguous_axes,
    zeros_as_padding,
)
