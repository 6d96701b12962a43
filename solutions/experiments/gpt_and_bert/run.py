"""All training of the chapter, for one seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torch import Tensor

from ...gpt_and_bert import GPT
from . import language_model
from .heads import Induction, induction
from .language_model import CONTEXT, SIZES, Corpus, corpus

PERIOD, TEXTS = 30, 20
"""The tokens in a period of the repeated random texts, and the number of texts."""


@dataclass(frozen=True)
class Run:
    """The results of one seed.

    curve: (step, training loss, validation loss) of GPT. state: its weights. induction: the
    induction scores of its heads.
    """

    curve: list[tuple[int, float, float]]
    seconds: float
    state: dict[str, Tensor]
    induction: Induction

    @property
    def validation_loss(self) -> float:
        """Return the loss after the last step, in nats a token."""
        return self.curve[-1][2]


def run(seed: int) -> Run:
    """Train a GPT, and test it."""
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
    """Return the book's text; it is split into tokens once in each process."""
    return corpus()


def with_weights(state: dict[str, Tensor]) -> GPT:
    """Return a GPT of the chapter's size with the weights of a run."""
    vocab_size = len(state["embedding.weight"])
    model = GPT(vocab_size, max_len=CONTEXT, **SIZES)
    model.load_state_dict(state)
    return model.eval().requires_grad_(False)
