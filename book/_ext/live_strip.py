"""The picture of a `live` figure: quality against length, as the book's test sentences had it.

It stands in the page before anything runs. `live/strip.mjs` puts the reader's sentence on it, with
the places of `data-scale`. The lines are a group of their own with a text of their own: while the
figure asks for a guess, they are not there, and each machine's first point is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 360, 160
LEFT, RIGHT, TOP, BOTTOM = 34, 350, 28, 118
MOST = 60
"""Words at the right end of the axis."""

VERTICAL, HORIZONTAL = "right words, each in its place", "words in the English sentence"
CAPTION = "Means of the book's test sentences."


@dataclass(frozen=True)
class Curve:
    """A machine's title, and its mean share of right positions in each range of lengths."""

    title: str
    accuracy: Sequence[float]


def strip(lengths: Sequence[Sequence[int]], curves: Sequence[Curve]) -> str:
    """Return the picture as HTML. lengths: the range of words of each point."""
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
    middles = [across(sum(one) / 2) for one in lengths]
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
        f'<g role="img" aria-label="{escape(begin(lengths[0], curves))}">'
        f"{grid}{ticks}{titles}{starts}</g>"
        f'<g class="live-lines" role="img" aria-label="{escape(told(lengths, curves))}">'
        f"{lines}</g></svg>\n<figcaption>{names}{CAPTION}</figcaption></figure>\n"
    )


def across(words: float) -> float:
    """Return where a number of words stands."""
    return LEFT + words / MOST * (RIGHT - LEFT)


def up(share: float) -> float:
    """Return where a share of right positions stands."""
    return BOTTOM - share * (BOTTOM - TOP)


def begin(words: Sequence[int], curves: Sequence[Curve]) -> str:
    """Say where the lines begin."""
    shares = "; ".join(f"{one.title}: {one.accuracy[0]:.0%}" for one in curves)
    return (
        f"The share of right words, each in its place, against the words in the English sentence, "
        f"0 to {MOST}. At {words[0]} to {words[1]} words, {shares}."
    )


def told(lengths: Sequence[Sequence[int]], curves: Sequence[Curve]) -> str:
    """Say where the lines go."""
    ranges = ", ".join(f"{low} to {high}" for low, high in lengths)
    shares = "; ".join(
        f"{one.title}: {', '.join(f'{share:.0%}' for share in one.accuracy)}" for one in curves
    )
    return f"At {ranges} words, {shares}."
