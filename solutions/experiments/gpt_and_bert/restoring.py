"""Small-scale masked-token training, with both sides visible and with the left side alone."""

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
"""Name -> whether the mask is causal, and the share of batches that are cut off after a mask."""


class Restorer(nn.Module):
    """A model that scores the token at every position: the course's blocks and a read-out."""

    def __init__(self, *, causal: bool) -> None:
        """causal: whether a token sees only itself and the tokens before it."""
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
        """Return logits (batch, n, words). tokens: ids (batch, n), n up to LENGTH."""
        n = tokens.shape[1]
        mask = tokens.new_ones(n, n, dtype=torch.bool)
        mask = mask.tril() if self.causal else mask
        X = self.embedding(tokens) + self.positions.weight[:n]  # (batch, n, d_model)
        for block in self.blocks:
            X = block(X, mask)
        return self.read_out(self.norm(X))


def train(model: Restorer, texts: np.ndarray, seed: int, cut: float = 0.0) -> None:
    """Train the model to restore the hidden tokens of texts, (n, LENGTH)."""
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
    """Return texts up to a random position, which is hidden: inputs and targets, (batch, m)."""
    length = int(generator.integers(1, batch.shape[1] + 1))
    inputs, targets = batch[:, :length].copy(), np.full((len(batch), length), IGNORED)
    inputs[:, -1], targets[:, -1] = MASK_ID, batch[:, length - 1]
    return inputs, targets


@torch.no_grad()
def at_blank(model: Restorer, texts: np.ndarray, place: int) -> np.ndarray:
    """Return log-probabilities (batch, words) at a hidden position of texts (batch, n)."""
    inputs = torch.from_numpy(texts.copy())
    inputs[:, place] = MASK_ID
    logs: np.ndarray = model(inputs)[:, place].double().log_softmax(dim=-1).numpy()
    return logs


def filled(model: Restorer, texts: np.ndarray, place: int) -> float:
    """Return the share of texts in which the likeliest token at a position is right."""
    return float((at_blank(model, texts, place).argmax(axis=-1) == texts[:, place]).mean())


def appended(model: Restorer, texts: np.ndarray) -> float:
    """Return nats a text, (n, LENGTH), if every token is scored at a mask at the end."""
    logs = [
        np.take_along_axis(at_blank(model, texts[:, : at + 1], at), texts[:, at, None], axis=1)
        for at in range(texts.shape[1])
    ]
    return float(-np.sum(logs, axis=0).mean())


def sum_of_products(model: Restorer, texts: np.ndarray) -> float:
    """Return the sum over texts of the product of each token's probability, given all others.

    With a causal mask, this is the probability of all texts together.
    """
    logs = [
        np.take_along_axis(at_blank(model, texts, at), texts[:, at, None], axis=1)
        for at in range(texts.shape[1])
    ]
    return float(np.exp(np.sum(logs, axis=0)).sum())


def written(model: Restorer, n_texts: int, seed: int) -> np.ndarray:
    """Write texts (n_texts, LENGTH): append a mask and draw its token, again and again."""
    generator = np.random.default_rng(seed)
    texts = np.zeros((n_texts, 0), dtype=int)
    for place in range(LENGTH):
        texts = np.concatenate([texts, np.full((n_texts, 1), MASK_ID)], axis=1)
        scores = at_blank(model, texts, place)
        scores[:, MASK_ID] = -np.inf  # a mask is not a word
        texts[:, -1] = sample_next(scores, 1.0, None, None, generator)
    return texts


@dataclass(frozen=True)
class Restored:
    """The results of a model.

    before, behind: the share of right pronouns before their noun, and after it, in texts outside
    the training set. appended: `appended` on these texts. product: `sum_of_products` on all texts.
    right: the share of the model's own texts that belong to the language. texts: some of the
    model's texts.
    """

    before: float
    behind: float
    appended: float
    product: float
    right: float
    texts: np.ndarray


def run(seed: int) -> dict[str, Restored]:
    """Train the models of KINDS on the same texts, and test them."""
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
