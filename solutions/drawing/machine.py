"""A drawing of the whole Transformer, from the ids at the bottom to the loss at the top."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from matplotlib.axes import Axes

from . import shapes
from .plots import new_axes
from .shapes import FONT, outline, plus, say
from .theme import COLOURS, INK, MUTED

WIDTH, HEIGHT, STEP = 4.3, 0.62, 1.05
"""The width and height of a box, and the distance from one box to the next above it."""
ENCODER, DECODER = 2.45, 8.05
"""The x coordinate of the middle of each tower."""
SELF, CROSS, FORWARD = COLOURS[0], COLOURS[1], COLOURS[2]
arrow = partial(shapes.arrow, colour=INK, width=1.3, gap=0)
line = partial(shapes.line, colour=INK, zorder=4)
box = partial(shapes.box, width=WIDTH, height=HEIGHT, line=1.6)


def transformer() -> Axes:
    """Draw both stacks, the tensors that they exchange, and what training compares."""
    ax = new_axes(5.6, 8.2)
    encoder = [("self-attention", SELF), ("feed-forward", FORWARD)]
    decoder = [("masked self-attention", SELF), ("cross-attention", CROSS)]
    memory, _ = _stack(ax, ENCODER, "source", encoder)
    top, places = _stack(
        ax, DECODER, "target, shifted right", [*decoder, ("feed-forward", FORWARD)]
    )
    _keys_and_values(ax, memory, places[1])
    for text, colour in (("linear map to logits", INK), ("softmax", INK)):
        arrow(ax, (DECODER, top), (DECODER, top + STEP - HEIGHT))
        top = box(ax, (DECODER, top + STEP - HEIGHT / 2), text, colour)
    end = top + STEP - HEIGHT / 2
    arrow(ax, (DECODER, top), (DECODER, end - HEIGHT / 2))
    for x, name, meaning in ((DECODER, "cross-entropy", "loss"), (ENCODER, "target", "answers")):
        box(ax, (x, end), name, INK)
        say(ax, (x, end + 0.62), f"the {meaning}", MUTED)
    arrow(ax, (ENCODER + WIDTH / 2, end), (DECODER - WIDTH / 2, end))
    say(ax, (ENCODER, -0.65), "Encoder", size=FONT + 3)
    say(ax, (DECODER, -0.65), "Decoder", size=FONT + 3)
    ax.set(xlim=(0, 10.5), ylim=(-1.1, end + 1.0))
    ax.axis("off")
    return ax


def _stack(
    ax: Axes, x: float, source: str, sublayers: Sequence[tuple[str, str]]
) -> tuple[float, list[float]]:
    """Draw a tower up to its last norm.

    Returns the height of its end, and those of the sublayers.
    """
    top = box(ax, (x, 0.0), source, INK)
    for text in (r"embedding $\times\,\sqrt{d_{model}}$", "+ sinusoids"):
        arrow(ax, (x, top), (x, top + STEP - HEIGHT))
        top = box(ax, (x, top + STEP - HEIGHT / 2), text, INK)
    bottom, heights = top + 0.42, []
    for name, colour in sublayers:
        arrow(ax, (x, top), (x, top + 0.85))
        heights.append(top + 0.85 + HEIGHT / 2)
        top = box(ax, (x, heights[-1]), f"norm, {name}", colour) + 0.42
        line(ax, (x, top - 0.42), (x, top))
        plus(ax, (x, top), 0.17, 0.1, 1.3)
        side = x - WIDTH / 2 - 0.13  # the residual path passes the sublayer
        past = ((x, heights[-1] - 0.72), (side, heights[-1] - 0.72), (side, top), (x - 0.17, top))
        for start, end in pairwise(past):
            line(ax, start, end)
        top += 0.17
    outline(ax, (x - 2.4, bottom - 0.1), 4.75, top + 0.2 - bottom, MUTED, 1, "--")
    say(ax, (x + 2.3, top + 0.32), r"$n_{layers}$ times", MUTED, "right", FONT - 1)
    arrow(ax, (x, top), (x, top + 0.75))
    return box(ax, (x, top + 0.75 + HEIGHT / 2), "last norm", INK), heights


def _keys_and_values(ax: Axes, memory: float, cross: float) -> None:
    """Draw the line from the encoder's last norm to the decoder's cross-attention."""
    middle = (ENCODER + DECODER) / 2
    way = ((ENCODER, memory), (ENCODER, memory + 0.4), (middle, memory + 0.4), (middle, cross))
    for start, end in pairwise(way):
        line(ax, start, end, colour=CROSS, width=2)
    arrow(ax, (middle, cross), (DECODER - WIDTH / 2, cross), colour=CROSS)
    say(ax, (ENCODER, memory + 0.7), "keys and values", CROSS)
