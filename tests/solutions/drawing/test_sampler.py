"""Test that the interactive distribution is transformed as by the course's `sample_next`."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from solutions.drawing.sampler import sampler
from solutions.gpt_and_bert import sample_next

MODULE = Path(__file__).parents[3] / "book" / "_web" / "sampling.mjs"
LOGITS = np.array([2.0, 1.5, 1.5, 0.0, -1.0, -30.0])
DRAWS = 20_000


class EvenDraws:
    """A generator whose numbers are evenly spaced between 0 and 1."""

    def random(self, shape):
        return (np.arange(np.prod(shape)).reshape(shape) + 0.5) / np.prod(shape)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 1.9])
@pytest.mark.parametrize("top_k", [1, 3, None])
@pytest.mark.parametrize("top_p", [0.05, 0.6, None])
def test_the_page_transforms_a_distribution_like_the_course(temperature, top_k, top_p):
    arguments = [LOGITS.tolist(), temperature, top_k or LOGITS.size, top_p or 1]
    code = (
        f"const {{shaped}} = await import({json.dumps(MODULE.as_uri())});"
        f"console.log(JSON.stringify(shaped(...{json.dumps(arguments)})));"
    )
    command = ["node", "--input-type=module", "--eval", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page_shares = np.array(json.loads(done.stdout))
    rows = np.tile(LOGITS, (DRAWS, 1))
    drawn = sample_next(rows, temperature, top_k, top_p, EvenDraws())
    course_shares = np.bincount(drawn, minlength=LOGITS.size) / DRAWS
    padded = np.pad(page_shares, (0, LOGITS.size - page_shares.size))
    np.testing.assert_allclose(padded, course_shares, rtol=0, atol=2 / DRAWS)


def test_without_scripts_there_is_a_table_of_the_likeliest():
    html = sampler({"a <b>": np.log([0.2, 0.7, 0.1])}, ["x", "<y>", "z"])
    assert re.findall(r"<td>(.*?)</td>", html) == ["0.7", "0.2", "0.1"]
    assert html.index("&lt;y&gt;") < html.index("x</code>")
    assert "<b>" not in html
    assert "<y>" not in html


def test_the_script_gets_all_tokens_in_order():
    html = sampler({"a": np.array([0.0, 2.0, 1.0]), "b": np.array([1.0, 0.0, 3.0])}, "xyz")
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    assert [beginning["tokens"] for beginning in data["beginnings"]] == [
        ["y", "z", "x"],
        ["z", "x", "y"],
    ]
    assert data["beginnings"][0]["logits"] == [0, -1, -2]
