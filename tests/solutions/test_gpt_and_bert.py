"""Test chapter 10's reference: halves of the Transformer, and the handling of tokens."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from solutions.gpt_and_bert import (
    GPT,
    byte_pair_merges,
    causal_language_model_loss,
    mask_tokens,
    sample_next,
)
from solutions.published.bert import BERT
from solutions.transformer import DecoderStack
from solutions.variants.byte_pairs import bpe_encode


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


def test_a_sample_has_the_frequencies_of_the_distribution():
    probabilities = np.array([0.1, 0.5, 0.4])
    rows = np.tile(np.log(probabilities), (20_000, 1))
    drawn = sample_next(rows, 1.0, None, None, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn) / len(rows), probabilities, atol=0.015)
    flatter = sample_next(rows, 2.0, None, None, np.random.default_rng(0))
    shares = np.sqrt(probabilities) / np.sqrt(probabilities).sum()
    np.testing.assert_allclose(np.bincount(flatter) / len(rows), shares, atol=0.015)


def test_masking_follows_the_stated_proportions():
    tokens = np.full((100, 200), 3)
    inputs, targets = mask_tokens(tokens, 50, 49, 0.15, np.random.default_rng(0))
    chosen = targets != -100
    assert chosen.mean() == pytest.approx(0.15, abs=0.01)
    assert (inputs[chosen] == 49).mean() == pytest.approx(0.8 + 0.1 / 50, abs=0.02)
    assert (inputs[chosen] == 3).mean() == pytest.approx(0.1 + 0.1 / 50, abs=0.02)
    assert (inputs[~chosen] == 3).all()


def test_a_training_word_is_split_as_in_training():
    rng = np.random.default_rng(0)
    words = {"".join(rng.choice(list("abcd"), size=8)): int(rng.integers(1, 9)) for _ in range(40)}
    merges = byte_pair_merges(words, 30)
    split = {word: list(word) for word in words}
    for pair in merges:
        for word, tokens in split.items():
            text = "\0".join(["", *tokens, ""])
            joined = text.replace("\0" + "\0".join(pair) + "\0", "\0" + "".join(pair) + "\0")
            joined = joined.replace("\0" + "\0".join(pair) + "\0", "\0" + "".join(pair) + "\0")
            split[word] = joined.strip("\0").split("\0")
    assert {word: bpe_encode(word, merges) for word in words} == split


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
