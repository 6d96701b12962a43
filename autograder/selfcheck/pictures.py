"""Small matrices as pictures: inline SVG, drawn with nothing but NumPy, with a text alternative."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..sandbox.untrusted.values import Tensor

CELL_WIDTH, CELL_HEIGHT, TITLE_HEIGHT = 54, 28, 24
MOST_CELLS = 12
LONGEST = 60
"""A text that is longer is not written beside the pictures."""
BLUE, RED = (33, 102, 172), (178, 24, 43)


def pictures(
    arguments: Mapping[str, Any],
    given: Any,
    expected: Any,
    returned_names: Sequence[str] = (),
    name: str = "result",
) -> str:
    """Draw the inputs of a case, and each returned array: given, right, and the difference.

    Inputs are drawn under the names of their parameters, and what is no array is written; the
    values of a tuple are called by `returned_names`, if there are as many.
    """
    drawn = [
        matrix_picture(parameter, argument)
        for parameter, value in arguments.items()
        if _drawable(argument := _array(value))
    ]
    rows = [[*_written(arguments), *drawn]]
    wanted = expected if isinstance(expected, tuple) else (expected,)
    several = isinstance(expected, tuple) and isinstance(given, tuple | list)
    returned = tuple(given) if several else (given,)
    if len(wanted) != len(returned):
        returned = (None,) * len(wanted)
    pairs = zip(map(_array, wanted), map(_array, returned), strict=True)
    for position, (right, mine) in enumerate(pairs, start=1):
        if not _drawable(right):
            continue
        title = name
        if len(wanted) > 1:
            named = len(returned_names) == len(wanted)
            title = returned_names[position - 1] if named else f"value {position}"
        row = [matrix_picture(f"right {title}", right)]
        if _drawable(mine):
            row.insert(0, matrix_picture(f"your {title}", mine))
            if mine.shape == right.shape:
                row.append(matrix_picture("difference", _difference(mine, right)))
        rows.append(row)
    style = "display:flex;flex-wrap:wrap;gap:12px;margin:6px 0"
    return "".join(f'<div style="{style}">{"".join(row)}</div>' for row in rows if row)


def _written(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The inputs that are a single number or a text, such as a radius, in one line."""
    parts = [
        f"<code>{html.escape(f'{name} = {value!r}')}</code>"
        for name, value in arguments.items()
        if isinstance(value, bool | int | float | str) and len(repr(value)) <= LONGEST
    ]
    if parts:
        yield f'<p style="width:100%;margin:0">{", ".join(parts)}</p>'


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _drawable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size > 0


def _difference(mine: np.ndarray, right: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        difference: np.ndarray = mine.astype(float) - right.astype(float)
    return difference


def matrix_picture(title: str, matrix: np.ndarray) -> str:
    """One matrix as a grid of numbers on colours: blue above zero, red below, yellow if not finite.

    Leading batch axes show their first entry; what is beyond 12 rows or columns is cut off, and the
    title says so.
    """
    shape = matrix.shape
    while matrix.ndim > 2:
        matrix = matrix[0]
    shown = np.atleast_2d(matrix)[:MOST_CELLS, :MOST_CELLS]
    part = " (part)" if shown.size < np.prod(shape) else ""
    heading = f"{title}, shape {shape}{part}"
    values = shown.astype(float)
    finite = values[np.isfinite(values)]
    scale = np.max(np.abs(finite), initial=0.0) or 1.0
    rows, columns = values.shape
    width = max(columns * CELL_WIDTH, 7 * len(heading) + 8)
    height = TITLE_HEIGHT + rows * CELL_HEIGHT
    cells = "".join(
        _cell(column, row, values[row, column], scale)
        for row in range(rows)
        for column in range(columns)
    )
    alternative = "; ".join(" ".join(_text(value) for value in row) for row in values)
    label = html.escape(f"{heading}: {alternative}", quote=True)
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="background:#fff;font:12px sans-serif">'
        f'<text x="2" y="16" fill="#222">{html.escape(heading)}</text>{cells}</svg>'
    )


def _cell(column: int, row: int, value: float, scale: float) -> str:
    x, y = column * CELL_WIDTH, TITLE_HEIGHT + row * CELL_HEIGHT
    colour, ink = _colours(value, scale)
    return (
        f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{colour}" '
        f'stroke="#999"/><text x="{x + CELL_WIDTH / 2}" y="{y + 18}" text-anchor="middle" '
        f'fill="{ink}">{_text(value)}</text>'
    )


def _colours(value: float, scale: float) -> tuple[str, str]:
    """The fill of a cell, and an ink that can be read on it."""
    if not np.isfinite(value):
        return "#ffd400", "#222"
    strength = min(abs(value) / scale, 1.0)
    target = BLUE if value >= 0 else RED
    mixed = [round(255 + (part - 255) * strength) for part in target]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})", "#fff" if strength > 0.55 else "#222"


def _text(value: float) -> str:
    return f"{value:.3g}"
