"""Test that positions are moved as they should be, and words and positions resized."""

import numpy as np
import torch

import solutions.transformer
from solutions.data.translation.pairs import Pair
from solutions.experiments.transformer import entering, own
from solutions.experiments.transformer.moved import (
    NEAR,
    anywhere,
    moved,
    of_equal_lengths,
    right_at_start,
)
from solutions.positions import sinusoidal_positions
from solutions.transformer import Transformer
from solutions.translators.machines import transformer

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
def test_what_enters_has_the_size_the_factor_and_the_share_of_its_entry():
    ids, d = torch.arange(1000)[None], own.SIZES["d_model"]
    positions = torch.from_numpy(sinusoidal_positions(1000, d)).float()
    for entry in (*entering.FACTORS.values(), *entering.CASES.values()):
        torch.manual_seed(0)
        model = Transformer(1000, 1000, **own.SIZES)
        entering.resize(model, entry)
        embedding = model.encoder.embedding
        words, placed = embedding.weight * entry.factor, entry.position * positions
        entered = solutions.transformer.embed(ids, embedding)[0]
        torch.testing.assert_close(entered, words + placed, rtol=1e-3, atol=1e-3)
        assert abs(words.square().mean().sqrt() / entry.word - 1) < 0.02
        lengths = words.square().sum(), placed.square().sum()
        assert abs(lengths[0] / sum(lengths) - entry.share) < 0.01


def test_the_tables_alone_learn_at_a_rate_of_their_own(monkeypatch):
    monkeypatch.setattr(own, "STEPS", 1)
    torch.manual_seed(0)
    slow, fast = (own.train_own(0.1, 0, tables=times)[0] for times in (1.0, 3.0))
    tables, others = own.by_kind(slow)
    fast_tables, fast_others = own.by_kind(fast)
    assert len(tables) == 2
    assert others
    assert all(torch.equal(a, b) for a, b in zip(others, fast_others, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(tables, fast_tables, strict=True))


@torch.no_grad()
def test_the_null_begins_anywhere_while_it_trains_and_at_0_afterwards():
    torch.manual_seed(0)
    model = anywhere(10, 12, NEAR)
    torch.manual_seed(0)
    ours = transformer(10, 12).eval()
    lengths = torch.tensor([5])
    found = [model(SOURCE, lengths, INPUTS)[0] for _ in range(3)]
    assert not torch.equal(found[0], found[1])
    expected = []
    rng = np.random.default_rng(0)
    for _ in found:
        with moved(ours, int(rng.integers(NEAR + 1))):
            expected.append(ours(SOURCE, lengths, INPUTS)[0])
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        model.eval()(SOURCE, lengths, INPUTS)[0], ours(SOURCE, lengths, INPUTS)[0]
    )


def test_the_ends_are_counted_from_both_sides():
    reference, written = tuple("abcdefgh"), tuple("abXcdefgh")
    assert right_at_start([written], [reference]) == 2 / 6
    assert right_at_start([written[::-1]], [reference[::-1]]) == 1.0
    assert right_at_start([()], [reference]) == 0.0


def test_pairs_of_equal_lengths_are_those_that_have_a_partner():
    def pairs(*lengths: int) -> list[Pair]:
        return [Pair(("a",) * n, (), frozenset(), frozenset(), frozenset()) for n in lengths]

    one, other = of_equal_lengths(pairs(3, 5, 5, 7), pairs(5, 4, 3, 3, 5, 5))
    assert [len(pair.source) for pair in one] == [3, 5, 5]
    assert [len(pair.source) for pair in other] == [5, 3, 5]
