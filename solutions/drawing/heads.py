"""A drawing of multi-head attention: the matrices to scale, each head in a different colour."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from .shapes import Point, Table, arrow, mark_row, matrix, name_rows, say
from .theme import COLOURS, MUTED


def many_heads(
    tokens: Sequence[str],
    X: np.ndarray,
    roles: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: np.ndarray,
    merged: np.ndarray,
    output: np.ndarray,
    row: int,
) -> Axes:
    """Draw self-attention with two heads from the tokens down to the output, with one token framed.

    tokens: n words. X: (n, d). roles: Q, K and V before they are split, (n, 2 * d_head). weights:
    (2, n, n). merged: (n, 2 * d_head). output: (n, d_out). row: the token whose queries, weights,
    merged heads and output are framed. Each matrix is coloured relative to its largest number.
    Returns the axes.
    """
    n, width = roles[0].shape
    own = [COLOURS[h] for h in (0, 1) for _ in range(width // 2)]  # of each feature
    gap, step = 1.8, n + 4.0
    middle = (3 * width + 2 * gap) / 2
    x = Table("tokens $X$", (COLOURS[5],), middle - X.shape[1] / 2, 0, X)
    names = "queries $Q$", "keys $K$", "values $V$"
    q, k, v = (
        Table(name, own, i * (width + gap), step, role)
        for i, (name, role) in enumerate(zip(names, roles, strict=True))
    )
    lefts = (middle - n - 2.2, middle + 0.9)
    heads = [
        Table(f"weights, head {h}", (COLOURS[h],), left, 2 * step, weights[h])
        for h, left in enumerate(lefts)
    ]
    m = Table("merged", own, middle - width - 2, 3 * step + 0.6, merged)
    o = Table("output", (COLOURS[5],), middle + 2, m.top, output)

    _, ax = plt.subplots(figsize=(4.7, 8.4), layout="constrained")
    for table in (x, q, k, v, *heads, m, o):
        matrix(ax, table, faintest=0.1)
    for table in (q, *heads, m, o):
        mark_row(ax, table, row)
    for table in (x, heads[0], m):
        name_rows(ax, table, tokens)
    for table, name in ((q, "$W_q$"), (k, "$W_k$"), (v, "$W_v$")):
        start = (x.centre + 0.35 * (table.centre - x.centre), x.bottom + 0.3)
        end = (table.centre, table.top - 1.35)
        arrow(ax, start, end)
        side = -1 if table is q else 1
        at = ((start[0] + end[0]) / 2 + 0.35 * side, x.bottom + 1.1)
        say(ax, at, name, align="right" if table is q else "left")
    for h, head in enumerate(heads):
        for table in (q, k):
            start = (table.left + width * (1 + 2 * h) / 4, table.bottom + 0.3)
            arrow(ax, start, (head.centre, head.top - 1.35), COLOURS[h])
        end = (m.left + width * (1 + 2 * h) / 4, m.top - 1.35)
        arrow(ax, (head.centre, head.bottom + 0.3), end, COLOURS[h])
        _values(ax, (v.left + width * (1 + 2 * h) / 4, v.bottom + 0.3), heads[1], end, h)
    arrow(ax, (m.right + 0.3, m.top + n / 2), (o.left - 0.3, m.top + n / 2))
    say(ax, ((m.right + o.left) / 2, m.top + n / 2 - 0.7), "$W_o$")
    ax.set(xlim=(heads[0].left - 3.2, heads[1].right + 2.3), ylim=(m.bottom + 0.4, -1.2))
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _values(ax: Axes, start: Point, beside: Table, end: Point, head: int) -> None:
    """Draw a head's values as a dashed line, past the right of the weights, to the sum."""
    side = beside.right + 0.9 + head
    corners = (side, beside.top), (side, beside.bottom)
    xs, ys = zip(start, *corners, strict=True)
    ax.plot(xs, ys, color=COLOURS[head], lw=1.2, ls=(0, (3, 2)))
    arrow(ax, corners[1], end, COLOURS[head])


def features_by_head(
    ax: Axes, labels: np.ndarray, owners: np.ndarray, corner: Point, title: str
) -> None:
    """Draw a table of labels, each cell in the colour of the head that owns its feature.

    labels, owners: (n, d), the text of each cell, and the number of its head. corner: left and top.
    """
    left, top = corner
    for (i, j), label in np.ndenumerate(labels):
        colour = to_rgba(COLOURS[owners[i, j]], 0.3)
        ax.add_patch(Rectangle((left + j, top + i), 1, 1, fc=colour, ec=MUTED))
        ax.text(left + j + 0.5, top + i + 0.5, label, ha="center", va="center", fontsize=12)
    ax.text(left + labels.shape[1] / 2, top - 0.25, title, ha="center", fontsize=12)
