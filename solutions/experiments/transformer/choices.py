"""A task with several right answers of known probability, which needs a beam search.

The answer to a word has its letters in alphabetical order after "<", or in reverse order or
unchanged after ">". The first has a probability of 0.4, the other two 0.3 each. So the likeliest
first token is ">", with 0.6, but the likeliest answer begins with "<".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from ...transformer import Transformer, beam_search, label_smoothed_loss, shift_right

LETTERS, LENGTH, WORDS = 8, 5, 40
"""The numbers of letters in the alphabet, of (distinct) letters in a word, and of test words."""
UP, DOWN, STOP, START = range(LETTERS, LETTERS + 4)
NAMES = (*"abcdefgh"[:LETTERS], "<", ">", "[STOP]", "[START]")
SHARES = {"in order": 0.4, "in opposite order": 0.3, "as it is": 0.3}
STEPS, BATCH, RATE = 400, 64, 5e-3
BEAMS = (1, 2)
SIZES = {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": 1}


@dataclass(frozen=True)
class Searched:
    """The translations of a trained machine, by the width of the beam.

    share: the mean probability in the *task* of the written answers, with 0 for an invalid answer.
    likelihood: the mean of the machine's own probabilities. in_order: the share of words that are
    written in alphabetical order.
    """

    share: dict[int, float]
    likelihood: dict[int, float]
    in_order: dict[int, float]


def measure_choices(seed: int) -> Searched:
    """Train a small Transformer on the task, and search with each of BEAMS."""
    model = _trained(seed)
    words, _ = draw(WORDS)
    share: dict[int, list[float]] = {beam: [] for beam in BEAMS}
    likelihood: dict[int, list[float]] = {beam: [] for beam in BEAMS}
    in_order: dict[int, list[float]] = {beam: [] for beam in BEAMS}
    for word in words:
        right = answers(word.tolist())
        step = continuation(model, word)
        for beam in BEAMS:
            tokens, total = beam_search(step, START, STOP, beam, LENGTH + 2, 0.0)
            name = next((name for name, one in right.items() if one == tokens), "")
            share[beam].append(SHARES.get(name, 0.0))
            likelihood[beam].append(float(np.exp(total)))
            in_order[beam].append(float(name == "in order"))
    return Searched(_means(share), _means(likelihood), _means(in_order))


def _means(values: dict[int, list[float]]) -> dict[int, float]:
    return {beam: float(np.mean(one)) for beam, one in values.items()}


def answers(word: list[int]) -> dict[str, list[int]]:
    """Return the three right answers to a word, by the names of SHARES, without the stop token."""
    up = sorted(word)
    return {
        "in order": [UP, *up],
        "in opposite order": [DOWN, *up[::-1]],
        "as it is": [DOWN, *word],
    }


def draw(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw n words (n, LENGTH) and an answer to each, (n, LENGTH + 2), with its stop token."""
    words = torch.rand(n, LETTERS).argsort(dim=1)[:, :LENGTH]
    style = torch.rand(n, 1)
    up = words.sort(dim=1).values
    behind = torch.where(style < 0.4, up, torch.where(style < 0.7, up.flip(1), words))
    first = torch.where(style < 0.4, UP, DOWN)
    return words, torch.cat([first, behind, torch.full((n, 1), STOP)], dim=1)


def continuation(model: Transformer, word: torch.Tensor) -> Callable[[list[int]], np.ndarray]:
    """Return the function that a beam search calls for a word, (LENGTH,)."""

    @torch.no_grad()
    def step(tokens: list[int]) -> np.ndarray:
        logits = model(word[None], torch.tensor([tokens]))
        return logits[0, -1].log_softmax(dim=-1).double().numpy()

    return step


def _trained(seed: int) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(LETTERS, len(NAMES), **SIZES)
    optimiser = torch.optim.Adam(model.parameters())
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = RATE * min(1, (step + 1) / 50) * (1 - step / STEPS)
        words, targets = draw(BATCH)
        loss = label_smoothed_loss(model(words, shift_right(targets, START)), targets, 0.0, -1)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()
