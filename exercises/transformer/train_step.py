"""The exercise `train_step`: one step on several small batches, judged by the weights after it."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction, Tensor
from solutions.variants import translating as solutions

train_step = Declaration(
    solutions.train_step,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Make copies of the weights that require gradients. Add up the losses of all batches, "
        "and count their tokens. Take the gradient of the mean, clip it, and step.",
        "`backward` adds to what is in `.grad` already, so you may call it once per batch. "
        "Divide when you know the number of all tokens. `.grad` of a weight that took no part is "
        "None.",
        "Section “A Transformer of your own”: one step with one batch.",
    ),
)


@train_step.right
def one_graph(weights, loss_of, batches, rate, max_norm):
    leaves = [one.detach().clone().requires_grad_() for one in weights]
    losses, counts = zip(*(loss_of(leaves, batch) for batch in batches), strict=True)
    loss = torch.stack(losses).sum() / max(sum(counts), 1)
    found = torch.autograd.grad(loss, leaves, allow_unused=True)
    found = [torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)]
    length = torch.cat([one.flatten() for one in found]).norm()
    scale = torch.clamp(max_norm / length, max=1.0) if length > 0 else 1.0
    new = [w.detach() - rate * scale * g for w, g in zip(leaves, found, strict=True)]
    return new, loss.detach()


@train_step.right
def optimiser(weights, loss_of, batches, rate, max_norm):
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


@train_step.right
def counted_first(weights, loss_of, batches, rate, max_norm):
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


@train_step.right
def plain(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, materialize_grads=True)
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


unclipped = plain.edit(
    "if length > max_norm:\n    sums = [one * max_norm / length for one in sums]", ""
)
means_averaged = train_step.wrong(
    "the mean of the batches' means",
    "One batch has a single token and another has nine. What share of the loss should the single "
    "one have, and what share does it have in yours?",
    plain.edit("a + g for", "a + g / max(counted, 1) for")
    .edit("total + loss.detach()", "total + loss.detach() / max(counted, 1)")
    .edit("tokens = max(tokens, 1)", "tokens = len(batches)"),
)
train_step.wrong(
    "the means added",
    "Pass the same batch twice. Should the step be twice as long?",
    means_averaged.edit("tokens = len(batches)", "tokens = 1"),
)
train_step.wrong(
    "sums in place of a mean",
    "The loss of the step is a mean. Over how many tokens, and where do you divide?",
    plain.edit("tokens = max(tokens, 1)", "tokens = 1"),
)
train_step.wrong(
    "the last batch alone",
    "What happens to the gradient of the first batch when the second one comes?",
    plain.edit("a + g for a, g in", "g for _, g in"),
)


@train_step.wrong(
    "a step for each batch",
    "With which weights should the loss of the second batch be computed: the old ones, or those "
    "that the first batch has changed?",
)
def _(weights, loss_of, batches, rate, max_norm):
    new, total, every = [one.clone() for one in weights], 0, 0
    for batch in batches:
        leaves = [one.clone().requires_grad_() for one in new]
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss / max(counted, 1), leaves, materialize_grads=True)
        length = torch.cat([one.flatten() for one in found]).norm()
        factor = rate * min(1.0, max_norm / max(float(length), 1e-30))
        new = [w.detach() - factor * g for w, g in zip(leaves, found, strict=True)]
        total, every = total + loss.detach(), every + counted
    return new, total / max(every, 1)


train_step.wrong(
    "each batch clipped by itself",
    "Which gradient may not be longer than `max_norm`: that of a small batch, or that of the "
    "whole step?",
    unclipped.edit(
        "sums = [a + g for a, g in zip(sums, found, strict=True)]",
        "length = torch.cat([one.flatten() for one in found]).norm() / max(counted, 1)\n"
        "factor = min(1.0, max_norm / max(float(length), 1e-30))\n"
        "sums = [a + factor * g for a, g in zip(sums, found, strict=True)]",
    ),
)
train_step.wrong(
    "each weight clipped by itself",
    "Two tensors have gradients of length 3 and 4. How long is the one vector made of both? In "
    "which direction should it point after clipping, and in which does yours point?",
    plain.edit(
        "if length > max_norm:\n    sums = [one * max_norm / length for one in sums]",
        "sums = [one * min(1.0, max_norm / max(float(one.norm()), 1e-30)) for one in sums]",
    ),
)
train_step.wrong(
    "each number clipped",
    "A gradient (3, 4) is shortened to length 1. Is it (0.6, 0.8), or (1, 1)?",
    plain.edit(
        "if length > max_norm:\n    sums = [one * max_norm / length for one in sums]",
        "sums = [one.clamp(-max_norm, max_norm) for one in sums]",
    ),
)
train_step.wrong(
    "no clipping",
    "The gradient is longer than `max_norm`. How long should it be when you take the step, and "
    "how long is yours?",
    unclipped,
)
train_step.wrong(
    "short gradients lengthened",
    "The gradient has length 0.1 and `max_norm` is 1. What should clipping do to it?",
    plain.edit(
        "if length > max_norm:\n    sums = [one * max_norm / length for one in sums]",
        "sums = [one * max_norm / max(float(length), 1e-30) for one in sums]",
    ),
)
train_step.wrong(
    "clipped before the mean is taken",
    "Is it the gradient of the sum that may not be longer than `max_norm`, or that of the mean?",
    plain.edit("sums = [one / tokens for one in sums]", "").edit("rate * g", "rate * (g / tokens)"),
)
train_step.wrong(
    "uphill",
    "In which direction does the gradient point: where the loss grows, or where it falls?",
    plain.edit("w.detach() - rate * g", "w.detach() + rate * g"),
)
train_step.wrong(
    "the loss after the step",
    "With which weights is the loss that you return computed: the old ones, or the new?",
    plain.edit(
        "pairs = zip(leaves, sums, strict=True)\n"
        "return [w.detach() - rate * g for w, g in pairs], total / tokens",
        "new = [w.detach() - rate * g for w, g in zip(leaves, sums, strict=True)]\n"
        "after = [loss_of(new, batch)[0].detach() for batch in batches]\n"
        "return new, torch.stack(after).sum() / tokens",
    ),
)


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
"Weights after the first two are not used."


DISTANCES = SourceFunction(
    "loss_of",
    """
def loss_of(weights, batch):
    # half the squared distance of one weight from each number of the batch
    return ((weights[0] - batch) ** 2).sum() / 2, len(batch)
""",
)
"""The gradient of the mean is the weight minus the mean of all numbers."""


@train_step.public
def _(rng):
    numbers = [_tensor(np.array(one)) for one in ([2.0], [22.0, 22.0, 22.0])]
    point = [_tensor(np.array(6.0))]
    yield Case("two batches of numbers, no clipping", (point, DISTANCES, numbers, 0.5, 30.0)).holds(
        "weights: tensors of any shapes.",
        "loss_of(weights, batch) returns the sum of the losses of a batch's tokens, a scalar "
        "tensor, and the number of tokens that count.",
        "The new weights are the old ones minus `rate` times these gradients.",
    )
    yield Case("two batches of numbers, clipped", (point, DISTANCES, numbers, 0.5, 1.0)).holds(
        "max_norm: if the gradients of all weights, taken as one long vector, are longer than "
        "that, they are shortened to it, all by one factor.",
        "A millionth added to their length, as torch adds it, is no mistake: max_norm is 0.1 or "
        "more.",
    )
    yield Case("barely too long", (point, DISTANCES, numbers, 0.5, 10.99)).holds("max_norm: if…")
    yield Case("barely short enough", (point, DISTANCES, numbers, 0.5, 11.01)).holds(
        "max_norm: if…"
    )
    yield _case(rng, "one batch", [(2, 3, 6)], 50.0).holds(
        "loss_of(weights, batch)…",
        "The new weights…",
        "Returns the new weights, in their order, and the loss before the step, a scalar tensor.",
    )
    yield _case(rng, "two batches, one mostly padding", [(2, 4, 8), (2, 4, 2)], 50.0).holds(
        "The loss of the step is the mean over the tokens of all batches together; a batch "
        "without any adds nothing, and the loss is 0 if no batch has one."
    )
    yield _case(
        rng, "three batches of different widths", [(1, 2, 2), (3, 5, 9), (2, 4, 5)], 50.0
    ).holds("The loss…")
    yield _case(rng, "a long gradient", [(2, 3, 5), (2, 4, 3)], 0.2, size=2.0).holds(
        "max_norm: if…", "A millionth…"
    )
    shapes = [(2, 3, 4), (1, 3, 2)]
    yield _case(rng, "a weight that is not used", shapes, 0.3, np.float32, unused=True).holds(
        "weights: tensors…",
        "Returns the…",
        "`weights` are not changed; a weight on which no loss depends keeps its values.",
    )
    yield _case(rng, "a batch of padding alone", [(2, 3, 4), (2, 2, 0)], 50.0).holds("The loss…")
    yield _case(rng, "padding in every batch", [(1, 3, 0)], 1.0).holds("The loss…")
    yield _case(rng, "float32, clipped", [(2, 3, 6), (3, 3, 4)], 0.3, dtype=np.float32).holds(
        "max_norm: if…"
    )


@train_step.hidden
def _(rng):
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
    yield _case(rng, "a weight that is not used", shapes, 0.3, np.float32, unused=True)
    yield _case(rng, "a batch of padding alone", [(2, 2, 0), (2, m, m)], 50.0)
    yield _case(rng, "padding in every batch", [(2, m, 0), (1, 2, 0)], 1.0)
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


train_step.mutant("barely too long left alone", "length > max_norm", "length > 1.01 * max_norm")
train_step.mutant("short enough, yet changed", "length > max_norm", "length > 0.99 * max_norm")
