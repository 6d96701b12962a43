"""A drawing of a block of today: the stream, two branches, and the widths within them."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from . import shapes
from .shapes import FONT, arrow, line, say
from .theme import COLOURS, INK, MUTED

BRANCH = 2.95
"""The horizontal distance of a branch's middle from the stream."""
THREE = (-1.45, 0.0, 1.45)
"""The places of the three maps of a branch, to the left and right of its middle."""
box = partial(shapes.box, height=0.56)
TIMES = " \N{MULTIPLICATION SIGN} "


def today_block(d: int, n_heads: int, n_kv_heads: int, d_head: int, d_ff: int) -> Axes:
    """Draw a block from the bottom to the top, with the widths of its parts.

    d: the features of the stream; d_ff: of the feed-forward network's hidden layer. Returns the
    axes.
    """
    _, ax = plt.subplots(figsize=(4.9, 7.6), layout="constrained")
    ax.set(xlim=(-1.3, 5.4), ylim=(-0.75, 9.6), aspect="equal")
    ax.axis("off")
    say(ax, (0, -0.5), f"stream: {d} a token")
    own, shared = (f"{heads}{TIMES}{d_head}" for heads in (n_heads, n_kv_heads))
    maps = (f"$W_q$: {own}", f"$W_k$: {shared}", f"$W_v$: {shared}"), COLOURS[0]
    middle = _branch(ax, 0.0, *maps, "look back", "$W_o$")
    for place in THREE[:2]:
        at = (BRANCH + place, 2.32)
        box(ax, at, "turned", COLOURS[0], 1.1, line=1.2, size=FONT - 2)
    box(ax, (BRANCH + (THREE[1] + THREE[2]) / 2, 3.02), "cache", COLOURS[3], 2.6, line=1.2)
    widths = ((f"gate: {d_ff:,}", "", f"up: {d_ff:,}"), COLOURS[1])
    top = _branch(ax, middle, *widths, f"SiLU(gate){TIMES}up", f"down: {d}")
    arrow(ax, (0, top), (0, top + 0.6), INK, width=3, head=17, gap=0)
    return ax


def _branch(
    ax: Axes, start: float, maps: tuple[str, ...], colour: str, joined: str, last: str
) -> float:
    """Draw a branch that leaves the stream at the height `start`; return where the stream goes on.

    maps: the texts of its maps, from left to right; "" for none. joined: where these meet.
    """
    tall = len([one for one in maps if one]) == 3
    first, meet = start + 1.5, start + (3.72 if tall else 2.4)
    out, total = meet + 0.75, meet + 1.2
    line(ax, (0, start), (0, total - 0.2), INK, 3)
    line(ax, (0, start + 0.3), (BRANCH, start + 0.3))
    line(ax, (BRANCH, start + 0.3), (BRANCH, start + 1.1))
    box(ax, (BRANCH, start + 0.72), "RMSNorm", COLOURS[2], 1.5)
    line(ax, (BRANCH + THREE[0], start + 1.1), (BRANCH + THREE[2], start + 1.1))
    for place, text in zip(THREE, maps, strict=True):
        if text:
            line(ax, (BRANCH + place, start + 1.1), (BRANCH + place, meet))
            width = 1.36 if tall else 1.6
            box(ax, (BRANCH + place, first), text, colour, width, size=FONT - 2)
    box(ax, (BRANCH, meet), joined, colour, 4.26)
    line(ax, (BRANCH, meet), (BRANCH, total))
    box(ax, (BRANCH, out - 0.07), last, colour, 1.5, size=FONT - 1)
    arrow(ax, (BRANCH, total), (0.2, total), MUTED, width=1.3, head=12, gap=0)
    shapes.plus(ax, (0, total), radius=0.2, arm=0.11, width=1.4, ends="projecting")
    return total + 0.2
