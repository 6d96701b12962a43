"""A drawing of the encoder block: the residual path, and where the two norms stand."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from .theme import COLOURS, INK, MUTED, PAPER

FONT = 11
BRANCH = 1.75
"""How far to the right of the residual path a sublayer stands."""
SUBLAYERS = ("attention", "feed-forward")
Point = tuple[float, float]


def encoder_blocks() -> tuple[Axes, Axes]:
    """Draw the block with the norm after each sum, and the one with the norm before each sublayer.

    The way from the input at the bottom to the output at the top is the thick line. Returns the
    axes of the two.
    """
    _, (after, before) = plt.subplots(1, 2, figsize=(5.0, 5.6), layout="constrained")
    for ax, title in ((after, "norm after"), (before, "norm before")):
        ax.set_title(title, fontsize=FONT + 2, color=INK)
        ax.set(xlim=(-0.85, 2.95), ylim=(-0.55, 6.9), aspect="equal")
        ax.axis("off")
        _say(ax, (0, -0.3), "tokens")
    bottom = top = 0.0
    for name, colour in zip(SUBLAYERS, COLOURS, strict=False):
        bottom = _norm_after(after, bottom, name, colour)
        top = _norm_before(before, top, name, colour)
    for ax, end in ((after, bottom), (before, top)):
        _line(ax, (0, end), (0, end + 0.5), width=3, arrow=True)
    _say(before, (0.3, top + 0.75), "and one norm more\nafter the last block", "left", 2)
    return after, before


def _norm_after(ax: Axes, start: float, name: str, colour: str) -> float:
    """Draw a sublayer from the height `start` on; return the height at which it ends."""
    plus, norm = start + 2.0, start + 2.65
    _line(ax, (0, start), (0, plus - 0.2), width=3)
    _branch(ax, start, plus)
    _box(ax, (BRANCH, start + 1.1), name, colour)
    _plus(ax, plus)
    _line(ax, (0, plus + 0.2), (0, norm), width=3)
    _box(ax, (0, norm), "norm", COLOURS[2], 1.2)
    return norm + 0.28


def _norm_before(ax: Axes, start: float, name: str, colour: str) -> float:
    plus = start + 2.65
    _line(ax, (0, start), (0, plus - 0.2), width=3)
    _branch(ax, start, plus)
    _box(ax, (BRANCH, start + 0.85), "norm", COLOURS[2], 1.2)
    _box(ax, (BRANCH, start + 1.75), name, colour)
    _plus(ax, plus)
    return plus + 0.2


def _branch(ax: Axes, start: float, plus: float) -> None:
    """Draw the way that leaves the path, goes through a sublayer, and comes back to the sum."""
    leave = start + 0.3
    for begin, end in (((0, leave), (BRANCH, leave)), ((BRANCH, leave), (BRANCH, plus))):
        _line(ax, begin, end)
    _line(ax, (BRANCH, plus), (0.2, plus), arrow=True)
    _say(ax, (BRANCH / 2 + 0.15, plus + 0.22), "dropout", smaller=2, colour=MUTED)


def _box(ax: Axes, at: Point, text: str, colour: str, width: float = 2.1) -> None:
    corner = (at[0] - width / 2, at[1] - 0.28)
    style = "round,pad=0,rounding_size=0.12"
    ax.add_patch(
        FancyBboxPatch(corner, width, 0.56, boxstyle=style, fc=PAPER, ec=colour, lw=1.8, zorder=3)
    )
    _say(ax, at, text, colour=colour)


def _plus(ax: Axes, height: float) -> None:
    ax.add_patch(Circle((0, height), 0.2, fc=PAPER, ec=INK, lw=1.4, zorder=3))
    for ends in (((-0.11, 0.11), (height, height)), ((0, 0), (height - 0.11, height + 0.11))):
        ax.plot(*ends, color=INK, lw=1.4, zorder=4)


def _line(ax: Axes, start: Point, end: Point, width: float = 1.3, arrow: bool = False) -> None:
    colour = INK if width > 2 else MUTED
    if not arrow:
        ax.plot(*zip(start, end, strict=True), color=colour, lw=width, solid_capstyle="round")
        return
    head = FancyArrowPatch(
        *(start, end), arrowstyle="-|>", shrinkA=0, shrinkB=0, mutation_scale=8 + 3 * width
    )
    head.set(color=colour, lw=width)
    ax.add_patch(head)


def _say(
    ax: Axes,
    at: Point,
    text: str,
    align: str = "center",
    smaller: int = 0,
    colour: str = INK,
) -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=FONT - smaller, color=colour, zorder=5)
