"""Test that chapter 12's models differ from chapter 10's GPT only in the named piece."""

from dataclasses import replace

import pytest
import torch

from solutions.experiments.gpt_and_bert.language_model import CONTEXT, SIZES
from solutions.experiments.today.ablation import TODAY, VARIANTS
from solutions.experiments.today.pieces import Attention, Model, Pieces
from solutions.gpt_and_bert import GPT
from solutions.today import TodayModel

VOCABULARY = 50
LAYERED = {name: SIZES[name] for name in ("d_model", "n_heads", "n_layers")}


def made(pieces: Pieces) -> Model:
    torch.manual_seed(0)
    return Model(VOCABULARY, **LAYERED, max_len=CONTEXT, pieces=pieces)


@pytest.fixture
def ids() -> torch.Tensor:
    return torch.randint(VOCABULARY, (2, 20), generator=torch.Generator().manual_seed(1))


def test_without_an_exchange_it_is_the_gpt(ids):
    gpt, today = GPT(VOCABULARY, max_len=CONTEXT, **SIZES), made(Pieces())
    today.load_state_dict(gpt.state_dict())
    torch.testing.assert_close(today(ids), gpt(ids))


def test_the_pieces_of_today_without_biases_are_the_model_of_today(ids):
    pieces = VARIANTS[TODAY]
    own = made(pieces)
    reference = TodayModel(
        VOCABULARY, SIZES["d_model"], SIZES["n_heads"], pieces.n_kv_heads, pieces.d_ff, 2, eps=1e-6
    )
    state = own.state_dict()
    for name in [name for name in state if name.endswith("bias")]:
        state[name].zero_()
        del state[name]
    reference.load_state_dict(state)
    torch.testing.assert_close(own(ids), reference(ids)[0])


def test_all_variants_have_equal_parameter_counts_within_a_hundredth():
    counts = [
        sum(parameter.numel() for parameter in made(pieces).parameters())
        for pieces in VARIANTS.values()
    ]
    assert max(counts) / min(counts) < 1.013  # the vocabulary is smaller here than in the chapter


@pytest.mark.parametrize("name", list(VARIANTS))
def test_no_token_sees_a_later_one(name, ids):
    model = made(VARIANTS[name])
    changed = ids.clone()
    changed[:, 12:] = (changed[:, 12:] + 1) % VOCABULARY
    torch.testing.assert_close(model(ids)[:, :12], model(changed)[:, :12])
    assert not torch.allclose(model(ids)[:, 12:], model(changed)[:, 12:])


def test_without_positions_a_token_sees_a_set(ids):
    model = made(VARIANTS["no positions"])
    swapped = ids[:, [1, 0, *range(2, 20)]]
    one_block = Model(VOCABULARY, 96, 4, 1, CONTEXT, VARIANTS["no positions"])
    torch.testing.assert_close(one_block(ids)[:, 2:], one_block(swapped)[:, 2:])
    assert not torch.allclose(made(Pieces())(ids)[:, 2:], made(Pieces())(swapped)[:, 2:])
    assert not torch.allclose(model(ids)[:, 2:], model(swapped)[:, 2:])  # two blocks see the order


def test_a_local_block_sees_a_window():
    X = torch.randn(1, 30, 96)
    local = Attention(96, 4, Pieces(), window=8)
    changed = X.clone()
    changed[:, 3] += 1
    moved = (local(X) - local(changed)).abs().amax(dim=-1)[0] > 1e-6
    assert moved.nonzero()[:, 0].tolist() == list(range(3, 12))
    assert [block.attention.window for block in made(VARIANTS["local and global"]).blocks] == [
        8,
        None,
    ]


def test_a_sink_takes_weight_from_the_tokens():
    torch.manual_seed(0)
    X = torch.randn(1, 5, 96)
    with_sink = Attention(96, 4, replace(Pieces(), sink=True), None)
    without = Attention(96, 4, Pieces(), None)
    without.load_state_dict(
        {name: tensor for name, tensor in with_sink.state_dict().items() if name != "sink"}
    )
    with torch.no_grad():
        with_sink.sink.fill_(-1e9)
        torch.testing.assert_close(with_sink(X), without(X))
        with_sink.sink.fill_(1e9)
        torch.testing.assert_close(with_sink(X), with_sink.W_o.bias.expand(1, 5, 96))
