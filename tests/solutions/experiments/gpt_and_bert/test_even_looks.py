"""Test even looks, and the measures of where heads look."""

import pytest
import torch

from solutions.experiments.gpt_and_bert.even_looks import (
    EvenLook,
    NoLook,
    even_on_the_token_before,
    instead,
    looks_back,
    losses,
    other_tokens,
)
from solutions.experiments.gpt_and_bert.keeping import as_bytes, from_bytes, readings
from solutions.experiments.gpt_and_bert.language_model import CONTEXT, SIZES, mean_loss
from solutions.experiments.gpt_and_bert.tokens import Tokens
from solutions.gpt_and_bert import GPT

VOCABULARY = 257
TEXT = torch.randint(VOCABULARY, (3 * CONTEXT,), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def model():
    torch.manual_seed(0)
    one = GPT(VOCABULARY, max_len=CONTEXT, **SIZES)
    for parameter in one.blocks.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.3)
    return one.eval().requires_grad_(False)


def test_an_even_look_is_attention_with_equal_scores(model):
    attention = model.blocks[0].attention
    X = torch.randn(2, 9, SIZES["d_model"])
    causal = torch.ones(9, 9, dtype=torch.bool).tril()
    assert not torch.allclose(EvenLook(attention)(X), attention(X, mask=causal), atol=1e-3)
    torch.nn.init.zeros_(attention.W_q.weight)
    torch.nn.init.zeros_(attention.W_q.bias)
    torch.testing.assert_close(EvenLook(attention)(X), attention(X, mask=causal))


def test_no_look_is_attention_to_nothing(model):
    attention = model.blocks[0].attention
    X = torch.randn(2, 9, SIZES["d_model"])
    nothing = torch.zeros(9, 9, dtype=torch.bool)
    torch.testing.assert_close(NoLook(attention)(X), attention(X, mask=nothing))


def test_the_model_gets_its_own_look_back(model):
    before = model(TEXT[None, :CONTEXT])
    with instead(EvenLook, model, 1):
        assert not torch.equal(model(TEXT[None, :CONTEXT]), before)
    assert torch.equal(model(TEXT[None, :CONTEXT]), before)


def test_equal_scores_look_evenly_and_cost_nothing(model):
    for layer in model.blocks:
        torch.nn.init.zeros_(layer.attention.W_q.weight)
        torch.nn.init.zeros_(layer.attention.W_q.bias)
    back, before = looks_back(model, TEXT)
    assert back.shape == before.shape == (2, 4)
    torch.testing.assert_close(back, torch.full((2, 4), (CONTEXT - 1) / 4))
    torch.testing.assert_close(before, torch.full((2, 4), even_on_the_token_before()))
    assert losses(model, EvenLook, TEXT) == pytest.approx(2 * [mean_loss(model, TEXT)], abs=1e-4)
    assert other_tokens(model, TEXT) == [0, 0]


def test_another_look_changes_the_loss_and_some_tokens(model):
    own = mean_loss(model, TEXT)
    assert all(abs(one - own) > 1e-4 for one in losses(model, NoLook, TEXT))
    assert all(0 < one <= 1 for one in other_tokens(model, TEXT))


def test_a_kept_model_reads_as_before(model):
    tokens = Tokens([("t", "h")])
    kept, kept_tokens = from_bytes(as_bytes(model.state_dict(), tokens))
    assert kept_tokens.merges == tokens.merges
    torch.testing.assert_close(kept(TEXT[None, :9]), model(TEXT[None, :9]), atol=0.1, rtol=0)
    data = readings(model, tokens, ["the"])
    assert data["heads"] == SIZES["n_heads"]
    assert data["names"][256] == "th"
    (one,) = data["beginnings"]
    assert one["ids"] == [256, ord("e")]
    assert [[len(row) for row in look] for look in one["looks"]] == 8 * [[1, 2]]
    assert all(sum(row) == pytest.approx(1, abs=2e-3) for look in one["looks"] for row in look)
