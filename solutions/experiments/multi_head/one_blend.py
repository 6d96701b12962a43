"""What one blend of two numbers can tell a linear reader: one half by hand, and the most."""

from __future__ import annotations

from itertools import combinations, permutations, product

import torch
from torch import nn

from ..queries_keys_values.associative_recall import D_MODEL, NUMBERS
from .two_relations import TwoRelations


def pairs_read_right(first: torch.Tensor, second: torch.Tensor, shares: torch.Tensor) -> int:
    """Count the ordered pairs of different numbers that a linear reader answers rightly.

    first, second: (m, m), row i reads the number i for that answer. shares: (2,), of the first
    number of a pair and of the second. The value of a number is a unit vector.
    """
    right = 0
    for x, y in permutations(range(len(first)), 2):
        blend = shares.new_zeros(len(first))
        blend[[x, y]] = shares
        right += bool((first @ blend).argmax() == x and (second @ blend).argmax() == y)
    return right


def larger_and_smaller(m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two readers of m numbers: of equal shares they name the larger and the smaller."""
    return torch.diag(torch.arange(1.0, m + 1)), torch.diag(torch.arange(float(m), 0, -1))


def twins(m: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return readers of m numbers, and shares, which answer m * m / 2 ordered pairs; m is even.

    The numbers 2 i and 2 i + 1 are twins. The first reader names the larger share. The second
    prepares, for each first number, its twin and one of any other two twins as the second.
    """
    pairs = m // 2
    own = float((pairs + 1) ** 2)
    second = torch.zeros(m, m, dtype=torch.float64)  # (named, standing there)
    for x, y in product(range(m), repeat=2):
        step = y // 2 - x // 2
        if step == 0:
            second[y, x] = own if x == y else own + 1 / m
        elif (x + y) % 2 == (step < 0):
            second[y, x] = own + pairs - step % pairs
    shares = torch.tensor([pairs + 1, 1], dtype=torch.float64) / (pairs + 2)
    return torch.eye(m, dtype=torch.float64), second, shares


@torch.no_grad()
def half_by_hand() -> TwoRelations:
    """Return a model with one head whose weights are set by hand and which answers one half.

    A question scores the two letters of its pair alike and all others 0; the read-out names the
    larger of their two numbers first, and the smaller second.
    """
    model = TwoRelations(1)
    for parameter in model.parameters():
        parameter.zero_()
    eye = torch.eye(D_MODEL)
    model.letter.weight.copy_(12 * eye[: NUMBERS // 2].repeat_interleave(2, dim=0))  # score 25
    model.number.weight.copy_(eye[:NUMBERS])
    model.attend.in_proj_weight.copy_(eye.repeat(3, 1))
    model.attend.out_proj.weight.copy_(eye)
    assert isinstance(model.read_out, nn.Linear)
    model.read_out.weight[:, :NUMBERS] = torch.cat(larger_and_smaller(NUMBERS))
    return model


def most_pairs(m: int) -> int:
    """Return the largest number of ordered pairs of m numbers of which no four are forbidden.

    Forbidden are (x, y), (y, x), (z, x) and (z, y) together. Tries all subsets: m is at most 4.
    """
    pairs = list(permutations(range(m), 2))
    forbidden = [
        sum(1 << pairs.index(pair) for pair in ((x, y), (y, x), (z, x), (z, y)))
        for x, y in combinations(range(m), 2)
        for z in range(m)
        if z not in (x, y)
    ]
    return max(
        subset.bit_count()
        for subset in range(2 ** len(pairs))
        if not any(subset & four == four for four in forbidden)
    )
