"""Test that positions are moved as they should be, and words and positions resized."""

import numpy as np
import torch

import solutions.transformer
from solutions.experiments.transformer import entering, own
from solutions.experiments.transformer.moved import moved
from solutions.positions import sinusoidal_positions
from solutions.transformer import TOKEN_SIZE, Transformer

SOURCE, INPUTS = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 4, 5]])


def machine() -> Transformer:
    torch.manual_seed(0)
    return Transformer(10, 12, d_model=8, n_heads=2, d_ff=16, n_layers=2).double().eval()


@torch.no_grad()
def test_positions_begin_at_the_shift_and_are_put_back(monkeypatch):
    model = machine()
    before = model(SOURCE, INPUTS)
    with moved(model, 3):
        shifted = model(SOURCE, INPUTS)
    assert torch.equal(model(SOURCE, INPUTS), before)

    def later(n: int, d: int) -> np.ndarray:
        return sinusoidal_positions(n + 3, d)[3:]

    monkeypatch.setattr(solutions.transformer, "sinusoidal_positions", later)
    torch.testing.assert_close(model(SOURCE, INPUTS), shifted)
    assert (shifted - before).abs().max() > 1e-3


@torch.no_grad()
def test_what_enters_has_the_size_and_the_share_of_its_case():
    for (word, position), share in entering.CASES.items():
        torch.manual_seed(0)
        model = Transformer(1000, 1000, **own.SIZES)
        entering.resize(model, word, position)
        embedding = model.encoder.embedding
        d = own.SIZES["d_model"]
        ids = torch.arange(1000)[None]
        positions = torch.from_numpy(sinusoidal_positions(1000, d)).float()
        words = embedding.weight * d**0.5
        entered = solutions.transformer.embed(ids, embedding)[0]
        torch.testing.assert_close(entered, words + position * positions, rtol=1e-3, atol=1e-3)
        lengths = words.square().sum(), (position * positions).square().sum()
        assert abs(lengths[0] / sum(lengths) - share) < 0.01
    assert entering.share(TOKEN_SIZE) < 0.25 < 0.99 < entering.share(entering.LARGE)
