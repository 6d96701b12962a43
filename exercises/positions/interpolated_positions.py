"""The exercise `interpolated_positions`: a long sequence squeezed into the trained range."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import positions as solutions

interpolated_positions = Declaration(
    solutions.interpolated_positions,
    points=2,
    difficulty=1,
    minutes=10,
    kind=Kind.DEBUG,
    help=(
        "For each sequence, find one number by which all of its positions are multiplied. Which "
        "number does the function have for a short sequence in a batch with a long one?",
        "`np.max(positions, axis=-1, keepdims=True)` keeps the axis that broadcasting needs. The "
        "number is never more than 1.",
        "Section “Longer than training”.",
    ),
)


@interpolated_positions.right
def loop(positions, trained):
    squeezed = np.zeros(positions.shape)
    for place in np.ndindex(*positions.shape[:-1]):
        length = max(int(position) for position in positions[place]) + 1
        for at, position in enumerate(positions[place]):
            squeezed[place][at] = position * trained / length if length > trained else position
    return squeezed


@interpolated_positions.right
def where(positions, trained):
    longest = positions.max(axis=-1)[..., None]
    return np.where(longest >= trained, trained * positions / (longest + 1.0), positions)


@interpolated_positions.right
def divisor(positions, trained):
    length = 1 + np.sort(positions, axis=-1)[..., -1:]
    return positions / np.clip(length / trained, 1.0, None)


@interpolated_positions.right
def plain(positions, trained):
    length = np.max(positions, axis=-1, keepdims=True) + 1
    return positions * np.minimum(1, trained / length)


interpolated_positions.wrong(
    "stretched instead of squeezed",
    "Training had the positions 0 to 3, and the sequence has 8 tokens. Should position 7 become "
    "larger or smaller?",
    plain.edit("np.minimum(1, trained / length)", "np.maximum(1, length / trained)"),
)
interpolated_positions.wrong(
    "short sequences stretched",
    "What does the docstring say about a sequence that is no longer than those in training?",
    plain.edit("np.minimum(1, trained / length)", "(trained / length)"),
)


@interpolated_positions.wrong(
    "one length for all sequences",
    "Take a batch of one short and one long sequence. Should the length of the long one matter to "
    "the short one?",
    released=True,
)
def _(positions, trained):
    return positions * min(1, trained / (np.max(positions) + 1))


largest_for_length = plain.edit(
    "np.max(positions, axis=-1, keepdims=True) + 1",
    "np.maximum(np.max(positions, axis=-1, keepdims=True), 1)",
)
interpolated_positions.wrong(
    "the last position on the last trained one",
    "By which number are the positions multiplied when 8 tokens are squeezed into the range of 4: "
    "4/8 or 3/7?",
    largest_for_length.edit("trained / length", "(trained - 1) / length"),
)
interpolated_positions.wrong(
    "the largest position taken for the length",
    "Positions count from 0. How long is a sequence whose largest position is 7?",
    largest_for_length,
)


@interpolated_positions.wrong(
    "the positions counted",
    "A row may hold only some of a sequence's positions. Which of them tells you the length?",
)
def _(positions, trained):
    return positions * min(1, trained / np.shape(positions)[-1])


@interpolated_positions.wrong(
    "far positions clipped",
    "Do two tokens beyond the trained range still have different positions?",
)
def _(positions, trained):
    return np.minimum(positions, trained - 1) * 1.0


@interpolated_positions.wrong(
    "positions wrap around",
    "Does a token beyond the trained range share its position with one at the beginning?",
)
def _(positions, trained):
    return positions % trained * 1.0


interpolated_positions.wrong(
    "rounded to whole positions",
    "May a position lie between two whole numbers? What happens to two neighbours in your result?",
    plain.edit(
        "positions * np.minimum(1, trained / length)",
        "np.floor(positions * np.minimum(1, trained / length))",
    ),
)
interpolated_positions.wrong(
    "only the far positions squeezed",
    "Are the positions still in order, and are all steps equally long?",
    plain.edit(
        "positions * np.minimum(1, trained / length)",
        "np.where(positions < trained, positions, positions * trained / length)",
    ),
)


@interpolated_positions.public
def _(rng):
    yield Case("eight positions, four trained", (np.arange(8), 4)).holds(
        "In a sequence that is longer than that, every position is multiplied by trained / L",
        "Returns floats of the shape of positions",
    )
    yield Case("seven positions, four trained", (np.arange(7), 4)).holds("In a sequence…")
    yield Case("seven positions, two apart, four trained", (2 * np.arange(7), 4))
    yield Case("as long as the longest in training", (np.arange(5), 5)).holds(
        "trained: the length of the longest sequence in training, at least 1",
        "in any other, nothing changes",
    )
    yield Case("shorter than the longest in training", (np.arange(3), 8)).holds("in any other…")
    yield Case(
        "two sequences, one longer than the other", (np.array([[0, 1, 2], [7, 8, 9]]), 5)
    ).holds("a row belongs to one sequence, whose length L is its largest position plus 1")
    yield Case("positions out of order", (rng.permutation(30)[:12], 6)).holds(
        "positions: (..., n), n at least 1, whole numbers from 0 on, in any order"
    )
    yield Case("one position, far away", (np.array([99]), 10)).holds("a row belongs…")
    yield Case("one trained position", (np.arange(4), 1)).holds("trained: the…")
    yield Case("a batch of one sequence", (np.arange(1, 7)[None], 4))
    yield Case("three leading axes", (rng.integers(0, 40, size=(2, 1, 3, 5)), 16)).holds(
        "positions: (...…"
    )
    yield Case("one position, at 0", (np.array([0]), 1)).holds("positions: (...…")
    yield Case("far positions", (np.array([5000, 131_071]), 4096)).holds("positions: (...…")


@interpolated_positions.hidden
def _(rng):
    n = int(rng.integers(4, 9))
    yield Case("a longer sequence", (np.arange(3 * n + 1), n))
    yield Case("as long as the longest in training", (np.arange(n), n))
    yield Case("shorter than the longest in training", (np.arange(n), n + 3))
    yield Case("longer by one position", (np.arange(n + 1), n))
    lengths = rng.permutation([n - 1, 2 * n, 5 * n])
    batch = np.stack([length - 1 - rng.permutation(n - 1) for length in lengths])
    yield Case("sequences of several lengths", (batch, n)).holds("a row belongs…")
    yield Case("positions out of order", (rng.permutation(90)[: 3 * n], n))
    yield Case("three leading axes", (rng.integers(0, 9 * n, size=(2, 3, 1, n)), n))
