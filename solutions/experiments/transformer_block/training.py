"""Train the stacks of chapter 8 to say a sequence of letters backwards."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from .stacks import LETTERS, Design, Stack, loss_of, sample

STEPS, BATCH, TEST = 120, 16, 500


def trained(
    design: Design, depth: int, seed: int, rate: float, steps: int = STEPS, warm_up: int = 0
) -> float:
    """Train a stack with Adam, and return the share of new letters that it gets right.

    All designs see the same sequences. The rate rises linearly over the first `warm_up` steps,
    which are added to `steps`, and then stays constant.
    """
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(2000 + seed)
    model = Stack(design, depth)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for step in range(warm_up + steps):
        letters, answers = sample(BATCH, data)
        optimiser.zero_grad()
        loss_of(model(letters), answers).backward()
        optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / max(1, warm_up))
        optimiser.step()
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
