"""Train the stacks of chapter 8 to say a sequence of letters backwards."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from .stacks import LETTERS, Design, Stack, loss_of, sample

STEPS, BATCH, TEST = 120, 16, 500


def trained(
    design: Design,
    depth: int,
    seed: int,
    rate: float,
    after: Sequence[int] = (STEPS,),
    warm_up: int = 0,
) -> dict[int, float]:
    """Train a stack with Adam; return the share of new letters that it gets right, by steps.

    All designs see the same sequences. The rate rises linearly over the first `warm_up` steps, and
    then stays constant. The share is measured after each of the numbers of steps in `after`, which
    rise and do not count the warm-up.
    """
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(2000 + seed)
    model = Stack(design, depth)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    shares = {}
    for step in range(1, warm_up + after[-1] + 1):
        letters, answers = sample(BATCH, data)
        optimiser.zero_grad()
        loss_of(model(letters), answers).backward()
        optimiser.param_groups[0]["lr"] = rate * min(1, step / max(1, warm_up))
        optimiser.step()
        if step - warm_up in after:
            shares[step - warm_up] = share_right(model, seed)
    return shares


def share_right(model: Stack, seed: int) -> float:
    """Return the share of the test letters that the stack gets right."""
    letters, answers = new_sequences(seed)
    with torch.no_grad():
        right = model(letters).argmax(dim=-1) == answers
    return right.float().mean().item()


def new_sequences(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the test sequences and their answers."""
    return sample(TEST, torch.Generator().manual_seed(3000 + seed))


def letters_alone(letters: torch.Tensor) -> float:
    """Return the share right if every answer is the most frequent letter of its sequence.

    It is the best answer that knows which letters occur but not where. letters: (batch, n).
    """
    counts = F.one_hot(letters, LETTERS).sum(dim=1)  # (batch, LETTERS)
    return (counts.amax(dim=-1).double() / letters.shape[1]).mean().item()
