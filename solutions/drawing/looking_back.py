"""A drawing of one step of a decoder that looks back, with the weights of an example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, Rectangle

from . import shapes
from .shapes import Point, say
from .theme import COLOURS, INK, MUTED, PAPER

CONTEXT, CELL = (5.4, 2.8), (5.4, 4.6)
arrow = partial(shapes.arrow, colour=INK, width=1, head=12)


def one_step(tokens: Sequence[str], weights: np.ndarray, last: str, following: str) -> Axes:
    """Draw how a decoder that has written `last` looks at its source and writes `following`.

    tokens: T words. weights: (T,), drawn as the widths of lines. Returns the axes.
    """
    _, ax = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
    positions = np.linspace(1.2, 9.7, len(tokens))
    for x, token, weight in zip(positions, tokens, weights, strict=True):
        ends = [x, CONTEXT[0]], [0.4, CONTEXT[1] - 0.2]
        ax.plot(*ends, color=COLOURS[0], lw=0.6 + 14 * float(weight), zorder=0)
        _tile(ax, (x, 0), token, COLOURS[0])
    ax.text(5.4, -0.75, "encoder states $h_1, h_2, \\dots$", fontsize=11, ha="center", color=INK)
    ax.add_patch(Circle(CONTEXT, 0.55, fc=PAPER, ec="none", zorder=2))
    ax.add_patch(Circle(CONTEXT, 0.55, fc=to_rgba(COLOURS[1], 0.15), ec=MUTED, zorder=3))
    say(ax, CONTEXT, "$c_i$", size=14)
    _tile(ax, CELL, "cell", COLOURS[2], 1.9, 0.9)
    for x, text in ((1.2, "$s_{i-1}$"), (9.6, "$s_i$")):
        _tile(ax, (x, CELL[1]), text, MUTED, 1.3, 0.8)
    for x, word, name in ((1.2, last, "last word"), (5.4, following, "next word")):
        _tile(ax, (x, 6.5), word, MUTED, 2.0, 0.8)
        ax.text(x, 7.15, name, fontsize=11, ha="center", color=INK)
    arrow(ax, (5.4, 3.4), (5.4, 4.1))
    arrow(ax, (1.9, 4.6), (4.4, 4.6))
    arrow(ax, (6.4, 4.6), (8.9, 4.6))
    arrow(ax, (5.4, 5.1), (5.4, 6.1))
    arrow(ax, (2.1, 6.2), (4.4, 4.95))
    arrow(ax, (1.2, 4.15), (2.9, 1.7), style=":", width=2)
    ax.text(0.45, 2.7, "asks", fontsize=12, color=INK)
    ax.set(xlim=(0, 10.8), ylim=(-1.0, 7.5), aspect="equal")
    ax.axis("off")
    return ax


def _tile(
    ax: Axes, at: Point, text: str, colour: str, width: float = 1.5, height: float = 0.7
) -> None:
    corner = (at[0] - width / 2, at[1] - height / 2)
    ax.add_patch(Rectangle(corner, width, height, fc=PAPER, ec="none", zorder=1))
    ax.add_patch(Rectangle(corner, width, height, fc=to_rgba(colour, 0.15), ec=MUTED, zorder=1))
    say(ax, at, text, size=12)
