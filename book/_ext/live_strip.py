"""The picture of a `live` figure: quality against length, measured on the book's test sentences.

It is on the page before any script runs. `live/strip.mjs` then adds the reader's sentence, using
the scale in `data-scale`. The lines are a separate group with a separate text alternative: while
the figure asks for a guess, it shows only the first point of each machine.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 360, 160
LEFT, RIGHT, TOP, BOTTOM = 34, 350, 28, 118
MOST = 60
"""The number of words at the right end of the axis."""

VERTICAL, HORIZONTAL = "right words, each in its place", "words in the English sentence"
CAPTION = "Means of the book's test sentences."


@dataclass(frozen=True)
class Curve:
    """A machine's title, and its mean share of right positions in each range of lengths."""

    title: str
    accuracy: Sequence[float]


def strip(lengths: Sequence[Sequence[int]], curves: Sequence[Curve]) -> str:
    """Return the picture as HTML. lengths: the first and last number of words of each point."""
    scale = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM, "most": MOST}
    grid = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{up(share):g}" y2="{up(share):g}"/>'
        f'<text x="{LEFT - 6}" y="{up(share) + 5:g}" text-anchor="end">{share:g}</text>'
        for share in (0, 0.5, 1)
    )
    ticks = "".join(
        f'<text x="{across(words):g}" y="{BOTTOM + 18}" text-anchor="middle">{words}</text>'
        for words in range(0, MOST + 1, 20)
    )
    titles = (
        f'<text x="{LEFT}" y="12">{VERTICAL}</text>'
        f'<text x="{RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{HORIZONTAL}</text>'
    )
    middles = [across(sum(ends) / 2) for ends in lengths]
    starts = lines = names = ""
    for at, curve in enumerate(curves, start=1):
        points = [(x, up(share)) for x, share in zip(middles, curve.accuracy, strict=True)]
        starts += (
            f'<circle class="live-{at} live-start" cx="{points[0][0]:g}" cy="{points[0][1]:g}"'
            ' r="4"/>'
        )
        line = " ".join(f"{x:g},{y:.4g}" for x, y in points)
        lines += f'<polyline class="live-{at} live-curve" points="{line}"/>'
        names += f'<span class="live-name live-{at}">{escape(curve.title)}</span> '
    return (
        f'<figure class="live-strip"><svg viewBox="0 0 {WIDTH} {HEIGHT}"'
        f" data-scale='{json.dumps(scale)}'>"
        f'<g role="img" aria-label="{escape(describe_starts(lengths[0], curves))}">'
        f"{grid}{ticks}{titles}{starts}</g>"
        f'<g class="live-lines" role="img" aria-label="{escape(describe_lines(lengths, curves))}">'
        f"{lines}</g></svg>\n<figcaption>{names}{CAPTION}</figcaption></figure>\n"
    )


def across(words: float) -> float:
    """Return the x coordinate of a number of words."""
    return LEFT + words / MOST * (RIGHT - LEFT)


def up(share: float) -> float:
    """Return the y coordinate of a share of right positions."""
    return BOTTOM - share * (BOTTOM - TOP)


def describe_starts(length: Sequence[int], curves: Sequence[Curve]) -> str:
    """Return the text alternative of the points at which the lines begin."""
    shares = "; ".join(f"{curve.title}: {curve.accuracy[0]:.0%}" for curve in curves)
    return (
        f"The share of right words, each in its place, against the words in the English sentence, "
        f"0 to {MOST}. At {length[0]} to {length[1]} words, {shares}."
    )


def describe_lines(lengths: Sequence[Sequence[int]], curves: Sequence[Curve]) -> str:
    """Return the text alternative of the lines."""
    ranges = ", ".join(f"{low} to {high}" for low, high in lengths)
    shares = "; ".join(
        f"{curve.title}: {', '.join(f'{share:.0%}' for share in curve.accuracy)}"
        for curve in curves
    )
    return f"At {ranges} words, {shares}."
