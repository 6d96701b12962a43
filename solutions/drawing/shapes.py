"""The elements of all drawings: text, boxes, arrows, lines, and matrices to scale.

This module sets the z-order: lines and arrows are below boxes, and text is on top. A module that
needs other sizes binds them as arguments once, with `functools.partial`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

from .theme import INK, MUTED, PAPER

FONT = 11
Point = tuple[float, float]
Style = str | tuple[float, Sequence[float]]
"""The style of a line, in matplotlib's notation."""


def say(
    ax: Axes,
    at: Point,
    text: str,
    colour: str = INK,
    align: Literal["left", "center", "right"] = "center",
    size: float = FONT,
) -> None:
    """Write a text with its middle, or the side that `align` names, at a point."""
    ax.text(*at, text, ha=align, va="center", fontsize=size, color=colour, zorder=5)


def arrow(
    ax: Axes,
    start: Point,
    end: Point,
    colour: str = MUTED,
    width: float = 1.2,
    head: float = 11,
    gap: float = 2,
    style: Style = "-",
    bend: float = 0.0,
) -> None:
    """Draw an arrow. head: the size of its head. gap: the points left out at both ends."""
    shaft = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        connectionstyle=f"arc3,rad={bend}",
        mutation_scale=head,
        shrinkA=gap,
        shrinkB=gap,
    )
    shaft.set(color=colour, lw=width, ls=style)
    ax.add_patch(shaft)


def line(
    ax: Axes, start: Point, end: Point, colour: str = MUTED, width: float = 1.3, zorder: float = 2
) -> None:
    """Draw a line with round ends."""
    xs, ys = zip(start, end, strict=True)
    ax.plot(xs, ys, color=colour, lw=width, solid_capstyle="round", zorder=zorder)


def box(
    ax: Axes,
    at: Point,
    text: str,
    colour: str,
    width: float,
    height: float,
    rounding: float = 0.12,
    line: float = 1.8,
    covers: bool = True,
    ink: str = "",
    size: float = FONT,
) -> float:
    """Draw a box around a text, with its middle at a point. Returns its edge with the larger y.

    covers: whether the box hides the lines behind it. ink: the colour of the text, by default that
    of the box.
    """
    corner = (at[0] - width / 2, at[1] - height / 2)
    style = f"round,pad=0,rounding_size={rounding}"
    edge = FancyBboxPatch(corner, width, height, boxstyle=style)
    edge.set(fc=PAPER if covers else "none", ec=colour, lw=line, zorder=3 if covers else 1)
    ax.add_patch(edge)
    say(ax, at, text, ink or colour, size=size)
    return at[1] + height / 2


def outline(
    ax: Axes,
    corner: Point,
    width: float,
    height: float,
    colour: str = INK,
    line: float = 1.6,
    style: Style = "-",
) -> None:
    """Draw the outline of a rectangle, given its corner with the smallest x and y."""
    ax.add_patch(Rectangle(corner, width, height, fill=False, ec=colour, lw=line, ls=style))


def plus(
    ax: Axes,
    at: Point,
    radius: float,
    arm: float,
    width: float,
    ends: Literal["projecting", "round"] = "round",
) -> None:
    """Draw a sum: a plus in a circle. ends: the ends of its arms."""
    ax.add_patch(Circle(at, radius, fc=PAPER, ec=INK, lw=width, zorder=3))
    for dx, dy in ((arm, 0), (0, arm)):
        xs, ys = (at[0] - dx, at[0] + dx), (at[1] - dy, at[1] + dy)
        ax.plot(xs, ys, color=INK, lw=width, solid_capstyle=ends, zorder=4)


@dataclass(frozen=True)
class Table:
    """A matrix to draw, with a square for each number; x grows to the right and y downwards.

    colours: one for each column, repeated as often as needed.
    """

    name: str
    colours: Sequence[str]
    left: float
    top: float
    values: np.ndarray

    @property
    def right(self) -> float:
        """The x coordinate of its right edge."""
        return self.left + int(self.values.shape[1])

    @property
    def bottom(self) -> float:
        """The y coordinate of its bottom edge."""
        return self.top + len(self.values)

    @property
    def centre(self) -> float:
        """The x coordinate of its middle."""
        return (self.left + self.right) / 2


def matrix(ax: Axes, table: Table, faintest: float = 0.08, above: float = 0.65) -> None:
    """Draw a matrix under its name; larger numbers have stronger squares.

    faintest: the strength of a 0. above: the distance of the name above the matrix.
    """
    largest = max(float(np.abs(table.values).max()), 1e-9)
    squares, colours = [], []
    for (i, j), value in np.ndenumerate(table.values):
        share = faintest + (1 - faintest) * abs(value) / largest
        squares.append(Rectangle((table.left + j, table.top + i), 0.94, 0.94))
        colours.append(to_rgba(table.colours[j % len(table.colours)], min(1.0, share)))
    ax.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    say(ax, (table.centre, table.top - above), table.name)


def name_rows(ax: Axes, table: Table, names: Sequence[str]) -> None:
    """Write the name of each row on the left of a matrix."""
    for i, name in enumerate(names):
        say(ax, (table.left - 0.4, table.top + i + 0.47), name, align="right")


def mark_row(ax: Axes, table: Table, row: int) -> None:
    """Frame a row of a matrix."""
    corner = (table.left - 0.12, table.top + row - 0.08)
    outline(ax, corner, table.right - table.left + 0.24, 1.16)
