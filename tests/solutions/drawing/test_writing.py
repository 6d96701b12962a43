"""Test what writing costs with published models, in Python and in the page."""

import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from solutions.drawing.writing import BYTES, H100, MODELS, step, writing_costs
from solutions.published.smollm2 import SIZES

MODULE = Path(__file__).parents[3] / "book" / "_web" / "writing.mjs"
ROOF = {"bandwidth": 8e9, "peak": 4e10, "measured": [[0.5, 4e9], [30.0, 3e10]]}
BY_NAME = {one.name: one for one in MODELS}


@pytest.mark.parametrize("model", MODELS, ids=lambda one: one.name)
@pytest.mark.parametrize(("context", "batch"), [(1024, 1), (8192, 32), (131_072, 512)])
def test_the_page_computes_the_same(model, context, batch):
    given = f"{json.dumps(asdict(model))}, {context}, {batch}, {BYTES}"
    code = (
        f"const {{least, step}} = await import({json.dumps(MODULE.as_uri())});"
        f"const cost = step({given});"
        f"const limit = least(cost, {json.dumps(asdict(H100))});"
        "console.log(JSON.stringify([...Object.values(cost), limit.seconds]));"
    )
    command = ["node", "--input-type=module", "--eval", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cost = step(model, context, batch)
    right = [cost.weights, cost.caches, cost.operations, cost.seconds(H100)]
    assert json.loads(done.stdout) == pytest.approx(right)


def test_the_small_model_is_the_one_that_the_course_runs():
    small = BY_NAME["SmolLM2 135M"]
    d_head = SIZES["d_model"] // SIZES["n_heads"]
    [layers] = small.layers
    assert layers.count == SIZES["n_layers"]
    assert layers.numbers == 2 * SIZES["n_kv_heads"] * d_head
    assert layers.operations == 4 * SIZES["d_model"]


def test_a_window_bounds_a_cache_and_a_state_does_not_grow():
    gemma, qwen = BY_NAME["Gemma 3 12B"], BY_NAME["Qwen3-Next 80B"]
    local = gemma.layers[1]
    grown = [step(gemma, n, 1).caches for n in (1024, 2048)]
    assert grown[0] == 2 * 1024 * 48 * local.numbers
    assert grown[1] - grown[0] == 2 * 1024 * 8 * local.numbers
    assert step(qwen, 1, 1).caches > 2 * qwen.fixed


def test_one_text_uses_the_active_weights_and_many_use_all():
    large = BY_NAME["DeepSeek-V3 671B"]
    assert step(large, 1024, 1).weights == pytest.approx(2 * large.active)
    assert step(large, 1024, 10_000).weights == pytest.approx(2 * large.parameters)


def test_without_scripts_there_is_a_table_of_models():
    html = writing_costs(ROOF)
    assert html.count("<tr>") == 1 + len(MODELS)
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    assert data["measured"] == ROOF["measured"]
    assert [one["name"] for one in data["models"]] == list(BY_NAME)
