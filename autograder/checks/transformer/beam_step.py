"""The exercise `beam_step`: a beam search's step, for a whole batch of sentences at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from solutions.variants import translating as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise, Tensor


def step_cases(rng: np.random.Generator) -> Iterator[Case]:
    by_hand = np.log([[[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]]])
    yield _given("two beginnings, three tokens", np.log([[0.5, 0.4]]), by_hand, [[False, False]], 0)
    yield _given("one of two has ended", np.log([[0.3, 0.35]]), by_hand, [[True, False]], 0)
    yield _given("both have ended", np.log([[0.3, 0.35]]), by_hand, [[True, True]], 2)
    yield _given("an ended one is overtaken", np.log([[0.05, 0.6]]), by_hand, [[True, False]], 0)
    yield _case(rng, "a batch of three", 3, 2, 5)
    yield _case(rng, "more beginnings than tokens", 2, 4, 3)
    yield _case(rng, "the first step", 2, 3, 5, first=True)
    yield _case(rng, "some have ended", 4, 3, 6, share=0.4)
    yield _case(rng, "a beam of 1", 3, 1, 4)
    yield _case(rng, "an empty batch", 0, 2, 4)
    yield _case(rng, "a vocabulary of one token", 2, 3, 1)
    yield _case(rng, "very improbable sentences", 2, 3, 4, far=2000.0)
    yield _case(rng, "float32, some have ended", 3, 4, 5, share=0.4, dtype=np.float32)
    sums = np.array([[-1.0, -3e12]])
    note = "one of two has ended, and the other is less probable than any number"
    yield _given(note, sums, by_hand, [[True, False]], 0)


def step_hidden(rng: np.random.Generator) -> Iterator[Case]:
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


def beam_step__a_beam_of_each(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, tokens = totals.max(dim=-1)
    best, origins = best.sort(dim=-1, descending=True)
    return best, origins, tokens.gather(-1, origins)


def beam_step__sums_forgotten(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = torch.where(ended[..., None], only_pad, log_probabilities)
    totals = torch.where(sums[..., None].isinf(), sums[..., None], totals)
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__ended_continued(sums, log_probabilities, ended, pad):
    totals = sums[..., None] + log_probabilities
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__padding_costs(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = log_probabilities[..., pad]
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__ended_dropped(sums, log_probabilities, ended, pad):
    totals = sums[..., None] + log_probabilities
    totals = torch.where(ended[..., None], -torch.inf, totals)
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__every_token_free(sums, log_probabilities, ended, pad):
    gains = torch.where(ended[..., None], torch.zeros_like(log_probabilities), log_probabilities)
    best, index = (sums[..., None] + gains).flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__divided_by_the_beam(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = totals.flatten(1).topk(sums.shape[1])
    return best, index // sums.shape[1], index % sums.shape[1]


def beam_step__tokens_before_beginnings(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = totals.flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best, index % size, index // size


def beam_step__smallest_first(sums, log_probabilities, ended, pad):
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = (one.flip(-1) for one in totals.flatten(1).topk(sums.shape[1]))
    size = log_probabilities.shape[-1]
    return best, index // size, index % size


def beam_step__over_the_batch(sums, log_probabilities, ended, pad):
    batch, beam, size = log_probabilities.shape
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    totals = sums[..., None] + torch.where(ended[..., None], only_pad, log_probabilities)
    best, index = totals.flatten().topk(batch * beam)
    best, index = best.view(batch, beam), index.view(batch, beam)
    return best, index // size % beam, index % size


def beam_step__probabilities(sums, log_probabilities, ended, pad):
    only_pad = torch.zeros_like(log_probabilities)
    only_pad[..., pad] = 1
    gains = torch.where(ended[..., None], only_pad, log_probabilities.exp())
    best, index = (sums.exp()[..., None] * gains).flatten(1).topk(sums.shape[1])
    size = log_probabilities.shape[-1]
    return best.log(), index // size, index % size


def beam_step__sorted(sums, log_probabilities, ended, pad):
    batch, beam, size = log_probabilities.shape
    totals = sums.unsqueeze(-1) + log_probabilities
    totals = totals.masked_fill(ended.unsqueeze(-1), -torch.inf)
    totals[..., pad] = torch.where(ended, sums, totals[..., pad])
    totals = totals.reshape(batch, beam * size)
    order = totals.argsort(dim=-1, descending=True)[:, :beam]
    origins = torch.div(order, size, rounding_mode="floor")
    return totals.gather(-1, order), origins, order - origins * size


def beam_step__pick_by_pick(sums, log_probabilities, ended, pad):
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


def beam_step__two_stages(sums, log_probabilities, ended, pad):
    beam, size = sums.shape[1], log_probabilities.shape[-1]
    gains = log_probabilities.clone()
    gains[ended] = -torch.inf
    gains[..., pad] = gains[..., pad].masked_fill(ended, 0.0)
    each, tokens = gains.topk(min(beam, size), dim=-1)
    totals = (sums.unsqueeze(2) + each).flatten(start_dim=1)
    best, index = torch.topk(totals, beam, dim=1)
    return best, index // each.shape[-1], tokens.flatten(start_dim=1).gather(1, index)


BEAM_STEP = Exercise(
    name="beam_step",
    points=4,
    difficulty=4,
    minutes=25,
    reference=solutions.beam_step,
    cases=step_cases,
    hidden=step_hidden,
    misconceptions=(
        Misconception(
            "one continuation of each beginning",
            beam_step__a_beam_of_each,
            "Can two of the best continuations belong to the same beginning?",
        ),
        Misconception(
            "the sums so far forgotten",
            beam_step__sums_forgotten,
            "What is the sum of a sentence of five tokens, and how many of the five are in yours?",
        ),
        Misconception(
            "an ended beginning continued",
            beam_step__ended_continued,
            "A beginning has its stop. Which tokens may follow it, and what do they cost?",
        ),
        Misconception(
            "padding that costs",
            beam_step__padding_costs,
            "A sentence has ended. Should its sum become smaller while the others are written?",
        ),
        Misconception(
            "what has ended dropped",
            beam_step__ended_dropped,
            "A sentence has ended, and its sum is the best of all. Where is it after your step?",
        ),
        Misconception(
            "every token free behind the end",
            beam_step__every_token_free,
            "Behind its stop a beginning has one continuation. How many has it in yours?",
        ),
        Misconception(
            "the index divided by the beam",
            beam_step__divided_by_the_beam,
            "The continuations of a sentence stand in one row of beam times V. How many of them "
            "belong to the first beginning?",
        ),
        Misconception(
            "beginning and token exchanged",
            beam_step__tokens_before_beginnings,
            "Is the quotient of an index and V the beginning, or the token?",
        ),
        Misconception(
            "the smallest first",
            beam_step__smallest_first,
            "Of the sums that you return, which stands first?",
        ),
        Misconception(
            "the best of the whole batch",
            beam_step__over_the_batch,
            "Two sentences are translated side by side. May one take the other's places?",
        ),
        Misconception(
            "probabilities multiplied",
            beam_step__probabilities,
            "A sum of -2000 is a probability of what? Can a computer hold it?",
        ),
    ),
    alternatives=(beam_step__sorted, beam_step__pick_by_pick, beam_step__two_stages),
    help=(
        "All continuations of a sentence in one row, the best of them, and from the index of each "
        "its beginning and its token.",
        "Before you add: of an ended beginning, let all log-probabilities be -inf but that of "
        "`pad`, which is 0. `torch.topk` finds the best; `//` and `%` take an index apart.",
        "Chapter 9, the section on beam search, where a step keeps the best of six.",
    ),
    promises=(
        Promise(
            "sums: (batch, beam), the sums of log-probabilities of the beginnings that are kept; "
            "-inf where there is none yet.",
            ("the first step", "two beginnings, three tokens"),
        ),
        Promise(
            "log_probabilities: (batch, beam, V), of the token that follows each.",
            ("a batch of three", "more beginnings than tokens"),
        ),
        Promise(
            "ended: boolean (batch, beam), True where a beginning has its stop: it is continued by "
            "`pad` alone, at no cost, and keeps its place as long as its sum is among the best.",
            ("one of two has ended", "an ended one is overtaken", "some have ended"),
        ),
        Promise(
            "Of all continuations of a sentence's beginnings the `beam` with the largest sums are "
            "kept, the largest first; no two that matter are equal, and there are as many.",
            ("a batch of three", "a beam of 1", "very improbable sentences"),
        ),
        Promise("The batch may be empty.", ("an empty batch",)),
        Promise(
            "Returns the new sums, which beginning each continues, and the token that continues "
            "it, (batch, beam) each; the last two are ids.",
            ("two beginnings, three tokens", "float32, some have ended"),
        ),
    ),
    kind=Kind.TRANSFER,
)
