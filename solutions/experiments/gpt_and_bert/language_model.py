"""GPT on the book's own text, compared with a bigram model, which sees one token."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...data.book_text import three_parts
from ...gpt_and_bert import GPT, causal_language_model_loss
from .tokens import Tokens, learned

N_MERGES = 128
CONTEXT = 64
SIZES = {"d_model": 96, "n_heads": 4, "d_ff": 384, "n_layers": 2}
STEPS, BATCH, RATE, WARM_UP = 700, 12, 4e-3, 60
MOST_SEEN = 32
CLIP = 1.0
WEIGHT_DECAY = 0.1
FIRST_SCALE = 0.1
"""The initial scale of the blocks' outputs; see `begin_small`."""


@dataclass(frozen=True)
class Corpus:
    """The book's text as ids, and its byte-pair encoding.

    tuning: the text for choosing settings. validation: the text of the reported losses.
    """

    tokens: Tokens
    train: Tensor
    tuning: Tensor
    validation: Tensor
    validation_bytes: int


def corpus() -> Corpus:
    """Learn the tokens from the training part, and split all parts into them."""
    parts = three_parts()
    tokens = learned(parts[0], N_MERGES)
    train, tuning, validation = (tokens.encode(one) for one in parts)
    return Corpus(tokens, train, tuning, validation, len(parts[2].encode("utf-8")))


def bigram_loss(train: Tensor, tuning: Tensor, validation: Tensor, vocab_size: int) -> float:
    """Return the loss, in nats per token, of a mixture of a bigram and a unigram model.

    The share of each is the best of eight on the tuning text.
    """
    pairs = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    pairs.index_put_((train[:-1], train[1:]), torch.ones(len(train) - 1).double(), accumulate=True)
    single = torch.bincount(train, minlength=vocab_size).double() + 0.1
    single = single / single.sum()
    seen = pairs.sum(dim=1, keepdim=True)

    def loss(weight: float, text: Tensor) -> float:
        mixed = (pairs + weight * single) / (seen + weight)
        return -mixed[text[:-1], text[1:]].log().mean().item()

    best = min((2.0**power for power in range(8)), key=lambda weight: loss(weight, tuning))
    return loss(best, validation)


def begin_small(blocks: nn.ModuleList, scale: float = FIRST_SCALE) -> None:
    """Shrink the initial outputs of each block, so that they do not hide the token's own embedding.

    Radford et al. (2019), section 2.3, shrink the same weights by the root of their number.
    """
    with torch.no_grad():
        for block in blocks:
            for part in (block.attention, block.feed_forward):
                assert isinstance(part, nn.Module)
                *_, last = part.children()  # writes into the residual stream
                assert isinstance(last, nn.Linear)
                last.weight.mul_(scale)
                if last.bias is not None:
                    last.bias.zero_()


def windows(ids: Tensor, n: int) -> Tensor:
    """Return the text in consecutive pieces of n tokens: (pieces, n)."""
    return ids[: len(ids) // n * n].reshape(-1, n)


@torch.no_grad()
def mean_loss(model: nn.Module, text: Tensor) -> float:
    """Return the loss on a text, in nats per token, in windows of the trained context."""
    model.eval()
    pieces = windows(text, CONTEXT)
    total = sum(
        causal_language_model_loss(model(some), some).item() * len(some)
        for some in pieces.split(16)
    )
    model.train()
    return total / len(pieces)


@torch.no_grad()
def loss_by_sight(model: nn.Module, text: Tensor, n: int) -> float:
    """Return the loss, in nats per token, if the model sees only n tokens, up to MOST_SEEN.

    Every second token of the text is predicted, the same tokens for every n.
    """
    pieces = text.unfold(0, MOST_SEEN + 1, 2)[:, -n - 1 :]  # (pieces, n + 1)
    found = [model(some[:, :-1])[:, -1].log_softmax(dim=-1) for some in pieces.split(256)]
    return -torch.cat(found).gather(-1, pieces[:, -1:]).mean().item()


@dataclass(frozen=True)
class Trained:
    """A trained model, and its curve of (step, training loss, validation loss)."""

    model: GPT
    curve: list[tuple[int, float, float]]
    seconds: float


def train(
    seed: int,
    text: Corpus,
    steps: int = STEPS,
    rate: float = RATE,
    scale: float = FIRST_SCALE,
) -> Trained:
    """Train GPT on random windows of the training text."""
    torch.manual_seed(seed)
    model = GPT(len(text.tokens.pieces), max_len=CONTEXT, **SIZES)
    begin_small(model.blocks, scale)
    begun = time.perf_counter()
    curve = fit(model, text, steps, rate)
    return Trained(model, curve, time.perf_counter() - begun)


def fit(model: nn.Module, text: Corpus, steps: int, rate: float) -> list[tuple[int, float, float]]:
    """Train a model from ids to logits; return a list of (step, training loss, validation loss)."""
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=WEIGHT_DECAY
    )
    curve = []
    for step in range(1, steps + 1):
        share = min(step / WARM_UP, (steps - step) / max(steps - WARM_UP, 1))
        optimiser.param_groups[0]["lr"] = rate * max(share, 0.02)
        starts = torch.randint(len(text.train) - CONTEXT, (BATCH, 1))
        batch = text.train[starts + torch.arange(CONTEXT)]  # (BATCH, CONTEXT)
        loss = causal_language_model_loss(model(batch), batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        if step % 100 == 0 or step == steps:
            curve.append((step, loss.item(), mean_loss(model, text.validation)))
    return curve
