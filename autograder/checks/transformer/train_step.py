"""The exercise `train_step`: one step on several small batches, judged by the weights after it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from solutions.variants import translating as solutions

from ...judging.exercise import Case, Exercise, Kind, Promise, SourceFunction, Tensor
from .train_step_wrong import WRONG_STEPS

NEXT_TOKEN = SourceFunction(
    "loss_of",
    """
def loss_of(weights, batch):
    # a small language model: the next token from the one before it; targets of 0 do not count
    inputs, targets = batch
    embedding, to_logits = weights[:2]
    log_p = (embedding[inputs] @ to_logits).log_softmax(dim=-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]
    return -right[targets != 0].sum(), int((targets != 0).sum())
""",
)
"""Weights beyond the first two have no part in it."""

DISTANCES = SourceFunction(
    "loss_of",
    """
def loss_of(weights, batch):
    # half the squared distance of one weight from each number of the batch
    return ((weights[0] - batch) ** 2).sum() / 2, len(batch)
""",
)
"""The gradient of the mean is the weight minus the mean of all numbers."""


def step_cases(rng: np.random.Generator) -> Iterator[Case]:
    numbers = [_tensor(np.array(one)) for one in ([2.0], [22.0, 22.0, 22.0])]
    point = [_tensor(np.array(6.0))]
    yield Case("two batches of numbers, no clipping", (point, DISTANCES, numbers, 0.5, 30.0))
    yield Case("two batches of numbers, clipped", (point, DISTANCES, numbers, 0.5, 1.0))
    yield _case(rng, "one batch", [(2, 3, 6)], 50.0)
    yield _case(rng, "two batches, one mostly padding", [(2, 4, 8), (2, 4, 2)], 50.0)
    yield _case(rng, "three batches of different widths", [(1, 2, 2), (3, 5, 9), (2, 4, 5)], 50.0)
    yield _case(rng, "a long gradient", [(2, 3, 5), (2, 4, 3)], 0.2, size=2.0)
    shapes = [(2, 3, 4), (1, 3, 2)]
    yield _case(rng, "a weight without a part in it", shapes, 0.3, np.float32, unused=True)
    yield _case(rng, "a batch of padding alone", [(2, 3, 4), (2, 2, 0)], 50.0)
    yield _case(rng, "nothing but padding", [(1, 3, 0)], 1.0)
    yield _case(rng, "float32, clipped", [(2, 3, 6), (3, 3, 4)], 0.3, dtype=np.float32)


def step_hidden(rng: np.random.Generator) -> Iterator[Case]:
    values = np.round(rng.uniform(20, 30, size=4), 2)
    numbers = [_tensor(values[:1] - 9), _tensor(values[1:])]
    point = [_tensor(np.array(7.0))]
    yield Case("two batches of numbers, no clipping", (point, DISTANCES, numbers, 0.3, 90.0))
    yield Case("two batches of numbers, clipped", (point, DISTANCES, numbers, 0.3, 0.7))
    m = int(rng.integers(4, 7))
    yield _case(rng, "one batch", [(3, m, 2 * m)], 50.0)
    yield _case(rng, "two batches, one mostly padding", [(2, m, 2 * m), (2, m, 1)], 50.0)
    yield _case(rng, "three batches of different widths", [(1, 2, 1), (3, m, 9), (2, 4, 5)], 50.0)
    yield _case(rng, "a long gradient", [(2, m, m), (2, 4, 3)], 0.25, size=2.0)
    shapes = [(2, m, m), (1, 3, 2)]
    yield _case(rng, "a weight without a part in it", shapes, 0.3, np.float32, unused=True)
    yield _case(rng, "a batch of padding alone", [(2, 2, 0), (2, m, m)], 50.0)
    yield _case(rng, "nothing but padding", [(2, m, 0), (1, 2, 0)], 1.0)
    yield _case(rng, "float32, clipped", [(2, m, m), (3, 3, 7)], 0.3, dtype=np.float32)


def _tensor(array: np.ndarray) -> Tensor:
    return Tensor(array, gradient=False)


def _case(
    rng: np.random.Generator,
    note: str,
    shapes: list[tuple[int, int, int]],
    max_norm: float,
    dtype: type = np.float64,
    size: float = 0.7,
    unused: bool = False,
) -> Case:
    """A step of the small language model, on batches of so many rows, places and real tokens.

    A short gradient that is clipped is in float32: torch's `clip_grad_norm_` adds 1e-6 to its
    length, and is right.
    """
    vocabulary, d = (int(one) for one in rng.permutation([5, 6, 7])[:2])
    weights = [rng.normal(size=one) * size for one in ((vocabulary, d), (d, vocabulary))]
    weights += [rng.normal(size=(3,))] if unused else []
    batches = []
    for rows, places, real in shapes:
        inputs, targets = rng.integers(1, vocabulary, size=(2, rows * places))
        targets[real:] = 0
        pair = (one.reshape(rows, places) for one in (inputs, targets))
        batches.append(tuple(_tensor(one) for one in pair))
    given = [_tensor(one.astype(dtype)) for one in weights]
    rate = round(float(rng.uniform(0.3, 0.9)), 2)
    return Case(note, (given, NEXT_TOKEN, batches, rate, max_norm))


def train_step__one_graph(weights, loss_of, batches, rate, max_norm):
    leaves = [one.detach().clone().requires_grad_() for one in weights]
    losses, counts = zip(*(loss_of(leaves, batch) for batch in batches), strict=True)
    loss = torch.stack(losses).sum() / max(sum(counts), 1)
    found = torch.autograd.grad(loss, leaves, allow_unused=True)
    found = [torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)]
    length = torch.cat([one.flatten() for one in found]).norm()
    scale = torch.clamp(max_norm / length, max=1.0) if length > 0 else 1.0
    new = [w.detach() - rate * scale * g for w, g in zip(leaves, found, strict=True)]
    return new, loss.detach()


def train_step__optimiser(weights, loss_of, batches, rate, max_norm):
    parameters = [torch.nn.Parameter(one.clone()) for one in weights]
    optimiser = torch.optim.SGD(parameters, lr=rate)
    total, tokens = 0.0, 0
    for batch in batches:
        loss, counted = loss_of(parameters, batch)
        loss.backward()  # gradients add up
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    for one in parameters:
        if one.grad is not None:
            one.grad /= tokens
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimiser.step()
    return [one.detach() for one in parameters], total / tokens


def train_step__counted_first(weights, loss_of, batches, rate, max_norm):
    with torch.no_grad():
        tokens = max(sum(loss_of(weights, batch)[1] for batch in batches), 1)
    leaves = [one.detach().clone().requires_grad_() for one in weights]
    losses = []
    for batch in batches:
        mean = loss_of(leaves, batch)[0] / tokens
        mean.backward()
        losses.append(mean.detach())
    squares = sum(float((one.grad**2).sum()) for one in leaves if one.grad is not None)
    rate = rate * max_norm / squares**0.5 if squares > max_norm**2 else rate
    with torch.no_grad():
        new = [one if one.grad is None else one - rate * one.grad for one in leaves]
    return [one.detach() for one in new], sum(losses[1:], losses[0])


TRAIN_STEP = Exercise(
    name="train_step",
    points=4,
    difficulty=3,
    minutes=25,
    reference=solutions.train_step,
    cases=step_cases,
    hidden=step_hidden,
    misconceptions=WRONG_STEPS,
    alternatives=(train_step__one_graph, train_step__optimiser, train_step__counted_first),
    help=(
        "Copies of the weights that ask for gradients; the sum of the losses of all batches, and "
        "the number of their tokens; the gradient of the mean; clip it; step.",
        "`backward` adds to what is in `.grad` already, so it may be called once a batch. Divide "
        "when you know the number of all tokens. `.grad` of a weight that had no part is None.",
        "Chapter 9, 'A Transformer of your own': one step with one batch.",
    ),
    promises=(
        Promise(
            "weights: tensors of any shapes.",
            ("two batches of numbers, no clipping", "a weight without a part in it"),
        ),
        Promise(
            "loss_of(weights, batch) returns the sum of the losses of a batch's tokens, a scalar "
            "tensor, and the number of tokens that count.",
            ("one batch", "two batches of numbers, no clipping"),
        ),
        Promise(
            "The loss of the step is the mean over the tokens of all batches together; a batch "
            "without any adds nothing, and the loss is 0 if no batch has one.",
            (
                "two batches, one mostly padding",
                "three batches of different widths",
                "a batch of padding alone",
                "nothing but padding",
            ),
        ),
        Promise(
            "max_norm: if the gradients of all weights, taken as one long vector, are longer than "
            "that, they are shortened to it, all by one factor.",
            ("a long gradient", "float32, clipped", "two batches of numbers, clipped"),
        ),
        Promise(
            "A millionth added to their length, as torch adds it, is no mistake: max_norm is 0.1 "
            "or more.",
            ("a long gradient", "two batches of numbers, clipped"),
        ),
        Promise(
            "The new weights are the old ones minus `rate` times these gradients.",
            ("one batch", "two batches of numbers, no clipping"),
        ),
        Promise(
            "Returns the new weights, in their order, and the loss before the step, a scalar "
            "tensor.",
            ("one batch", "a weight without a part in it"),
        ),
        Promise(
            "`weights` are not changed; a weight on which no loss depends keeps its values.",
            ("a weight without a part in it",),
        ),
    ),
    kind=Kind.TRANSFER,
)
