"""The exercise `label_smoothed_loss`: cross-entropy with a share dealt out to all tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions import transformer as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Promise, Tensor
from .label_smoothed_loss_wrong import MISCONCEPTIONS


def loss_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "one place, three tokens, no smoothing", (1, 3), 0.0, -100, 0)
    yield _case(rng, "two places, a share of 0.3", (2, 4), 0.3, -100, 0)
    yield _case(rng, "padding (0) is ignored", (4, 5), 0.2, 0, 2)
    yield _case(rng, "large logits", (3, 5), 0.1, 0, 1, size=800.0)
    yield _case(rng, "float32, a batch, -100 is ignored", (2, 3, 6), 0.1, -100, 2, np.float32)
    yield _case(rng, "nothing counts", (2, 2, 3), 0.1, 0, 4)
    yield _case(rng, "all dealt out", (2, 3), 1.0, -100, 0)
    yield _case(rng, "a number beyond the ids is ignored", (4, 3), 0.2, 99, 2)
    yield _case(rng, "no place", (2, 0, 3), 0.1, -100, 0)
    yield _case(rng, "a batch of one, one place, one token", (1, 1, 1), 0.1, -100, 0)
    yield _case(rng, "three leading axes", (2, 1, 3, 4), 0.1, 0, 2)


def loss_hidden(rng: np.random.Generator) -> Iterator[Case]:
    batch, m, V = (int(one) for one in rng.permutation([3, 4, 5]))
    share = float(rng.uniform(0.05, 0.4))
    ignored = int(rng.integers(V))
    yield _case(rng, "nothing to ignore", (batch * m, V), share, -100, 0)
    yield _case(rng, "one token is ignored", (batch, m, V), share, ignored, 4)
    yield _case(rng, "large logits", (m, V), share, ignored, 1, size=800.0)
    yield _case(rng, "more than half dealt out", (m, V), 1 - share, ignored, 1)
    yield _case(rng, "float32, two leading axes", (batch, m, V), share, -100, 3, np.float32)
    yield _case(rng, "nothing counts", (batch, m, V), share, ignored, batch * m)
    yield _case(rng, "nothing dealt out", (batch, m, V), 0.0, ignored, 2)
    yield _case(rng, "all dealt out", (batch, m, V), 1.0, ignored, 2)
    beyond = V + int(rng.integers(20))
    yield _case(rng, "a number beyond the ids is ignored", (batch, m, V), share, beyond, 3)
    yield _case(rng, "no place", (0, V), share, -100, 0)
    yield _case(rng, "three leading axes", (2, batch, 1, m, V), share, ignored, 3)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    smoothing: float,
    ignore_index: int,
    n_ignored: int,
    dtype: type = np.float64,
    size: float = 2.0,
) -> Case:
    """Logits of `shape`, and targets of which `n_ignored` are `ignore_index`, drawn where."""
    logits: np.ndarray = (rng.normal(size=shape) * size).astype(dtype)
    tokens = [token for token in range(shape[-1]) if token != ignore_index]
    targets = rng.choice(tokens, size=shape[:-1])
    targets.flat[rng.permutation(targets.size)[:n_ignored]] = ignore_index
    return Case(note, (Tensor(logits), Tensor(targets), smoothing, ignore_index))


def label_smoothed_loss__log_sum(logits, targets, smoothing, ignore_index):
    counts = targets != ignore_index
    right = logits.gather(-1, torch.where(counts, targets, 0)[..., None])[..., 0]
    losses = logits.logsumexp(-1) - (1 - smoothing) * right - smoothing * logits.mean(-1)
    return torch.where(counts, losses, 0).sum() / counts.sum().clamp(min=1)


def label_smoothed_loss__against_a_distribution(logits, targets, smoothing, ignore_index):
    V = logits.shape[-1]
    counts = targets != ignore_index
    logits, targets = logits[counts], targets[counts]
    if len(targets) == 0:
        return logits.sum()
    wanted = F.one_hot(targets, V) * (1 - smoothing) + smoothing / V
    return -(wanted.to(logits.dtype) * F.log_softmax(logits, -1)).sum() / len(targets)


def label_smoothed_loss__place_by_place(logits, targets, smoothing, ignore_index):
    total, count = logits.sum() * 0, 0
    for scores, target in zip(logits.flatten(0, -2), targets.flatten().tolist(), strict=True):
        if target == ignore_index:
            continue
        surprise = torch.logsumexp(scores, dim=0) - scores
        total = total + (1 - smoothing) * surprise[target] + smoothing * surprise.mean()
        count += 1
    return total / max(count, 1)


LABEL_SMOOTHED_LOSS = Exercise(
    name="label_smoothed_loss",
    points=4,
    difficulty=3,
    minutes=20,
    reference=solutions.label_smoothed_loss,
    cases=loss_cases,
    hidden=loss_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        label_smoothed_loss__log_sum,
        label_smoothed_loss__against_a_distribution,
        label_smoothed_loss__place_by_place,
    ),
    help=(
        "The cross-entropy of a place is a mean of the surprises -log p of all tokens. Each weighs "
        "`smoothing / V`, and the right one `1 - smoothing` more. Then the mean over the places "
        "that count.",
        "`log_softmax` overflows nowhere. `gather` picks one token's number at each place, but not "
        "at an id that is none: put another there before, and throw the place away afterwards. "
        "What do you divide by if no place counts?",
        "Chapter 9, 'The loss, and its smoothing'.",
    ),
    promises=(
        Promise(
            "logits: (..., m, V)",
            (
                "two places, a share of 0.3",
                "float32, a batch, -100 is ignored",
                "float32, two leading axes",
                "three leading axes",
                "a batch of one, one place, one token",
            ),
        ),
        Promise("and may be large", ("large logits",)),
        Promise("targets: ids (..., m)", ("two places, a share of 0.3", "three leading axes")),
        Promise("m may be 0", ("no place",)),
        Promise(
            "where they are `ignore_index`, an id or any other number, a place counts neither in "
            "the sum nor in the mean",
            (
                "padding (0) is ignored",
                "float32, a batch, -100 is ignored",
                "a number beyond the ids is ignored",
            ),
        ),
        Promise(
            "smoothing: from 0 to 1, the share of the probability that is dealt out evenly to all "
            "V tokens, the right one among them.",
            (
                "one place, three tokens, no smoothing",
                "two places, a share of 0.3",
                "more than half dealt out",
                "all dealt out",
                "nothing dealt out",
            ),
        ),
        Promise("Returns a scalar tensor", ("two places, a share of 0.3",)),
        Promise("0 if no place counts", ("nothing counts", "no place")),
    ),
    forbidden=forbidden.CROSS_ENTROPY,
)
