"""Two language models mixed: do they know the same things?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ...gpt_and_bert import GPT
from .language_model import CONTEXT, windows
from .run import the_corpus

SHARES = np.arange(1, 20) / 20
"""The shares of the first model, of which the tuning text chooses one."""


@dataclass(frozen=True)
class Scored:
    """A model's log-probabilities of the tokens that `mean_loss` scores, (windows, CONTEXT - 1)."""

    tuning: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True)
class Mixture:
    """The share of the first model, and the nats per token of the validation text."""

    share: float
    nats: float


@torch.no_grad()
def scored(model: GPT) -> Scored:
    """Return what a GPT says of the tokens of the tuning and the validation text."""
    text = the_corpus()
    found = []
    for ids in (text.tuning, text.validation):
        pieces = windows(ids, CONTEXT)
        logs = model(pieces)[:, :-1].double().log_softmax(dim=-1)
        found.append(logs.gather(-1, pieces[:, 1:, None])[..., 0].numpy())
    return Scored(*found)


def mixed(share: float, first: np.ndarray, second: np.ndarray) -> float:
    """Return nats per token if the probabilities are averaged with these shares."""
    return -float(np.logaddexp(np.log(share) + first, np.log(1 - share) + second).mean())


def mixture(first: Scored, second: Scored) -> Mixture:
    """Choose the share on the tuning text, and measure on the validation text."""
    share = min(SHARES, key=lambda share: mixed(share, first.tuning, second.tuning))
    return Mixture(float(share), mixed(share, first.validation, second.validation))
