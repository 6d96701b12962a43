"""Test that the drawing of a block of today names the widths that it is given."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest

from solutions.drawing.today_block import TIMES, today_block


@pytest.fixture
def drawing():
    yield today_block(576, 9, 3, 64, 1536)
    plt.close("all")


def test_queries_have_more_heads_than_keys_and_values(drawing):
    texts = [text.get_text() for text in drawing.texts]
    assert [one.split(": ")[1] for one in texts if one.startswith("$W_") and ":" in one] == [
        f"{heads}{TIMES}64" for heads in (9, 3, 3)
    ]
    assert {"gate: 1,536", "up: 1,536", "down: 576"} <= set(texts)


def test_a_norm_stands_in_each_branch_and_none_on_the_stream(drawing):
    norms = [text for text in drawing.texts if text.get_text() == "RMSNorm"]
    assert len(norms) == 2
    assert all(norm.get_position()[0] > 1 for norm in norms)
    sums = [patch for patch in drawing.patches if isinstance(patch, plt.Circle)]
    assert [one.center[0] for one in sums] == [0, 0]
