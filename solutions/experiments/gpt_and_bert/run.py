"""Everything that the chapter trains, for one seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torch import Tensor

from ...gpt_and_bert import GPT
from . import language_model
from .heads import Induction, induction
from .language_model import CONTEXT, SIZES, Corpus, corpus

PERIOD, TEXTS = 30, 20
"""Random texts that repeat themselves: tokens in a period, and how many texts."""


@dataclass(frozen=True)
class Run:
    """What one seed shows.

    curve: (step, training loss, validation loss) of GPT. state: its weights. induction: who copies
    in it.
    """

    curve: list[tuple[int, float, float]]
    seconds: float
    state: dict[str, Tensor]
    induction: Induction

    @property
    def validation_loss(self) -> float:
        """After the last step, in nats a token."""
        return self.curve[-1][2]


def run(seed: int) -> Run:
    """Train a GPT, and ask it."""
    text = the_corpus()
    trained = language_model.train(seed, text)
    return Run(
        trained.curve,
        trained.seconds,
        {name: one.detach() for name, one in trained.model.state_dict().items()},
        induction(trained.model, len(text.tokens.pieces), PERIOD, TEXTS, seed),
    )


@cache
def the_corpus() -> Corpus:
    """The book's text, cut once in each process."""
    return corpus()


def with_weights(state: dict[str, Tensor]) -> GPT:
    """A GPT of the chapter's sizes with the weights of a run."""
    vocab_size = len(state["embedding.weight"])
    model = GPT(vocab_size, max_len=CONTEXT, **SIZES)
    model.load_state_dict(state)
    return model.eval().requires_grad_(False)
