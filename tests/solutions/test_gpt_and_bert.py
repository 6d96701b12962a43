"""Test chapter 10's halves of the Transformer, and the loss of a language model."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from solutions.gpt_and_bert import (
    GPT,
    causal_language_model_loss,
)
from solutions.published.bert import BERT
from solutions.transformer import DecoderStack


def test_gpt_is_the_decoder_of_chapter_9_without_a_source():
    """The blocks are equal once the cross-attention is silenced by `W_o` = 0."""
    torch.manual_seed(0)
    decoder, gpt = DecoderStack(7, 6, 2, 5, 2), GPT(7, 6, 2, 5, 2, max_len=5)
    for torch_model, course_model in zip(decoder.blocks, gpt.blocks, strict=True):
        torch.nn.init.zeros_(torch_model.cross_attention.W_o.weight)
        torch.nn.init.zeros_(torch_model.cross_attention.W_o.bias)
        course_model.attention.load_state_dict(torch_model.self_attention.state_dict())
        course_model.feed_forward.load_state_dict(torch_model.feed_forward.state_dict())
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    X = gpt.embedding(tokens) + gpt.positions.weight
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    Y = X
    for torch_model, course_model in zip(decoder.blocks, gpt.blocks, strict=True):
        X, Y = course_model(X, causal), torch_model(Y, torch.randn(1, 3, 6), causal)
    torch.testing.assert_close(X, Y)
    torch.testing.assert_close(gpt(tokens), gpt.norm(Y) @ gpt.embedding.weight.T)


def test_the_loss_is_the_negative_logarithm_of_the_product_of_all_answers():
    torch.manual_seed(0)
    gpt = GPT(7, 6, 2, 5, 1, max_len=9)
    tokens = torch.randint(7, (1, 9))
    logits = gpt(tokens)
    product = 1.0
    for n in range(1, 9):
        product *= gpt(tokens[:, :n])[0, -1].softmax(-1)[tokens[0, n]].item()
    loss = causal_language_model_loss(logits, tokens).item()
    assert loss == pytest.approx(-np.log(product) / 8, rel=1e-5)


def test_padding_changes_nothing_in_bert():
    torch.manual_seed(0)
    bert = BERT(11, 6, 2, 5, 2, max_len=8)
    tokens = torch.randint(11, (1, 4))
    padded = F.pad(tokens, (0, 3), value=2)
    mask = torch.arange(7) < 4
    torch.testing.assert_close(bert(padded, mask[None])[:, :4], bert(tokens))
    assert len(bert.layers(tokens)) == 3


def test_more_tokens_than_positions_are_refused_with_both_numbers():
    bert = BERT(11, 6, 2, 5, 1, max_len=4)
    with pytest.raises(ValueError, match=r"5 tokens.* 4 positions"):
        bert(torch.zeros(1, 5, dtype=torch.long))
