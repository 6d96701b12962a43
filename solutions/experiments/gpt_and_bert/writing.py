"""Write with GPT, reading all tokens again for each new one."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ...gpt_and_bert import GPT, sample_next


@torch.no_grad()
def write(
    model: GPT,
    ids: Tensor,
    n_tokens: int,
    seed: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Continue ids, (n,), by n_tokens; n + n_tokens is at most the model's positions."""
    generator = np.random.default_rng(seed)
    for _ in range(n_tokens):
        logits = model(ids[None])[0, -1].double().numpy()
        chosen = sample_next(logits, temperature, top_k, top_p, generator)
        ids = torch.cat([ids, torch.tensor([int(chosen)])])
    return ids
