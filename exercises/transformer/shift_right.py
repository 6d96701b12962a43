"""The exercise `shift_right`: the decoder's inputs, made of its targets."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import transformer as solutions

shift_right = Declaration(
    solutions.shift_right,
    points=2,
    difficulty=1,
    minutes=10,
    help=(
        "Put `start` in front of every row, and leave out the last token of the row.",
        "`torch.cat` joins tensors along an axis, and `targets[..., :-1]` is all but the last. "
        "What if the rows are empty?",
        "Section “The target, shifted right”.",
    ),
)


@shift_right.right
def roll(targets, start):
    inputs = torch.roll(targets, shifts=1, dims=-1)
    inputs[..., :1] = start
    return inputs


@shift_right.right
def pad(targets, start):
    return F.pad(targets, (1, 0), value=start)[..., :-1]


@shift_right.right
def place_by_place(targets, start):
    inputs = torch.empty_like(targets)
    for place in range(targets.shape[-1]):
        inputs[..., place] = targets[..., place - 1] if place > 0 else start
    return inputs


shift_right.wrong(
    "shifted to the left",
    "At each place, does the decoder read the token before, or the one after, which it is to "
    "predict?",
    pad.edit(
        "F.pad(targets, (1, 0), value=start)[..., :-1]",
        "F.pad(targets, (0, 1), value=start)[..., 1:]",
    ),
)
shift_right.wrong(
    "not shifted",
    "The decoder also sees the token at its own place. Which token must not be there?",
    pad.edit("F.pad(targets, (1, 0), value=start)[..., :-1]", "targets.clone()"),
)
shift_right.wrong(
    "the last token kept",
    "How many places do the targets have, and how many do your inputs have? What would follow "
    "the last of them?",
    pad.edit("[..., :-1]", ""),
)
shift_right.wrong(
    "the first token overwritten",
    "Where in your inputs is the first of the targets?",
    roll.edit("torch.roll(targets, shifts=1, dims=-1)", "targets.clone()"),
)
shift_right.wrong(
    "shifted along the batch",
    "Which axis runs over the places of a sentence, and which over the sentences of the batch?",
    roll.edit("dims=-1", "dims=0").edit("inputs[..., :1]", "inputs[:1]"),
)
shift_right.wrong(
    "no start",
    "`roll` brings the last token to the front. What should be there?",
    roll.edit("inputs[..., :1] = start", ""),
)
shift_right.wrong(
    "0 for start",
    "What does your function do with the argument `start`?",
    pad.edit(", value=start", ""),
)
shift_right.wrong(
    "the targets themselves changed",
    "The loss still needs the targets after your function has run. Are they unchanged?",
    roll.edit("torch.roll(targets, shifts=1, dims=-1)", "targets.copy_(targets.roll(1, dims=-1))"),
)


@shift_right.public
def _(rng):
    yield Case("one row of four", (Tensor(np.array([5, 7, 6, 2])), 1)).holds(
        "targets: ids (..., m)",
        "start: the id that stands before the first token.",
        "Returns new ids of the same shape and dtype: `start`, and the targets without the last.",
        "`targets` itself is not changed.",
    )
    yield Case("one place", (Tensor(np.array([[4]])), 3)).holds("m may be 0", "start: the…")
    yield _case(rng, "a batch of two", (2, 5)).holds("targets: ids…", "Returns new…")
    padded = np.array([[6, 4, 2, 0], [5, 7, 9, 2], [8, 2, 0, 0]])
    yield Case("rows that end in stop (2) and padding (0)", (Tensor(padded), 1)).holds(
        "whether a row has a stop token makes no difference"
    )
    yield Case("no places at all", (Tensor(np.zeros((2, 0), dtype=int)), 1)).holds(
        "m may be…", "Returns new…"
    )
    yield _case(rng, "two leading axes", (2, 3, 4)).holds("targets: ids…")
    yield _case(rng, "three leading axes", (2, 1, 3, 4)).holds("targets: ids…")
    yield Case("another row of four", (Tensor(np.array([8, 3, 3, 9])), 1)).holds("targets: ids…")
    yield Case("start is 0, which the row contains too", (Tensor(np.array([4, 0, 3, 2])), 0)).holds(
        "start: the…"
    )


@shift_right.hidden
def _(rng):
    two, batch, m = (int(one) for one in rng.permutation([2, 3, 4]))
    yield _case(rng, "one row", (m,))
    yield _case(rng, "one place", (batch, 1))
    yield _case(rng, "a batch", (batch, m))
    yield _case(rng, "no places at all", (batch, 0))
    yield _case(rng, "two leading axes", (two, batch, m))
    yield _case(rng, "three leading axes", (two, 1, batch, m))
    yield _case(rng, "no places in one row", (0,)).holds("m may be…")


def _case(rng: np.random.Generator, note: str, shape: tuple[int, ...]) -> Case:
    """Targets of `shape`, and a start that is none of them, nor 0."""
    start, *others = (int(one) for one in rng.permutation(np.arange(1, 12)))
    return Case(note, (Tensor(rng.choice(others, size=shape)), start))
