"""A drawing of a recurrent network unrolled over a sentence, with a box for each step."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from .shapes import arrow, box, say
from .theme import COLOURS, INK, MUTED

WIDE, HIGH, STATE = 0.86, 0.5, 0.62
"""The width and height of a word's box, and the height of a state's box."""
STEP, UP = 1.36, 1.4
"""The distance between columns, and from the words to the states; y grows downwards."""


def unrolled(words: Sequence[str]) -> Axes:
    """Draw a recurrent network unrolled over `words`; its last state is `c`.

    Returns the axes.
    """
    _, ax = plt.subplots(figsize=(6.6, 2.5), layout="constrained")
    arrow(ax, (-STEP + WIDE / 2 + 0.02, 0), (-WIDE / 2, 0), INK)
    say(ax, (-STEP, 0), "$h_0 = 0$", MUTED)
    for i, word in enumerate(words):
        x, last = STEP * i, i == len(words) - 1
        box(ax, (x, 0), f"$h_{i + 1}$", COLOURS[1 if last else 0], WIDE, STATE, ink=INK)
        box(ax, (x, UP), word, MUTED, WIDE, HIGH, ink=INK)
        arrow(ax, (x, UP - HIGH / 2), (x, STATE / 2), INK)
        if not last:
            arrow(ax, (x + WIDE / 2, 0), (x + STEP - WIDE / 2, 0), INK)
            say(ax, (x + STEP / 2, -0.3), "$W_{hh}$", MUTED, size=9)
        say(ax, (x + 0.34, (UP + STATE / 2 - HIGH / 2) / 2), "$W_{xh}$", MUTED, size=9)
    say(ax, (STEP * (len(words) - 1), -STATE / 2 - 0.22), "$= c$", COLOURS[1])
    ax.set(xlim=(-STEP - 0.6, STEP * (len(words) - 1) + 0.65), ylim=(UP + 0.4, -STATE / 2 - 0.55))
    ax.axis("off")
    return ax
