"""Test that the cost calculator uses the course's formulas, in Python and in the page."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from solutions.cost import attention_flops
from solutions.drawing.calculator import calculator, predicted

MODULE = Path(__file__).parents[3] / "book" / "_web" / "costs.mjs"
SIZES = [(64, 128, 2, 1), (1000, 512, 8, 6), (64, 1024, 16, 24)]
LAYER = {"seconds": [0.0012, 0.5], "bytes": [2000, 3_000_000]}
DATA = {
    "d_model": 128,
    "n_heads": 2,
    "d_ff": 512,
    "block": 128,
    "lengths": [64, 8192],
    "speed": 1e9,
    "layers": {"attention": LAYER, "a <b>": LAYER},
}


@pytest.mark.parametrize(("n", "d_model", "n_heads", "n_layers"), SIZES)
def test_attention_costs_what_the_chapter_counts(n, d_model, n_heads, n_layers):
    cost = predicted(n, d_model, n_heads, n_layers, 128)["flops"]
    layer = attention_flops(n, d_model, n_heads)
    assert cost["projections"] + cost["tokens meet"] == n_layers * layer


@pytest.mark.parametrize(("n", "d_model", "n_heads", "n_layers"), SIZES)
def test_the_page_predicts_the_same(n, d_model, n_heads, n_layers):
    chosen = {"n": n, "d": d_model, "heads": n_heads, "layers": n_layers}
    code = (
        f"const {{predicted}} = await import({json.dumps(MODULE.as_uri())});"
        f"console.log(JSON.stringify(predicted({json.dumps(chosen)}, 128)));"
    )
    command = ["node", "--input-type=module", "--eval", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page_values, expected = json.loads(done.stdout), predicted(n, d_model, n_heads, n_layers, 128)
    for kind in ("flops", "bytes"):
        assert list(page_values[kind].values()) == list(expected[kind].values())


def test_without_scripts_there_is_a_table_of_measurements():
    html = calculator(DATA)
    assert html.count("<tr>") == 3
    assert "1.2 ms, 0.002 MB" in html
    assert "500 ms, 3 MB" in html
    assert "<b>" not in html
    assert "a &lt;b&gt;" in html


def test_the_script_gets_all_data():
    inside = re.search(r'<script type="application/json">(.*?)</script>', calculator(DATA))
    assert json.loads(inside[1]) == DATA
