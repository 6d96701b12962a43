"""A drawing of an attention layer: its matrices to scale, with the numbers of an example."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from .shapes import FONT, Table, arrow, mark_row, matrix, name_rows, say
from .theme import COLOURS, HEAT

WEIGHTS = r"softmax of $QK^\top\!/\sqrt{d_k}$"


def attention_layer(
    tokens: Sequence[str],
    X: np.ndarray,
    roles: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: np.ndarray,
    output: np.ndarray,
    row: int,
) -> Axes:
    """Draw self-attention from the tokens down to the output, with the path of one token marked.

    tokens: n words. X: (n, d). roles: Q and K, (n, d_k), and V, (n, d_v). weights: (n, n). output:
    (n, d_v). row: the token whose query, weights and output are marked. Each matrix is coloured
    relative to its largest number. Returns the axes.
    """
    n = len(X)
    Q, K, V = roles
    x = Table("tokens $X$", (COLOURS[5],), Q.shape[1] / 2 + 2.2, 0, X)
    q = Table("queries $Q$", (COLOURS[0],), 0, n + 3.6, Q)
    k = Table("keys $K$", (COLOURS[1],), q.right + 2.2, q.top, K)
    v = Table("values $V$", (COLOURS[2],), k.right + 2.2, q.top, V)
    w = Table(WEIGHTS, (HEAT,), (q.left + k.right - n) / 2, q.bottom + 4.2, weights)
    out = Table("output", (COLOURS[2],), v.left, w.top, output)

    _, ax = plt.subplots(figsize=(4.7, 6.9), layout="constrained")
    for table in (x, q, k, v, w, out):
        matrix(ax, table)
    for table in (q, w, out):
        mark_row(ax, table, row)
    for table in (x, w):
        name_rows(ax, table, tokens)
    for j, token in enumerate(tokens):
        say(ax, (w.left + j + 0.47, w.bottom + 0.5), token, size=FONT - 2.5)

    for table, name in ((q, "$W_q$"), (k, "$W_k$"), (v, "$W_v$")):
        start = (x.centre + 0.35 * (table.centre - x.centre), x.bottom + 0.3)
        arrow(ax, start, (table.centre, table.top - 1.35))
        side = -1 if table is q else 1
        middle = (start[0] + table.centre) / 2 + 0.3 * side, x.bottom + 1.1
        say(ax, middle, name, table.colours[0], align="right" if table is q else "left")
    for table, side in ((q, -1), (k, 1)):
        end = (w.centre + side * 0.15 * n, w.top - 1.5)
        arrow(ax, (table.centre, table.bottom + 0.3), end)
    arrow(ax, (v.centre, v.bottom + 0.3), (out.centre, out.top - 1.35))
    arrow(ax, (w.right + 0.3, w.top + n / 2), (out.left - 0.3, w.top + n / 2))
    ax.set(xlim=(w.left - 3.1, v.right + 1.6), ylim=(w.bottom + 1.2, -1.2), aspect="equal")
    ax.axis("off")
    return ax
