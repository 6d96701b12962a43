"""What the page of chapter 9 needs for itself: the plan of the machine, a decoder whose mask leaks,
a beam search that is watched, and a look at what a hidden place was for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...data.translation import Pair
from ...drawing.plots import new_axes
from ...transformer import (
    DecoderStack,
    Transformer,
    beam_search,
    embed,
    label_smoothed_loss,
    shift_right,
)
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, tensors

MEASURED = Path(__file__).parents[3] / "book" / "measured"
LEAK_STEPS, LEAK_LETTERS, LEAK_LENGTH = 200, 8, 8
"""Steps of training, letters of the alphabet, and letters of a word."""


def read_measured(name: str) -> dict[str, Any]:
    """Return what a command measured that no page runs, from `book/measured/<name>.json`."""
    data: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    return data


class LeakingStack(DecoderStack):
    """A decoder stack without its causal mask."""

    def forward(
        self, tokens: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `DecoderStack.forward`; but every row depends on all tokens."""
        X = embed(tokens, self.embedding)
        for block in self.blocks:
            X = block(X, context, None, context_mask)
        return self.to_logits(self.norm(X))


@dataclass(frozen=True)
class Leak:
    """A machine that is to put the letters of words into the order of the alphabet.

    losses: of each step of training. forced: the share of letters right in new words with the right
    target forced on the decoder; written: the same where it reads what it has written itself.
    examples: of three new words, the word and what the machine wrote.
    """

    losses: list[float]
    forced: float
    written: float
    examples: list[tuple[str, str]]


def measure_leak(leaking: bool, seed: int) -> Leak:
    """Train a small Transformer to sort the letters of words, with the causal mask or without."""
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": 1}
    model = Transformer(LEAK_LETTERS, LEAK_LETTERS + 1, **sizes)
    if leaking:
        model.decoder = LeakingStack(LEAK_LETTERS + 1, **sizes)
    optimiser = torch.optim.Adam(model.parameters())
    losses = []
    for step in range(LEAK_STEPS):
        optimiser.param_groups[0]["lr"] = 5e-3 * (1 - step / LEAK_STEPS)
        words, targets = _words(32)
        logits = model(words, shift_right(targets, LEAK_LETTERS))
        loss = label_smoothed_loss(logits, targets, 0.0, ignore_index=-1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return _tested(model.eval(), losses)


def _words(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return n words (n, LEAK_LENGTH), and the same letters sorted."""
    words = torch.randint(LEAK_LETTERS, (n, LEAK_LENGTH))
    return words, words.sort(dim=1).values


@torch.no_grad()
def _tested(model: Transformer, losses: list[float]) -> Leak:
    words, targets = _words(200)
    forced = model(words, shift_right(targets, LEAK_LETTERS)).argmax(dim=-1)
    written = torch.full((200, 1), LEAK_LETTERS)  # the start token
    for _ in range(LEAK_LENGTH):
        following = model(words, written)[:, -1:].argmax(dim=-1)
        written = torch.cat([written, following], dim=1)
    text = [
        ["".join(chr(ord("a") + i) for i in row) for row in rows[:3].tolist()]
        for rows in (words, written[:, 1:])
    ]
    return Leak(
        losses,
        (forced == targets).double().mean().item(),
        (written[:, 1:] == targets).double().mean().item(),
        list(zip(*text, strict=True)),
    )


@dataclass(frozen=True)
class Beginning:
    """A beginning that a beam search keeps: its tokens, the sum of their log-probabilities."""

    tokens: tuple[int, ...]
    total: float
    score: float
    ended: bool


def beam_steps(
    step: Callable[[list[int]], np.ndarray],
    start: int,
    stop: int,
    beam: int,
    max_len: int,
    length_penalty: float,
) -> tuple[list[list[Beginning]], list[int], float]:
    """Watch `beam_search`: what it keeps after each step, best sum first, and what it returns.

    The arguments are those of `beam_search`. A beginning that ends in `stop` has ended, and is not
    continued; its score is its sum divided by the length penalty.
    """
    answers: dict[tuple[int, ...], np.ndarray] = {}

    def watched(tokens: list[int]) -> np.ndarray:
        answers[tuple(tokens[1:])] = step(tokens)
        return answers[tuple(tokens[1:])]

    written, score = beam_search(watched, start, stop, beam, max_len, length_penalty)
    totals: dict[tuple[int, ...], float] = {(): 0.0}
    steps = []
    for length in range(1 + max((len(tokens) for tokens in answers), default=-1)):
        longer = {
            (*tokens, token): totals[tokens] + float(gain)
            for tokens, gains in answers.items()
            if len(tokens) == length
            for token, gain in enumerate(gains)
        }
        best = sorted(longer, key=lambda tokens: longer[tokens], reverse=True)[:beam]
        totals |= {tokens: longer[tokens] for tokens in best}
        penalty = ((6 + length) / 6) ** length_penalty
        steps.append(
            [Beginning(one, longer[one], longer[one] / penalty, one[-1] == stop) for one in best]
        )
    return steps, written, score


@torch.no_grad()
def right_without(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair], places: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Hide, row by row, one place of the source from all heads of all layers of the decoder.

    places: for each pair the place that row i may not look at, (m,). The row that chooses target
    token i is asked alone, with the reference before it. Returns for each pair (m,) boolean: is the
    token of the reference still the likeliest?
    """
    sources, lengths, targets = tensors(task.batch(pairs))  # targets (B, m + 2)
    memory = model.encode(sources, lengths)
    right = []
    for i in range(targets.shape[1] - 2):
        hidden = torch.zeros_like(memory.mask)
        for k, place in enumerate(places):
            hidden[k, int(place[min(i, len(place) - 1)])] = True
        blind = replace(memory, mask=memory.mask & ~hidden)
        logits, _ = model.decoder(targets[:, : i + 1], blind)
        right.append((logits[:, -1].argmax(dim=-1) == targets[:, i + 1]).cpu().numpy())
    table = np.stack(right, axis=1)  # (B, m)
    return [row[: len(pair.target)] for row, pair in zip(table, pairs, strict=True)]


_GREEN, _BLUE, _ORANGE, _GREY = "#D9EDE4", "#DCEAF5", "#FBE3D3", "#F3F3F3"


def draw_plan() -> Axes:
    """Draw the whole machine, from the bottom to the top: both stacks, and what they exchange."""
    ax = new_axes(5.6, 7.4)
    box = functools.partial(_box, ax)
    arrow = functools.partial(_arrow, ax)
    for x, below in ((2.6, "source"), (8.0, "target, shifted right")):
        box(x, 0.4, below, _GREY)
        box(x, 1.6, r"embedding $\times\sqrt{d_{model}}$", _GREY)
        box(x, 2.7, "+ sinusoids", _GREY)
        arrow((x, 0.75), (x, 1.25))
        arrow((x, 1.95), (x, 2.35))
        arrow((x, 3.05), (x, 3.95))
    parts = {
        2.6: [("self-attention", _BLUE), ("feed-forward", _GREEN)],
        8.0: [
            ("masked self-attention", _BLUE),
            ("cross-attention", _ORANGE),
            ("feed-forward", _GREEN),
        ],
    }
    for x, sublayers in parts.items():
        top = 4.0 + 1.35 * len(sublayers)
        ax.add_patch(Rectangle((x - 2.45, 3.6), 4.9, top - 3.45, fill=False, ec="0.5", ls="--"))
        for k, (name, colour) in enumerate(sublayers):
            box(x, 4.3 + 1.35 * k, f"norm, {name}", colour)
            arrow((x, 4.65 + 1.35 * k), (x, 5.3 + 1.35 * k))
            ax.text(x + 0.12, 4.95 + 1.35 * k, "+", fontsize=15, va="center")
        box(x, top + 1.0, "last norm", _GREY)
        arrow((x, top), (x, top + 0.65))
        ax.text(x - 2.4, top + 0.3, r"$n_{layers}$ times", fontsize=11)
    box(8.0, 10.4, "linear map to logits", _GREY)
    arrow((8.0, 9.4), (8.0, 10.05))
    arrow((8.0, 10.75), (8.0, 11.25))
    ax.text(8.0, 11.5, "what follows each token", ha="center", fontsize=12)
    ax.plot([2.6, 2.6, 5.25, 5.25], [8.05, 8.5, 8.5, 5.65], color="0.2", lw=1.3)
    arrow((5.25, 5.65), (5.85, 5.65))
    ax.text(2.6, 8.75, "keys and values", ha="center", fontsize=11)
    ax.text(2.6, 11.5, "Encoder", ha="center", fontsize=14)
    ax.text(8.0, 12.2, "Decoder", ha="center", fontsize=14)
    ax.set(xlim=(0, 10.6), ylim=(0, 12.6))
    ax.axis("off")
    return ax


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    ax.add_patch(Rectangle((x - 2.15, y - 0.35), 4.3, 0.7, fc=colour, ec="0.3"))
    ax.text(x, y, text, ha="center", va="center", fontsize=11)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": "0.2"})
