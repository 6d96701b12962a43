"""A drawing of an attention layer with the three doors by which a position can come in."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from .theme import COLOURS, INK, MUTED

FONT = 12
STEPS = (
    ("tokens", 0, False),
    ("add a vector", 1, True),
    ("queries, keys, values", 2, False),
    ("turn queries and keys", 3, True),
    ("scores", 4, False),
    ("add a bias", 5, True),
    ("softmax, weighted sum", 6, False),
)
"""What happens to the tokens, from top to bottom, and whether it is a door for positions."""

SCHEMES = {1: "learned,\nsinusoidal", 3: "rotary", 5: "linear bias,\nrelative table"}
"""Row -> the schemes that come in there."""


def three_doors() -> Axes:
    """Draw the layer as a column of steps, with the doors in colour and their schemes beside them.

    Returns the axes.
    """
    _, axes = plt.subplots(figsize=(5.2, 5.6), layout="constrained")
    for text, row, door in STEPS:
        colour = COLOURS[1] if door else MUTED
        _box(axes, 1.9, row, 3.4, text, colour, width=2.0 if door else 1.0)
        if row:
            _arrow(axes, (1.9, row - 0.66), (1.9, row - 0.34), MUTED)
    for number, (row, schemes) in enumerate(SCHEMES.items(), start=1):
        axes.text(-0.05, row, str(number), ha="right", va="center", fontsize=15, color=COLOURS[1])
        axes.text(4.35, row, schemes, ha="left", va="center", fontsize=FONT, color=INK)
        _arrow(axes, (4.25, row), (3.66, row), COLOURS[1])
    axes.set(xlim=(-0.4, 5.9), ylim=(6.5, -0.5))
    axes.axis("off")
    return axes


def _box(
    axes: Axes, x: float, y: float, wide: float, text: str, colour: str, *, width: float
) -> None:
    """Draw a box with a text, centred at (x, y)."""
    corner = (x - wide / 2 + 0.06, y - 0.24)
    shape = FancyBboxPatch(
        corner, wide - 0.12, 0.48, boxstyle="round,pad=0.06", fill=False, ec=colour, lw=width
    )
    axes.add_patch(shape)
    axes.text(x, y, text, ha="center", va="center", fontsize=FONT, color=INK)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """Draw an arrow."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=colour))
