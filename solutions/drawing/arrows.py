"""Three arrows in the plane that attend to each other: a figure whose arrows the reader moves.

This module writes the figure for readers without scripts, and on paper: the picture, and the tables
of scores, weights and outputs. `book/_web/arrows.mjs` makes the tips draggable, and moves what is
drawn here.
"""

import json
from collections.abc import Sequence

import numpy as np

from ..self_attention import dot_product_scores, self_attention
from .figure_tables import number_table

WIDTH, HEIGHT = 480, 320
REACH = 3.3
"""The first coordinate at the right edge; the same as in `arrows_drawing.mjs`."""
UNIT = WIDTH / 2 / REACH
HEAD = 11
"""The length of an arrowhead."""
CAPTION = (
    "<strong>Three tokens.</strong> Each arrow is a token, the dot of its colour is its output, and"
    " the dotted line between them is how far the layer moves it. The grey triangle is made of all"
    " averages of the three tokens."
)


def three_arrows(X: np.ndarray) -> str:
    """Return the figure as HTML.

    X: (3, 2), the tokens. They attend as in `self_attention`.
    """
    outputs, weights = self_attention(X)
    names = [_name("x", i) for i in range(len(X))]
    drawn = "".join(_token(i, x, y) for i, (x, y) in enumerate(zip(X, outputs, strict=True)))
    tables = "".join(
        number_table(kind, caption, columns, rows, values)
        for kind, caption, columns, rows, values in (
            ("inputs", "X", ("1", "2"), names, X),
            ("scores", "scores = X X<sup>T</sup>", names, names, dot_product_scores(X)),
            ("weights", "weights = softmax(scores)", names, names, weights),
            ("outputs", "Y = weights X", ("1", "2"), [_name("y", i) for i in range(3)], outputs),
        )
    )
    return (
        f"<div class=\"play arrows\" data-inputs='{json.dumps(X.tolist())}'>"
        '<div class="arrows-beside"><div class="arrows-plane">'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_described(X, outputs)}">'
        f'<path class="grid" d="{_grid()}"/><path class="axes" d="{_axes()}"/>{_ones()}'
        f'<polygon class="hull" points="{_corners(X)}"/>'
        f'<circle class="thales" r="0"/>{drawn}</svg></div>'
        f'<p class="play-caption">{CAPTION}</p>'
        f'<div class="play-tables">{tables}</div></div>'
        '</div><script type="module" src="_static/arrows.mjs"></script>'
    )


def _name(letter: str, i: int) -> str:
    """Return the name of token i, as HTML."""
    return f"<i>{letter}</i><sub>{i + 1}</sub>"


def _place(point: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return the position in the picture of a point of the plane."""
    return WIDTH / 2 + UNIT * point[0], HEIGHT / 2 - UNIT * point[1]


def _corners(points: np.ndarray) -> str:
    """Return the points of a polygon."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_place, points))


def _grid() -> str:
    """Return the path of the lines at whole numbers."""
    columns = (f"M{_place((at, 0))[0]:.1f} 0V{HEIGHT}" for at in range(-3, 4))
    rows = (f"M0 {_place((0, at))[1]:.1f}H{WIDTH}" for at in range(-2, 3))
    return "".join((*columns, *rows))


def _axes() -> str:
    """Return the path of the two axes."""
    return f"M0 {HEIGHT / 2:g}H{WIDTH}M{WIDTH / 2:g} 0V{HEIGHT}"


def _ones() -> str:
    """Return the number 1 at each of the axes."""
    (x, _), (_, y) = _place((1, 0)), _place((0, 1))
    return (
        f'<text class="one" x="{x:.1f}" y="{HEIGHT / 2 + 17:g}" text-anchor="middle">1</text>'
        f'<text class="one" x="{WIDTH / 2 - 8:g}" y="{y + 5:.1f}" text-anchor="end">1</text>'
    )


def _token(i: int, x: np.ndarray, y: np.ndarray) -> str:
    """Return the arrow of token i, its output, and the line that joins them."""
    (x_tip, y_tip), (x_out, y_out) = _place(x), _place(y)
    angle = -np.degrees(np.arctan2(x[1], x[0]))
    texts = "".join(
        f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="middle">'
        f'<tspan font-style="italic">{letter}</tspan><tspan dy="4" class="index">{i + 1}</tspan>'
        "</text>"
        for kind, letter, at in (("of-input", "x", _label(x)), ("of-output", "y", _beside(x, y)))
    )
    return (
        f'<g style="--line: var(--figure-{i + 1})">'
        f'<line class="moves" x1="{x_tip:.1f}" y1="{y_tip:.1f}" x2="{x_out:.1f}" y2="{y_out:.1f}"/>'
        f'<line class="shaft" x1="{WIDTH / 2:g}" y1="{HEIGHT / 2:g}"'
        f' x2="{x_tip:.1f}" y2="{y_tip:.1f}"/>'
        f'<path class="head" d="M0 0L{-HEAD} 5V-5Z"'
        f' transform="translate({x_tip:.1f} {y_tip:.1f}) rotate({angle:.1f})"/>'
        f'<circle class="output" r="5.5" cx="{x_out:.1f}" cy="{y_out:.1f}"/>{texts}</g>'
    )


def _label(x: np.ndarray) -> tuple[float, float]:
    """Return where the name of an arrow stands: beyond its tip."""
    size = max(float(np.hypot(*x)), 1e-9)
    column, row = _place(x)
    return column + 22 * x[0] / size, row - 22 * x[1] / size + 4


def _beside(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return where the name of an output stands: at a right angle to its way, on the upper side."""
    across, up = y - x
    size = max(float(np.hypot(across, up)), 1e-9) * (1 if across >= 0 else -1)
    column, row = _place(y)
    return column - 18 * up / size, row - 18 * across / size + 4


def _described(X: np.ndarray, outputs: np.ndarray) -> str:
    """Describe the picture for readers who do not see it."""
    inputs, ends = (", ".join(f"({x:.2f}, {y:.2f})" for x, y in rows) for rows in (X, outputs))
    return (
        f"Three arrows from the origin to {inputs}, their tips joined to a triangle. The outputs"
        f" are dots in this triangle, at {ends}."
    )
