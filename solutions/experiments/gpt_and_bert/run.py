"""The training of chapter 10's GPT, and what is measured on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ...gpt_and_bert import GPT
from . import language_model
from .heads import Induction, induction
from .language_model import CONTEXT, SIZES, Corpus, corpus, loss_by_sight, windows

STEPS = 1500
"""The steps of a training; the rate falls to 0 at the end."""

SEEN = (1, 2, 3, 4, 8, 32)
"""The numbers of tokens that a model may see."""

PERIOD, TEXTS = 30, 20
"""The tokens in a period of the repeated random texts, and the number of texts."""


@dataclass(frozen=True)
class Run:
    """The results of a training with one seed.

    curve: (step, training loss, validation loss) of GPT. state: its weights. induction: the
    induction scores of its heads. sight: the number of tokens seen -> nats per token. twice: nats
    per token of a passage, and of the same passage written again behind it.
    """

    curve: list[tuple[int, float, float]]
    seconds: float
    state: dict[str, Tensor]
    induction: Induction
    sight: dict[int, float]
    twice: tuple[float, float]

    @property
    def validation_loss(self) -> float:
        """Return the loss after the last step, in nats a token."""
        return self.curve[-1][2]


def run(seed: int) -> Run:
    """Train a GPT, and test it."""
    text = the_corpus()
    trained = language_model.train(seed, text, STEPS)
    model = trained.model.eval()
    return Run(
        trained.curve,
        trained.seconds,
        {name: one.detach() for name, one in model.state_dict().items()},
        induction(model, len(text.tokens.pieces), PERIOD, TEXTS, seed),
        {n: loss_by_sight(model, text.validation, n) for n in SEEN},
        twice(model, text.validation),
    )


@torch.no_grad()
def twice(model: GPT, text: Tensor) -> tuple[float, float]:
    """Return nats per token of passages of a text, and of each one written again behind itself.

    The passages are half a window long; the first token of each copy is not counted.
    """
    half = CONTEXT // 2
    once = windows(text, half)  # (passages, half)
    both = torch.cat([once, once], dim=1)
    logs = model(both)[:, :-1].log_softmax(dim=-1)
    losses = -logs.gather(-1, both[:, 1:, None])[..., 0]  # (passages, CONTEXT - 1)
    return losses[:, : half - 1].mean().item(), losses[:, half:].mean().item()


@cache
def the_corpus() -> Corpus:
    """Return the book's text; it is split into tokens once in each process."""
    return corpus()


def with_weights(state: dict[str, Tensor]) -> GPT:
    """Return a GPT of the chapter's size with the weights of a run."""
    vocab_size = len(state["embedding.weight"])
    model = GPT(vocab_size, max_len=CONTEXT, **SIZES)
    model.load_state_dict(state)
    return model.eval().requires_grad_(False)
