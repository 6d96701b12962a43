"""The same machine with other scores: general, dot and location (Luong et al. 2015).

All three are products: score j is s . k_j, where the key k_j is a linear map of the encoder's state
j, that state itself, or row j of a learned table, which does not depend on the word. The first two
are divided by the square root of the width, as in chapter 5. A fourth score is the chapter's
additive score with the last word as a further input.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor, nn

from ...running.seeds import SEEDS, over_seeds
from ...translators.machines import (
    ATTENTION_STEPS,
    BEYOND,
    BEYOND_CLAUSES,
    CLAUSES,
    D_CONTEXT,
    D_LOOKING,
    LENGTHS,
    LONG,
    SENTENCES,
    Machine,
    trained,
)
from ...translators.quality import MAX_LENGTH, held_out_pairs, quality
from ...translators.quality_by_length import LANGUAGE
from ...translators.recurrent import D_EMBEDDING, AttentionDecoder, Encoder
from ...translators.seq2seq import Memory, Seq2Seq
from ...translators.training import count_parameters
from .maps import error_rate, mapped_pairs, read_maps
from .passages import faults_in

DOT_WIDTH = 176
"""The common width of both states, for a dot product."""


class SlowDecoder(AttentionDecoder):
    """The chapter's decoder for other scores; PyTorch differentiates it, step by step."""

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """See `Decoder.forward`."""
        embedded = self.embedding(inputs)  # (B, m, d_e)
        s, source_side = self.start(memory)
        found = []
        for one in embedded.unbind(dim=1):
            s, context, weights = self._look(one, s, source_side, memory)
            found.append((s, context, weights))
        states, contexts, looks = (torch.stack(part, dim=1) for part in zip(*found, strict=True))
        return self.read_out(states, contexts, embedded), looks

    def _look(
        self, embedded: Tensor, s: Tensor, source_side: Tensor, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor]:
        scores = self.scores(embedded, s, source_side)  # (B, n)
        weights = scores.masked_fill(~memory.mask, -torch.inf).softmax(dim=-1)
        context = (weights[:, None] @ memory.states)[:, 0]  # (B, d_c)
        return self.rnn(torch.cat([embedded, context], dim=-1), s), context, weights

    def scores(self, embedded: Tensor, s: Tensor, source_side: Tensor) -> Tensor:
        """Return scores (B, n). embedded: (B, d_e), the last word. s: (B, d_h)."""
        raise NotImplementedError


class ProductDecoder(SlowDecoder):
    """A decoder whose state is multiplied by a key of each source token."""

    def __init__(
        self,
        vocabulary_size: int,
        d_context: int,
        d_hidden: int,
        to_keys: nn.Module,
        divisor: float = 1.0,
    ) -> None:
        """to_keys: maps the encoder's states (B, n, d_context) to keys (B, n, d_hidden)."""
        super().__init__(vocabulary_size, d_context, d_hidden)
        del self.W_s, self.W_h, self.v
        self.to_keys, self.divisor = to_keys, divisor

    def start(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """Return the first state (B, d_h), and the keys (B, n, d_h)."""
        return self.first_state(memory), self.to_keys(memory.states)

    def scores(self, embedded: Tensor, s: Tensor, source_side: Tensor) -> Tensor:
        """Return s . k_j, divided by the square root of the width if `divided` is set."""
        return (source_side @ s[..., None])[..., 0] / self.divisor


class AskingDecoder(SlowDecoder):
    """Additive scores that depend on the last word too: v . tanh(s W_s + y W_y + h_j W_h)."""

    def __init__(self, vocabulary_size: int, d_context: int, d_hidden: int) -> None:
        """Build the decoder; the arguments are those of `AttentionDecoder`."""
        super().__init__(vocabulary_size, d_context, d_hidden)
        self.W_y = nn.Linear(D_EMBEDDING, d_hidden, bias=False)

    def scores(self, embedded: Tensor, s: Tensor, source_side: Tensor) -> Tensor:
        """Return the scores of a small network that reads the last word too."""
        asks = self.W_s(s) + self.W_y(embedded)  # (B, d_h)
        found: Tensor = self.v((asks[:, None] + source_side).tanh())
        return found[..., 0]


class Places(nn.Module):
    """Keys of positions: a learned row for each, which does not depend on the token."""

    def __init__(self, places: int, width: int) -> None:
        """places: the largest number of source tokens. width: the width of a key."""
        super().__init__()
        self.rows = nn.Parameter(torch.randn(places, width) * width**-0.5)

    def forward(self, states: Tensor) -> Tensor:
        """Return the keys (B, n, width). states: (B, n, d), of which only n is used."""
        return self.rows[: states.shape[1]].expand(len(states), -1, -1)


def general(source_tokens: int, target_tokens: int, *, divided: bool = True) -> Seq2Seq:
    """Return the machine with scores s W h_j, `divided` by the square root of the width or not."""
    encoder, keys = (
        Encoder(source_tokens, D_CONTEXT // 2),
        nn.Linear(D_CONTEXT, D_LOOKING, bias=False),
    )
    divisor = D_LOOKING**0.5 if divided else 1.0
    return Seq2Seq(encoder, ProductDecoder(target_tokens, D_CONTEXT, D_LOOKING, keys, divisor))


def dot(source_tokens: int, target_tokens: int, *, divided: bool = True) -> Seq2Seq:
    """Return the machine with the scores s . h_j, both of width DOT_WIDTH, divided or not."""
    encoder, keys = Encoder(source_tokens, DOT_WIDTH // 2), nn.Identity()
    divisor = DOT_WIDTH**0.5 if divided else 1.0
    return Seq2Seq(encoder, ProductDecoder(target_tokens, DOT_WIDTH, DOT_WIDTH, keys, divisor))


def location(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return the machine with scores (s W)_j, which depend on the position only."""
    encoder, keys = Encoder(source_tokens, D_CONTEXT // 2), Places(MAX_LENGTH, D_LOOKING)
    return Seq2Seq(encoder, ProductDecoder(target_tokens, D_CONTEXT, D_LOOKING, keys))


def asking(source_tokens: int, target_tokens: int) -> Seq2Seq:
    """Return the chapter's machine with scores that depend on the last word too."""
    encoder = Encoder(source_tokens, D_CONTEXT // 2)
    return Seq2Seq(encoder, AskingDecoder(target_tokens, D_CONTEXT, D_LOOKING))


SCORES: dict[str, Machine] = {
    "general": general,
    "location": location,
    "last word asks": asking,
}
"""The scores of the chapter."""
MORE: dict[str, Machine] = {
    "general, undivided": partial(general, divided=False),
    "dot": dot,
    "dot, undivided": partial(dot, divided=False),
}
"""The scores of its appendix."""
JOBS = [(name, seed) for name in SCORES | MORE for seed in SEEDS]


@dataclass(frozen=True)
class Scored:
    """The result of training with a score: token accuracies, and the alignment error rate.

    skips: the number of translations, of SENTENCES overlong sentences, that skip a passage.
    """

    short: float
    long: float
    beyond: float
    skips: int
    aer: float
    parameters: int


def with_score(job: int) -> Scored:
    """Train the machine of JOBS[job], as in the chapter."""
    name, seed = JOBS[job]
    machine = (SCORES | MORE)[name]
    model, task, _ = trained(machine, LANGUAGE, CLAUSES, ATTENTION_STEPS, seed)

    def on(lengths: tuple[int, int], n: int) -> float:
        return quality(model, task, held_out_pairs(LANGUAGE, lengths, n, CLAUSES)).token_accuracy

    maps = read_maps(model, task, mapped_pairs())
    too_long = faults_in(model, task, held_out_pairs(LANGUAGE, BEYOND, SENTENCES, BEYOND_CLAUSES))
    return Scored(
        on(LENGTHS[0], SENTENCES),
        on(LONG, 2 * SENTENCES),
        too_long.accuracy,
        too_long.skips,
        error_rate([one.weights for one in maps], [one.pair for one in maps]),
        count_parameters(model),
    )


def measure_all() -> dict[str, dict[str, list[float]]]:
    """Return score -> measure of `Scored` -> a number for each seed."""
    done = [asdict(one) for one in over_seeds(with_score, range(len(JOBS)))]
    return {
        name: {
            what: [one[what] for (which, _), one in zip(JOBS, done, strict=True) if which == name]
            for what in done[0]
        }
        for name in SCORES | MORE
    }
