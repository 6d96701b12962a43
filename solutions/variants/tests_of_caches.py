"""A test of attention with a cache; it can only call the implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def test_cache(implementation: Callable[..., tuple[torch.Tensor, Any]]) -> None:
    """Test causal self-attention that reads a text in parts, and keeps what the next part needs.

    It is called `implementation(X, cache)`. X: (batch, m, 4), the next m tokens of each text of a
    batch, m at least 1. cache: None at the beginning of the texts, and after that what the last
    call returned with the output. What a cache is made of is not known; it is to be handed back as
    it is, and as often as one likes. It should return the tuple (output, cache). The output is a
    tensor (batch, m, 4). A token's row depends on the tokens of its own text up to and with itself,
    on each of them and on their order; not on what comes after, not on the other texts, and not on
    the parts in which the text was read. Its weights are its own. The least influence: in a text of
    at most 8 tokens, with numbers from -2 to 2 before and after, a token whose features all grow by
    1 moves some number of its own row and of each later one by 0.0005 or more.
    Raises AssertionError if the implementation is wrong. It may differ in the fifth digit.
    """
    X = torch.randn(3, 7, 4, generator=torch.Generator().manual_seed(0)).clamp(-2, 1)
    whole, _ = implementation(X, None)
    for parts in ((1, 1, 1, 1, 1, 1, 1), (2, 3, 2), (3, 1, 2, 1)):
        cache, begin = None, 0
        for m in parts:
            output, cache = implementation(X[:, begin : begin + m], cache)
            assert torch.allclose(output, whole[:, begin : begin + m], atol=1e-4)
            begin += m
    _, cache = implementation(X[:, :3], None)
    implementation(X[:, 5:], cache)
    again, _ = implementation(X[:, 3:], cache)
    assert torch.allclose(again, whole[:, 3:], atol=1e-4)
    for text in range(3):
        alone, _ = implementation(X[text : text + 1], None)
        assert torch.allclose(alone[0], whole[text], atol=1e-4)
    for token in range(7):
        other = X.clone()
        other[0, token] += 1
        moved = (implementation(other, None)[0][0] - whole[0]).abs().amax(dim=-1)  # (7,)
        assert (moved[token:] > 2e-4).all()
