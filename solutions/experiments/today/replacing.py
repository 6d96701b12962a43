"""Replace one thing inside SmolLM2 while it reads, and leave the rest: a value, a turn, a head."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from ...published import looking_inside
from ...published.looking_inside import N_HEADS, N_KV_HEADS, Head, Unseen, look
from ...published.smollm2 import SmolLM2
from ...today import Cache


@contextmanager
def without_value(position: int, begin: int) -> Iterator[None]:
    """Let tokens from `begin` on get 0 for the value of the one at `position`, with all weights.

    The token itself and those before `begin` compute what they always do.
    """

    def change(found: Tensor, weights: Tensor, values: Tensor) -> None:
        found[..., begin:, :] -= weights[..., begin:, position, None] * values[..., [position], :]

    with _changed(change):
        yield


@contextmanager
def alone(position: int) -> Iterator[None]:
    """Let the token at `position` see itself and no other, in every block."""

    def change(found: Tensor, weights: Tensor, values: Tensor) -> None:
        weights[..., position, :] = 0
        weights[..., position, position] = 1
        found[..., position, :] = values[..., position, :]

    with _changed(change):
        yield


@contextmanager
def _changed(change: Callable[[Tensor, Tensor, Tensor], None]) -> Iterator[None]:
    """Let `change` change, in each block that `look` reads with, what its heads found.

    It is given that, (batch, 9, n, 64), the weights, (batch, 9, n, n), and each head's values.
    """
    attend = looking_inside.attend

    def changed(attention: Any, X: Tensor, unseen: Unseen | None) -> tuple[Tensor, Tensor, Cache]:
        found, weights, (keys, values) = attend(attention, X, unseen)
        change(found, weights, values.repeat_interleave(N_HEADS // N_KV_HEADS, dim=-3))
        return found, weights, (keys, values)

    with patch.object(looking_inside, "attend", changed):
        yield


@contextmanager
def not_turned(published: SmolLM2) -> Iterator[None]:
    """Let `look` turn no query and no key, so that scores know nothing of positions."""
    with patch.object(looking_inside, "turned", lambda X, start, base: X):
        yield


def mean_findings(published: SmolLM2, ids: Tensor) -> Tensor:
    """Return what each head finds on average over the tokens of texts (batch, n): (30, 9, 64)."""
    found: list[Tensor] = []

    def record(_: object, given: tuple[Tensor, ...]) -> None:
        found.append(given[0].mean(dim=(0, 1)).unflatten(-1, (N_HEADS, -1)))

    with _before_mixing(published, [record] * len(published.model.blocks)):  # type: ignore[arg-type]
        look(published, ids)
    return torch.stack(found)


@contextmanager
def at_their_means(published: SmolLM2, heads: Collection[Head], means: Tensor) -> Iterator[None]:
    """Let `heads` find the same everywhere: means (30, 9, 64), as of `mean_findings`."""

    def replacing(block: int) -> Callable[..., tuple[Tensor, ...]]:
        chosen = [head for one, head in heads if one == block]

        def replace(_: object, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            found = given[0].unflatten(-1, (N_HEADS, -1)).clone()
            found[..., chosen, :] = means[block, chosen]
            return (found.flatten(-2),)

        return replace

    with _before_mixing(published, [replacing(one) for one in range(len(means))]):
        yield


@contextmanager
def _before_mixing(published: SmolLM2, hooks: list[Callable[..., Any]]) -> Iterator[None]:
    """Call a hook a block on what its heads found, (batch, n, 9 · 64), before W_o mixes it."""
    blocks: Any = published.model.blocks
    pairs = zip(blocks, hooks, strict=True)
    with _removed([block.attention.W_o.register_forward_pre_hook(one) for block, one in pairs]):
        yield


@contextmanager
def _removed(hooks: Collection[Any]) -> Iterator[None]:
    """Remove the hooks at the end."""
    with ExitStack() as stack:
        for hook in hooks:
            stack.callback(hook.remove)
        yield
