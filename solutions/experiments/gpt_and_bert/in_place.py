"""Short views of chapter 10's GPT, read at the positions that their tokens have in a long one."""

from __future__ import annotations

import torch
from torch import Tensor

from ...gpt_and_bert import GPT
from .language_model import MOST_SEEN, loss_by_sight


@torch.no_grad()
def loss_in_place(model: GPT, text: Tensor, n: int) -> float:
    """Return `loss_by_sight` if the n tokens stand at the last positions of MOST_SEEN.

    `loss_by_sight` puts them at the first n, as if the text began with them.
    """
    table = model.positions.weight.clone()
    model.positions.weight.copy_(table.roll(n - MOST_SEEN, dims=0))
    try:
        return loss_by_sight(model, text, n)
    finally:
        model.positions.weight.copy_(table)
