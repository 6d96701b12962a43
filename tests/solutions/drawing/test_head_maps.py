"""Test that the page gets the maps of all heads, and a table of one head without scripts."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np

from solutions.drawing.head_maps import FULL, head_maps

MODULE = Path(__file__).parents[3] / "book" / "_web" / "head_maps.mjs"
TOKENS = ["[CLS]", "<a>", "b"]


def some_maps(n):
    weights = np.random.default_rng(0).random((2, 3, n, n))
    return weights / weights.sum(axis=-1, keepdims=True)


def in_the_page(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])


def test_the_page_shows_the_weights_of_the_chosen_head():
    maps = some_maps(3)
    data = in_the_page(head_maps({"a b": (TOKENS, maps)}, (0, 0)))
    code = (
        f"const {{weightsOf}} = await import({json.dumps(MODULE.as_uri())});"
        f"const one = {json.dumps(data['sentences'][0])};"
        "one.maps = Uint8Array.from(atob(one.maps), (c) => c.charCodeAt(0));"
        f"console.log(JSON.stringify(weightsOf(one, {data['heads']}, 1, 2)));"
    )
    command = ["node", "--input-type=module", "--eval", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(json.loads(done.stdout), maps[1, 2], atol=0.51 / FULL)


def test_without_scripts_there_is_a_table_of_the_first_head():
    maps = some_maps(3)
    html = head_maps({"a b": (TOKENS, maps), "b": (["b"], some_maps(1))}, (1, 0))
    most = maps[1, 0].argmax(axis=-1)
    result = re.findall(r"<td>(.*?)</td><td>(.*?)</td>", html)
    shown = ["[CLS]", "&lt;a&gt;", "b"]
    assert result == [(shown[at], f"{maps[1, 0, row, at]:.2f}") for row, at in enumerate(most)]
    assert "Layer 2, head 1" in html
    assert "<a>" not in html
