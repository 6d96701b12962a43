"""The exercise `beam_step`: a beam search's step, for a whole batch of sentences at once."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import translating as solutions

beam_step = Declaration(
    solutions.beam_step,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Put all continuations of a sentence into one row and find the best of them. The index "
        "of each in this row gives its beginning and its token.",
        "Before you add: for a beginning that has ended, set all log-probabilities to -inf, "
        "except that of `pad`, which is 0. `torch.topk` finds the best; `//` and `%` take an "
        "index apart.",
        "Section “Keeping more than one beginning”, where a step keeps the best of six.",
    ),
)


@beam_step.right
def by_sorted(sums, log_probabilities, ended, pad):
    batch, beam, size = log_probabilities.shape
    totals = sums.unsqueeze(-1) + log_probabilities
    totals = totals.masked_fill(ended.unsqueeze(-1), -torch.inf)
    totals[..., pad] = torch.where(ended, sums, totals[..., pad])
    totals = totals.reshape(batch, beam * size)
    order = totals.argsort(dim=-1, descending=True)[:, :beam]
    origins = torch.div(order, size, rounding_mode="floor")
    return totals.gather(-1, order), origins, order - origins * size


@beam_step.right
def pick_by_pick(sums, log_probabilities, ended, pad):
    only_pad = torch.arange(log_probabilities.shape[-1]) == pad
    hidden = ended[..., None] & ~only_pad
    totals = torch.where(ended[..., None], sums[..., None], sums[..., None] + log_probabilities)
    totals = totals.masked_fill(hidden, -torch.inf)
    rows = torch.arange(len(sums))
    picks = []
    for _ in range(sums.shape[1]):
        by_beginning, tokens = totals.max(dim=-1)
        origins = torch.zeros(len(sums), dtype=torch.int64)
        for row in rows.tolist():
            origins[row] = by_beginning[row].argmax()
        token = tokens[rows, origins]
        picks.append((totals[rows, origins, token], origins, token))
        totals[rows, origins, token] = -torch.inf
    return tuple(torch.stack(one, dim=1) for one in zip(*picks, strict=True))


@beam_step.right
def two_stages(sums, log_probabilities, ended, pad):
    beam, size = sums.shape[1], log_probabilities.shape[-1]
    gains = log_probabilities.clone()
    gains[ended] = -torch.inf
    gains[..., pad] = gains[..., pad].masked_fill(ended, 0.0)
    each, tokens = gains.topk(min(beam, size), dim=-1)
    totals = (sums.unsqueeze(2) + each).flatten(start_dim=1)
    best, index = torch.topk(totals, beam, dim=1)
    return best, index // each.shape[-1], tokens.flatten(start_dim=1).gather(1, index)


@beam_step.right
def plain(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


beam_step.wrong(
    "one continuation of each beginning",
    "Can two of the best continuations belong to the same beginning?",
    plain.edit(
        "best, index = totals.flatten(1).topk(sums.shape[1])\n"
        "size = log_probabilities.shape[-1]\n"
        "return best, index // size, index % size",
        "best, tokens = totals.max(dim=-1)\n"
        "best, origins = best.sort(dim=-1, descending=True)\n"
        "return best, origins, tokens.gather(-1, origins)",
    ),
)
beam_step.wrong(
    "the sums so far forgotten",
    "A sentence has five tokens. How many of their log-probabilities belong in its sum, and how "
    "many are in yours?",
    plain.edit(
        "totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)",
        "totals = torch.where(ended[..., None], only_pad, log_probabilities)\n"
        "totals = torch.where(sums[..., None].isinf(), sums[..., None], totals)",
    ),
)
beam_step.wrong(
    "an ended beginning continued",
    "A beginning has ended with stop. Which tokens may follow, and what do they cost?",
    plain.edit("torch.where(ended[..., None], only_pad, log_probabilities)", "log_probabilities"),
)
beam_step.wrong(
    "padding that costs",
    "A sentence has ended. Should its sum become smaller while the others are written?",
    plain.edit("only_pad[..., pad] = 0", "only_pad[..., pad] = log_probabilities[..., pad]"),
)
beam_step.wrong(
    "beginnings that have ended dropped",
    "A sentence has ended, and its sum is the best of all. Where is it after your step?",
    plain.edit("only_pad[..., pad] = 0", ""),
)
beam_step.wrong(
    "every token free after the end",
    "After its stop, a beginning has one continuation. How many does it have in your function?",
    plain.edit(
        "torch.full_like(log_probabilities, -torch.inf)", "torch.zeros_like(log_probabilities)"
    ),
)
beam_step.wrong(
    "the index divided by the beam",
    "The continuations of a sentence are in one row, beam times V long. How many of them belong "
    "to the first beginning?",
    plain.edit("size = log_probabilities.shape[-1]", "size = sums.shape[1]"),
)
beam_step.wrong(
    "beginning and token exchanged",
    "Is the quotient of an index and V the beginning, or the token?",
    plain.edit("index // size, index % size", "index % size, index // size"),
)
beam_step.wrong(
    "the smallest first",
    "Which of the sums that you return comes first?",
    plain.edit(
        "totals.flatten(1).topk(sums.shape[1])",
        "(one.flip(-1) for one in totals.flatten(1).topk(sums.shape[1]))",
    ),
)
beam_step.wrong(
    "the best of the whole batch",
    "Two sentences are translated side by side. May one take the other's places?",
    plain.edit(
        "totals.flatten(1).topk(sums.shape[1])",
        "(one.view(sums.shape) for one in totals.flatten().topk(sums.numel()))",
    ).edit("index // size,", "index // size % sums.shape[1],"),
)


@beam_step.wrong(
    "probabilities multiplied", "Which probability has the logarithm -2000? Can a computer hold it?"
)
def _(sums, log_probabilities, ended, pad):
    only_pad = torch.zeros_like(log_probabilities)
    only_pad[..., pad] = 1
    gains = torch.where(ended[..., None], only_pad, log_probabilities.exp())
    best, index = (sums.exp()[..., None] * gains).flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best.log(), index // size, index % size


@beam_step.public
def _(rng):
    by_hand = np.log([[[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]]])
    yield _given(
        "two beginnings, three tokens", np.log([[0.5, 0.4]]), by_hand, [[False, False]], 0
    ).holds(
        "sums: (batch, beam), the sums of log-probabilities of the beginnings that are kept; "
        "-inf where there is none yet.",
        "Returns the new sums, which beginning each continues, and the token that continues it, "
        "(batch, beam) each; the last two are ids.",
    )
    yield _given("one of two has ended", np.log([[0.3, 0.35]]), by_hand, [[True, False]], 0).holds(
        "ended: boolean (batch, beam), True where a beginning has its stop: it is continued by "
        "`pad` alone, at no cost, and keeps its place as long as its sum is among the best."
    )
    yield _given("both have ended", np.log([[0.3, 0.35]]), by_hand, [[True, True]], 2)
    yield _given(
        "an ended one is overtaken", np.log([[0.05, 0.6]]), by_hand, [[True, False]], 0
    ).holds("ended: boolean…")
    yield _case(rng, "a batch of three", 3, 2, 5).holds(
        "log_probabilities: (batch, beam, V), of the token that follows each.",
        "Of all continuations of a sentence's beginnings the `beam` with the largest sums are "
        "kept, the largest first; no two that matter are equal, and there are as many.",
    )
    yield _case(rng, "more beginnings than tokens", 2, 4, 3).holds("log_probabilities: (batch…")
    yield _case(rng, "the first step", 2, 3, 5, first=True).holds("sums: (batch…")
    yield _case(rng, "some have ended", 4, 3, 6, share=0.4).holds("ended: boolean…")
    yield _case(rng, "a beam of 1", 3, 1, 4).holds("Of all continuations…")
    yield _case(rng, "an empty batch", 0, 2, 4).holds("The batch may be empty.")
    yield _case(rng, "a vocabulary of one token", 2, 3, 1)
    yield _case(rng, "very improbable sentences", 2, 3, 4, far=2000.0).holds(
        "Of all continuations…"
    )
    yield _case(rng, "float32, some have ended", 3, 4, 5, share=0.4, dtype=np.float32).holds(
        "Returns the…"
    )
    sums = np.array([[-1.0, -3e12]])
    note = "one of two has ended, and the other is less probable than any number"
    yield _given(note, sums, by_hand, [[True, False]], 0)


@beam_step.hidden
def _(rng):
    beam, size = (int(one) for one in rng.permutation([2, 3, 4])[:2])
    yield _case(rng, "one sentence", 1, beam, size + 2)
    yield _case(rng, "a batch of three", 3, beam, size + 3)
    yield _case(rng, "more beginnings than tokens", 2, 5, 3)
    yield _case(rng, "the first step", 3, beam, size + 3, first=True)
    yield _case(rng, "some have ended", 5, beam, size + 2, share=0.4)
    yield _case(rng, "some have ended, another padding", 5, 4, 6, share=0.5)
    yield _case(rng, "all have ended", 2, beam, size, share=1.0)
    yield _case(rng, "a beam of 1", 4, 1, 3, share=0.3)
    yield _case(rng, "a vocabulary of one token", 3, beam, 1)
    yield _case(rng, "very improbable sentences", 2, beam, size, far=3000.0)
    yield _case(rng, "float32, some have ended", 4, beam, size + 1, share=0.4, dtype=np.float32)


def _given(note: str, sums: np.ndarray, gains: np.ndarray, ended: object, pad: int) -> Case:
    floats = (Tensor(one, gradient=False) for one in (sums, gains))
    return Case(note, (*floats, Tensor(np.array(ended, dtype=bool)), pad))


def _case(
    rng: np.random.Generator,
    note: str,
    batch: int,
    beam: int,
    size: int,
    share: float = 0.0,
    first: bool = False,
    far: float = 0.0,
    dtype: type = np.float64,
) -> Case:
    """A step in which no two continuations that matter have nearly the same sum."""
    while True:
        scores = rng.normal(size=(batch, beam, size)) * 2
        gains = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        sums = -np.sort(rng.uniform(0.5, 4, size=(batch, beam)), axis=-1) - far
        if first:
            sums = np.where(np.arange(beam) == 0, 0.0, -np.inf) + np.zeros((batch, beam))
        ended = rng.random((batch, beam)) < share
        pad = int(rng.integers(size))
        totals = sums[..., None] + np.where(ended[..., None], -np.inf, gains)
        totals[..., pad] = np.where(ended, sums, totals[..., pad])
        best = -np.sort(-totals.reshape(batch, beam * size), axis=-1)[:, : beam + 1]
        with np.errstate(invalid="ignore"):
            apart = np.nan_to_num(np.abs(np.diff(best)), nan=1.0).min(initial=1.0) > 0.01
        enough = np.isfinite(best[:, :beam]).all()
        some = not 0 < share < 1 or 0 < ended.sum() < ended.size
        if apart and enough and some:
            break
    return _given(note, sums.astype(dtype), gains.astype(dtype), ended, pad)
