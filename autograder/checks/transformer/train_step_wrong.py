"""The mistakes of `train_step`, and the questions that they raise."""

from __future__ import annotations

import torch

from ...judging.exercise import Misconception


def train_step__means_averaged(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g / max(counted, 1) for a, g in zip(sums, found, strict=True)]
        loss = loss / max(counted, 1)
        total, tokens = total + loss.detach(), tokens + counted
    sums = [one / len(batches) for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / len(batches)


def train_step__means_added(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g / max(counted, 1) for a, g in zip(sums, found, strict=True)]
        loss = loss / max(counted, 1)
        total, tokens = total + loss.detach(), tokens + counted
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / 1


def train_step__not_divided(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / 1


def train_step__only_the_last(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = found
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__a_step_for_each(weights, loss_of, batches, rate, max_norm):
    new, total, every = [one.clone() for one in weights], 0, 0
    for batch in batches:
        leaves = [one.clone().requires_grad_() for one in new]
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss / max(counted, 1), leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        length = torch.cat([one.flatten() for one in found]).norm()
        factor = rate * min(1.0, max_norm / max(float(length), 1e-30))
        new = [w.detach() - factor * g for w, g in zip(leaves, found, strict=True)]
        total, every = total + loss.detach(), every + counted
    return new, total / max(every, 1)


def train_step__clipped_each_batch(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        length = torch.cat([one.flatten() for one in found]).norm() / max(counted, 1)
        factor = min(1.0, max_norm / max(float(length), 1e-30))
        sums = [a + factor * g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__clipped_each_weight(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    sums = [one * min(1.0, max_norm / max(float(one.norm()), 1e-30)) for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__numbers_clipped(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    sums = [one.clamp(-max_norm, max_norm) for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__never_clipped(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__always_max_norm(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    sums = [one * max_norm / max(float(length), 1e-30) for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__clipped_before_the_mean(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() - rate * g for w, g in pairs], total / tokens


def train_step__uphill(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    pairs = zip(leaves, sums, strict=True)
    return [w.detach() + rate * g for w, g in pairs], total / tokens


def train_step__loss_after_the_step(weights, loss_of, batches, rate, max_norm):
    leaves = [one.clone().requires_grad_() for one in weights]
    sums = [torch.zeros_like(one) for one in leaves]
    total, tokens = 0, 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        found = [
            torch.zeros_like(w) if g is None else g for w, g in zip(leaves, found, strict=True)
        ]
        sums = [a + g for a, g in zip(sums, found, strict=True)]
        total, tokens = total + loss.detach(), tokens + counted
    tokens = max(tokens, 1)
    sums = [one / tokens for one in sums]
    length = torch.cat([one.flatten() for one in sums]).norm()
    if length > max_norm:
        sums = [one * max_norm / length for one in sums]
    new = [w.detach() - rate * g for w, g in zip(leaves, sums, strict=True)]
    after = [loss_of(new, batch)[0].detach() for batch in batches]
    return new, torch.stack(after).sum() / tokens


WRONG_STEPS = (
    Misconception(
        "the mean of the batches' means",
        train_step__means_averaged,
        "One batch has a single token and another has nine. Which share of the loss should "
        "the single one have, and which has it in yours?",
    ),
    Misconception(
        "the means added",
        train_step__means_added,
        "Give the same batch twice. Should the step be twice as long?",
    ),
    Misconception(
        "sums in place of a mean",
        train_step__not_divided,
        "The loss of the step is a mean. Over how many tokens, and where do you divide?",
    ),
    Misconception(
        "the last batch alone",
        train_step__only_the_last,
        "What became of the gradient of the first batch when the second came?",
    ),
    Misconception(
        "a step for each batch",
        train_step__a_step_for_each,
        "With which weights should the loss of the second batch be computed: the old ones, or "
        "those that the first batch has changed?",
    ),
    Misconception(
        "each batch clipped by itself",
        train_step__clipped_each_batch,
        "Which gradient may not be longer than `max_norm`: that of a small batch, or that of "
        "the whole step?",
    ),
    Misconception(
        "each weight clipped by itself",
        train_step__clipped_each_weight,
        "Two tensors have gradients of length 3 and 4. How long is the one vector made of "
        "both, and in which direction does it point after clipping, yours and the right one?",
    ),
    Misconception(
        "each number clipped",
        train_step__numbers_clipped,
        "A gradient (3, 4) is shortened to length 1. Is it (0.6, 0.8), or (1, 1)?",
    ),
    Misconception(
        "no clipping",
        train_step__never_clipped,
        "How long is the gradient when it is longer than `max_norm`?",
    ),
    Misconception(
        "short gradients lengthened",
        train_step__always_max_norm,
        "The gradient has length 0.1 and `max_norm` is 1. What should clipping do to it?",
    ),
    Misconception(
        "clipped before the mean is taken",
        train_step__clipped_before_the_mean,
        "Is it the gradient of the sum that may not be longer than `max_norm`, or that of the "
        "mean?",
    ),
    Misconception(
        "uphill",
        train_step__uphill,
        "In which direction does the gradient point: where the loss grows, or where it falls?",
    ),
    Misconception(
        "the loss after the step",
        train_step__loss_after_the_step,
        "With which weights is the loss that you return computed: the old ones, or the new?",
    ),
)
