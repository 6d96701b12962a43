"""A drawing of rotary positions: a query and a key turn, and their score depends on distance."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Arc

from .theme import COLOURS, INK, RULE

AROUND = np.linspace(0, 2 * np.pi, 200)


def turned_arrows(
    pairs: tuple[tuple[int, int], tuple[int, int]], speeds: tuple[float, ...]
) -> None:
    """Draw a query and a key at two pairs of positions, and below them score against distance.

    pairs: (position of the query, position of the key), at the same distance, for the fastest of
    `speeds`. Below, each speed has a thin line, and their sum a thick one.
    """
    _, axes = plt.subplot_mosaic(
        [["first", "second"], ["score", "score"]],
        figsize=(5.4, 6.4),
        height_ratios=(1, 1.1),
        layout="constrained",
    )
    for (query, key), name in zip(pairs, ("first", "second"), strict=True):
        _circle(axes[name], query, key)
    _scores(axes["score"], pairs[0][0] - pairs[0][1], speeds)


def _circle(ax: Axes, query: int, key: int) -> None:
    """Draw the query and the key as arrows at the angles of their positions, in radians."""
    ax.plot(np.cos(AROUND), np.sin(AROUND), color=RULE)
    for position, name, colour in ((query, "query", COLOURS[0]), (key, "key", COLOURS[1])):
        x, y = np.cos(position), np.sin(position)
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2})
        ax.text(1.5 * x, 1.3 * y, f"{name}\nat {position}", ha="center", va="center", fontsize=12)
    begin, end = np.degrees((key, query))
    ax.add_patch(Arc((0, 0), 0.7, 0.7, theta1=begin, theta2=end, color=INK))
    middle = (query + key) / 2
    ax.text(
        0.5 * np.cos(middle),
        0.5 * np.sin(middle),
        f"{query - key}",
        ha="center",
        va="center",
        fontsize=12,
    )
    ax.set(xlim=(-1.9, 1.9), ylim=(-1.6, 1.6), aspect="equal")
    ax.axis("off")


def _scores(ax: Axes, marked: int, speeds: tuple[float, ...]) -> None:
    """Draw the cosine of each speed against distance, their sum, and a mark on the first."""
    distances = np.arange(0, 32.01, 0.1)
    waves = np.cos(np.multiply.outer(speeds, distances))  # (speeds, distances)
    for wave, speed, colour, style in zip(
        waves, speeds, COLOURS[2:], ("-", "--", "-."), strict=False
    ):
        ax.plot(distances, wave, style, color=colour, lw=1.2, label=f"speed {speed:g}")
    ax.plot(distances, waves.sum(axis=0), color=INK, lw=2.2, label="all together")
    ax.plot(marked, np.cos(marked * speeds[0]), "o", color=COLOURS[2], ms=8)
    ax.set_xlabel("distance", fontsize=12)
    ax.set_ylabel("score", fontsize=12)
    ax.set_ylim(-len(speeds) - 0.2, len(speeds) + 0.2)
    ax.tick_params(labelsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=11, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.02))
