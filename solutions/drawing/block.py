"""A drawing of the encoder block: the residual path, and the positions of its two norms."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from . import shapes
from .shapes import FONT, arrow, line, say
from .theme import COLOURS, INK, MUTED

BRANCH = 1.75
"""The horizontal distance of a sublayer from the residual path."""
SUBLAYERS = ("attention", "feed-forward")
box = partial(shapes.box, height=0.56)
plus = partial(shapes.plus, radius=0.2, arm=0.11, width=1.4, ends="projecting")


def encoder_blocks() -> tuple[Axes, Axes]:
    """Draw two blocks: with the norm after each sum, and with the norm before each sublayer.

    The thick line is the residual path, from the input at the bottom to the output at the top.
    Returns the axes of both drawings.
    """
    _, (after, before) = plt.subplots(1, 2, figsize=(5.0, 5.6), layout="constrained")
    for ax, title in ((after, "norm after"), (before, "norm before")):
        ax.set_title(title, fontsize=FONT + 2, color=INK)
        ax.set(xlim=(-0.85, 2.95), ylim=(-0.55, 6.9), aspect="equal")
        ax.axis("off")
        say(ax, (0, -0.3), "tokens")
    bottom = top = 0.0
    for name, colour in zip(SUBLAYERS, COLOURS, strict=False):
        bottom = _norm_after(after, bottom, name, colour)
        top = _norm_before(before, top, name, colour)
    for ax, end in ((after, bottom), (before, top)):
        arrow(ax, (0, end), (0, end + 0.5), INK, width=3, head=17, gap=0)
    after_all = "and one norm more\nafter the last block"
    say(before, (0.3, top + 0.75), after_all, align="left", size=FONT - 2)
    return after, before


def _norm_after(ax: Axes, start: float, name: str, colour: str) -> float:
    """Draw a sublayer that begins at the height `start`; return the height at which it ends."""
    total, norm = start + 2.0, start + 2.65
    line(ax, (0, start), (0, total - 0.2), INK, 3)
    _branch(ax, start, total)
    box(ax, (BRANCH, start + 1.1), name, colour, 2.1)
    plus(ax, (0, total))
    line(ax, (0, total + 0.2), (0, norm), INK, 3)
    return box(ax, (0, norm), "norm", COLOURS[2], 1.2)


def _norm_before(ax: Axes, start: float, name: str, colour: str) -> float:
    total = start + 2.65
    line(ax, (0, start), (0, total - 0.2), INK, 3)
    _branch(ax, start, total)
    box(ax, (BRANCH, start + 0.85), "norm", COLOURS[2], 1.2)
    box(ax, (BRANCH, start + 1.75), name, colour, 2.1)
    plus(ax, (0, total))
    return total + 0.2


def _branch(ax: Axes, start: float, total: float) -> None:
    """Draw the branch that leaves the residual path, passes the sublayer and returns to the sum."""
    leave = start + 0.3
    for begin, end in (((0, leave), (BRANCH, leave)), ((BRANCH, leave), (BRANCH, total))):
        line(ax, begin, end)
    arrow(ax, (BRANCH, total), (0.2, total), width=1.3, head=11.9, gap=0)
    say(ax, (BRANCH / 2 + 0.15, total + 0.22), "dropout", MUTED, size=FONT - 2)
