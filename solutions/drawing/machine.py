"""A drawing of the whole Transformer, from the ids at the bottom to the loss at the top."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

from .plots import new_axes
from .theme import COLOURS, INK, MUTED, PAPER

FONT = 11
WIDTH, HEIGHT, STEP = 4.3, 0.62, 1.05
"""Of a box, and how far one box is above the one below."""
ENCODER, DECODER = 2.45, 8.05
"""Where the middle of each tower is."""
SELF, CROSS, FORWARD = COLOURS[0], COLOURS[1], COLOURS[2]
Point = tuple[float, float]


def transformer() -> Axes:
    """Draw both stacks, what they exchange, and what training compares."""
    ax = new_axes(5.6, 8.2)
    encoder = [("self-attention", SELF), ("feed-forward", FORWARD)]
    decoder = [("masked self-attention", SELF), ("cross-attention", CROSS)]
    memory, _ = _stack(ax, ENCODER, "source", encoder)
    top, places = _stack(
        ax, DECODER, "target, shifted right", [*decoder, ("feed-forward", FORWARD)]
    )
    _keys_and_values(ax, memory, places[1])
    for text, colour in (("linear map to logits", INK), ("softmax", INK)):
        _arrow(ax, (DECODER, top), (DECODER, top + STEP - HEIGHT))
        top = _box(ax, (DECODER, top + STEP - HEIGHT / 2), text, colour)
    end = top + STEP - HEIGHT / 2
    _arrow(ax, (DECODER, top), (DECODER, end - HEIGHT / 2))
    for x, name, meaning in ((DECODER, "cross-entropy", "loss"), (ENCODER, "target", "answers")):
        _box(ax, (x, end), name, INK)
        _say(ax, (x, end + 0.62), f"the {meaning}", MUTED)
    _arrow(ax, (ENCODER + WIDTH / 2, end), (DECODER - WIDTH / 2, end))
    _say(ax, (ENCODER, -0.65), "Encoder", INK, 3)
    _say(ax, (DECODER, -0.65), "Decoder", INK, 3)
    ax.set(xlim=(0, 10.5), ylim=(-1.1, end + 1.0))
    ax.axis("off")
    return ax


def _stack(
    ax: Axes, x: float, source: str, sublayers: Sequence[tuple[str, str]]
) -> tuple[float, list[float]]:
    """Draw a tower up to its last norm. Returns where that ends, and the sublayers' heights."""
    top = _box(ax, (x, 0.0), source, INK)
    for text in (r"embedding $\times\,\sqrt{d_{model}}$", "+ sinusoids"):
        _arrow(ax, (x, top), (x, top + STEP - HEIGHT))
        top = _box(ax, (x, top + STEP - HEIGHT / 2), text, INK)
    bottom, heights = top + 0.42, []
    for name, colour in sublayers:
        _arrow(ax, (x, top), (x, top + 0.85))
        heights.append(top + 0.85 + HEIGHT / 2)
        top = _box(ax, (x, heights[-1]), f"norm, {name}", colour) + 0.42
        _line(ax, (x, top - 0.42), (x, top))
        _plus(ax, (x, top))
        side = x - WIDTH / 2 - 0.13  # what was there goes past the sublayer
        past = ((x, heights[-1] - 0.72), (side, heights[-1] - 0.72), (side, top), (x - 0.17, top))
        for start, end in pairwise(past):
            _line(ax, start, end)
        top += 0.17
    frame = Rectangle((x - 2.4, bottom - 0.1), 4.75, top + 0.2 - bottom, fill=False)
    frame.set(ec=MUTED, ls="--")
    ax.add_patch(frame)
    _say(ax, (x + 2.3, top + 0.32), r"$n_{layers}$ times", MUTED, -1, "right")
    _arrow(ax, (x, top), (x, top + 0.75))
    return _box(ax, (x, top + 0.75 + HEIGHT / 2), "last norm", INK), heights


def _keys_and_values(ax: Axes, memory: float, cross: float) -> None:
    """Draw the way from the encoder's last norm to the decoder's cross-attention."""
    middle = (ENCODER + DECODER) / 2
    way = ((ENCODER, memory), (ENCODER, memory + 0.4), (middle, memory + 0.4), (middle, cross))
    for start, end in pairwise(way):
        _line(ax, start, end, CROSS, 2)
    _arrow(ax, (middle, cross), (DECODER - WIDTH / 2, cross), CROSS)
    _say(ax, (ENCODER, memory + 0.7), "keys and values", CROSS)


def _box(ax: Axes, at: Point, text: str, colour: str) -> float:
    """Draw a box with its middle at a point. Returns its upper edge."""
    corner = (at[0] - WIDTH / 2, at[1] - HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.12"
    ax.add_patch(
        FancyBboxPatch(corner, WIDTH, HEIGHT, boxstyle=style, fc=PAPER, ec=colour, lw=1.6, zorder=3)
    )
    _say(ax, at, text, colour)
    return at[1] + HEIGHT / 2


def _plus(ax: Axes, at: Point) -> None:
    ax.add_patch(Circle(at, 0.17, fc=PAPER, ec=INK, lw=1.3, zorder=3))
    for dx, dy in ((0.1, 0), (0, 0.1)):
        _line(ax, (at[0] - dx, at[1] - dy), (at[0] + dx, at[1] + dy))


def _line(ax: Axes, start: Point, end: Point, colour: str = INK, width: float = 1.3) -> None:
    ax.plot(*zip(start, end, strict=True), color=colour, lw=width, solid_capstyle="round", zorder=4)


def _arrow(ax: Axes, start: Point, end: Point, colour: str = INK) -> None:
    head = FancyArrowPatch(
        start, end, arrowstyle="-|>", shrinkA=0, shrinkB=0, mutation_scale=11, color=colour, lw=1.3
    )
    ax.add_patch(head)


def _say(
    ax: Axes, at: Point, text: str, colour: str, larger: int = 0, align: str = "center"
) -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=FONT + larger, color=colour, zorder=5)
