"""The rivals of chapter 10's GPT: n-grams and a published model, on the same text.

The n-grams are those of chapter 12, `ngram_interpolation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...data.book_text import three_parts
from ...published.smollm2 import SmolLM2
from ...variants.reading_models import cross_entropy_to_bits_per_byte, ngram_interpolation
from .language_model import CONTEXT, MOST_SEEN, Corpus, windows
from .mixing import Scored
from .run import the_corpus

ORDERS, WEIGHTS = (2, 3, 4, 5), (1.0, 2.0, 4.0, 8.0, 16.0)
"""The orders of the n-grams, and the weights, of which the tuning text chooses one."""

TOKENS_A_PASS = 512
"""The tokens that the published model reads at once."""


def anew(text: Corpus, ids: Tensor, order: int, weight: float) -> np.ndarray:
    """Return log-probabilities of the tokens that `mean_loss` scores: (windows, CONTEXT - 1).

    As the GPT does, the n-gram begins anew in each window: before each stands a token that the
    training text does not have, so that no context reaches across it.
    """
    stop = len(text.tokens.pieces)
    pieces = windows(ids, CONTEXT).numpy()
    read = np.insert(pieces, 0, stop, axis=1)  # (windows, 1 + CONTEXT)
    found = ngram_interpolation(text.train.numpy(), read.ravel(), order, stop, weight)
    return found.reshape(read.shape)[:, 2:]


@dataclass(frozen=True)
class Rival(Scored):
    """What an n-gram says. sight: nats per token on the tokens of `loss_by_sight`."""

    sight: float

    @property
    def in_windows(self) -> float:
        """Return nats per token of the validation text."""
        return -float(self.validation.mean())


def rival(order: int) -> Rival:
    """Count, choose the weight on the tuning text, and measure on the validation text."""
    text = the_corpus()
    tried = {weight: anew(text, text.tuning, order, weight) for weight in WEIGHTS}
    weight = max(tried, key=lambda weight: tried[weight].mean())
    train, asked = text.train.numpy(), text.validation.numpy()
    logs = ngram_interpolation(train, asked, order, len(text.tokens.pieces), weight)
    return Rival(
        tried[weight],
        anew(text, text.validation, order, weight),
        -float(logs[MOST_SEEN::2].mean()),
    )


@torch.no_grad()
def published_bits(published: SmolLM2, n: int) -> float:
    """Return bits per byte of a published model on the validation text, in passages of n tokens.

    The first token of each passage is only read, so its bytes do not count either.
    """
    ids = torch.tensor(published.ids(three_parts()[2]))
    pieces = ids[: len(ids) // n * n].reshape(-1, n)
    nats, n_tokens, n_bytes = 0.0, 0, 0
    for some in pieces.split(max(1, TOKENS_A_PASS // n)):
        logs = published.logits(some)[:, :-1].log_softmax(dim=-1)
        nats -= logs.gather(-1, some[:, 1:, None]).double().sum().item()
        n_tokens += some[:, 1:].numel()
        n_bytes += sum(len(published.text(one.tolist()).encode("utf-8")) for one in some[:, 1:])
    return cross_entropy_to_bits_per_byte(nats / n_tokens, n_tokens, n_bytes)
