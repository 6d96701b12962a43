"""A drawing of the encoder, the decoder, the single vector between them, and the loss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from . import shapes
from .shapes import FONT, Point, say
from .theme import COLOURS, INK, MUTED

WIDE, HIGH = 0.84, 0.52
"""The width and height of a box; the distance between columns is 1."""
ENCODER, CONTEXT, DECODER, LOSSES, LOSS = 0.0, 1.55, 3.1, 4.45, 5.75
"""The y coordinates of the rows; y grows downwards."""
arrow = partial(shapes.arrow, width=1.3, head=10, gap=0)


def encoder_decoder(source: Sequence[str], target: Sequence[str]) -> Axes:
    """Draw how the model is trained on one pair, with teacher forcing.

    source: n words. target: m words, without the start and stop tokens. Each box is a state and
    shows the word that it reads. Returns the axes.
    """
    inputs, wanted = ["[START]", *target], [*target, "[STOP]"]
    m = len(inputs)
    left = (m - len(source)) / 2  # centres the shorter row
    middle = (m - 1) / 2
    _, ax = plt.subplots(figsize=(5.2, 6.0), layout="constrained")
    for i, word in enumerate(source):
        _box(ax, (left + i, ENCODER), word, COLOURS[0])
        if i:
            edge = left + i - 1 + WIDE / 2
            arrow(ax, (edge, ENCODER - 0.1), (edge + 1 - WIDE, ENCODER - 0.1), COLOURS[0])
            arrow(ax, (edge + 1 - WIDE, ENCODER + 0.1), (edge, ENCODER + 0.1), COLOURS[1])
    ends = ((left, COLOURS[1]), (left + len(source) - 1, COLOURS[0]))
    for (x, colour), side in zip(ends, (-0.3, 0.3), strict=True):
        arrow(ax, (x, ENCODER + HIGH / 2), (middle + side, CONTEXT - HIGH / 2), colour)
    _box(ax, (middle, CONTEXT), "$c$", COLOURS[2], width=1.6)
    for i, (word, right) in enumerate(zip(inputs, wanted, strict=True)):
        start = (middle + (i - middle) * 0.3, CONTEXT + HIGH / 2)
        arrow(ax, start, (i, DECODER - HIGH / 2), COLOURS[2])
        _box(ax, (i, DECODER), word, COLOURS[3])
        if i:
            edge = i - 1 + WIDE / 2
            arrow(ax, (edge, DECODER), (edge + 1 - WIDE, DECODER), COLOURS[3])
        arrow(ax, (i, DECODER + HIGH / 2), (i, LOSSES - 0.4), MUTED)
        say(ax, (i, LOSSES - 0.18), r"$-\log p$", size=FONT - 1)
        say(ax, (i, LOSSES + 0.2), right, size=FONT - 1)
        arrow(ax, (i, LOSSES + 0.45), (middle + (i - middle) * 0.3, LOSS - HIGH / 2), MUTED)
    _box(ax, (middle, LOSS), "mean = loss", INK, width=1.9)
    for y, name in ((ENCODER - 0.6, "encoder reads"), (DECODER - 1.0, "decoder reads")):
        say(ax, (-0.45, y), name, MUTED, align="left")
    ax.set(xlim=(-0.6, m - 0.4), ylim=(LOSS + 0.45, ENCODER - 0.9))
    ax.axis("off")
    return ax


def _box(ax: Axes, at: Point, text: str, colour: str, width: float = WIDE) -> None:
    size = FONT - 1 if len(text) > 6 else FONT
    shapes.box(ax, at, text, colour, width, HIGH, rounding=0.1, ink=INK, size=size)
