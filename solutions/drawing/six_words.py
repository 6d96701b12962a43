"""The front page's figure: six words in a row, and arcs from the word that looks to all others.

This module writes the figure for readers without scripts. `book/_web/six_words.mjs` adds the choice
of the word that looks and of how sharply it looks.
"""

import json
from collections.abc import Sequence
from html import escape

import numpy as np

from ..alignment import softmax

STEP, HEIGHT = 100, 230
LOOP = 26
"""Half the width of the arc from a word to itself."""


def six_words(tokens: Sequence[str], scores: np.ndarray, looks: int) -> str:
    """Return the figure as HTML, with `tokens[looks]` as the word that looks.

    scores: (n, n), one row for each token that looks and one column for each token that it looks
    at. The weights are the softmax of each row.
    """
    weights = softmax(scores)
    arcs = "".join(
        f'<path d="{arc(i, j)}" data-from="{i}" data-to="{j}" style="--weight: {weight:.3f}"'
        f' class="{("rests", "looks")[i == looks]}"/>'
        for (i, j), weight in np.ndenumerate(weights)
    )
    words = "".join(
        f'<label><input type="radio" name="looks" value="{j}"{" checked" * (j == looks)}>'
        f"<span>{escape(token)}</span> <output>{weights[looks, j]:.2f}</output></label>"
        for j, token in enumerate(tokens)
    )
    return (
        f"<div class=\"six-words\" data-scores='{json.dumps(scores.tolist())}'>"
        f'<svg viewBox="0 0 {STEP * len(tokens)} {HEIGHT}" preserveAspectRatio="none"'
        f' aria-hidden="true">{arcs}</svg>'
        f'<fieldset><legend class="unseen">Which word looks?</legend>{words}</fieldset>'
        '</div><script type="module" src="_static/six_words.mjs"></script>'
    )


def arc(start: int, end: int) -> str:
    """Return the path of an arc between two places in the row; a longer arc is higher."""
    left, right = STEP * (start + 0.5), STEP * (end + 0.5)
    if start == end:
        left, right = left - LOOP, right + LOOP
    top = HEIGHT * (0.62 - 0.17 * abs(start - end))
    return f"M{left:g} {HEIGHT} C{left:g} {top:g} {right:g} {top:g} {right:g} {HEIGHT}"
