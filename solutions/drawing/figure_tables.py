"""Tables of numbers in figures to play with, which a script fills again (`numbers.mjs`)."""

from collections.abc import Sequence

import numpy as np


def number_table(
    kind: str,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[str],
    values: np.ndarray,
    looks: int | None = None,
) -> str:
    """Return a table as HTML, with two digits a number. Weights are shaded by their size.

    kind: the class of the table, by which the script finds it. caption, columns, rows: HTML.
    values: (len(rows), len(columns)). looks: the row to mark, if any.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    body = "".join(
        f'<tr class="{("", "looks")[i == looks]}"><th scope="row">{name}</th>'
        + "".join(_cell(value, shaded=kind == "weights") for value in row)
        + "</tr>"
        for i, (name, row) in enumerate(zip(rows, values, strict=True))
    )
    return (
        f'<table class="{kind}"><caption>{caption}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: float, shaded: bool) -> str:
    """Return a number in its cell."""
    style = f' style="--weight: {value:.3f}"' if shaded else ""
    return f"<td{style}>{two_digits(value)}</td>"


def two_digits(value: float) -> str:
    """Format a number with two digits, and never as "-0.00"."""
    return f"{0.0 if abs(value) < 0.005 else value:.2f}".replace("-", "\N{MINUS SIGN}")
