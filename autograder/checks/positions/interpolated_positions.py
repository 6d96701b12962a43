"""The exercise `interpolated_positions`: a long sequence squeezed into the trained range."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import positions as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def interpolation_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("eight positions, four trained", (np.arange(8), 4))
    yield Case("seven positions, four trained", (np.arange(7), 4))
    yield Case("seven positions, two apart, four trained", (2 * np.arange(7), 4))
    yield Case("as long as the longest in training", (np.arange(5), 5))
    yield Case("shorter than the longest in training", (np.arange(3), 8))
    yield Case("two sequences, one longer than the other", (np.array([[0, 1, 2], [7, 8, 9]]), 5))
    yield Case("positions out of order", (rng.permutation(30)[:12], 6))
    yield Case("one position, far away", (np.array([99]), 10))
    yield Case("one trained position", (np.arange(4), 1))
    yield Case("a batch of one sequence", (np.arange(1, 7)[None], 4))
    yield Case("three leading axes", (rng.integers(0, 40, size=(2, 1, 3, 5)), 16))
    yield Case("one position, at 0", (np.array([0]), 1))
    yield Case("far positions", (np.array([5000, 131_071]), 4096))


def interpolation_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n = int(rng.integers(4, 9))
    yield Case("a longer sequence", (np.arange(3 * n + 1), n))
    yield Case("as long as the longest in training", (np.arange(n), n))
    yield Case("shorter than the longest in training", (np.arange(n), n + 3))
    yield Case("longer by one position", (np.arange(n + 1), n))
    lengths = rng.permutation([n - 1, 2 * n, 5 * n])
    batch = np.stack([length - 1 - rng.permutation(n - 1) for length in lengths])
    yield Case("sequences of several lengths", (batch, n))
    yield Case("positions out of order", (rng.permutation(90)[: 3 * n], n))
    yield Case("three leading axes", (rng.integers(0, 9 * n, size=(2, 3, 1, n)), n))


def interpolated_positions__stretched(positions, trained):
    length = np.max(positions, axis=-1, keepdims=True) + 1
    return positions * np.maximum(1, length / trained)


def interpolated_positions__always(positions, trained):
    length = np.max(positions, axis=-1, keepdims=True) + 1
    return positions * (trained / length)


def interpolated_positions__one_length_for_all(positions, trained):
    return positions * min(1, trained / (np.max(positions) + 1))


def interpolated_positions__last_on_last(positions, trained):
    largest = np.maximum(np.max(positions, axis=-1, keepdims=True), 1)
    return positions * np.minimum(1, (trained - 1) / largest)


def interpolated_positions__largest_for_length(positions, trained):
    largest = np.maximum(np.max(positions, axis=-1, keepdims=True), 1)
    return positions * np.minimum(1, trained / largest)


def interpolated_positions__counted(positions, trained):
    return positions * min(1, trained / np.shape(positions)[-1])


def interpolated_positions__clipped(positions, trained):
    return np.minimum(positions, trained - 1) * 1.0


def interpolated_positions__wrapped(positions, trained):
    return positions % trained * 1.0


def interpolated_positions__whole(positions, trained):
    length = np.max(positions, axis=-1, keepdims=True) + 1
    return np.floor(positions * np.minimum(1, trained / length))


def interpolated_positions__only_far_ones(positions, trained):
    length = np.max(positions, axis=-1, keepdims=True) + 1
    return np.where(positions < trained, positions, positions * trained / length)


def interpolated_positions__loop(positions, trained):
    squeezed = np.zeros(positions.shape)
    for place in np.ndindex(*positions.shape[:-1]):
        length = max(int(position) for position in positions[place]) + 1
        for at, position in enumerate(positions[place]):
            squeezed[place][at] = position * trained / length if length > trained else position
    return squeezed


def interpolated_positions__where(positions, trained):
    longest = positions.max(axis=-1)[..., None]
    return np.where(longest >= trained, trained * positions / (longest + 1.0), positions)


def interpolated_positions__divisor(positions, trained):
    length = 1 + np.sort(positions, axis=-1)[..., -1:]
    return positions / np.clip(length / trained, 1.0, None)


INTERPOLATED_POSITIONS = Exercise(
    name="interpolated_positions",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.interpolated_positions,
    cases=interpolation_cases,
    hidden=interpolation_hidden,
    misconceptions=(
        Misconception(
            "stretched instead of squeezed",
            interpolated_positions__stretched,
            "Training had the positions 0 to 3, the sequence has 8. Should position 7 become "
            "larger or smaller?",
        ),
        Misconception(
            "short sequences stretched",
            interpolated_positions__always,
            "What does the docstring say about a sequence that is no longer than those in "
            "training?",
        ),
        Misconception(
            "one length for all sequences",
            interpolated_positions__one_length_for_all,
            "Two sequences of a batch, one short and one long. Does the length of the long one "
            "matter to the short one?",
        ),
        Misconception(
            "the last position on the last trained one",
            interpolated_positions__last_on_last,
            "By which number are the positions multiplied when 8 are squeezed into 4: 4/8 or 3/7?",
        ),
        Misconception(
            "the largest position taken for the length",
            interpolated_positions__largest_for_length,
            "Positions count from 0. How long is a sequence whose largest position is 7?",
        ),
        Misconception(
            "the positions counted",
            interpolated_positions__counted,
            "A row may hold some of a sequence's positions only. Which of them tells the length?",
        ),
        Misconception(
            "far positions clipped",
            interpolated_positions__clipped,
            "Do two tokens beyond the trained range still stand at different positions?",
        ),
        Misconception(
            "positions wrap around",
            interpolated_positions__wrapped,
            "Does a token beyond the trained range share its position with one at the beginning?",
        ),
        Misconception(
            "rounded to whole positions",
            interpolated_positions__whole,
            "May a position lie between two whole numbers? What becomes of two neighbours in "
            "yours?",
        ),
        Misconception(
            "only the far positions squeezed",
            interpolated_positions__only_far_ones,
            "Are the positions still in order, and all steps equally long?",
        ),
    ),
    alternatives=(
        interpolated_positions__loop,
        interpolated_positions__where,
        interpolated_positions__divisor,
    ),
    help=(
        "One number for each sequence, by which all of its positions are multiplied.",
        "`np.max(positions, axis=-1, keepdims=True)` keeps the axis that broadcasting needs. The "
        "number is never more than 1.",
        "Section “Longer than training”.",
    ),
    promises=(
        Promise(
            "positions: (..., n), n at least 1, whole numbers from 0 on, in any order",
            ("positions out of order", "one position, at 0", "far positions", "three leading axes"),
        ),
        Promise(
            "a row belongs to one sequence, whose length L is its largest position plus 1",
            (
                "two sequences, one longer than the other",
                "sequences of several lengths",
                "one position, far away",
            ),
        ),
        Promise(
            "trained: the length of the longest sequence in training, at least 1",
            ("one trained position", "as long as the longest in training"),
        ),
        Promise(
            "In a sequence that is longer than that, every position is multiplied by trained / L",
            ("eight positions, four trained", "seven positions, four trained"),
        ),
        Promise(
            "in any other, nothing changes",
            ("as long as the longest in training", "shorter than the longest in training"),
        ),
        Promise("Returns floats of the shape of positions", ("eight positions, four trained",)),
    ),
)
