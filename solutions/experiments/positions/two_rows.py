"""Bound what positions drawn at random can tell: the task "before" from two rows alone.

An attention weight sees the row of the question and that of a record, hence only the gap between
them. This reader has no weights to learn: it knows how often each gap means the asked distance.
"""

import torch
import torch.nn.functional as F

from .length_generalisation import (
    DISTANCES,
    LENGTHS,
    LETTERS,
    LONGEST,
    NUMBERS,
    SHORTEST,
    TEST,
    sample,
)

ROWS = max(LENGTHS) + 1
DRAWS = 20000  # sequences of each length, to count the gaps


def draw_gaps(count: int, n: int, generator: torch.Generator) -> torch.Tensor:
    """Draw n + 1 of ROWS rows in order; return the rows from each record to the question.

    Shape (count, n): the last column belongs to the last record, at distance 1.
    """
    drawn = torch.rand(count, ROWS, generator=generator).argsort(dim=1)[:, : n + 1]
    rows = drawn.sort(dim=1).values
    return rows[:, -1:] - rows[:, :-1]


def chances(generator: torch.Generator) -> torch.Tensor:
    """Return the chance that a record with a given gap is at a given distance.

    Shape (DISTANCES + 1, ROWS); row 0 is unused. Records of sequences as long as those in training
    are counted.
    """
    counts, all_records = torch.zeros(DISTANCES + 1, ROWS), torch.zeros(ROWS)
    for n in range(SHORTEST, LONGEST + 1):
        gaps = draw_gaps(DRAWS, n, generator)
        all_records += gaps.flatten().bincount(minlength=ROWS)
        for distance in range(1, DISTANCES + 1):
            counts[distance] += gaps[:, n - distance].bincount(minlength=ROWS)
    return counts / all_records.clamp(min=1)


def best_from_two_rows(seed: int) -> dict[int, float]:
    """Return length -> accuracy on "before", where every record votes by its chance.

    For the lengths of `assess` that occur in training.
    """
    generator = torch.Generator().manual_seed(3000 + seed)
    chance, accuracy = chances(generator), {}
    for n in (n for n in LENGTHS if n <= LONGEST):
        _, numbers, asked, answer = sample(
            TEST, n, "before", torch.Generator().manual_seed(2000 + seed)
        )  # the questions of `assess`
        distance = asked - (LETTERS - 1)
        votes = chance[distance[:, None], draw_gaps(TEST, n, generator)]  # (TEST, n)
        total = (F.one_hot(numbers, NUMBERS) * votes[..., None]).sum(dim=1)
        accuracy[n] = (total.argmax(dim=1) == answer).float().mean().item()
    return accuracy
