"""The exercise `shift_right`: the decoder's inputs, made of its targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F

from solutions import transformer as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Tensor


def shift_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("one row of four", (Tensor(np.array([5, 7, 6, 2])), 1))
    yield Case("one place", (Tensor(np.array([[4]])), 3))
    yield _case(rng, "a batch of two", (2, 5))
    padded = np.array([[6, 4, 2, 0], [5, 7, 9, 2], [8, 2, 0, 0]])
    yield Case("rows that end in stop (2) and padding (0)", (Tensor(padded), 1))
    yield Case("no places at all", (Tensor(np.zeros((2, 0), dtype=int)), 1))
    yield _case(rng, "two leading axes", (2, 3, 4))
    yield _case(rng, "three leading axes", (2, 1, 3, 4))
    yield Case("another row of four", (Tensor(np.array([8, 3, 3, 9])), 1))
    yield Case("start is 0, and no stranger to the row", (Tensor(np.array([4, 0, 3, 2])), 0))


def shift_hidden(rng: np.random.Generator) -> Iterator[Case]:
    two, batch, m = (int(one) for one in rng.permutation([2, 3, 4]))
    yield _case(rng, "one row", (m,))
    yield _case(rng, "one place", (batch, 1))
    yield _case(rng, "a batch", (batch, m))
    yield _case(rng, "no places at all", (batch, 0))
    yield _case(rng, "two leading axes", (two, batch, m))
    yield _case(rng, "three leading axes", (two, 1, batch, m))
    yield _case(rng, "no places in one row", (0,))


def _case(rng: np.random.Generator, note: str, shape: tuple[int, ...]) -> Case:
    """Targets of `shape`, and a start that is none of them, nor 0."""
    start, *others = (int(one) for one in rng.permutation(np.arange(1, 12)))
    return Case(note, (Tensor(rng.choice(others, size=shape)), start))


def shift_right__left(targets, start):
    first = torch.full_like(targets[..., :1], start)
    return torch.cat([targets[..., 1:], first], dim=-1)


def shift_right__not_shifted(targets, start):
    return targets.clone()


def shift_right__last_kept(targets, start):
    first = targets.new_full((*targets.shape[:-1], 1), start)
    return torch.cat([first, targets], dim=-1)


def shift_right__overwritten(targets, start):
    inputs = targets.clone()
    inputs[..., :1] = start
    return inputs


def shift_right__along_the_batch(targets, start):
    inputs = targets.roll(1, dims=0)
    inputs[:1] = start
    return inputs


def shift_right__no_start(targets, start):
    return targets.roll(1, dims=-1)


def shift_right__start_is_zero(targets, start):
    return F.pad(targets, (1, 0))[..., :-1]


def shift_right__in_place(targets, start):
    targets[..., 1:] = targets[..., :-1].clone()
    targets[..., :1] = start
    return targets


def shift_right__roll(targets, start):
    inputs = torch.roll(targets, shifts=1, dims=-1)
    inputs[..., :1] = start
    return inputs


def shift_right__pad(targets, start):
    return F.pad(targets, (1, 0), value=start)[..., :-1]


def shift_right__place_by_place(targets, start):
    inputs = torch.empty_like(targets)
    for place in range(targets.shape[-1]):
        inputs[..., place] = targets[..., place - 1] if place > 0 else start
    return inputs


SHIFT_RIGHT = Exercise(
    name="shift_right",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.shift_right,
    cases=shift_cases,
    hidden=shift_hidden,
    misconceptions=(
        Misconception(
            "shifted to the left",
            shift_right__left,
            "At each place, does the decoder read the token before, or the one after, which it is "
            "to predict?",
        ),
        Misconception(
            "not shifted",
            shift_right__not_shifted,
            "The decoder sees the token at its own place too. Which token must not stand there?",
        ),
        Misconception(
            "the last token kept",
            shift_right__last_kept,
            "How many places have the targets, and how many have your inputs? What would follow "
            "the last of them?",
        ),
        Misconception(
            "the first token overwritten",
            shift_right__overwritten,
            "Where in your inputs is the first of the targets?",
        ),
        Misconception(
            "shifted along the batch",
            shift_right__along_the_batch,
            "Which axis counts the places of a sentence, and which the sentences?",
        ),
        Misconception(
            "no start",
            shift_right__no_start,
            "`roll` brings the last token to the front. What should stand there?",
        ),
        Misconception(
            "0 for start",
            shift_right__start_is_zero,
            "What does your function do with the argument `start`?",
        ),
        Misconception(
            "the targets themselves changed",
            shift_right__in_place,
            "The loss needs the targets after your function has had them. Are they still the same?",
        ),
    ),
    alternatives=(
        shift_right__roll,
        shift_right__pad,
        shift_right__place_by_place,
    ),
    help=(
        "Put `start` in front of every row, and leave the last token of the row away.",
        "`torch.cat` joins tensors along an axis, and `targets[..., :-1]` is all but the last. "
        "What if there is no place at all?",
        "Chapter 9, 'The target, shifted right'.",
    ),
    promises=(
        Promise(
            "targets: ids (..., m)",
            (
                "one row of four",
                "another row of four",
                "a batch of two",
                "two leading axes",
                "three leading axes",
            ),
        ),
        Promise("m may be 0", ("no places at all", "no places in one row", "one place")),
        Promise(
            "whether a row has a stop token makes no difference",
            ("rows that end in stop (2) and padding (0)",),
        ),
        Promise(
            "start: the id that stands before the first token.",
            ("one row of four", "one place", "start is 0, and no stranger to the row"),
        ),
        Promise(
            "Returns new ids of the same shape and dtype: `start`, and the targets without the "
            "last.",
            ("one row of four", "a batch of two", "no places at all"),
        ),
        Promise("`targets` itself is not changed.", ("one row of four",)),
    ),
)
