"""One word's journey through attention: a figure whose matrices the reader changes.

This module writes the figure for readers without scripts, and on paper: the three matrices with the
query, key and value of one word, and its way from scores to output, number by number.
`book/_web/journey.mjs` makes words and numbers choosable, and fills the same tables again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ..queries_keys_values import project_qkv, scaled_dot_product_attention
from .figure_tables import number_table, two_digits


@dataclass(frozen=True)
class Layer:
    """A sentence, and the three matrices that give each of its tokens a query, a key and a value.

    X: (n, d), the tokens. W_q, W_k: (d, d). W_v: (d, d_v). passed: the names of the d_v numbers of
    a value.
    """

    tokens: Sequence[str]
    features: Sequence[str]
    passed: Sequence[str]
    X: np.ndarray
    W_q: np.ndarray
    W_k: np.ndarray
    W_v: np.ndarray


def journey(layer: Layer, looks: int) -> str:
    """Return the figure as HTML, with `layer.tokens[looks]` as the word that looks."""
    data = {
        "tokens": list(layer.tokens),
        "features": list(layer.features),
        **{name: getattr(layer, name).tolist() for name in ("X", "W_q", "W_k", "W_v")},
        "looks": looks,
    }
    numbers = json.dumps(data).replace("<", "\\u003c")
    return (
        f'<div class="play journey"><div class="play-beside">{_matrices(layer, looks)}</div>'
        f'<div class="play-beside">{_steps(layer, looks)}{_rows(layer, looks)}</div>'
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/journey.mjs"></script>'
    )


@dataclass(frozen=True)
class _Role:
    """One of the three roles of a word, and the matrix that makes it."""

    name: str
    does: str
    columns: Sequence[str]
    matrix: np.ndarray

    @property
    def letter(self) -> str:
        return self.name[0]


def _matrices(layer: Layer, looks: int) -> str:
    """Return the table of the three matrices, and below each its product with the word's vector."""
    roles = (
        _Role("query", "looks for", layer.features, layer.W_q),
        _Role("key", "is found by", layer.features, layer.W_k),
        _Role("value", "passes on", layer.passed, layer.W_v),
    )
    x, token = layer.X[looks], escape(layer.tokens[looks])
    body = "".join(
        f'<tr class="{("", "has")[bool(x[i])]}"><th scope="row">{escape(feature)}</th>'
        + "".join(_numbers(role.matrix[i]) for role in roles)
        + "</tr>"
        for i, feature in enumerate(layer.features)
    )
    sums = "".join(_numbers(x @ role.matrix) for role in roles)
    names = "".join(
        f'<td colspan="{len(role.columns)}">{role.name} <i>{role.letter}</i></td>' for role in roles
    )
    return (
        '<table class="matrices"><caption>Every word is multiplied by the same three matrices. The'
        " marked rows are the features of the word that looks; their sum is its query, its key and"
        f" its value.</caption>{_columns(roles)}<tbody>{body}</tbody>"
        f'<tfoot><tr><th scope="row">{token}</th>{sums}</tr><tr><td></td>{names}</tr></tfoot>'
        "</table>"
    )


def _columns(roles: Sequence[_Role]) -> str:
    """Return the headings of the matrices: their names, and those of their columns."""
    spans = "".join(f'<colgroup span="{len(role.columns)}"></colgroup>' for role in roles)
    titles = "".join(
        f'<th scope="colgroup" colspan="{len(role.columns)}"><i>W</i><sub>{role.letter}</sub><br>'
        f"<small>{role.does}</small></th>"
        for role in roles
    )
    heads = "".join(
        f'<th scope="col"><span>{escape(column)}</span></th>'
        for role in roles
        for column in role.columns
    )
    return (
        f"<colgroup><col></colgroup>{spans}"
        f"<thead><tr><td></td>{titles}</tr><tr><td></td>{heads}</tr></thead>"
    )


def _numbers(row: np.ndarray) -> str:
    """Return the cells of a row of small whole numbers, of which zeros are paler."""
    return "".join(f'<td class="{("zero", "")[bool(value)]}">{value:g}</td>' for value in row)


def _steps(layer: Layer, looks: int) -> str:
    """Return the table of the word's scores, weights and blend: a row for each key."""
    Q, K, V = project_qkv(layer.X, layer.W_q, layer.W_k, layer.W_v)
    output, weights = scaled_dot_product_attention(Q, K, V)
    scores, divisor = K @ Q[looks], np.sqrt(K.shape[1])
    heads = (
        "key <i>k</i>",
        "<i>q</i> · <i>k</i>",
        f"÷ {divisor:g}",
        "weight",
        "value <i>v</i>",
        "weight \N{MULTIPLICATION SIGN} <i>v</i>",
    )
    body = "".join(
        f'<tr><th scope="row">{escape(token)}</th><td>{_vector(K[j])}</td><td>{scores[j]:g}</td>'
        f'<td>{two_digits(scores[j] / divisor)}</td><td class="weight"'
        f' style="--weight: {weights[looks, j]:.3f}">{two_digits(weights[looks, j])}</td>'
        f"<td>{_vector(V[j])}</td><td>{_blended(weights[looks, j] * V[j])}</td></tr>"
        for j, token in enumerate(layer.tokens)
    )
    columns = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<table class="steps"><caption>The way of “{escape(layer.tokens[looks])}”</caption><thead>'
        f"<tr><td></td>{columns}</tr></thead>"
        f'<tbody>{body}</tbody><tfoot><tr><th scope="row" colspan="6">output, the sum:'
        f" {escape(' and '.join(layer.passed))}</th><td>{_blended(output[looks])}</td></tr></tfoot>"
        "</table>"
    )


def _vector(values: np.ndarray) -> str:
    """Return a vector of small whole numbers."""
    return " ".join(f"{value:g}" for value in values)


def _blended(values: np.ndarray) -> str:
    """Return a vector with two digits a number."""
    return " ".join(two_digits(value) for value in values)


def _rows(layer: Layer, looks: int) -> str:
    """Return the table of all weights, one row for each token that looks."""
    Q, K, V = project_qkv(layer.X, layer.W_q, layer.W_k, layer.W_v)
    _, weights = scaled_dot_product_attention(Q, K, V)
    names = [escape(token) for token in layer.tokens]
    caption = "The weights of all words, a row for each"
    return number_table("weights", caption, names, names, weights, looks)
