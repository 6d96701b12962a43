"""Test the figure of three arrows as readers without scripts see it."""

import re

import numpy as np

from solutions.drawing.arrows import three_arrows
from solutions.self_attention import dot_product_scores, self_attention

X = np.array([[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])


def numbers_in(html: str, kind: str) -> np.ndarray:
    """Return the numbers of the table of a kind, as rows."""
    table = re.search(rf'<table class="{kind}">.*?</table>', html)[0]
    rows = re.findall(r"<tr[^>]*><th scope=\"row\">.*?</tr>", table)
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows]
    return np.array([[float(text.replace("\N{MINUS SIGN}", "-")) for text in row] for row in cells])


def test_the_tables_have_the_numbers_of_the_layer():
    html = three_arrows(X)
    outputs, weights = self_attention(X)
    for kind, values in (
        ("inputs", X),
        ("scores", dot_product_scores(X)),
        ("weights", weights),
        ("outputs", outputs),
    ):
        assert np.allclose(numbers_in(html, kind), values, atol=0.0051), kind


def test_the_picture_has_each_output_where_it_is():
    html = three_arrows(X)
    outputs, _ = self_attention(X)
    places = re.findall(r'<circle class="output" r="5.5" cx="([\d.]+)" cy="([\d.]+)"', html)
    unit = 480 / 2 / 3.3
    assert np.allclose(np.float64(places), [240, 160] + outputs * [unit, -unit], atol=0.06)


def test_the_picture_is_described():
    label = re.search(r'role="img" aria-label="([^"]*)"', three_arrows(X))[1]
    assert "(2.00, 0.00), (1.00, 1.00), (-1.00, 1.00)" in label
    assert "(1.34, 0.53)" in label


def test_a_token_at_the_origin_is_drawn():
    assert "nan" not in three_arrows(np.zeros((3, 2)))
