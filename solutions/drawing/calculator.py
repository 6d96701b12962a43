"""The cost calculator: a figure to play with, and a table for whoever cannot.

`book/_web/calculator.mjs` makes the figure of what stands here, with the same formulas.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

NUMBER_BYTES = 4


def predicted(
    n: int, d_model: int, n_heads: int, n_layers: int, block: int
) -> dict[str, dict[str, float]]:
    """What a stack of blocks as in chapter 8 costs, forwards, for one sequence of n tokens.

    Returns the operations of its parts, and the bytes of what it holds, each number 4 bytes.
    "table" and "blocks" are the scores of one layer, as a whole and a block of keys at a time.
    """
    each = n_layers * n * d_model
    return {
        "flops": {
            "projections": 8 * each * d_model,
            "tokens meet": 4 * each * n,
            "feed-forward": 16 * each * d_model,
        },
        "bytes": {
            "table": 2 * NUMBER_BYTES * n_heads * n * n,
            "blocks": 2 * NUMBER_BYTES * n_heads * n * min(n, block),
            "cache": 2 * NUMBER_BYTES * each,
        },
    }


def calculator(data: Mapping[str, Any]) -> str:
    """The HTML of the calculator: the measured seconds and megabytes as a table, and the data.

    data: as `as_figure_data` of `solutions.experiments.cost.by_length` makes it.
    """
    names = list(data["layers"])
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("tokens", *names))
    rows = "".join(
        f'<tr><th scope="row">{n:,}</th>'
        + "".join(f"<td>{_cell(data['layers'][name], at)}</td>" for name in names)
        + "</tr>"
        for at, n in enumerate(data["lengths"])
    )
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return (
        '<div class="play cost-calculator">'
        "<table><caption>Measured: milliseconds, and peak memory in megabytes, of one layer with "
        f"{data['d_model']} features</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/calculator.mjs"></script>'
    )


def _cell(layer: Mapping[str, Any], at: int) -> str:
    """Milliseconds and megabytes of one layer at one length."""
    return f"{_short(1e3 * layer['seconds'][at])} ms, {_short(layer['bytes'][at] / 1e6)} MB"


def _short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
