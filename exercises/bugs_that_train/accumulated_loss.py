"""The exercise `accumulated_loss`: a batch that comes in parts. To debug."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import mended as solutions

accumulated_loss = Declaration(
    solutions.accumulated_loss,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Take two parts, one with a single target and one with three, and let the four losses be "
        "4, 0, 0 and 0. Their mean is 1. What does the function return?",
        "A mean may be taken only once, at the end.",
        "This chapter's section “Where the loss does not look”.",
    ),
)


@accumulated_loss.right
def in_one_part(logits, targets, ignored):
    return F.cross_entropy(torch.cat(list(logits)), torch.cat(list(targets)), ignore_index=ignored)


@accumulated_loss.right
def shares(logits, targets, ignored):
    counts = [(own != ignored).sum().item() for own in targets]
    loss = torch.zeros((), dtype=logits[0].dtype)
    for one, own, count in zip(logits, targets, counts, strict=True):
        if count:
            share = count / sum(counts)
            loss = loss + share * F.cross_entropy(one, own, ignore_index=ignored)
    return loss


@accumulated_loss.right
def target_by_target(logits, targets, ignored):
    losses = [
        torch.logsumexp(row, 0) - row[target]
        for one, own in zip(logits, targets, strict=True)
        for row, target in zip(one, own.tolist(), strict=True)
        if target != ignored
    ]
    return torch.stack(losses).mean()


@accumulated_loss.wrong(
    "a mean of means",
    "One part has a single target, the other has two. How much does each of the three count?",
    released=True,
)
def mean_of_means(logits, targets, ignored):
    losses = [
        F.cross_entropy(one, own, ignore_index=ignored)
        for one, own in zip(logits, targets, strict=True)
        if (own != ignored).any()
    ]
    return sum(losses) / len(losses)


@accumulated_loss.wrong(
    "weighted by the size of the part", "Do the targets that are ignored count in a part's weight?"
)
def _(logits, targets, ignored):
    total, count = 0.0, 0
    for one, own in zip(logits, targets, strict=True):
        if (own != ignored).any():
            total = total + F.cross_entropy(one, own, ignore_index=ignored) * len(own)
            count += len(own)
    return total / count


@accumulated_loss.wrong(
    "divided by the number of all targets",
    "How many numbers do you divide by, and how many did you add up?",
)
def divided_by_all(logits, targets, ignored):
    total = sum(
        F.cross_entropy(one, own, ignore_index=ignored, reduction="sum")
        for one, own in zip(logits, targets, strict=True)
    )
    return total / sum(len(own) for own in targets)


accumulated_loss.wrong(
    "the sum of the means",
    "What happens to the loss if the same batch comes in twice as many parts?",
    mean_of_means.edit("sum(losses) / len(losses)", "sum(losses)"),
)
accumulated_loss.wrong(
    "never divided",
    "What happens to the loss if the batch is twice as large?",
    divided_by_all.edit("total / sum(len(own) for own in targets)", "total"),
)
accumulated_loss.wrong(
    "divided by the number of parts",
    "What does the mean of all targets have to do with the number of parts?",
    divided_by_all.edit("sum(len(own) for own in targets)", "len(targets)"),
)


IGNORED = -1


@accumulated_loss.public
def _(rng):
    yield Case("two parts, of one target and of two", _inputs(rng, [1, 2], [0, 0], 3)).holds(
        "logits: of each part", "as if they had come in one part"
    )
    yield Case("two parts of three, one target does not count", _inputs(rng, [3, 3], [1, 0], 4))
    yield Case(
        "three parts, several targets do not count", _inputs(rng, [4, 2, 5], [1, 0, 3], 5)
    ).holds("m may differ")
    yield Case("a part in which no target counts", _inputs(rng, [2, 3, 1], [2, 1, 0], 4)).holds(
        "some other one is there, though not in every part"
    )
    yield Case("one part", _inputs(rng, [4], [1], 3)).holds("logits: of…")
    yield Case("another number is ignored", _inputs(rng, [3, 4], [2, 0], 4, ignored=2)).holds(
        "some other…"
    )
    yield Case("float32", _inputs(rng, [2, 5], [0, 2], 6, dtype=np.float32))
    yield Case("large logits", _inputs(rng, [2, 4], [1, 1], 3, size=60.0))


@accumulated_loss.hidden
def _(rng):
    sizes = [int(one) for one in rng.permutation([2, 4, 6])]
    yield Case("parts of several sizes", _inputs(rng, sizes, [0, 1, 0], 5))
    yield Case("several targets do not count", _inputs(rng, [5, 4, 6], [4, 0, 2], 4))
    yield Case("a part in which no target counts", _inputs(rng, [3, *sizes], [3, 1, 0, 1], 4))
    yield Case("one part", _inputs(rng, sizes[:1], [1], 4))
    yield Case("another number is ignored", _inputs(rng, [4, 3], [1, 2], 5, ignored=0))
    yield Case("float32", _inputs(rng, sizes, [1, 1, 0], 6, dtype=np.float32))


def _inputs(
    rng: np.random.Generator,
    sizes: list[int],
    without: list[int],
    vocabulary: int,
    ignored: int = IGNORED,
    size: float = 2.0,
    dtype: type = np.float64,
) -> tuple[list[Tensor], list[Tensor], int]:
    """Parts of these sizes, in each of which so many targets are `ignored`."""
    logits, targets = [], []
    for m, out in zip(sizes, without, strict=True):
        logits.append(Tensor((size * rng.normal(size=(m, vocabulary))).astype(dtype)))
        known = [one for one in range(vocabulary) if one != ignored]
        own = rng.choice(known, size=m)
        own[rng.permutation(m)[:out]] = ignored
        targets.append(Tensor(own.astype(np.int64)))
    return logits, targets, ignored
