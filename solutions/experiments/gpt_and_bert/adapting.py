"""Adapt the published encoder to a labelled task: LoRA, or training every weight.

Source: Hu et al. (2022), "LoRA: low-rank adaptation of large language models", section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...gpt_and_bert import mean_pool
from ...published.bert import BERT
from ...variants.filling_gaps import merge_lora

BATCH, AT_ONCE = 16, 64
WARM_UP = 0.1
"""The share of the steps over which the rate rises. It then falls to 0 in a straight line."""
CLIP = 1.0
ADAPTED = ("W_q", "W_v")
"""The matrices of each attention that get an addition, as in the paper."""


class LowRank(nn.Module):
    """A frozen linear layer, and an addition of low rank that is trained.

    `B` begins at 0, so the layer begins as it was.
    """

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        """layer: what is to be adapted, from d_in to d_out. rank: at least 1."""
        super().__init__()
        d_out, d_in = layer.weight.shape
        self.layer = layer.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.B = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, X: Tensor) -> Tensor:
        """X: (..., d_in). Returns (..., d_out)."""
        addition: Tensor = X @ self.A.T @ self.B.T
        return addition + self.layer(X)


class Classifier(nn.Module):
    """The upper blocks of an encoder, and a linear layer on the mean of its tokens.

    The mean is scaled to length 1. What the lower blocks give is the input: they stay as they are,
    so that it is computed once.
    """

    def __init__(self, blocks: nn.ModuleList, weight: Tensor, bias: float) -> None:
        """weight: (d_model,), and bias: where the linear layer begins."""
        super().__init__()
        self.blocks = blocks
        self.weight = nn.Parameter(weight.clone())
        self.bias = nn.Parameter(torch.tensor(bias))

    def forward(self, X: Tensor, mask: Tensor) -> Tensor:
        """X: (batch, n, d_model). mask: (batch, n). Returns the logits of class 1: (batch,)."""
        return pooled(self.blocks, X, mask) @ self.weight + self.bias


def pooled(blocks: nn.ModuleList, X: Tensor, mask: Tensor) -> Tensor:
    """X: (batch, n, d_model). Returns vectors of length 1, after the blocks: (batch, d_model)."""
    for block in blocks:
        X = block(X, mask[:, None, :])
    return F.normalize(mean_pool(X, mask), dim=-1)


def add_lora(blocks: nn.ModuleList, rank: int) -> None:
    """Freeze the blocks, and give the adapted matrices of each an addition."""
    blocks.requires_grad_(False)
    for block in blocks:
        for name in ADAPTED:
            setattr(block.attention, name, LowRank(getattr(block.attention, name), rank))


def merged(blocks: nn.ModuleList) -> dict[str, Tensor]:
    """Return the weights of plain blocks that compute what these do with their additions."""
    own = {name: one.detach().numpy() for name, one in blocks.state_dict().items()}
    adapters = {
        f"{name}.weight": (module.A.detach().numpy(), module.B.detach().numpy())
        for name, module in blocks.named_modules()
        if isinstance(module, LowRank)
    }
    plain = {
        name.replace(".layer.", "."): one
        for name, one in own.items()
        if not name.endswith((".A", ".B"))
    }
    alpha = float(next((len(A) for A, _ in adapters.values()), 1))  # then alpha / r is 1
    return {name: torch.from_numpy(one) for name, one in merge_lora(plain, adapters, alpha).items()}


def trained_parameters(model: nn.Module) -> int:
    """Return the number of parameters that training changes."""
    return sum(one.numel() for one in model.parameters() if one.requires_grad)


@dataclass(frozen=True)
class Examples:
    """The states (n, d_model) of each sentence below the adapted blocks, and its class, 0 or 1."""

    states: Sequence[np.ndarray]
    labels: np.ndarray

    def batch(self, places: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the states (batch, n, d_model), the mask and the labels of some sentences."""
        some = [torch.from_numpy(self.states[place]) for place in places]
        X = nn.utils.rnn.pad_sequence(some, batch_first=True)
        mask = torch.arange(X.shape[1]) < torch.tensor([len(one) for one in some])[:, None]
        return X, mask, torch.tensor(self.labels[list(places)], dtype=torch.float32)

    def in_order(self) -> Iterator[list[int]]:
        """Yield the places of all sentences; those of similar length share a batch."""
        order = sorted(range(len(self.states)), key=lambda place: len(self.states[place]))
        yield from (order[begin : begin + AT_ONCE] for begin in range(0, len(order), AT_ONCE))


def fine_tune(model: Classifier, examples: Examples, rate: float, epochs: int, seed: int) -> None:
    """Train what is not frozen with Adam; the rate rises, then falls to 0."""
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=rate)
    generator = np.random.default_rng(seed)
    batches = [one for _ in range(epochs) for one in _batches(examples, generator)]
    warm = max(1, round(WARM_UP * len(batches)))
    for step, places in enumerate(batches):
        share = min((step + 1) / warm, (len(batches) - step) / max(1, len(batches) - warm))
        for group in optimizer.param_groups:
            group["lr"] = rate * share
        X, mask, labels = examples.batch(places)
        loss = F.binary_cross_entropy_with_logits(model(X, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()


def _batches(examples: Examples, generator: np.random.Generator) -> Iterator[list[int]]:
    """Yield all sentences once; those of similar length share a batch, in a random order."""
    order = generator.permutation(len(examples.states))
    order = order[np.argsort([len(examples.states[place]) for place in order], kind="stable")]
    for begin in generator.permutation(range(0, len(order), BATCH)):
        yield order[begin : begin + BATCH].tolist()


@torch.no_grad()
def logits(model: Classifier, examples: Examples) -> np.ndarray:
    """Return the logit of every sentence."""
    found = np.zeros(len(examples.states))
    for places in examples.in_order():
        X, mask, _ = examples.batch(places)
        found[places] = model(X, mask).numpy()
    return found


@torch.no_grad()
def vectors(blocks: nn.ModuleList, examples: Examples) -> np.ndarray:
    """Return the vector of every sentence as `Classifier` computes it: (sentences, d_model)."""
    found: dict[int, Tensor] = {}
    for places in examples.in_order():
        X, mask, _ = examples.batch(places)
        found.update(zip(places, pooled(blocks, X, mask), strict=True))
    return torch.stack([found[place] for place in sorted(found)]).numpy()


@torch.no_grad()
def states(encoder: BERT, rows: Sequence[Sequence[int]], below: int) -> list[np.ndarray]:
    """Return the states of each sentence, a list of ids, after the lowest `below` blocks."""
    found: dict[int, np.ndarray] = {}
    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    for begin in range(0, len(order), AT_ONCE):
        places = order[begin : begin + AT_ONCE]
        n = max(len(rows[place]) for place in places)
        ids = torch.tensor([[*rows[place], *[0] * (n - len(rows[place]))] for place in places])
        mask = torch.arange(n) < torch.tensor([len(rows[place]) for place in places])[:, None]
        X = encoder.norm(
            encoder.embedding(ids) + encoder.segments.weight[0] + encoder.positions.weight[:n]
        )
        for block in encoder.blocks[:below]:
            X = block(X, mask[:, None, :])
        for place, one in zip(places, X.numpy(), strict=True):
            found[place] = one[: len(rows[place])].copy()
    return [found[place] for place in range(len(rows))]
