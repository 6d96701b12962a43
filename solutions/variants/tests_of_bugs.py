"""Tests that find bugs with which a model still trains; they can only call the implementation."""

from __future__ import annotations

from collections.abc import Callable

import torch


def test_multi_head(implementation: Callable[..., torch.Tensor]) -> None:
    """Test multi-head attention among the tokens of each sequence of a batch.

    It is called `implementation(X, W_q, W_k, W_v, W_o, n_heads)`. X: (batch, n, d), a token a row.
    W_q, W_k, W_v and W_o: (d, d), each multiplied from the right, as in X @ W_q. n_heads divides d:
    the first d / n_heads features of a query, a key and a value belong to the first head, and so
    on. Scores are dot products divided by the root of d / n_heads. It should return a tensor of
    shape (batch, n, d): what the heads found, side by side in their order, times W_o.
    Raises AssertionError if the implementation is wrong. What is right to four digits is right.
    """
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(2, 5, 6, generator=generator)
    W_q, W_k, W_v, W_o = torch.randn(4, 6, 6, generator=generator)
    right = torch.zeros(2, 5, 6)
    for head in (slice(0, 2), slice(2, 4), slice(4, 6)):
        Q, K, V = X @ W_q[:, head], X @ W_k[:, head], X @ W_v[:, head]
        weights = (Q @ K.transpose(1, 2) / 2**0.5).softmax(dim=-1)
        right += weights @ V @ W_o[head]
    assert torch.allclose(implementation(X, W_q, W_k, W_v, W_o, 3), right, rtol=1e-4, atol=1e-4)


def test_next_token_loss(implementation: Callable[..., torch.Tensor]) -> None:
    """Test the loss of a language model that reads a batch of padded sequences.

    It is called `implementation(logits, tokens, pad)`. logits: (batch, n, vocabulary); those at
    position i are about the token at position i + 1. tokens: (batch, n), whole numbers. pad: the
    token that fills up a sequence at its end, which the loss does not count; every sequence has two
    real tokens or more. It should return a tensor without axes: the mean cross-entropy of all real
    tokens but the first of each sequence, each counted once.
    Raises AssertionError if the implementation is wrong. What is right to four digits is right.
    """
    tokens = torch.tensor([[1, 2, 0, 1, 2], [0, 1, 3, 3, 3]])
    sure = torch.log(torch.tensor([[5.0, 1, 1, 1], [1, 2, 4, 1], [6, 1, 2, 1], [1, 2, 2, 5]]))
    logits = torch.stack((sure[[0, 1, 2, 3, 1]], sure[[1, 2, 3, 0, 2]]))
    shares = [1 / 8, 1 / 8, 1 / 10, 2 / 10, 2 / 8]  # of the targets 2, 0, 1, 2 and 1
    right = -torch.log(torch.tensor(shares)).mean()
    assert torch.allclose(implementation(logits, tokens, 3), right, rtol=1e-4)


def test_sees_no_future(implementation: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Test that a language model reads what came before, and nothing else.

    It is called `implementation(tokens)`. tokens: (batch, n), whole numbers from 0 to 9, n up to
    12. It should return logits of shape (batch, n, 10). Those at position i should depend on the
    tokens of their own sequence up to and with position i, and on each of these; not on what comes
    after, and not on the other sequences. Its weights are its own: you know none of the logits.
    Raises AssertionError if the implementation is wrong. It may differ in the fifth digit.
    """
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(10, (2, 12), generator=generator)
    before = implementation(tokens)
    for position in range(12):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        moved = (implementation(changed) - before).abs().amax(dim=-1)  # (2, 12)
        assert (moved[0, :position] < 1e-4).all()
        assert (moved[1] < 1e-4).all()
        assert (moved[0, position:] > 1e-4).all()


def test_padding(implementation: Callable[..., torch.Tensor]) -> None:
    """Test that an encoder reads each sequence of a padded batch as it would read it alone.

    It is called `implementation(X, lengths, n_heads)`. X: (batch, n, d), a token a row. lengths:
    (batch,), whole numbers from 1 to n: so many tokens of each sequence are real, and come first;
    behind them stand any numbers, up to a thousand in size. n_heads: 1 or more; it divides d. It
    should return a tensor of shape (batch, n, d). In each real token's row stands what the encoder
    makes of its sequence: that depends on every real token of it, and on nothing else. The least
    influence: with at most 8 tokens of at most 8 features, from -2 to 2, a real token whose
    features all grow by 1 moves some number in each real row of its sequence by 0.0005 or more.
    What stands in the rows of the padding does not matter. The encoder is unknown, and has two
    layers.
    Raises AssertionError if the implementation is wrong. It may differ in the fifth digit.
    """
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([2, 5, 3])
    together = implementation(X, lengths, 2)
    for at, length in enumerate(lengths.tolist()):
        alone = implementation(X[at : at + 1, :length], lengths[at : at + 1], 2)[0]
        assert torch.allclose(together[at, :length], alone, atol=1e-4)
        for token in range(length):
            other = X[at : at + 1, :length].clone()
            other[0, token] += 1
            moved = (implementation(other, lengths[at : at + 1], 2)[0] - alone).abs().amax(dim=-1)
            assert (moved > 1e-4).all()


def test_norm_first(implementation: Callable[..., torch.Tensor]) -> None:
    """Test a feed-forward sublayer with the norm before it, and the residual around both.

    It is called `implementation(X, W_1, W_2)`. X: (batch, n, d), a token a row, d at least 2.
    W_1: (d, d_ff). W_2: (d_ff, d). Each token is normalised on its own: its mean is taken off, and
    it is divided by the root of the mean of its squared deviations. That goes through W_1, a ReLU
    and W_2, and what comes out is added to the token as it was. It should return the sums, in the
    shape of X. There is no scale, no shift, no bias. A small epsilon under the root is no mistake:
    the tokens that you give it should differ from their mean by one or so.
    Raises AssertionError if the implementation is wrong. What is right to three digits is right.
    """
    X = torch.tensor([[[1.0, 5.0], [4.0, 2.0]], [[9.0, 3.0], [-2.0, 0.0]]])
    W_1, W_2 = torch.tensor([[1.0, 0.0, -2.0], [0.0, 3.0, 1.0]]), torch.eye(3)[:, :2] * 7
    update = torch.tensor([[[0.0, 21.0], [7.0, 0.0]], [[7.0, 0.0], [0.0, 21.0]]])
    # normalised, the tokens are (-1, 1) and (1, -1)
    assert torch.allclose(implementation(X, W_1, W_2), X + update, rtol=1e-3)
