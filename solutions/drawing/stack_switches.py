"""A stack of blocks whose parts the reader switches: its stream, its gradient, and what it learns.

This module writes the figure for readers without scripts, and on paper: the stack of `SHOWN`, with
all others behind it as thin lines. `book/_web/stack_switches.mjs` adds the switches, and draws the
same lines again.
"""

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

SHOWN = {"residual": True, "norm": "none", "smaller": False}
"""The switches of the stack that is shown at first."""

LEFT, TOP, WIDTH, HEIGHT, BOTTOM = 44, 8, 300, 110, 24
"""The room of a chart's lines, and the margins for the numbers at its left and below."""

CHARTS = {  # measured by block -> title, exponents of ten at the lower and the upper edge
    "size": ("size of the stream", -6, 6),
    "gradient": ("gradient of the stream", -8, 10),
    "unlike": ("difference of the tokens", -4, 0),
}


def stack_switches(data: dict[str, Any]) -> str:
    """Return the figure as HTML.

    data: depths and rates, the numbers of blocks and the learning rates. stacks: a list of
    dictionaries with the switches of a stack (residual, norm, smaller) and depth -> what was
    measured: size, gradient and unlike, (depth + 1,) each, and right, (rates,).
    """
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    depth = data["depths"][-1]
    shown = next(stack for stack in data["stacks"] if all(stack[k] == SHOWN[k] for k in SHOWN))
    charts = "".join(_chart(kind, data["stacks"], shown, depth) for kind in CHARTS)
    return (
        f'<div class="play stacks"><div class="play-beside"><div class="stacks-charts">{charts}'
        f"</div><div>{_accuracies(data['rates'], shown[str(depth)]['right'], depth)}</div></div>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/stack_switches.mjs"></script>'
    )


def _chart(kind: str, stacks: Sequence[dict[str, Any]], shown: dict[str, Any], depth: int) -> str:
    """Return one chart: a thin line for each stack, and a thick one for the stack shown."""
    title, low, high = CHARTS[kind]
    others = "".join(
        f'<polyline class="other" points="{_points(stack[str(depth)][kind], low, high)}"/>'
        for stack in stacks
    )
    values = shown[str(depth)][kind]
    ticks = "".join(
        f'<path class="grid" d="M{LEFT} {y:.1f}h{WIDTH}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">10<tspan dy="-5"'
        f' font-size="75%">{_signed(exponent)}</tspan></text>'
        for exponent in (low, (low + high) // 2, high)
        for y in (_height(10.0**exponent, low, high),)
    )
    below = TOP + HEIGHT + 17
    return (
        f'<p class="play-note">{escape(title)}</p>'
        f'<svg class="stacks-{kind}" viewBox="0 0 {LEFT + WIDTH + 12} {TOP + HEIGHT + BOTTOM}"'
        f' role="img" aria-label="{escape(title)}: from {values[0]:.2g} to {values[-1]:.2g}"'
        f' data-low="{low}" data-high="{high}">{ticks}{others}'
        f'<polyline class="chosen" points="{_points(values, low, high)}"/>'
        f'<text x="{LEFT}" y="{below}">0</text>'
        f'<text x="{LEFT + WIDTH / 2:g}" y="{below}" text-anchor="middle">blocks passed</text>'
        f'<text class="depth" x="{LEFT + WIDTH}" y="{below}" text-anchor="end">{depth}</text></svg>'
    )


def _signed(exponent: int) -> str:
    """Return an exponent with a minus sign in place of a hyphen."""
    return str(exponent).replace("-", "\N{MINUS SIGN}")


def _points(values: Sequence[float], low: int, high: int) -> str:
    """Return the points of a line, as `pointsOf` in `stacks.mjs` does."""
    step = WIDTH / (len(values) - 1)
    return " ".join(
        f"{LEFT + at * step:.1f},{_height(value, low, high):.1f}" for at, value in enumerate(values)
    )


def _height(value: float, low: int, high: int) -> float:
    """Return the place of a value on the logarithmic axis; what is outside lies on the edge."""
    exponent = min(max(math.log10(value), low), high)
    return TOP + HEIGHT * (high - exponent) / (high - low)


def _accuracies(rates: Sequence[float], right: Sequence[float], depth: int) -> str:
    """Return the table of what the stack has learned, by learning rate."""
    rows = "".join(
        f'<tr><th scope="row">{rate:g}</th>'
        f'<td class="measure" style="--part: {share:.3f}">{share:.2f}</td></tr>'
        for rate, share in zip(rates, right, strict=True)
    )
    return (
        f'<table class="accuracies"><caption>{depth} blocks, trained</caption><thead><tr>'
        '<th scope="col">rate</th><th scope="col">letters right</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
