"""The loops of the recurrent decoders, with their backward passes written out.

Automatic differentiation records dozens of small operations for each step, and adds to the
gradients of the parameters and of the source at every step. Here a backward step is a handful of
operations, and the parameters' gradients are computed by one multiplication at the end. The results
are those of `torch.nn.GRU`, except for rounding.

The cell is that of Cho et al. (2014) in the form of `torch.nn.GRU`: gates r and z, and a candidate
n = tanh(told + r * heard). `told` is the input's part of a step, with the input's bias; `heard` is
the part of the previous state. The parts for r, z and n are side by side, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor


def gru(told: Tensor, start: Tensor, W_state: Tensor, bias: Tensor) -> Tensor:
    """Run a GRU over m steps.

    told: (m, B, 3 d_h). start: (B, d_h), the state before the first step. W_state: (3 d_h, d_h) and
    bias: (3 d_h,), of the state's part. Returns all states, (m, B, d_h).
    """
    states: Tensor = _Gru.apply(told, start, W_state, bias)  # type: ignore[no-untyped-call]
    return states


def look_and_move(
    told: Tensor, start: Tensor, source: tuple[Tensor, Tensor, Tensor], *weights: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Run chapter 2's decoder for m steps: each looks at all source tokens, then moves the state.

    told: (m, B, 3 d_h), the part of the previous words in the cell's input, with the bias. start:
    (B, d_h). source: the encoder's side of the scores (B, n, d_h), its states (B, n, d_c), and the
    mask (B, n) boolean, True for a token. weights: of the state in the scores (d_h, d_h); `v`
    (d_h,); of the context in the cell (3 d_h, d_c); of the state in the cell (3 d_h, d_h), and its
    bias (3 d_h,). Returns states (m, B, d_h), contexts (m, B, d_c) and the weights of the looks (m,
    B, n), which have no gradient.
    """
    found: tuple[Tensor, Tensor, Tensor] = _LookAndMove.apply(  # type: ignore[no-untyped-call]
        told, start, *source, *weights
    )
    return found


class _Gru(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, told: Tensor, start: Tensor, W_state: Tensor, bias: Tensor) -> Tensor:
        cell, h, turned = _Cell(), start, W_state.T.contiguous()
        for one in told.unbind():  # (B, 3 d_h)
            h = cell.step(one, torch.addmm(bias, h, turned), h)
        states, *parts = cell.parts()
        ctx.save_for_backward(start, W_state, states, *parts)
        return states

    @staticmethod
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, ...]:
        start, W_state, states, *parts = ctx.saved_tensors
        before = torch.cat([start[None], states[:-1]])  # (m, B, d_h)
        d, found = torch.zeros_like(start), []
        factors = _factors(before, *parts)
        for d_state, kept, told, heard in _backwards(d_states, *factors):
            d = d + d_state
            d_told, d_heard = ((d[:, None] * one).flatten(1) for one in (told, heard))
            found.append((d_told, d_heard))
            d = torch.addmm(d * kept, d_heard, W_state)
        d_told, d_heard = _in_order(found)
        d_weight = d_heard.flatten(0, 1).T @ before.flatten(0, 1)
        return d_told, d, d_weight, d_heard.sum(dim=(0, 1))


class _LookAndMove(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        told: Tensor,
        start: Tensor,
        source_side: Tensor,
        memory: Tensor,
        mask: Tensor,
        W_asks: Tensor,
        v: Tensor,
        W_context: Tensor,
        W_state: Tensor,
        bias: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        cell, looks, s = _Cell(), [], start
        hidden = torch.zeros_like(mask, dtype=memory.dtype).masked_fill_(~mask, -torch.inf)
        asks, hears, sees = (one.T.contiguous() for one in (W_asks, W_state, W_context))
        for one in told.unbind():
            bent = ((s @ asks)[:, None] + source_side).tanh_()  # (B, n, d_h)
            weights = (bent @ v + hidden).softmax(dim=-1)  # (B, n)
            context = (weights[:, None] @ memory)[:, 0]  # (B, d_c)
            looks.append((bent, weights, context))
            s = cell.step(torch.addmm(one, context, sees), torch.addmm(bias, s, hears), s)
        states, *parts = cell.parts()
        ctx.bent = [bent for bent, _, _ in looks]
        weights, contexts = (torch.stack(part) for part in list(zip(*looks, strict=True))[1:])
        ctx.save_for_backward(
            start, memory, W_asks, v, W_context, W_state, states, weights, contexts, *parts
        )
        ctx.mark_non_differentiable(weights)
        return states, contexts, weights

    @staticmethod
    def backward(ctx: Any, d_states: Tensor, d_contexts: Tensor, _: Tensor) -> Any:
        start, memory, W_asks, v, W_context, W_state, states, weights, contexts, *parts = (
            ctx.saved_tensors
        )
        before = torch.cat([start[None], states[:-1]])  # (m, B, d_h)
        d, found = torch.zeros_like(start), []
        d_side, d_v = torch.zeros_like(ctx.bent[0]), torch.zeros_like(v)
        for bent, d_context, looked, d_state, kept, told, heard in zip(
            ctx.bent[::-1],
            *_reversed(d_contexts, weights, d_states, *_factors(before, *parts)),
            strict=True,
        ):
            d = d + d_state
            d_told, d_heard = ((d[:, None] * one).flatten(1) for one in (told, heard))
            d_context = torch.addmm(d_context, d_told, W_context)  # (B, d_c)
            d_weights = (memory @ d_context[..., None])[..., 0]  # (B, n)
            d_scores = looked * (d_weights - (looked * d_weights).sum(dim=-1, keepdim=True))
            d_v += d_scores.flatten() @ bent.flatten(0, 1)
            d_bent = torch.addcmul(v, bent, bent * v, value=-1).mul_(d_scores[..., None])
            d_side += d_bent  # (B, n, d_h)
            d_asks = d_bent.sum(dim=1)
            found.append((d_told, d_heard, d_context, d_asks))
            d = torch.addmm(torch.addmm(d * kept, d_heard, W_state), d_asks, W_asks)
        d_told, d_heard, d_context, d_asks = _in_order(found)
        rows = before.flatten(0, 1)  # (m B, d_h)
        return (
            d_told,
            d,
            d_side,
            weights.permute(1, 2, 0) @ d_context.transpose(0, 1),
            None,
            d_asks.flatten(0, 1).T @ rows,
            d_v,
            d_told.flatten(0, 1).T @ contexts.flatten(0, 1),
            d_heard.flatten(0, 1).T @ rows,
            d_heard.sum(dim=(0, 1)),
        )


class _Cell:
    """Takes the steps of a GRU, and keeps the values that the backward pass needs."""

    def __init__(self) -> None:
        self.kept: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def step(self, told: Tensor, heard: Tensor, h: Tensor) -> Tensor:
        """Return the next state. told, heard: (B, 3 d_h); h: (B, d_h)."""
        width = h.shape[-1]
        gates = (told[:, : 2 * width] + heard[:, : 2 * width]).sigmoid_()  # r and z
        inner = heard[:, 2 * width :]
        n = torch.addcmul(told[:, 2 * width :], gates[:, :width], inner).tanh_()
        h = torch.lerp(n, h, gates[:, width:])
        self.kept.append((h, gates, inner, n))
        return h

    def parts(self) -> list[Tensor]:
        """Return all states, gates, candidates' inner sides, and candidates; (m, B, width) each."""
        return [torch.stack(part) for part in zip(*self.kept, strict=True)]


def _factors(before: Tensor, gates: Tensor, inner: Tensor, n: Tensor) -> tuple[Tensor, ...]:
    """Return z, and the factors from a state's gradient to those of its cell's inputs.

    before: (m, B, d_h), the state before each step. The factors for `told` and for `heard` are (m,
    B, 3, d_h) each, in the order r, z, n.
    """
    r, z = gates.chunk(2, dim=-1)
    to_n = (1 - z) * (1 - n * n)
    to_r = to_n * inner * r * (1 - r)
    to_z = (before - n) * z * (1 - z)
    return z, torch.stack([to_r, to_z, to_n], dim=-2), torch.stack([to_r, to_z, to_n * r], dim=-2)


def _reversed(*parts: Tensor) -> list[tuple[Tensor, ...]]:
    """Split each of `parts` along its first axis, in reverse order."""
    return [part.unbind()[::-1] for part in parts]


def _backwards(*parts: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Iterate over the first axis of all `parts` together, in reverse order."""
    return zip(*_reversed(*parts), strict=True)


def _in_order(found: Sequence[tuple[Tensor, ...]]) -> list[Tensor]:
    """Stack the results of the steps, given in reverse order; each has shape (m, ...)."""
    return [torch.stack(part[::-1]) for part in zip(*found, strict=True)]
