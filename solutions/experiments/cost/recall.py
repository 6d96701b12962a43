"""Recall from a list of pairs, with a softmax over the keys and with sums of features.

A sequence has pairs of a key and a value, with distinct keys, and then questions: every key once
more, in another order. The answer to a question is the value that was paired with its key. Recall
of many pairs at once as a test of models without a softmax comes from Arora et al. (2024),
"Zoology: measuring and improving recall in efficient language models".
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from solutions.cost import linear_attention

KEYS, VALUES = 128, 16
"""The numbers of different keys and values; the chance level is 1 / VALUES."""

D_MODEL = 64
PAIRS = (4, 16, 64)
STEPS, BATCH, TEST = 200, 32, 256
RATES = (0.01, 0.03, 0.1)
LAYERS = {
    "softmax, 16": ("softmax", 16),
    "linear, 16": ("linear", 16),
    "linear, 64": ("linear", 64),
}
"""Name -> the kind of attention, and the width of queries and keys."""


def sample(batch: int, pairs: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw keys, values, and the order of the questions, (batch, pairs) each."""
    keys = torch.rand(batch, KEYS, generator=generator).argsort(dim=1)[:, :pairs]
    values = torch.randint(VALUES, (batch, pairs), generator=generator)
    order = torch.rand(batch, pairs, generator=generator).argsort(dim=1)
    return keys, values, order


class Recall(nn.Module):
    """Embeddings, an attention layer from questions to pairs, and a linear read-out.

    Queries and keys are computed from the pairs' keys, values from their values; there are no
    positions.
    """

    def __init__(self, kind: str, d_k: int) -> None:
        """kind: "softmax" or "linear". d_k: the width of queries and keys."""
        super().__init__()
        self.kind = kind
        self.key, self.value = nn.Embedding(KEYS, D_MODEL), nn.Embedding(VALUES, D_MODEL)
        self.W_q, self.W_k = (nn.Linear(D_MODEL, d_k, bias=False) for _ in range(2))
        self.read_out = nn.Linear(D_MODEL, VALUES)

    def forward(
        self, keys: torch.Tensor, values: torch.Tensor, asked: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (batch, pairs, VALUES). All arguments: (batch, pairs)."""
        Q, K = self.W_q(self.key(asked)), self.W_k(self.key(keys))  # (batch, pairs, d_k)
        V = self.value(values)  # (batch, pairs, D_MODEL)
        if self.kind == "linear":
            return self.read_out(linear_attention(Q, K, V, causal=False))
        return self.read_out(F.scaled_dot_product_attention(Q, K, V))


@dataclass(frozen=True)
class Run:
    """A training run: its rate, and its accuracy on validation and on test sequences."""

    rate: float
    validation: float
    accuracy: float


def train(kind: str, d_k: int, pairs: int, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train a model; all models with the same seed and number of pairs see the same sequences."""
    torch.manual_seed(seed)
    data, validation, test = (torch.Generator().manual_seed(base + seed) for base in (10, 20, 30))
    model = Recall(kind, d_k)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for _ in range(steps):
        keys, values, order = sample(BATCH, pairs, data)
        logits = model(keys, values, keys.gather(1, order))
        loss = F.cross_entropy(logits.flatten(0, 1), values.gather(1, order).flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        decay.step()
    return Run(rate, _accuracy(model, pairs, validation), _accuracy(model, pairs, test))


@torch.no_grad()
def _accuracy(model: Recall, pairs: int, generator: torch.Generator) -> float:
    keys, values, order = sample(TEST, pairs, generator)
    found = model(keys, values, keys.gather(1, order)).argmax(dim=-1)
    return (found == values.gather(1, order)).float().mean().item()


def compare(seed: int) -> dict[tuple[str, int], Run]:
    """Return (layer, number of pairs) -> run.

    The rate of a layer is the best on validation sequences with the largest number of pairs.
    """
    found = {}
    for name, (kind, d_k) in LAYERS.items():
        runs = [train(kind, d_k, PAIRS[-1], rate, seed) for rate in RATES]
        best = found[name, PAIRS[-1]] = max(runs, key=lambda run: run.validation)
        for pairs in PAIRS[:-1]:
            found[name, pairs] = train(kind, d_k, pairs, best.rate, seed)
    return found


def longer(seed: int, rate: float, times: int = 2) -> Run:
    """Train the narrow linear layer on the most pairs, for `times` as many steps."""
    return train(*LAYERS["linear, 16"], PAIRS[-1], rate, seed, times * STEPS)
