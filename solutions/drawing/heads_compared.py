"""Figures that compare heads: how they share out their weight, their maps, and what each is worth.

Markers and line styles repeat what colour says, so that all can be told apart without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from .plots import heatmap, new_axes
from .theme import COLOURS, INK, MUTED, RULE

_MARKERS = "osD^vP"
_STYLES = ("-", "--", "-.")


def _tidy(ax: Axes, x_label: str, y_label: str) -> None:
    ax.set_xlabel(x_label, fontsize=12)
    ax.set_ylabel(y_label, fontsize=12)
    ax.tick_params(labelsize=11)
    ax.spines[["top", "right"]].set_visible(False)


def logit_against_share(shares: Mapping[str, float]) -> Axes:
    """Draw a rising line, a falling one and a bent one over the shares of some names.

    shares: name -> share, three of them. On each line the name with the largest logit is marked.
    """
    x, at = np.linspace(0, 0.75, 301), np.array(list(shares.values()))
    lines: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "rising": lambda share: 2 * share - 0.4,
        "falling": lambda share: 0.9 - 2 * share,
        "bent": lambda share: 0.75 - 3.2 * np.abs(share - at[1]),
    }
    ax = new_axes(5.4, 3.4)
    for number, (name, logit) in enumerate(lines.items()):
        best = at[logit(at).argmax()]
        ax.plot(x, logit(x), _STYLES[number], color=COLOURS[number], label=name)
        ax.plot(best, logit(best), "o", color=COLOURS[number], ms=9)
    for name, share in shares.items():
        ax.axvline(share, color=MUTED, ls=":", lw=1, zorder=0)
        ax.text(share, 1.22, name, ha="center", fontsize=12, color=INK)
    ax.set(xlim=(-0.08, 0.75), ylim=(-0.75, 1.15), yticks=[])
    ax.set_xticks(at, [f"{share:.2f}" for share in at])
    _tidy(ax, "share of the name", "logit")
    ax.legend(fontsize=11, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.22))
    return ax


def three_curves(steps: Sequence[int], curves: Sequence[Mapping[str, np.ndarray]]) -> None:
    """Draw a panel for each seed, with a curve for each name; steps: one for each value."""
    _, axes = plt.subplots(len(curves), 1, figsize=(5.4, 6.6), layout="constrained")
    for seed, (ax, of_seed) in enumerate(zip(axes, curves, strict=True)):
        for number, (name, values) in enumerate(of_seed.items()):
            colour, marker = COLOURS[number], _MARKERS[number]
            ax.plot(steps, values, _STYLES[number], color=colour, marker=marker, ms=4, label=name)
        ax.axhline(0.5, color=MUTED, ls=":", lw=1.2)
        ax.set_ylim(0, 1.05)
        _tidy(ax, "step" if ax is axes[-1] else "", f"accuracy, seed {seed}")
    axes[0].legend(fontsize=11, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def weight_plane(heads: Mapping[str, np.ndarray], axes: tuple[str, str], equal: float) -> Axes:
    """Draw a point for each head: its mean weight on the first relation and on the second.

    heads: name of a group -> (heads, 2). equal: the weight that every record gets if all get the
    same.
    """
    ax = new_axes(5.0, 4.8)
    ax.plot([0, 1], [1, 0], color=RULE, zorder=0)
    ax.plot(equal, equal, "+", color=INK, ms=11, mew=2, label="equal weights")
    for number, (name, points) in enumerate(heads.items()):
        marker, colour = _MARKERS[number], COLOURS[number]
        ax.plot(*points.T, marker, ls="", mec=colour, mfc="none", mew=1.8, ms=8, label=name)
    ax.set(xlim=(-0.04, 1.06), ylim=(-0.04, 1.06), aspect="equal")
    _tidy(ax, *(f"mean weight on {axis}" for axis in axes))
    ax.legend(fontsize=11, loc="upper right")
    return ax


def small_maps(maps: np.ndarray, labels: Sequence[str], titles: Sequence[str]) -> None:
    """Draw the maps (heads, n, n) of all heads in rows of three, with labels at the edges."""
    rows = -(-len(maps) // 3)
    _, axes = plt.subplots(rows, 3, figsize=(5.4, 2.2 * rows), layout="constrained")
    for ax, table, title in zip(axes.flat, maps, titles, strict=False):
        heatmap(table, labels, labels, title=title, ax=ax, annotate=False)
        ax.set_aspect("equal")
        ax.tick_params(labelsize=9, pad=1)
        ax.title.set_fontsize(11)
    for ax in axes.flat[len(maps) :]:
        ax.axis("off")


def importance_and_damage(importance: np.ndarray, damage: np.ndarray) -> Axes:
    """Draw a point for each head of a model; both arrays: (layers, heads)."""
    ax = new_axes(5.4, 4.2)
    for layer, (x, y) in enumerate(zip(importance, damage, strict=True)):
        marker, colour = _MARKERS[layer], COLOURS[layer]
        ax.plot(x, y, marker, ls="", mec=colour, mfc="none", mew=1.6, ms=7, label=f"{layer + 1}")
    ax.set_yscale("log")
    _tidy(ax, "importance (on other sentences)", "damage")
    ax.legend(
        fontsize=11,
        title="layer",
        ncols=6,
        columnspacing=1,
        loc="lower center",
        bbox_to_anchor=(0.5, 1),
    )
    return ax
