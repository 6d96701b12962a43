"""Draw small matrices as inline SVG with a text alternative, using only NumPy."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..exercise.model import Case
from ..judging.agreement import agree, close, family, input_tolerance
from ..judging.modules import wrong_gradients
from ..judging.words import Names, by_parameter
from ..probe.values import Differentiated, Tensor, output

CELL_WIDTH, CELL_HEIGHT, TITLE_HEIGHT = 54, 28, 24
MOST_CELLS = 12
MOST_ITEMS = 4
"""At most this many arrays of a list are drawn."""
LONGEST = 60
"""An input whose text is longer than this is not shown with the pictures."""
DIGITS = (3, 4, 5, 6, 8, 10, 17)
"""A number is shown with the first of these digit counts that distinguishes it from the other."""
BLUE, RED = (33, 102, 172), (178, 24, 43)


def pictures(
    arguments: Mapping[str, Any],
    actual: Any,
    expected: Any,
    returned_names: Sequence[str] = (),
    name: str = "result",
    whose: str = "your",
) -> str:
    """Draw the inputs of a case, and each returned array: actual, expected, and the difference.

    The title of what was returned begins with `whose`. Inputs are drawn under the names of their
    parameters; those that are not arrays are written as text. The values of a tuple are called by
    `returned_names`, if there are as many. For arrays with leading axes, all pictures show the
    entry in which the first difference is largest. An input of which less than half would be
    visible is not drawn.
    """
    results = [*_results(actual, expected, returned_names, name)]
    min_tolerance = input_tolerance(arguments.values())
    differences = [_difference(array, right, min_tolerance) for _, array, right in results]
    entry = next((_worst_entry(d) for d in differences if d is not None and d.any()), ())
    inputs = [
        matrix_picture(title, array, entry)
        for parameter, value in arguments.items()
        for title, array in _arrays(parameter, value)
        if _is_small(array)
    ]
    rows = [[*_texts(arguments), *inputs]]
    for (title, array, right), difference in zip(results, differences, strict=True):
        others: tuple[np.ndarray | None, ...] = (None, None)
        if difference is not None:
            others = tuple(
                np.where(difference != 0, *pair) for pair in ((right, array), (array, right))
            )
        row = [matrix_picture(f"right {title}", right, entry, others[1])]
        if _drawable(array):
            row.insert(0, matrix_picture(f"{whose} {title}", array, entry, others[0]))
        if difference is not None:
            row.append(matrix_picture("difference", difference, entry))
        rows.append(row)
    style = "display:flex;flex-wrap:wrap;gap:12px;margin:6px 0"
    return "".join(f'<div style="{style}">{"".join(row)}</div>' for row in rows if row)


def case_pictures(
    exercise: str, case: Case, actual: Any, expected: Any, names: Names, whose: str = "your"
) -> str:
    """Draw the inputs and the output of a case, and if that is right, the first wrong gradient.

    The case of a module begins with the call that makes the module.
    """
    inputs = _inputs(case, names)
    figures = _module_call(exercise, case)
    figures += pictures(inputs, output(actual), output(expected), names.returned, whose=whose)
    if not isinstance(expected, Differentiated) or not isinstance(actual, Differentiated):
        return figures
    first, second = expected.gradients, actual.gradients
    if not isinstance(first, dict) or not isinstance(second, dict):
        return figures
    if agree(expected.output, actual.output):
        for name, _ in wrong_gradients(first, second):
            title = f"gradient of {by_parameter(name, names.parameters).replace('`', '')}"
            return figures + pictures({}, second[name], first[name], name=title, whose=whose)
    return figures


def _inputs(case: Case, names: Names) -> dict[str, Any]:
    """Return the arguments of a call by the names of the parameters."""
    positional = {
        by_parameter(f"argument {i}", names.parameters).strip("`"): argument
        for i, argument in enumerate(case.arguments, start=1)
    }
    return positional | case.keywords


def _module_call(exercise: str, case: Case) -> str:
    """Return a paragraph with the call that makes the module of a case, or "" for a function."""
    if case.setup is None:
        return ""
    parts = [repr(argument) for argument in case.setup.arguments]
    parts += [f"{name}={value!r}" for name, value in case.setup.keywords.items()]
    code = html.escape(f"{exercise}({', '.join(parts)})")
    return f"<p>The module was made by <code>{code}</code>.</p>"


def _results(
    actual: Any, expected: Any, names: Sequence[str], name: str
) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield title, actual value and expected array for each returned array that can be drawn.

    The wrong arrays of a list come first, and at most MOST_ITEMS of the list in all.
    """
    expected_values, returned, titles = [expected], [actual], [name]
    if isinstance(expected, tuple):
        expected_values, returned = [*expected], _items(actual, len(expected))
        titles = [f"value {position}" for position in range(1, len(expected) + 1)]
        titles = [*names] if len(names) == len(expected) else titles
        titles = titles if len(titles) > 1 else [name]
    for title, value, right in zip(titles, returned, expected_values, strict=True):
        if isinstance(right, list):
            pairs = zip(right, _items(value, len(right)), strict=True)
            results = [
                (f"{title}[{at}]", _array(item), _array(right_item))
                for at, (right_item, item) in enumerate(pairs)
                if _drawable(_array(right_item))
            ]
            yield from sorted(results, key=lambda item: agree(item[1], item[2]))[:MOST_ITEMS]
        elif _drawable(_array(right)):
            yield title, _array(value), _array(right)


def _items(value: Any, count: int) -> list[Any]:
    """Return the items of a tuple or list of length `count`; for anything else, `count` Nones."""
    fits = isinstance(value, tuple | list) and len(value) == count
    return [*value] if fits else [None] * count


def _arrays(title: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield an input that is an array, or the first arrays of a list or tuple, with titles."""
    if isinstance(value, tuple | list):
        for at, item in enumerate(value[:MOST_ITEMS]):
            if _drawable(_array(item)):
                yield f"{title}[{at}]", _array(item)
    elif _drawable(_array(value)):
        yield title, _array(value)


def _texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line with the inputs that are numbers or strings, such as a radius."""
    parts = [
        f"<code>{html.escape(f'{name} = {value!r}')}</code>"
        for name, value in arguments.items()
        if _is_plain(value) and len(repr(value)) <= LONGEST
    ]
    if parts:
        yield f'<p style="width:100%;margin:0">{", ".join(parts)}</p>'


def _is_plain(value: Any) -> bool:
    """Return True for a number, a string, or a list or tuple that contains only those."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _drawable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size > 0


def _is_small(array: np.ndarray) -> bool:
    """Return True if at least half of the entries of its last two axes fit into a picture."""
    rows_and_columns = np.array(array.shape[-2:])
    return bool(2 * np.prod(np.minimum(rows_and_columns, MOST_CELLS)) >= np.prod(rows_and_columns))


def _difference(actual: Any, expected: np.ndarray, min_tolerance: float) -> np.ndarray | None:
    """Return the difference of two arrays, 0 where they agree, or None if their shapes differ."""
    if not _drawable(actual) or actual.shape != expected.shape:
        return None
    with np.errstate(invalid="ignore"):
        difference: np.ndarray = actual.astype(float) - expected.astype(float)
    if family(actual) == family(expected):
        difference[close(expected, actual, min_tolerance=min_tolerance)] = 0.0
    return difference


def _worst_entry(difference: np.ndarray) -> tuple[int, ...]:
    """Return the indices on the leading axes of the largest number; NaN counts as infinite."""
    size = np.where(np.isnan(difference), np.inf, np.abs(difference))
    return tuple(int(at) for at in np.unravel_index(np.argmax(size), size.shape)[:-2])


def _entry(shape: tuple[int, ...], entry: tuple[int, ...]) -> tuple[int, ...]:
    """Return the indices on the leading axes of an array that correspond to those of another.

    Axes are aligned from the last, as in broadcasting. An axis that has no corresponding index, or
    is too short for it, gets index 0.
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
    compared: np.ndarray | None = None,
) -> str:
    """Draw a matrix as a grid of numbers on colours.

    Blue means above zero, red below, and yellow not finite. On leading axes only `entry` is shown,
    and the title says which; rows and columns beyond 12 are cut off, and the title says so. A
    number has enough digits to distinguish it from that at its place in `compared`, an array of the
    same shape.
    """
    shape = matrix.shape
    places = _entry(shape, entry)
    shown, others = (
        np.atleast_2d(array[places])[:MOST_CELLS, :MOST_CELLS]
        for array in (matrix, matrix if compared is None else compared)
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
    """Return the fill of a cell, and a text colour that can be read on it."""
    if not np.isfinite(value):
        return "#ffd400", "#222"
    strength = min(abs(value) / scale, 1.0)
    target = BLUE if value >= 0 else RED
    mixed = [round(255 + (part - 255) * strength) for part in target]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})", "#fff" if strength > 0.55 else "#222"


def _text(value: float, other: float) -> str:
    """Return the number with enough digits to distinguish it from `other`, if they differ."""
    texts = ((_format_number(value, digits), _format_number(other, digits)) for digits in DIGITS)
    return next((text for text, another in texts if value == other or text != another), str(value))


def _format_number(value: float, digits: int) -> str:
    """Return the number with `digits` digits, or with its whole integer part up to six digits."""
    if 1000 <= abs(value) < 1e6:
        digits = max(digits, len(str(int(abs(value)))))
    return f"{value:.{digits}g}"


def with_code(line: str) -> str:
    """Return a line of text as HTML, with the text between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(line))
