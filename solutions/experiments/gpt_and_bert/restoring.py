"""Small-scale masked-token training, with both sides visible and with the left side alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...gpt_and_bert import IGNORED, sample_next
from ...transformer_block import EncoderBlock, LayerNorm
from . import hiding
from .sentences import BEFORE, BEHIND, LENGTH, MASK_ID, WORDS, pronoun_first, sentences

SIZES = {"d_model": 32, "n_heads": 4, "d_ff": 64}
N_BLOCKS = 2
STEPS, BATCH, RATE, WARM_UP = 500, 64, 5e-3, 50
HELD_OUT, SPLIT_SEED = 512, 99
WRITTEN = 1000
ORDERS = ("left to right", "random")
AT_ONCE = (1, 2, 4, LENGTH)
"""The numbers of tokens that are filled in one pass."""


@dataclass(frozen=True)
class Kind:
    """A way of training: what is hidden, whether the mask is causal, the steps, texts a batch."""

    hide: Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    causal: bool = False
    steps: int = STEPS
    batch: int = BATCH


KINDS = {
    "both sides": Kind(hiding.as_bert),
    "left side": Kind(hiding.as_bert, causal=True),
    "both, cut": Kind(hiding.half_cut_off),
    "any share": Kind(hiding.any_share),
}
"""Name -> how the model is trained."""

CONTROLS = {
    "masks alone": Kind(hiding.masks_alone),
    "more steps": Kind(hiding.masks_alone, steps=1650),
    "larger batches": Kind(hiding.masks_alone, batch=211),
    "half": Kind(hiding.half),
}
"""Between "both sides" and "any share". The middle two hide as many words as the last."""


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


def train(model: Restorer, texts: np.ndarray, seed: int, kind: Kind) -> None:
    """Train the model to restore the hidden tokens of texts, (n, LENGTH)."""
    generator = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(1, kind.steps + 1):
        warm, fall = step / WARM_UP, (kind.steps - step) / (kind.steps - WARM_UP)
        optimiser.param_groups[0]["lr"] = RATE * min(warm, fall)
        batch = texts[generator.integers(len(texts), size=kind.batch)]  # (batch, LENGTH)
        inputs, targets = kind.hide(batch, generator)
        logits = model(torch.from_numpy(inputs))  # (batch, LENGTH, words)
        loss = F.cross_entropy(
            logits.flatten(0, 1), torch.from_numpy(targets).flatten(), ignore_index=IGNORED
        )
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()


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


def orders(name: str, n_texts: int, generator: np.random.Generator) -> np.ndarray:
    """Return the order in which each text's positions are filled, (n_texts, LENGTH).

    name: "left to right", or "random" for another order in each text.
    """
    places = np.tile(np.arange(LENGTH), (n_texts, 1))
    return generator.permuted(places, axis=1) if name == "random" else places


@torch.no_grad()
def uncovered(model: nn.Module, texts: np.ndarray, order: np.ndarray) -> float:
    """Return nats a text, (n, LENGTH), if its tokens are uncovered one by one in an order.

    All positions begin as masks. Each token is scored before it is uncovered.
    """
    seen, rows, total = np.full_like(texts, MASK_ID), np.arange(len(texts)), 0.0
    for at in order.T:
        logs = model(torch.from_numpy(seen)).double().log_softmax(dim=-1).numpy()
        total -= logs[rows, at, texts[rows, at]].mean()
        seen[rows, at] = texts[rows, at]
    return float(total)


@torch.no_grad()
def filled_in(
    model: nn.Module, order: np.ndarray, generator: np.random.Generator, at_once: int = 1
) -> np.ndarray:
    """Write texts (n, LENGTH) into masks, in an order (n, LENGTH), at_once tokens a pass."""
    texts, rows = np.full_like(order, MASK_ID), np.arange(len(order))[:, None]
    for at in np.split(order, range(at_once, LENGTH, at_once), axis=1):  # (n, at_once)
        scores = model(torch.from_numpy(texts)).double().numpy()[rows, at]
        scores[..., MASK_ID] = -np.inf  # a mask is not a word
        texts[rows, at] = sample_next(scores, 1.0, None, None, generator)
    return texts


def sentences_among(texts: np.ndarray) -> float:
    """Return the share of texts that belong to the language."""
    language = {tuple(one) for one in sentences().tolist()}
    return float(np.mean([tuple(one) in language for one in texts.tolist()]))


@dataclass(frozen=True)
class Restored:
    """The results of a model.

    before, behind: the share of right pronouns before their noun, and after it, in texts outside
    the training set. appended: `appended` on these texts. product: `sum_of_products` on all texts.
    right: the share of the model's own texts that belong to the language. texts: some of the
    model's texts. uncovered, filled: the nats and the share right if it begins from masks alone, by
    the name of the order. at_once: position by position -> the share right if so many tokens are
    filled in one pass, in random order. when: the probability of "when" at the first of eight
    masks; in the language it is one half. state: the weights.
    """

    before: float
    behind: float
    appended: float
    product: float
    right: float
    texts: np.ndarray
    uncovered: dict[str, float]
    filled: dict[str, float]
    at_once: dict[int, float]
    when: float
    state: dict[str, Tensor]


def run(seed: int) -> dict[str, Restored]:
    """Train the models of KINDS and CONTROLS on the same texts, and test them."""
    texts = sentences()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(texts))
    held_out, training = texts[order[:HELD_OUT]], texts[order[HELD_OUT:]]
    kinds = {**KINDS, **CONTROLS}
    return {name: _one(seed, training, held_out, kind) for name, kind in kinds.items()}


def _one(seed: int, training: np.ndarray, held_out: np.ndarray, kind: Kind) -> Restored:
    torch.manual_seed(seed)
    model = Restorer(causal=kind.causal)
    train(model, training, seed, kind)
    first = pronoun_first(held_out)
    own = written(model, WRITTEN, seed)
    draws = np.random.default_rng(seed)
    all_masks = np.full((1, LENGTH), MASK_ID)
    ways = {name: orders(name, WRITTEN, draws) for name in ORDERS}
    return Restored(
        before=filled(model, held_out[first], BEFORE),
        behind=filled(model, held_out[~first], BEHIND),
        appended=appended(model, held_out),
        product=sum_of_products(model, sentences()),
        right=sentences_among(own),
        texts=own[:20],
        uncovered={
            name: uncovered(model, held_out, order[: len(held_out)]) for name, order in ways.items()
        },
        filled={
            name: sentences_among(filled_in(model, order, draws)) for name, order in ways.items()
        },
        at_once={n: sentences_among(filled_in(model, ways["random"], draws, n)) for n in AT_ONCE},
        when=float(np.exp(at_blank(model, all_masks, 0)[0, WORDS.index("when")])),
        state={name: one.detach() for name, one in model.state_dict().items()},
    )
