"""Two pieces that are younger than the rest, in chapter 10's GPT: QK-norm, and experts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ...transformer_block import FeedForward, RMSNorm
from ..gpt_and_bert.language_model import (
    CONTEXT,
    FIRST_SCALE,
    RATE,
    SIZES,
    STEPS,
    begin_small,
    fit,
    mean_loss,
)
from .ablation import the_corpus
from .pieces import Model, Pieces

N_EXPERTS, CHOSEN = 8, 2
NUDGE = 0.005
"""By how much a step of training moves an expert's handicap."""

GPT = "chapter 10's GPT"
QK_NORM, EXPERTS, FREE, DENSE = "QK-norm", "experts", "experts, router left alone", "all active"
NAMES = (QK_NORM, EXPERTS, DENSE, FREE)


class Normed(nn.Module):
    """A linear map to queries or keys, normed head by head. Source: Henry et al. (2020).

    As in models of today, the norm is an RMSNorm, whose scale all heads share.
    """

    def __init__(self, W: nn.Linear, n_heads: int) -> None:
        """W: the map, to n_heads times the features of a head."""
        super().__init__()
        self.W, self.n_heads = W, n_heads
        self.norm = RMSNorm(W.out_features // n_heads)

    def forward(self, X: Tensor) -> Tensor:
        """X: (..., d_model). Returns (..., n_heads · d_head)."""
        heads: Tensor = self.norm(self.W(X).unflatten(-1, (self.n_heads, -1)))
        return heads.flatten(-2)


class Experts(nn.Module):
    """Feed-forward networks, of which a router chooses a few for each token.

    Sources: Shazeer et al. (2017); the handicaps that even out the loads: Wang et al. (2024).
    """

    handicap: Tensor
    counts: Tensor
    """How often each network was chosen while nothing was learned."""

    def __init__(self, d_model: int, d_ff: int, n: int, chosen: int, nudge: float) -> None:
        """n networks of hidden width d_ff; each token passes `chosen` of them."""
        super().__init__()
        self.router = nn.Linear(d_model, n, bias=False)
        self.networks = nn.ModuleList(FeedForward(d_model, d_ff) for _ in range(n))
        self.chosen, self.nudge = chosen, nudge
        self.register_buffer("handicap", torch.zeros(n))
        self.register_buffer("counts", torch.zeros(n))

    def route(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return the chosen networks and their weights, which sum to 1: (tokens, chosen) each."""
        scores = self.router(X).softmax(dim=-1)  # (tokens, n)
        picked = (scores + self.handicap).topk(self.chosen, dim=-1).indices
        weights = scores.gather(-1, picked)
        return picked, weights / weights.sum(dim=-1, keepdim=True)

    def forward(self, X: Tensor) -> Tensor:
        """X: (..., d_model). Returns the same shape."""
        tokens = X.flatten(0, -2)
        picked, weights = self.route(tokens)
        counts = picked.flatten().bincount(minlength=len(self.networks)).float()
        if self.training:
            self.handicap += self.nudge * torch.sign(counts.mean() - counts)
        else:
            self.counts += counts
        found = torch.zeros_like(tokens)
        for at, network in enumerate(self.networks):
            rows, place = (picked == at).nonzero(as_tuple=True)
            found = found.index_add(0, rows, weights[rows, place, None] * network(tokens[rows]))
        return found.unflatten(0, X.shape[:-1])


@dataclass(frozen=True)
class Newer:
    """A model of one seed. loss: nats a token of the validation text after the last step.

    parameters: all; active: those that one token meets. loads: for each block with experts, the
    share of the validation text's choices that each network gets.
    """

    loss: float
    parameters: int
    active: int
    loads: list[list[float]] = field(default_factory=list)


def made(name: str, vocab_size: int) -> Model:
    """Return chapter 10's GPT, with one of the pieces in NAMES or as it is."""
    d, n_heads, d_ff = SIZES["d_model"], SIZES["n_heads"], SIZES["d_ff"]
    pieces = Pieces(d_ff=d_ff * N_EXPERTS // CHOSEN if name == DENSE else d_ff)
    model = Model(vocab_size, d, n_heads, SIZES["n_layers"], CONTEXT, pieces)
    begin_small(model.blocks)
    for block in model.blocks:
        some: Any = block
        if name == QK_NORM:
            some.attention.W_q = Normed(some.attention.W_q, n_heads)
            some.attention.W_k = Normed(some.attention.W_k, n_heads)
        if name in (EXPERTS, FREE):
            nudge = NUDGE if name == EXPERTS else 0.0
            some.feed_forward = Experts(d, d_ff // CHOSEN, N_EXPERTS, CHOSEN, nudge)
            begin_experts_small(some.feed_forward)
    return model


@torch.no_grad()
def begin_experts_small(experts: Experts) -> None:
    """Shrink the initial outputs of all networks, as `begin_small` does for a single one."""
    for network in experts.networks:
        *_, last = network.children()
        assert isinstance(last, nn.Linear)
        last.weight.mul_(FIRST_SCALE)
        last.bias.zero_()


def train(name: str, seed: int, steps: int = STEPS, rate: float = RATE) -> Newer:
    """Train one of NAMES, or GPT, on the same batches as the models of `ablation`."""
    text = the_corpus()
    torch.manual_seed(seed)
    model = made(name, len(text.tokens.pieces))
    torch.manual_seed(seed)  # the same batches for all models, however many weights they drew
    fit(model, text, steps, rate)
    parts = [part for part in model.modules() if isinstance(part, Experts)]
    for part in parts:
        part.counts.zero_()
    loss = mean_loss(model, text.validation)
    parameters = sum(one.numel() for one in model.parameters())
    idle = [network for part in parts for network in part.networks[part.chosen :]]
    active = parameters - sum(one.numel() for network in idle for one in network.parameters())
    loads = [(part.counts / part.counts.sum()).tolist() for part in parts]
    return Newer(loss, parameters, active, loads)
