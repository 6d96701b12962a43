"""A drawing of self-attention without weights: the same tokens three times, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from .shapes import Table, arrow, matrix, name_rows, outline
from .theme import COLOURS, HEAT


def self_attention_flow(
    tokens: Sequence[str], X: np.ndarray, weights: np.ndarray, Y: np.ndarray, row: int
) -> Axes:
    """Draw `Y = softmax(X X^T) X` from the tokens down to the outputs, with one row marked.

    tokens: n words. X and Y: (n, d). weights: (n, n). row: the token whose query, weights and
    output are marked. No number is negative, and each matrix is coloured relative to its largest
    number. Returns the axes.
    """
    n, d = X.shape
    asks, asked, blended = (
        Table(f"$X$, {name}", (COLOURS[5],), left, 0, X)
        for name, left in (("asking", 0), ("asked", d + 2.4), ("blended", 2 * d + 4.8))
    )
    table = Table(r"softmax of $XX^\top$", (HEAT,), d / 2 + 0.2, n + 4.6, weights)
    output = Table("$Y$", (COLOURS[2],), blended.left, table.top, Y)
    _, ax = plt.subplots(figsize=(4.9, 5.0), layout="constrained")
    for one in (asks, asked, blended, table, output):
        matrix(ax, one, above=0.7)
    for one in (asks, table, output):
        corner = (one.left - 0.15, one.top + row - 0.1)
        outline(ax, corner, one.right - one.left + 0.24, 1.14)
    for one in (asks, table):
        name_rows(ax, one, tokens)
    for one, side in ((asks, -1), (asked, 1)):
        arrow(ax, (one.centre, n + 0.3), (table.centre + side, table.top - 1.3))
    arrow(ax, (blended.centre, n + 0.3), (output.centre, output.top - 1.3))
    beside = table.top + n / 2
    arrow(ax, (table.right + 0.3, beside), (output.left - 0.4, beside))
    ax.set(xlim=(-2.6, output.right + 0.6), ylim=(table.bottom + 0.4, -1.6), aspect="equal")
    ax.axis("off")
    return ax
