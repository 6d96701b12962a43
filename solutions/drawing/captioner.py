"""Drawings of chapter 3: pictures with their captions and boxes, and one step of the captioner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from .theme import COLOURS, HEAT, INK, MUTED

FONT = 11
Point = tuple[float, float]

WHITE = "#fefefe"
"""For what lies on a picture: it is dark in either theme, and no colour of a theme is this one."""

LOOK = (0.04, 0.08, 0.05, 0.45, 0.25, 0.05, 0.04, 0.02, 0.02)
"""The weights that the drawing shows, of so many of the 64 places."""


class Captioned(Protocol):
    """What `show` needs of a picture: an image (3, side, side), and the words of its caption."""

    @property
    def image(self) -> np.ndarray:
        """The image."""

    @property
    def caption(self) -> tuple[str, ...]:
        """The words."""


def show(ax: Axes, picture: Captioned) -> None:
    """Draw a picture under its caption, one shape a line."""
    ax.imshow(picture.image.transpose(1, 2, 0))
    ax.set_xticks([])
    ax.set_yticks([])
    words, lines = list(picture.caption), []
    while words:
        end = words.index("a", 1) if "a" in words[1:] else len(words)
        lines.append(" ".join(words[:end]))
        words = words[end:]
    ax.set_title("\n".join(lines), fontsize=FONT)


def frame(ax: Axes, box: Sequence[int], style: str = "-") -> None:
    """Frame a box of pixels: top, left, bottom, right."""
    top, left, bottom, right = box
    corner = (left - 0.5, top - 0.5)
    size = (right - left, bottom - top)
    ax.add_patch(Rectangle(corner, *size, fill=False, ec=WHITE, lw=1.8, ls=style))


def captioner_loop() -> Axes:
    """Draw how the captioner says one word, and what goes back for the next. Returns the axes."""
    _, ax = plt.subplots(figsize=(5.0, 6.0), layout="constrained")
    _box(ax, (0.75, 7.2), "picture", MUTED)
    _box(ax, (2.7, 7.2), "CNN", COLOURS[2])
    _grid(ax, (4.35, 6.65))
    _arrow(ax, (1.35, 7.2), (2.1, 7.2))
    _arrow(ax, (3.3, 7.2), (4.25, 7.2))
    _arrow(ax, (4.9, 6.55), (4.3, 5.8))
    left, top = 0.75, 5.55
    _annotations(ax, (left, top - 0.45), to=(3.45, 4.0))
    _say(ax, (left, top + 0.3), "64 annotations", align="left")

    _box(ax, (0.95, 2.4), "GRU", COLOURS[0])
    _box(ax, (3.45, 3.7), "context", HEAT)
    _box(ax, (3.45, 2.4), "read-out", COLOURS[2])
    _arrow(ax, (0.95, 2.7), (0.95, top - 0.55))
    _say(ax, (0.8, 4.35), "state\nscores", align="right")
    _arrow(ax, (3.45, 3.4), (3.45, 2.72))
    _arrow(ax, (1.55, 2.4), (2.8, 2.4))
    _say(ax, (2.15, 2.12), "state")
    _arrow(ax, (2.8, 3.6), (1.5, 2.72), dashed=True)
    _say(ax, (2.0, 3.5), "place")
    _arrow(ax, (3.45, 2.1), (3.45, 1.35))
    _say(ax, (3.45, 1.1), "next word: “circle”")
    _arrow(ax, (2.2, 1.1), (0.95, 2.08), bend=-0.35)
    _say(ax, (0.25, 1.35), "becomes the\nlast word")
    ax.set(xlim=(-0.35, 5.7), ylim=(0.8, 7.65), aspect="equal")
    ax.axis("off")
    return ax


def _grid(ax: Axes, corner: Point, cells: int = 8, side: float = 1.1) -> None:
    """Draw the grid of features."""
    for i, j in np.ndindex(cells, cells):
        at = (corner[0] + j * side / cells, corner[1] + i * side / cells)
        ax.add_patch(Rectangle(at, side / cells, side / cells, fill=False, ec=MUTED, lw=0.6))


def _annotations(ax: Axes, corner: Point, to: Point) -> None:
    """Draw a row of annotations, the more of them in the context, the stronger."""
    for i, weight in enumerate(LOOK):
        at = (corner[0] + 0.48 * i, corner[1])
        ax.add_patch(Rectangle(at, 0.4, 0.4, fc=HEAT, ec="none", alpha=0.1 + 0.9 * weight / 0.45))
        ax.plot([at[0] + 0.2, to[0]], [at[1], to[1]], color=HEAT, lw=0.4 + 7 * weight, alpha=0.55)
    _say(ax, (corner[0] + 0.48 * len(LOOK) + 0.1, corner[1] + 0.2), "…")


def _box(ax: Axes, centre: Point, text: str, colour: str, width: float = 1.2) -> None:
    corner = (centre[0] - width / 2 + 0.05, centre[1] - 0.22)
    style = "round,pad=0.05,rounding_size=0.1"
    ax.add_patch(
        FancyBboxPatch(corner, width - 0.1, 0.44, boxstyle=style, fc="none", ec=colour, lw=1.8)
    )
    _say(ax, centre, text)


def _say(ax: Axes, at: Point, text: str, align: str = "center") -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=FONT, color=INK)


def _arrow(ax: Axes, start: Point, end: Point, bend: float = 0.0, dashed: bool = False) -> None:
    arrow = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=12,
        color=MUTED,
        lw=1.4,
        ls="--" if dashed else "-",
        connectionstyle=f"arc3,rad={bend}",
        shrinkA=0,
        shrinkB=0,
    )
    ax.add_patch(arrow)
