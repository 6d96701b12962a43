"""Test the figure of one word's journey as readers without scripts see it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from solutions.data.sentence import FEATURES, TOKENS, embed
from solutions.drawing.journey import Layer, journey
from solutions.queries_keys_values import project_qkv, scaled_dot_product_attention

W_Q = np.array([[0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 2, 0], [0, 2, 0, 0]])
LAYER = Layer(
    tokens=TOKENS,
    features=FEATURES,
    passed=("cat-like", "place"),
    X=embed(),
    W_q=W_Q,
    W_k=np.diag([0, 1, 1, 1]),
    W_v=np.array([[0, 0], [0, 0], [1, 0], [0, 1]]),
)
CAT, SAT = 1, 2


def cells_in(html: str, kind: str, part: str = "tbody") -> list[list[str]]:
    """Return the texts of the cells of a part of a table."""
    table = re.search(rf'<table class="{kind}">.*?</table>', html)[0]
    rows = re.findall(r"<tr.*?</tr>", re.search(rf"<{part}>.*?</{part}>", table)[0])
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows]


@pytest.mark.parametrize("looks", [CAT, SAT])
def test_the_steps_lead_to_the_output_of_the_layer(looks):
    Q, K, V = project_qkv(LAYER.X, LAYER.W_q, LAYER.W_k, LAYER.W_v)
    output, weights = scaled_dot_product_attention(Q, K, V)
    html = journey(LAYER, looks)
    for j, (key, score, divided, weight, value, part) in enumerate(cells_in(html, "steps")):
        assert key == " ".join(f"{number:g}" for number in K[j])
        assert float(score) == K[j] @ Q[looks]
        assert float(divided) == float(score) / 2
        assert abs(float(weight) - weights[looks, j]) < 0.0051
        assert np.array_equal(np.float64(value.split()), V[j])
        assert np.allclose(np.float64(part.split()), weights[looks, j] * V[j], atol=0.0051)
    total = cells_in(html, "steps", "tfoot")[0][0]
    assert np.allclose(np.float64(total.split()), output[looks], atol=0.0051)


def test_the_query_of_sat_is_the_sum_of_the_marked_rows():
    html = journey(LAYER, SAT)
    assert cells_in(html, "matrices", "tfoot")[0] == list("0220001111")
    assert re.findall(r'<tr class="has"><th scope="row">([^<]*)', html) == ["cat-like", "place"]


def test_each_word_has_a_row_of_weights_and_the_chosen_one_is_marked():
    html = journey(LAYER, SAT)
    assert np.allclose(np.float64(cells_in(html, "weights")).sum(axis=1), 1, atol=0.03)
    assert re.findall(r'<tr class="looks"><th scope="row">([^<]*)', html) == ["sat"]


def test_the_script_gets_the_layer():
    data = json.loads(
        re.search(r'<script type="application/json">(.*?)</script>', journey(LAYER, SAT))[1]
    )
    assert data["W_q"] == W_Q.tolist()
    assert data["tokens"][data["looks"]] == "sat"


def test_tokens_are_escaped():
    html = journey(replace(LAYER, tokens=("<b>", *TOKENS[1:])), SAT)
    assert "<b>" not in html
