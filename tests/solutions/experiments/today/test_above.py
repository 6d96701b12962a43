"""Test that what is computed above a silent head is what reading everything again would give."""

import pytest
import torch

from solutions.experiments.today import inside
from solutions.experiments.today.above import Kept
from solutions.published.files import PublishedFileError
from solutions.published.looking_inside import look
from solutions.published.smollm2 import SmolLM2
from solutions.published.smollm2_file import find

try:
    find()
except PublishedFileError as missing:
    pytest.skip(f"no published language model: {missing}", allow_module_level=True)


@pytest.fixture(scope="module")
def published() -> SmolLM2:
    return SmolLM2()


@pytest.mark.parametrize("off", [[], [(0, 1)], [(12, 3), (20, 5), (20, 6)], [(29, 0)]])
def test_the_nats_are_those_of_the_whole_model(published, off):
    ids = inside.passages(published, 2, 12)
    whole = inside.nats(look(published, ids, off).logits, ids)
    kept = Kept(published, ids)
    torch.testing.assert_close(kept.nats(off), whole, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(kept.nats(off, first=5), whole[:, 4:], rtol=1e-4, atol=1e-3)
    assert kept.loss(off) == pytest.approx(float(whole.mean()), abs=1e-3)
