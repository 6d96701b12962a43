"""The figures that the chapters share: a heatmap, a token-to-token view and a quality curve.

Colour-blind readers can tell the colours apart. Colour is never the only carrier of information:
numbers, labels, markers or line styles repeat it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from .theme import COLOURS, HEAT, INK, MUTED, PAPER, RULE, TURN

_MARKERS = "osD^vP*"
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def new_axes(width: float = 5.0, height: float = 3.6) -> Axes:
    """Return the axes of a new figure, small enough that its text is legible on a phone."""
    _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes


def _matrix(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Return `weights` as floats. Raises ValueError if a label has no row or column."""
    weights = np.asarray(weights, dtype=float)
    expected = (len(rows), len(columns))
    if weights.shape != expected:
        raise ValueError(f"weights have shape {weights.shape}, the labels ask for {expected}")
    return weights


def heatmap(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    ax: Axes | None = None,
    annotate: bool = True,
) -> Axes:
    """Draw a matrix with its tokens at the edges: queries down the side, keys along the top.

    weights: (len(rows), len(columns)). Values that all lie in [0, 1] are drawn on one fixed scale,
    so that the same blue means the same weight in every figure. Other values are scaled by the
    largest, and negative values are orange. A value that is not finite (a masked score) is grey.
    `annotate` writes the numbers. Returns the axes. Raises ValueError if the shape does not match
    the labels.
    """
    weights = _matrix(weights, rows, columns)
    shown = weights[np.isfinite(weights)]
    largest = max(1.0, np.abs(shown).max(initial=0.0))
    whole = np.all(shown == np.round(shown)) and not np.all((shown >= 0) & (shown <= 1))
    ax = ax or new_axes(1.6 + 0.62 * len(columns), 1.1 + 0.52 * len(rows))
    squares = [Rectangle((j - 0.48, i - 0.48), 0.96, 0.96) for i, j in np.ndindex(weights.shape)]
    colours = [_heat(value / largest) for value in weights.flat]
    ax.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    for (i, j), value in np.ndenumerate(weights if annotate else np.empty((0, 0))):
        colour = PAPER if np.isfinite(value) and abs(value) / largest > TURN else INK
        text = _number(value, whole=bool(whole))
        ax.text(j, i, text, ha="center", va="center", fontsize=11, color=colour)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xticks(range(len(columns)), columns, fontsize=12)
    ax.set_yticks(range(len(rows)), rows, fontsize=12)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_edgecolor(RULE)
    if title:
        ax.set_title(title, fontsize=13)
    return ax


def _heat(share: float) -> tuple[float, float, float, float]:
    """Return the colour of a value, given as a share of the largest; larger values are stronger."""
    if not np.isfinite(share):
        return to_rgba(MUTED, 0.3)
    return to_rgba(HEAT if share >= 0 else COLOURS[1], abs(share))


def _number(value: float, *, whole: bool) -> str:
    """Return the text of a cell."""
    if np.isfinite(value):
        return f"{value:.0f}" if whole else f"{value:.2f}"
    return "nan" if np.isnan(value) else (r"$\infty$" if value > 0 else r"$-\infty$")


def token_view(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw attention as curves from queries (left) to keys (right), as wide as their weights.

    weights: (len(queries), len(keys)), each in [0, 1]; a weight of 0 is not drawn. Returns the
    axes. Raises ValueError if the shape does not match the labels.
    """
    weights = _matrix(weights, queries, keys)
    tallest = max(len(queries), len(keys))
    ax = ax or new_axes(4.6, 0.8 + 0.5 * tallest)
    left = (np.arange(len(queries)) + 0.5) * tallest / len(queries)
    right = (np.arange(len(keys)) + 0.5) * tallest / len(keys)
    bend = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    for (i, j), weight in np.ndenumerate(weights):
        if weight > 0:
            heights = (left[i], left[i], right[j], right[j])
            curve = Path(np.column_stack([(0, 0.5, 0.5, 1), heights]), bend)
            ax.add_patch(
                PathPatch(
                    curve,
                    fill=False,
                    edgecolor=COLOURS[i % len(COLOURS)],
                    linewidth=0.3 + 9 * weight,
                    alpha=0.25 + 0.6 * weight,
                    capstyle="butt",
                )
            )
    for i, token in enumerate(queries):
        colour = COLOURS[i % len(COLOURS)]
        ax.text(-0.03, left[i], token, ha="right", va="center", fontsize=13, color=colour)
    for j, token in enumerate(keys):
        ax.text(1.03, right[j], token, ha="left", va="center", fontsize=13)
    ax.set_xlim(-0.3, 1.3)
    ax.set_ylim(tallest, -0.35)
    ax.text(-0.03, -0.1, "query", ha="right", fontsize=11, color=MUTED)
    ax.text(1.03, -0.1, "key", ha="left", fontsize=11, color=MUTED)
    ax.axis("off")
    if title:
        ax.set_title(title, fontsize=13)
    return ax


def quality_curve(
    x: Sequence[float] | np.ndarray,
    series: Mapping[str, np.ndarray],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a line for each series: the mean over the seeds, in a band from lowest to highest seed.

    series: name -> array of shape (seeds, len(x)). Returns the axes. Raises ValueError if an array
    has another shape.
    """
    ax = ax or new_axes()
    for number, (name, values) in enumerate(series.items()):
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or values.shape[1] != len(x):
            raise ValueError(f"{name!r} has shape {values.shape}, not (seeds, {len(x)})")
        colour = COLOURS[number % len(COLOURS)]
        ax.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, lw=0)
        ax.plot(
            x,
            values.mean(axis=0),
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=_STYLES[number % len(_STYLES)],
            label=name,
        )
    ax.set_xlabel(x_label, fontsize=12)
    ax.set_ylabel(y_label, fontsize=12)
    ax.tick_params(labelsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=RULE)
    ax.set_axisbelow(True)
    ax.legend(fontsize=11, frameon=False)
    if title:
        ax.set_title(title, fontsize=13)
    return ax
