"""A drawing of self-attention without weights: the same tokens three times, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch, Rectangle

from .theme import COLOURS, HEAT, INK, MUTED

FONT = 11
Point = tuple[float, float]


def self_attention_flow(
    tokens: Sequence[str], X: np.ndarray, weights: np.ndarray, Y: np.ndarray, row: int
) -> Axes:
    """Draw `Y = softmax(X X^T) X` from the tokens down to the outputs, the way of one row marked.

    tokens: n words. X and Y: (n, d). weights: (n, n). row: the token whose query, weights and
    output are marked. Numbers are from 0 up, and each matrix is coloured by its own largest one.
    Returns the axes.
    """
    n, d = X.shape
    query, key, value = (0.0, 0.0), (d + 2.4, 0.0), (2 * d + 4.8, 0.0)
    table, output = (d / 2 + 0.2, n + 4.6), (2 * d + 4.8, n + 4.6)
    _, ax = plt.subplots(figsize=(4.9, 5.0), layout="constrained")
    for at, name in ((query, "$X$, asking"), (key, "$X$, asked"), (value, "$X$, blended")):
        _draw(ax, X, at, name, COLOURS[5])
    _draw(ax, weights, table, r"softmax of $XX^\top$", HEAT)
    _draw(ax, Y, output, "$Y$", COLOURS[2])
    for (left, top), width in ((query, d), (table, n), (output, d)):
        box = (left - 0.15, top + row - 0.1)
        ax.add_patch(Rectangle(box, width + 0.24, 1.14, fill=False, ec=INK, lw=1.6))
    for (left, top), names in ((query, tokens), (table, tokens)):
        for i, token in enumerate(names):
            _say(ax, (left - 0.4, top + i + 0.47), token, align="right")
    middle = table[0] + n / 2
    for (left, _), side in ((query, -1), (key, 1)):
        _arrow(ax, (left + d / 2, n + 0.3), (middle + side, table[1] - 1.3))
    _arrow(ax, (value[0] + d / 2, n + 0.3), (output[0] + d / 2, output[1] - 1.3))
    _arrow(ax, (table[0] + n + 0.3, table[1] + n / 2), (output[0] - 0.4, table[1] + n / 2))
    ax.set(xlim=(-2.6, output[0] + d + 0.6), ylim=(table[1] + n + 0.4, -1.6), aspect="equal")
    ax.axis("off")
    return ax


def _draw(ax: Axes, values: np.ndarray, at: Point, name: str, colour: str) -> None:
    """Draw a matrix under its name, the larger a number, the stronger its square."""
    left, top = at
    squares = [Rectangle((left + j, top + i), 0.94, 0.94) for i, j in np.ndindex(values.shape)]
    shares = 0.08 + 0.92 * values / max(float(values.max()), 1e-9)
    colours = [to_rgba(colour, min(1.0, share)) for share in shares.flat]
    ax.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    _say(ax, (left + values.shape[1] / 2, top - 0.7), name)


def _say(ax: Axes, at: Point, text: str, align: str = "center") -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=FONT, color=INK)


def _arrow(ax: Axes, start: Point, end: Point) -> None:
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=MUTED, lw=1.2)
    )
