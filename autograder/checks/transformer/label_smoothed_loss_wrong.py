"""The mistakes of `label_smoothed_loss`, and the questions that they raise."""

from __future__ import annotations

import torch

from ...judging.exercise import Misconception


def loss__shared_by_the_others(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    others = (surprise.sum(dim=-1) - sure) / (logits.shape[-1] - 1)
    losses = (1 - smoothing) * sure + smoothing * others
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__not_smoothed(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    return sure[counts].sum() / counts.sum().clamp(min=1)


def loss__exchanged(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = smoothing * sure + (1 - smoothing) * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__share_for_each(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.sum(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__more_than_one_dealt_out(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__mean_over_all_places(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return (losses * counts).sum() / max(counts.numel(), 1)


def loss__nothing_ignored(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    sure = surprise.gather(-1, targets[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses.sum() / max(losses.numel(), 1)


def loss__padding_in_the_even_part(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0] * counts
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses.sum() / counts.sum().clamp(min=1)


def loss__sum(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum()


def loss__mean_of_the_means(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = ((1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)) * counts
    return (losses.sum(dim=-1) / counts.sum(dim=-1).clamp(min=1)).mean()


def loss__no_logarithm(logits, targets, smoothing, ignore_index):
    surprise = -logits.softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__softmax_twice(logits, targets, smoothing, ignore_index):
    surprise = -logits.softmax(dim=-1).log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__logarithm_of_zero(logits, targets, smoothing, ignore_index):
    surprise = -torch.log(logits.softmax(dim=-1))
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def loss__divided_by_nothing(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].mean()


MISCONCEPTIONS = (
    Misconception(
        "the share dealt to the others only",
        loss__shared_by_the_others,
        "Does the right token get its part of what is dealt out? With smoothing = 1, what should "
        "be wanted of it?",
    ),
    Misconception(
        "not smoothed",
        loss__not_smoothed,
        "What does your function do with the argument `smoothing`?",
    ),
    Misconception(
        "the two shares exchanged",
        loss__exchanged,
        "With smoothing = 0, which tokens should matter?",
    ),
    Misconception(
        "the whole share for every token",
        loss__share_for_each,
        "What is wanted of all tokens together? Add up your shares: do they make 1?",
    ),
    Misconception(
        "nothing taken from the right token",
        loss__more_than_one_dealt_out,
        "What is dealt out must come from somewhere. Add up your shares: do they make 1?",
    ),
    Misconception(
        "mean over all places",
        loss__mean_over_all_places,
        "Add ten ignored places to a row. Should the mean change?",
    ),
    Misconception(
        "nothing ignored",
        loss__nothing_ignored,
        "What does your function do with the argument `ignore_index`?",
    ),
    Misconception(
        "ignored places still smoothed",
        loss__padding_in_the_even_part,
        "Your loss has two parts. Is an ignored place left out of both?",
    ),
    Misconception(
        "sum for mean",
        loss__sum,
        "A batch twice as large: should the loss be twice as large?",
    ),
    Misconception(
        "mean of the rows' means",
        loss__mean_of_the_means,
        "A short sentence and a long one: does each of their places weigh the same in your mean?",
    ),
    Misconception(
        "no logarithm",
        loss__no_logarithm,
        "A right token with the probability 0: how large should the loss be, and how large can "
        "yours get?",
    ),
    Misconception(
        "softmax twice",
        loss__softmax_twice,
        "`log_softmax`, like `F.cross_entropy`, takes logits. What do you hand it?",
    ),
    Misconception(
        "logarithm of a rounded zero",
        loss__logarithm_of_zero,
        "A logit that lies 1000 below the largest: what is its softmax in floating point, and what "
        "the logarithm of that?",
    ),
    Misconception(
        "divided by nothing",
        loss__divided_by_nothing,
        "What is your mean if no place counts?",
    ),
)
