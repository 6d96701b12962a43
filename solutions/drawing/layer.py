"""A drawing of an attention layer: its matrices to scale, with the numbers of an example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch, Rectangle

from .theme import COLOURS, HEAT, INK, MUTED

FONT = 11
WEIGHTS = r"softmax of $QK^\top\!/\sqrt{d_k}$"
Point = tuple[float, float]


@dataclass(frozen=True)
class Table:
    """A matrix as it is drawn, a square a number; x grows to the right and y downwards."""

    name: str
    colour: str
    left: float
    top: float
    values: np.ndarray

    @property
    def columns(self) -> int:
        """How many squares it is wide."""
        return int(self.values.shape[1])

    @property
    def right(self) -> float:
        """Where it ends on the right."""
        return self.left + self.columns

    @property
    def bottom(self) -> float:
        """Where it ends below."""
        return self.top + len(self.values)

    @property
    def centre(self) -> float:
        """Where its middle is, from left to right."""
        return self.left + self.columns / 2


def attention_layer(
    tokens: Sequence[str],
    X: np.ndarray,
    roles: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: np.ndarray,
    output: np.ndarray,
    row: int,
) -> Axes:
    """Draw self-attention from the tokens down to the output, the way of one token marked.

    tokens: n words. X: (n, d). roles: Q and K, (n, d_k), and V, (n, d_v). weights: (n, n).
    output: (n, d_v). row: the token whose query, weights and output are marked. Each matrix is
    coloured by its own largest number. Returns the axes.
    """
    n = len(X)
    Q, K, V = roles
    x = Table("tokens $X$", COLOURS[5], Q.shape[1] / 2 + 2.2, 0, X)
    q = Table("queries $Q$", COLOURS[0], 0, n + 3.6, Q)
    k = Table("keys $K$", COLOURS[1], q.right + 2.2, q.top, K)
    v = Table("values $V$", COLOURS[2], k.right + 2.2, q.top, V)
    w = Table(WEIGHTS, HEAT, (q.left + k.right - n) / 2, q.bottom + 4.2, weights)
    out = Table("output", COLOURS[2], v.left, w.top, output)

    _, ax = plt.subplots(figsize=(4.7, 6.9), layout="constrained")
    for table in (x, q, k, v, w, out):
        _draw(ax, table)
    for table in (q, w, out):
        box = (table.left - 0.12, table.top + row - 0.08)
        ax.add_patch(Rectangle(box, table.columns + 0.24, 1.16, fill=False, ec=INK, lw=1.6))
    for table in (x, w):
        for i, token in enumerate(tokens):
            _say(ax, (table.left - 0.4, table.top + i + 0.47), token, align="right")
    for j, token in enumerate(tokens):
        _say(ax, (w.left + j + 0.47, w.bottom + 0.5), token, size=FONT - 2.5)

    for table, name in ((q, "$W_q$"), (k, "$W_k$"), (v, "$W_v$")):
        start = (x.centre + 0.35 * (table.centre - x.centre), x.bottom + 0.3)
        _arrow(ax, start, (table.centre, table.top - 1.35))
        side = -1 if table is q else 1
        middle = (start[0] + table.centre) / 2 + 0.3 * side, x.bottom + 1.1
        _say(ax, middle, name, table.colour, align="right" if table is q else "left")
    for table, side in ((q, -1), (k, 1)):
        end = (w.centre + side * 0.15 * n, w.top - 1.5)
        _arrow(ax, (table.centre, table.bottom + 0.3), end)
    _arrow(ax, (v.centre, v.bottom + 0.3), (out.centre, out.top - 1.35))
    _arrow(ax, (w.right + 0.3, w.top + n / 2), (out.left - 0.3, w.top + n / 2))
    ax.set(xlim=(w.left - 3.1, v.right + 1.6), ylim=(w.bottom + 1.2, -1.2), aspect="equal")
    ax.axis("off")
    return ax


def _draw(ax: Axes, table: Table) -> None:
    """Draw a matrix under its name, the larger a number, the stronger its square."""
    largest = max(float(np.abs(table.values).max()), 1e-9)
    squares = [
        Rectangle((table.left + j, table.top + i), 0.94, 0.94)
        for i, j in np.ndindex(table.values.shape)
    ]
    shares = [min(1.0, 0.08 + 0.92 * abs(value) / largest) for value in table.values.flat]
    colours = [to_rgba(table.colour, share) for share in shares]
    ax.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    _say(ax, (table.centre, table.top - 0.65), table.name)


def _say(
    ax: Axes, at: Point, text: str, colour: str = INK, align: str = "center", size: float = FONT
) -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=size, color=colour)


def _arrow(ax: Axes, start: Point, end: Point) -> None:
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=MUTED, lw=1.2)
    ax.add_patch(arrow)
