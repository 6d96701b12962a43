"""Drawings of chapter 3: pictures with their captions and boxes, and one step of the captioner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from . import shapes
from .shapes import FONT, Point, outline, say
from .theme import COLOURS, HEAT, INK, MUTED

arrow = partial(shapes.arrow, width=1.4, head=12, gap=0)
box = partial(shapes.box, width=1.2, height=0.54, rounding=0.1, covers=False, ink=INK)

WHITE = "#fefefe"
"""The colour of text and frames on a picture.

A picture is dark in both themes, so this colour is not one of the theme's colours.
"""

LOOK = (0.04, 0.08, 0.05, 0.45, 0.25, 0.05, 0.04, 0.02, 0.02)
"""The weights that the drawing shows, for a few of the 64 places."""


class Captioned(Protocol):
    """A picture that `show` can draw: an image (3, side, side), and the words of its caption."""

    @property
    def image(self) -> np.ndarray:
        """The image."""

    @property
    def caption(self) -> tuple[str, ...]:
        """The words."""


def show(ax: Axes, picture: Captioned) -> None:
    """Draw a picture under its caption, with one line of the caption for each shape."""
    ax.imshow(picture.image.transpose(1, 2, 0))
    ax.set_xticks([])
    ax.set_yticks([])
    words, lines = list(picture.caption), []
    while words:
        end = words.index("a", 1) if "a" in words[1:] else len(words)
        lines.append(" ".join(words[:end]))
        words = words[end:]
    ax.set_title("\n".join(lines), fontsize=FONT)


def frame(ax: Axes, edges: Sequence[int], style: str = "-") -> None:
    """Frame a box of pixels: top, left, bottom, right."""
    top, left, bottom, right = edges
    outline(ax, (left - 0.5, top - 0.5), right - left, bottom - top, WHITE, 1.8, style)


def captioner_loop() -> Axes:
    """Draw how the captioner writes a word and feeds it back for the next. Returns the axes."""
    _, ax = plt.subplots(figsize=(5.0, 6.0), layout="constrained")
    box(ax, (0.75, 7.2), "picture", MUTED)
    box(ax, (2.7, 7.2), "CNN", COLOURS[2])
    _grid(ax, (4.35, 6.65))
    arrow(ax, (1.35, 7.2), (2.1, 7.2))
    arrow(ax, (3.3, 7.2), (4.25, 7.2))
    arrow(ax, (4.9, 6.55), (4.3, 5.8))
    left, top = 0.75, 5.55
    _annotations(ax, (left, top - 0.45), to=(3.45, 4.0))
    say(ax, (left, top + 0.3), "64 annotations", align="left")

    box(ax, (0.95, 2.4), "GRU", COLOURS[0])
    box(ax, (3.45, 3.7), "context", HEAT)
    box(ax, (3.45, 2.4), "read-out", COLOURS[2])
    arrow(ax, (0.95, 2.7), (0.95, top - 0.55))
    say(ax, (0.8, 4.35), "state\nscores", align="right")
    arrow(ax, (3.45, 3.4), (3.45, 2.72))
    arrow(ax, (1.55, 2.4), (2.8, 2.4))
    say(ax, (2.15, 2.12), "state")
    arrow(ax, (2.8, 3.6), (1.5, 2.72), style="--")
    say(ax, (2.0, 3.5), "place")
    arrow(ax, (3.45, 2.1), (3.45, 1.35))
    say(ax, (3.45, 1.1), "next word: “circle”")
    arrow(ax, (2.2, 1.1), (0.95, 2.08), bend=-0.35)
    say(ax, (0.25, 1.35), "becomes the\nlast word")
    ax.set(xlim=(-0.35, 5.7), ylim=(0.8, 7.85), aspect="equal")
    ax.axis("off")
    return ax


def _grid(ax: Axes, corner: Point, cells: int = 8, side: float = 1.1) -> None:
    """Draw the grid of features."""
    for i, j in np.ndindex(cells, cells):
        at = (corner[0] + j * side / cells, corner[1] + i * side / cells)
        outline(ax, at, side / cells, side / cells, MUTED, 0.6)


def _annotations(ax: Axes, corner: Point, to: Point) -> None:
    """Draw a row of annotations, each the stronger, the larger its weight in the context."""
    for i, weight in enumerate(LOOK):
        at = (corner[0] + 0.48 * i, corner[1])
        ax.add_patch(Rectangle(at, 0.4, 0.4, fc=HEAT, ec="none", alpha=0.1 + 0.9 * weight / 0.45))
        ax.plot([at[0] + 0.2, to[0]], [at[1], to[1]], color=HEAT, lw=0.4 + 7 * weight, alpha=0.55)
    say(ax, (corner[0] + 0.48 * len(LOOK) + 0.1, corner[1] + 0.2), "…")
