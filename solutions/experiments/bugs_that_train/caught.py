"""Find out which of the chapter's five tests detect which of its ten bugs.

Each test is given a part of a model, built from the correct parts or from parts with a bug.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ...bugs_that_train import BUGS, RIGHT, Decoder, Parts
from ...variants import tests_of_bugs

FIRST = 3
"""The first ids are not letters."""


def heads(parts: Parts) -> Callable[..., torch.Tensor]:
    """Return the attention layer, for `test_multi_head`."""

    @torch.no_grad()
    def implementation(X: torch.Tensor, *given: Any) -> torch.Tensor:
        *matrices, n_heads = given
        layer = parts.attention(X.shape[-1], n_heads).to(X.dtype)
        for linear, W in zip((layer.W_q, layer.W_k, layer.W_v, layer.W_o), matrices, strict=True):
            linear.bias.zero_()
            linear.weight.copy_(W.T[: linear.out_features, : linear.in_features])
        everything = torch.ones(len(X), X.shape[1], X.shape[1], dtype=torch.bool)
        output: torch.Tensor = layer(X, everything)
        return output

    return implementation


def encoder(parts: Parts) -> Callable[..., torch.Tensor]:
    """Return two attention layers over a padded batch, for `test_padding`."""

    @torch.no_grad()
    def implementation(X: torch.Tensor, lengths: torch.Tensor, n_heads: int) -> torch.Tensor:
        torch.manual_seed(0)
        batch, n, d = X.shape
        real = (torch.arange(n) < lengths[:, None])[:, None].expand(batch, n, n)
        later = real if parts.later_mask is None else torch.ones_like(real)
        for mask in (real, later):
            X = X + parts.attention(d, n_heads).to(X.dtype)(X, mask)
        return X

    return implementation


def language_model(parts: Parts) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a whole model, for `test_sees_no_future`."""

    @torch.no_grad()
    def implementation(tokens: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)
        model = Decoder(parts, 10 + FIRST, 16, 4, 2, 12)
        logits: torch.Tensor = model(tokens + FIRST)[..., FIRST:]
        return logits

    return implementation


def sublayer(parts: Parts) -> Callable[..., torch.Tensor]:
    """Return a block whose attention adds 0, for `test_norm_first`."""

    @torch.no_grad()
    def implementation(X: torch.Tensor, W_1: torch.Tensor, W_2: torch.Tensor) -> torch.Tensor:
        batch, n, d = X.shape
        block = parts.block(parts, d, 1)
        block.W_1 = nn.Linear(d, W_1.shape[1], bias=False)
        block.W_2 = nn.Linear(W_1.shape[1], d, bias=False)
        block.W_1.weight.copy_(W_1.T)
        block.W_2.weight.copy_(W_2.T)
        for one in block.attention.W_o.parameters():
            one.zero_()
        output: torch.Tensor = block.to(X.dtype)(X, torch.ones(batch, n, n, dtype=torch.bool))
        return output

    return implementation


def loss(parts: Parts) -> Callable[..., torch.Tensor]:
    """Return the loss with the model's pairs of logits and targets, for `test_next_token_loss`."""

    def implementation(logits: torch.Tensor, tokens: torch.Tensor, pad: int) -> torch.Tensor:
        which, by = parts.scored(tokens)
        said, targets = logits[:, which].flatten(0, 1), tokens[:, by].flatten()
        return F.cross_entropy(said, targets, ignore_index=pad)

    return implementation


TESTS: dict[str, tuple[Callable[[Any], None], Callable[[Parts], Any]]] = {
    "multi_head": (tests_of_bugs.test_multi_head, heads),
    "padding": (tests_of_bugs.test_padding, encoder),
    "sees_no_future": (tests_of_bugs.test_sees_no_future, language_model),
    "norm_first": (tests_of_bugs.test_norm_first, sublayer),
    "next_token_loss": (tests_of_bugs.test_next_token_loss, loss),
}
"""Each test, and the function that makes its implementation from a model's parts."""


def rejects(name: str, parts: Parts) -> bool:
    """Return whether the test `name` rejects a model with these parts."""
    test, made = TESTS[name]
    try:
        test(made(parts))
    except AssertionError:
        return True
    return False


def found() -> dict[str, list[str]]:
    """Return the tests that reject each bug; "right" has those that reject the correct model."""
    models = {"right": RIGHT, **BUGS}
    return {bug: [name for name in TESTS if rejects(name, parts)] for bug, parts in models.items()}
