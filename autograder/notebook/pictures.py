"""Small matrices as pictures: inline SVG, drawn with nothing but NumPy, with a text alternative."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..judging.agreement import agree, close, family, input_tolerance
from ..probe.values import Tensor

CELL_WIDTH, CELL_HEIGHT, TITLE_HEIGHT = 54, 28, 24
MOST_CELLS = 12
MOST_ITEMS = 4
"""So many arrays of a list are drawn."""
LONGEST = 60
"""A text that is longer is not written beside the pictures."""
DIGITS = (3, 4, 5, 6, 8, 10, 17)
"""A number has the first of these digits that tell it from the right one."""
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
    values of a tuple are called by `returned_names`, if there are as many. Of arrays with leading
    axes, all pictures show the entry in which the first difference is largest. An input of which
    less than half would be seen is not drawn.
    """
    results = [*_results(given, expected, returned_names, name)]
    least = input_tolerance(arguments.values())
    differences = [_difference(mine, right, least) for _, mine, right in results]
    entry = next((_worst_entry(one) for one in differences if one is not None and one.any()), ())
    drawn = [
        matrix_picture(title, array, entry)
        for parameter, value in arguments.items()
        for title, array in _arrays(parameter, value)
        if _is_small(array)
    ]
    rows = [[*_written(arguments), *drawn]]
    for (title, mine, right), difference in zip(results, differences, strict=True):
        beside: tuple[np.ndarray | None, ...] = (None, None)
        if difference is not None:
            beside = tuple(
                np.where(difference != 0, *pair) for pair in ((right, mine), (mine, right))
            )
        row = [matrix_picture(f"right {title}", right, entry, beside[1])]
        if _drawable(mine):
            row.insert(0, matrix_picture(f"your {title}", mine, entry, beside[0]))
        if difference is not None:
            row.append(matrix_picture("difference", difference, entry))
        rows.append(row)
    style = "display:flex;flex-wrap:wrap;gap:12px;margin:6px 0"
    return "".join(f'<div style="{style}">{"".join(row)}</div>' for row in rows if row)


def _results(
    given: Any, expected: Any, names: Sequence[str], name: str
) -> Iterator[tuple[str, Any, np.ndarray]]:
    """The title of each returned array that can be drawn, what was given for it, and what is right.

    Of a list, those come first that are wrong, and at most MOST_ITEMS in all.
    """
    wanted, returned, titles = [expected], [given], [name]
    if isinstance(expected, tuple):
        wanted, returned = [*expected], _as_many(given, len(expected))
        titles = [f"value {position}" for position in range(1, len(wanted) + 1)]
        titles = [*names] if len(names) == len(wanted) else titles
        titles = titles if len(titles) > 1 else [name]
    for title, mine, right in zip(titles, returned, wanted, strict=True):
        if isinstance(right, list):
            items = zip(right, _as_many(mine, len(right)), strict=True)
            found = [
                (f"{title}[{at}]", _array(one), _array(want))
                for at, (want, one) in enumerate(items)
                if _drawable(_array(want))
            ]
            yield from sorted(found, key=lambda item: agree(item[1], item[2]))[:MOST_ITEMS]
        elif _drawable(_array(right)):
            yield title, _array(mine), _array(right)


def _as_many(given: Any, number: int) -> list[Any]:
    """The items of a tuple or list of so many, or nothing for each."""
    fits = isinstance(given, tuple | list) and len(given) == number
    return [*given] if fits else [None] * number


def _arrays(title: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """An input that is an array, or the first of a list or tuple, each with a title."""
    if isinstance(value, tuple | list):
        for at, item in enumerate(value[:MOST_ITEMS]):
            if _drawable(_array(item)):
                yield f"{title}[{at}]", _array(item)
    elif _drawable(_array(value)):
        yield title, _array(value)


def _written(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The inputs that are numbers or texts, such as a radius, in one line."""
    parts = [
        f"<code>{html.escape(f'{name} = {value!r}')}</code>"
        for name, value in arguments.items()
        if _is_plain(value) and len(repr(value)) <= LONGEST
    ]
    if parts:
        yield f'<p style="width:100%;margin:0">{", ".join(parts)}</p>'


def _is_plain(value: Any) -> bool:
    """True for a number, a text, or a list or tuple of nothing else."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _drawable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size > 0


def _is_small(array: np.ndarray) -> bool:
    """True if half of its last two axes, or more, fit into a picture."""
    rows_and_columns = np.array(array.shape[-2:])
    return bool(2 * np.prod(np.minimum(rows_and_columns, MOST_CELLS)) >= np.prod(rows_and_columns))


def _difference(mine: Any, right: np.ndarray, least: float) -> np.ndarray | None:
    """The difference of two arrays, 0 where they agree, or None if they have not one shape."""
    if not _drawable(mine) or mine.shape != right.shape:
        return None
    with np.errstate(invalid="ignore"):
        difference: np.ndarray = mine.astype(float) - right.astype(float)
    if family(mine) == family(right):
        difference[close(right, mine, least=least)] = 0.0
    return difference


def _worst_entry(difference: np.ndarray) -> tuple[int, ...]:
    """The places on the leading axes of the largest number; NaN is larger than any other."""
    size = np.where(np.isnan(difference), np.inf, np.abs(difference))
    return tuple(int(at) for at in np.unravel_index(np.argmax(size), size.shape)[:-2])


def _entry(shape: tuple[int, ...], entry: tuple[int, ...]) -> tuple[int, ...]:
    """The places on the leading axes of one array that belong to those of another.

    Axes are lined up from the last one on, as in broadcasting; where there is none, the first is
    taken.
    """
    leading = shape[:-2]
    places = (0,) * len(leading) + entry
    return tuple(
        at if at < length else 0
        for at, length in zip(places[len(places) - len(leading) :], leading, strict=True)
    )


def matrix_picture(
    title: str,
    matrix: np.ndarray,
    entry: tuple[int, ...] = (),
    beside: np.ndarray | None = None,
) -> str:
    """One matrix as a grid of numbers on colours: blue above zero, red below, yellow if not finite.

    Of leading axes one entry is shown, the one at `entry`, and the title says which; what is beyond
    12 rows or columns is cut off, and the title says so. A number has as many digits as tell it
    from the one at its place in `beside`, of the same shape.
    """
    shape = matrix.shape
    places = _entry(shape, entry)
    shown, others = (
        np.atleast_2d(one[places])[:MOST_CELLS, :MOST_CELLS]
        for one in (matrix, matrix if beside is None else beside)
    )
    part = f" (part: [{', '.join(map(str, places))}])" if places else " (part)"
    part = part if shown.size < np.prod(shape) else ""
    heading = f"{title}, shape {shape}{part}"
    values = shown.astype(float)
    finite = values[np.isfinite(values)]
    scale = np.max(np.abs(finite), initial=0.0) or 1.0
    rows, columns = values.shape
    texts = [
        [_text(value, float(other)) for value, other in zip(*row, strict=True)]
        for row in zip(values, others, strict=True)
    ]
    cell = max(CELL_WIDTH, 7 * max(len(text) for row in texts for text in row) + 5)
    width = max(columns * cell, 7 * len(heading) + 8)
    height = TITLE_HEIGHT + rows * CELL_HEIGHT
    cells = "".join(
        _cell(column * cell, row, cell, texts[row][column], *_colours(values[row, column], scale))
        for row in range(rows)
        for column in range(columns)
    )
    alternative = "; ".join(map(" ".join, texts))
    label = html.escape(f"{heading}: {alternative}", quote=True)
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="background:#fff;font:12px sans-serif">'
        f'<text x="2" y="16" fill="#222">{html.escape(heading)}</text>{cells}</svg>'
    )


def _cell(x: int, row: int, width: int, text: str, colour: str, ink: str) -> str:
    y = TITLE_HEIGHT + row * CELL_HEIGHT
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{CELL_HEIGHT}" fill="{colour}" '
        f'stroke="#999"/><text x="{x + width / 2}" y="{y + 18}" text-anchor="middle" '
        f'fill="{ink}">{text}</text>'
    )


def _colours(value: float, scale: float) -> tuple[str, str]:
    """The fill of a cell, and an ink that can be read on it."""
    if not np.isfinite(value):
        return "#ffd400", "#222"
    strength = min(abs(value) / scale, 1.0)
    target = BLUE if value >= 0 else RED
    mixed = [round(255 + (part - 255) * strength) for part in target]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})", "#fff" if strength > 0.55 else "#222"


def _text(value: float, other: float) -> str:
    """The number with as many digits as tell it from another one, if they differ."""
    texts = ((_rounded(value, digits), _rounded(other, digits)) for digits in DIGITS)
    return next((mine for mine, theirs in texts if value == other or mine != theirs), str(value))


def _rounded(value: float, digits: int) -> str:
    """The number in so many digits; in full before the point, where it has six or fewer there."""
    if 1000 <= abs(value) < 1e6:
        digits = max(digits, len(str(int(abs(value)))))
    return f"{value:.{digits}g}"
