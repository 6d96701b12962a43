"""A drawing of the encoder and the decoder with one vector between them, and of the loss."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from .theme import COLOURS, INK, MUTED, PAPER

FONT = 11
WIDE, HIGH = 0.84, 0.52
"""Of a box; columns are 1 apart."""
ENCODER, CONTEXT, DECODER, LOSSES, LOSS = 0.0, 1.55, 3.1, 4.45, 5.75
"""Heights of the rows; y grows downwards."""
Point = tuple[float, float]


def encoder_decoder(source: Sequence[str], target: Sequence[str]) -> Axes:
    """Draw how the machine is trained on one pair, with teacher forcing.

    source: n words. target: m words, without start and stop. A box is a state, and the word in it
    is the word that it reads. Returns the axes.
    """
    inputs, wanted = ["[START]", *target], [*target, "[STOP]"]
    m = len(inputs)
    left = (m - len(source)) / 2  # the shorter row in the middle
    middle = (m - 1) / 2
    _, ax = plt.subplots(figsize=(5.2, 6.0), layout="constrained")
    for i, word in enumerate(source):
        _box(ax, (left + i, ENCODER), word, COLOURS[0])
        if i:
            edge = left + i - 1 + WIDE / 2
            _arrow(ax, (edge, ENCODER - 0.1), (edge + 1 - WIDE, ENCODER - 0.1), COLOURS[0])
            _arrow(ax, (edge + 1 - WIDE, ENCODER + 0.1), (edge, ENCODER + 0.1), COLOURS[1])
    ends = ((left, COLOURS[1]), (left + len(source) - 1, COLOURS[0]))
    for (x, colour), side in zip(ends, (-0.3, 0.3), strict=True):
        _arrow(ax, (x, ENCODER + HIGH / 2), (middle + side, CONTEXT - HIGH / 2), colour)
    _box(ax, (middle, CONTEXT), "$c$", COLOURS[2], width=1.6)
    for i, (word, right) in enumerate(zip(inputs, wanted, strict=True)):
        start = (middle + (i - middle) * 0.3, CONTEXT + HIGH / 2)
        _arrow(ax, start, (i, DECODER - HIGH / 2), COLOURS[2])
        _box(ax, (i, DECODER), word, COLOURS[3])
        if i:
            edge = i - 1 + WIDE / 2
            _arrow(ax, (edge, DECODER), (edge + 1 - WIDE, DECODER), COLOURS[3])
        _arrow(ax, (i, DECODER + HIGH / 2), (i, LOSSES - 0.4), MUTED)
        _say(ax, (i, LOSSES - 0.18), r"$-\log p$", size=FONT - 1)
        _say(ax, (i, LOSSES + 0.2), right, size=FONT - 1)
        _arrow(ax, (i, LOSSES + 0.45), (middle + (i - middle) * 0.3, LOSS - HIGH / 2), MUTED)
    _box(ax, (middle, LOSS), "mean = loss", INK, width=1.9)
    for y, name in ((ENCODER - 0.6, "encoder reads"), (DECODER - 1.0, "decoder reads")):
        _say(ax, (-0.45, y), name, MUTED, align="left")
    ax.set(xlim=(-0.6, m - 0.4), ylim=(LOSS + 0.45, ENCODER - 0.9))
    ax.axis("off")
    return ax


def _box(ax: Axes, at: Point, text: str, colour: str, width: float = WIDE) -> None:
    corner = (at[0] - width / 2, at[1] - HIGH / 2)
    style = "round,pad=0,rounding_size=0.1"
    ax.add_patch(
        FancyBboxPatch(corner, width, HIGH, boxstyle=style, fc=PAPER, ec=colour, lw=1.8, zorder=3)
    )
    _say(ax, at, text, size=FONT - 1 if len(text) > 6 else FONT)


def _arrow(ax: Axes, start: Point, end: Point, colour: str) -> None:
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=10,
            shrinkA=0,
            shrinkB=0,
            color=colour,
            lw=1.3,
        )
    )


def _say(
    ax: Axes, at: Point, text: str, colour: str = INK, align: str = "center", size: float = FONT
) -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=size, color=colour, zorder=5)
