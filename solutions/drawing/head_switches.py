"""Eight trained heads that the reader switches on and off: what is right with any subset of them.

This module writes the figure for readers without scripts, and on paper: all heads on, what is lost
without each alone, and the map of one head. `book/_web/head_switches.mjs` adds the switches, and
fills the same cells again.
"""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

SIDE, GAP = 26, 2
"""The distance from one square of the map to the next, and the space between them."""
MARGIN = 30
"""The room for the letters, above the map and at its left."""
ON_MAP = 0
"""The head whose map is shown at first."""


def head_switches(data: dict[str, Any]) -> str:
    """Return the figure as HTML.

    data: accuracies, the names of the answers that are counted. accuracy: (2 ** n_heads, answers),
    the share that is right with each subset; the bit h of a row's number is 1 if head h is on.
    importance: (n_heads,). prefers: the record that each head looks at. letters: of the n records
    of an example. maps: (n_heads, n, n), the weights of each head in it.
    """
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    example = _map(data["letters"], np.array(data["maps"][ON_MAP]))
    return (
        '<div class="play switches"><div class="play-beside">'
        f"<div>{_heads(data)}</div><div>{_accuracies(data)}{example}</div></div>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/head_switches.mjs"></script>'
    )


def _heads(data: dict[str, Any]) -> str:
    """Return the table of the heads. The script makes a switch of the name of each."""
    importance, accuracy = data["importance"], data["accuracy"]
    all_heads = len(accuracy) - 1
    rows = "".join(
        f'<tr class="{("", "looks")[h == ON_MAP]}"><th scope="row">head {h}</th>'
        f"<td>{escape(record)}</td>{_measure(importance[h], importance[h] / max(importance))}"
        f'<td class="alone">{accuracy[all_heads - (1 << h)][0]:.2f}</td></tr>'
        for h, record in enumerate(data["prefers"])
    )
    first = escape(data["accuracies"][0])
    return (
        '<table class="of-heads"><caption>The heads, what they look at, and their'
        ' importance</caption><thead><tr><td></td><th scope="col">looks at</th>'
        f'<th scope="col">importance</th><th scope="col" class="alone">“{first}” without it</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _accuracies(data: dict[str, Any]) -> str:
    """Return the table of what is right with all heads on."""
    n_heads = len(data["importance"])
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{_measure(share, share)}</tr>'
        for name, share in zip(data["accuracies"], data["accuracy"][-1], strict=True)
    )
    return (
        f'<table class="accuracies"><caption>{n_heads} of {n_heads} heads on</caption>'
        '<thead><tr><td></td><th scope="col">accuracy</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _measure(value: float, part: float) -> str:
    """Return the cell of a number, with a bar behind it that takes a part of its room."""
    return f'<td class="measure" style="--part: {part:.3f}">{value:.2f}</td>'


def _map(letters: Sequence[str], weights: np.ndarray) -> str:
    """Return the map of the first head: a row for each question, a column for each record."""
    size = MARGIN + len(letters) * SIDE
    squares = "".join(
        f'<rect class="cell" x="{MARGIN + j * SIDE}" y="{MARGIN + i * SIDE}"'
        f' width="{SIDE - GAP}" height="{SIDE - GAP}" style="--weight: {weight:.3f}"/>'
        for (i, j), weight in np.ndenumerate(weights)
    )
    return (
        '<div class="switches-map"><p class="play-note">Where head'
        f" {ON_MAP} looks: a row for each question, a column for each record</p>"
        f'<svg viewBox="0 0 {size} {size}" role="img"'
        f' aria-label="{escape(_described(letters, weights))}">'
        f"{_letters(letters)}{squares}</svg></div>"
    )


def _letters(letters: Sequence[str]) -> str:
    """Return the letters at the left of the rows, and above the columns."""
    middles = [MARGIN + i * SIDE + (SIDE - GAP) / 2 for i in range(len(letters))]
    return "".join(
        f'<text x="{MARGIN - 8}" y="{at + 5:g}" text-anchor="end">{escape(letter)}</text>'
        f'<text x="{at:g}" y="{MARGIN - 9}" text-anchor="middle">{escape(letter)}</text>'
        for letter, at in zip(letters, middles, strict=True)
    )


def _described(letters: Sequence[str], weights: np.ndarray) -> str:
    """Describe a map for readers who do not see it, as `described` in `subsets.mjs` does."""
    most = ", ".join(
        f"{letter} at {letters[row.argmax()]} ({row.max():.2f})"
        for letter, row in zip(letters, weights, strict=True)
    )
    return f"Each letter and the record it looks at most: {most}."
