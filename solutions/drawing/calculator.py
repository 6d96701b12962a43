"""The cost calculator: an interactive figure, and a table for readers without scripts.

`book/_web/calculator.mjs` turns this HTML into the figure, and uses the same formulas.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

NUMBER_BYTES = 4


def predicted(
    n: int, d_model: int, n_heads: int, n_layers: int, block: int
) -> dict[str, dict[str, float]]:
    """Compute the cost of a forward pass of one sequence of n tokens through chapter 8's blocks.

    Returns the operations of each part, and the bytes of each tensor, at 4 bytes a number. "table"
    is the memory for all scores of one layer, "blocks" that for its scores with one block of keys
    at a time.
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
    """Return the HTML: a table of the measured seconds and megabytes, and the data.

    data: the result of `as_figure_data` in `solutions.experiments.cost.by_length`.
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
    """Return the table cell with the milliseconds and megabytes of one layer at one length."""
    return f"{_short(1e3 * layer['seconds'][at])} ms, {_short(layer['bytes'][at] / 1e6)} MB"


def _short(value: float) -> str:
    """Format `value` with three significant digits, or with all digits before the decimal point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
