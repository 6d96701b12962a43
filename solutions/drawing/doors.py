"""A drawing of an attention layer with the three doors through which positions can enter."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from .shapes import arrow, box, say
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
"""The steps of the layer from top to bottom: text, row, and whether positions can enter there."""

SCHEMES = {1: "learned,\nsinusoidal", 3: "rotary", 5: "linear bias,\nrelative table"}
"""Row -> the position schemes that enter at this door."""


def three_doors() -> Axes:
    """Draw the layer as a column of steps, with the doors in colour and their schemes at the side.

    Returns the axes.
    """
    _, axes = plt.subplots(figsize=(5.2, 5.6), layout="constrained")
    for text, row, door in STEPS:
        colour = COLOURS[1] if door else MUTED
        pen = 2.0 if door else 1.0
        box(axes, (1.9, row), text, colour, 3.4, 0.6, 0.06, pen, covers=False, ink=INK, size=FONT)
        if row:
            arrow(axes, (1.9, row - 0.66), (1.9, row - 0.34), width=1, head=12)
    for number, (row, schemes) in enumerate(SCHEMES.items(), start=1):
        say(axes, (-0.05, row), str(number), COLOURS[1], "right", 15)
        say(axes, (4.35, row), schemes, align="left", size=FONT)
        arrow(axes, (4.25, row), (3.66, row), COLOURS[1], width=1, head=12)
    axes.set(xlim=(-0.4, 5.9), ylim=(6.5, -0.5))
    axes.axis("off")
    return axes
