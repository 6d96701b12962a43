"""Masked-token training in small, with both sides in view and with the left side alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...gpt_and_bert import IGNORED, mask_tokens, sample_next
from ...transformer_block import EncoderBlock, LayerNorm
from .sentences import BEFORE, BEHIND, LENGTH, MASK_ID, WORDS, pronoun_first, sentences

SIZES = {"d_model": 32, "n_heads": 4, "d_ff": 64}
N_BLOCKS = 2
STEPS, BATCH, RATE, WARM_UP = 500, 64, 5e-3, 50
PROBABILITY = 0.15
HELD_OUT, SPLIT_SEED = 512, 99
WRITTEN = 1000
KINDS = {"both sides": (False, 0.0), "left side": (True, 0.0), "both, cut": (False, 0.5)}
"""By name: whether the mask is causal, and the share of batches that are cut off behind a mask."""


class Restorer(nn.Module):
    """Score for every place which token stands there: the course's blocks and a read-out."""

    def __init__(self, *, causal: bool) -> None:
        """causal: whether a token sees itself and those before it, or all."""
        super().__init__()
        self.causal = causal
        d_model = SIZES["d_model"]
        self.embedding = nn.Embedding(len(WORDS), d_model)
        self.positions = nn.Embedding(LENGTH, d_model)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.5)
        self.blocks = nn.ModuleList(EncoderBlock(**SIZES, norm="pre") for _ in range(N_BLOCKS))
        self.norm = LayerNorm(d_model)
        self.read_out = nn.Linear(d_model, len(WORDS))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: ids (batch, n), n up to LENGTH. Returns logits (batch, n, words)."""
        n = tokens.shape[1]
        mask = tokens.new_ones(n, n, dtype=torch.bool)
        mask = mask.tril() if self.causal else mask
        X = self.embedding(tokens) + self.positions.weight[:n]  # (batch, n, d_model)
        for block in self.blocks:
            X = block(X, mask)
        return self.read_out(self.norm(X))


def train(model: Restorer, texts: np.ndarray, seed: int, cut: float = 0.0) -> None:
    """Restore what is hidden in texts, (n, LENGTH)."""
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(1, STEPS + 1):
        warm, fall = step / WARM_UP, (STEPS - step) / (STEPS - WARM_UP)
        optimiser.param_groups[0]["lr"] = RATE * min(warm, fall)
        batch = texts[generator.integers(len(texts), size=BATCH)]  # (BATCH, LENGTH)
        inputs, targets = mask_tokens(batch, len(WORDS), MASK_ID, PROBABILITY, generator)
        if generator.random() < cut:
            inputs, targets = cut_off(batch, generator)
        logits = model(torch.from_numpy(inputs))  # (BATCH, LENGTH, words)
        loss = F.cross_entropy(
            logits.flatten(0, 1), torch.from_numpy(targets).flatten(), ignore_index=IGNORED
        )
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()


def cut_off(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same texts up to some place, whose token is hidden: inputs and targets, (batch, m)."""
    length = int(generator.integers(1, batch.shape[1] + 1))
    inputs, targets = batch[:, :length].copy(), np.full((len(batch), length), IGNORED)
    inputs[:, -1], targets[:, -1] = MASK_ID, batch[:, length - 1]
    return inputs, targets


@torch.no_grad()
def at_blank(model: Restorer, texts: np.ndarray, place: int) -> np.ndarray:
    """Log-probabilities at one place, which is hidden, for texts (batch, n): (batch, words)."""
    inputs = torch.from_numpy(texts.copy())
    inputs[:, place] = MASK_ID
    logs: np.ndarray = model(inputs)[:, place].double().log_softmax(dim=-1).numpy()
    return logs


def filled(model: Restorer, texts: np.ndarray, place: int) -> float:
    """The share of texts in which the likeliest token at the place is the right one."""
    return float((at_blank(model, texts, place).argmax(axis=-1) == texts[:, place]).mean())


def appended(model: Restorer, texts: np.ndarray) -> float:
    """Nats a text, (n, LENGTH), if every token is scored at a mask with nothing behind it."""
    logs = [
        np.take_along_axis(at_blank(model, texts[:, : at + 1], at), texts[:, at, None], axis=1)
        for at in range(texts.shape[1])
    ]
    return float(-np.sum(logs, axis=0).mean())


def sum_of_products(model: Restorer, texts: np.ndarray) -> float:
    """Each token scored at a mask with all others in place, multiplied a text, summed over texts.

    Under a causal mask this is the probability of all the texts together.
    """
    logs = [
        np.take_along_axis(at_blank(model, texts, at), texts[:, at, None], axis=1)
        for at in range(texts.shape[1])
    ]
    return float(np.exp(np.sum(logs, axis=0)).sum())


def written(model: Restorer, n_texts: int, seed: int) -> np.ndarray:
    """Texts made by putting a mask at the end and drawing what it stands for, (n_texts, LENGTH)."""
    generator = np.random.default_rng(seed)
    texts = np.zeros((n_texts, 0), dtype=int)
    for place in range(LENGTH):
        texts = np.concatenate([texts, np.full((n_texts, 1), MASK_ID)], axis=1)
        scores = at_blank(model, texts, place)
        scores[:, MASK_ID] = -np.inf  # a mask is no word
        texts[:, -1] = sample_next(scores, 1.0, None, None, generator)
    return texts


@dataclass(frozen=True)
class Restored:
    """What one model does.

    before, behind: share right where the pronoun is hidden that stands before its noun, or behind
    it, in texts that were not trained on; appended: see there, on these texts. product: see
    `sum_of_products`, on all texts. right: the share of its own texts that are of the language;
    texts: some of these.
    """

    before: float
    behind: float
    appended: float
    product: float
    right: float
    texts: np.ndarray


def run(seed: int) -> dict[str, Restored]:
    """Train the models of KINDS on the same texts, and ask them."""
    texts = sentences()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(texts))
    held_out, training = texts[order[:HELD_OUT]], texts[order[HELD_OUT:]]
    return {name: _one(seed, training, held_out, *kind) for name, kind in KINDS.items()}


def _one(
    seed: int, training: np.ndarray, held_out: np.ndarray, causal: bool, cut: float
) -> Restored:
    torch.manual_seed(seed)
    model = Restorer(causal=causal)
    train(model, training, seed, cut)
    first = pronoun_first(held_out)
    everything = sentences()
    own = written(model, WRITTEN, seed)
    language = {tuple(one) for one in everything.tolist()}
    return Restored(
        before=filled(model, held_out[first], BEFORE),
        behind=filled(model, held_out[~first], BEHIND),
        appended=appended(model, held_out),
        product=sum_of_products(model, everything),
        right=float(np.mean([tuple(one) in language for one in own.tolist()])),
        texts=own[:20],
    )
