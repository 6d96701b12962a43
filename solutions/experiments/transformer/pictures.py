"""Experiments for chapter 9: a mask that leaks, and hidden positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from matplotlib.axes import Axes

from ...data.translation import Pair
from ...drawing.plots import heatmap
from ...drawing.shapes import outline
from ...drawing.theme import COLOURS
from ...running.seeds import SEEDS
from ...transformer import (
    DecoderStack,
    Transformer,
    label_smoothed_loss,
    shift_right,
)
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, tensors

LEAK_STEPS, LEAK_LETTERS, LEAK_LENGTH = 300, 8, 7
"""The numbers of training steps, of letters in the alphabet, and of letters in a word."""
LEAK_FLOOR = math.log(LEAK_LETTERS) / (LEAK_LENGTH + 1)
"""The lowest loss that an honest machine can expect: the first token of the target is drawn."""
LEAKS = tuple((leaking, seed) for leaking in (False, True) for seed in SEEDS)
"""Training runs that differ in the causal mask, absent or present, and in the seed."""


class LeakingStack(DecoderStack):
    """A decoder stack without its causal mask."""

    def forward(
        self, tokens: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `DecoderStack.forward`. Here every row depends on all tokens."""
        return self.to_logits(self.through(tokens, context, None, context_mask))


@dataclass(frozen=True)
class Leak:
    """A machine that is trained to write a letter that is drawn, and then a word's letters sorted.

    losses: the loss of each training step. forced: the share of right letters in new words under
    teacher forcing. written: the same if the machine reads its own output. examples: three new
    words and the machine's output for each.
    """

    losses: list[float]
    forced: float
    written: float
    examples: list[tuple[str, str]]


def measure_leak(job: int) -> Leak:
    """Train a small Transformer on the task, masked as LEAKS[job] says."""
    leaking, seed = LEAKS[job]
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
    """Return n words (n, LEAK_LENGTH), and targets: a letter drawn, then the word's sorted."""
    words = torch.randint(LEAK_LETTERS, (n, LEAK_LENGTH))
    drawn = torch.randint(LEAK_LETTERS, (n, 1))
    return words, torch.cat([drawn, words.sort(dim=1).values], dim=1)


@torch.no_grad()
def _tested(model: Transformer, losses: list[float]) -> Leak:
    words, targets = _words(200)
    forced = model(words, shift_right(targets, LEAK_LETTERS)).argmax(dim=-1)
    written = torch.full((200, 1), LEAK_LETTERS)  # the start token
    for _ in range(LEAK_LENGTH + 1):
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


def right_without(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair], places: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return for each pair whether the token of the reference is still the likeliest, (m,) boolean.

    See `likeliest_without`.
    """
    likeliest = likeliest_without(model, task, pairs, places)
    return [
        np.array([one == token for one, token in zip(row, pair.target, strict=True)])
        for row, pair in zip(likeliest, pairs, strict=True)
    ]


@torch.no_grad()
def likeliest_without(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair], places: Sequence[np.ndarray]
) -> list[list[str]]:
    """Hide a source position in each row from all heads of all layers of the decoder.

    places: for each pair the position that row i may not look at, (m,). The row that chooses target
    token i is computed alone, given the reference before it. Returns for each pair the likeliest
    token of each of its m rows.
    """
    sources, lengths, targets = tensors(task.batch(pairs))  # targets (B, m + 2)
    memory = model.encode(sources, lengths)
    best = []
    for i in range(targets.shape[1] - 2):
        hidden = torch.zeros_like(memory.mask)
        for k, place in enumerate(places):
            hidden[k, int(place[min(i, len(place) - 1)])] = True
        blind = replace(memory, mask=memory.mask & ~hidden)
        logits, _ = model.decoder(targets[:, : i + 1], blind)
        best.append(logits[:, -1].argmax(dim=-1))
    table = torch.stack(best, dim=1).tolist()  # (B, m)
    tokens = task.target_vocabulary.tokens
    return [
        [tokens[id_] for id_ in row[: len(pair.target)]]
        for row, pair in zip(table, pairs, strict=True)
    ]


def gold_map(ax: Axes, weights: np.ndarray, pair: Pair, title: str = "") -> None:
    """Draw a map from target to source, (m, n), with a box around each gold link."""
    heatmap(weights, pair.target, pair.source, title="", ax=ax, annotate=False)
    for i, j in sorted(pair.possible):
        style = "-" if (i, j) in pair.sure else ":"
        outline(ax, (j - 0.45, i - 0.45), 0.9, 0.9, COLOURS[1], 1.3, style)
    ax.xaxis.tick_bottom()
    ax.tick_params(axis="x", rotation=90, labelsize=10)
    ax.tick_params(axis="y", labelsize=10)
    ax.set_title(title, fontsize=11)
