"""The information on each source word in `c`, in a machine before and after training.

There are three measurements. Jacobians of the encoder's states say how much of a small change
survives to the end. The Jacobian of `c` with respect to each word's vector says how much `c`
depends on this word. Under teacher forcing, the share of right words says how much the decoder can
read from `c` about each position, without the effect of earlier mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from ...data.translation import Language, Pair
from ...data.translation.vocabulary import PAD
from ...translators.machines import CLAUSES
from ...translators.quality import held_out_pairs
from ...translators.recurrent import Encoder
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, tensors
from .gradient_decay import state_norms

LANGUAGE: Language = "french"
LENGTH, SENTENCES = 24, 8
"""Source tokens and number of the sentences on which Jacobians are measured."""
READ_LENGTHS, READ_SENTENCES = (20, 29), 200
"""Source tokens and number of the sentences on which right words are counted by position."""
PARTS = 5
"""The number of equal parts of a sentence."""
FREQUENT = 60
"""The most frequent source words: articles, pronouns, marks. All other words are content words."""


@dataclass(frozen=True)
class Inside:
    """Norms are geometric means over sentences; "left" and "right" name a reader's starting side.

    survives: reader -> (LENGTH,), entry k is the norm of d h_T / d h_(T - k). untrained: the same
    before training. listens: reader -> (LENGTH,), entry t is the norm of d c / d x_t, for the half
    of c that this reader makes; "both" for all of c. words: shares of right content words by their
    part of the source, (PARTS,), under teacher forcing. another: the same if the encoder has read
    another sentence of similar length. guessed: the same if the decoder gets the mean c of all
    these sentences, which contains no information on any of them.
    """

    survives: dict[str, np.ndarray]
    untrained: dict[str, np.ndarray]
    listens: dict[str, np.ndarray]
    words: np.ndarray
    another: np.ndarray
    guessed: np.ndarray


def look(model: Seq2Seq, fresh: Seq2Seq, task: Task) -> Inside:
    """Measure `model`, and its encoder before training, `fresh`."""
    pairs = held_out_pairs(LANGUAGE, (LENGTH, LENGTH), SENTENCES, CLAUSES)
    sources, _, _ = tensors(task.batch(pairs))
    longer = held_out_pairs(LANGUAGE, READ_LENGTHS, READ_SENTENCES, CLAUSES)
    longer.sort(key=lambda pair: len(pair.source))
    words, another, guessed = words_by_position(model, task, longer)
    encoder, untrained = cast(Encoder, model.encoder), cast(Encoder, fresh.encoder)
    return Inside(
        survival(encoder, sources),
        survival(untrained, sources),
        listening(encoder, sources),
        words,
        another,
        guessed,
    )


def survival(encoder: Encoder, sources: Tensor) -> dict[str, np.ndarray]:
    """Return `Inside.survives` of a bidirectional GRU; sources: (B, n) ids without padding."""
    X = encoder.embedding(sources).detach().double()
    return {
        name: _geometric_mean(state_norms(cell_of(encoder.rnn, end), X if not end else X.flip(1)))
        .flip(0)
        .numpy()
        for name, end in (("left", ""), ("right", "_reverse"))
    }


def cell_of(rnn: nn.GRU, end: str) -> nn.GRUCell:
    """Return one direction of a GRU as a cell, in float64. end: "" or "_reverse"."""
    cell = nn.GRUCell(rnn.input_size, rnn.hidden_size).double()
    with torch.no_grad():
        for name, parameter in cell.named_parameters():
            parameter.copy_(getattr(rnn, f"{name}_l0{end}"))
    return cell


def listening(encoder: Encoder, sources: Tensor) -> dict[str, np.ndarray]:
    """Return `Inside.listens`; sources: (B, n) ids without padding."""
    norms: dict[str, list[Tensor]] = {"left": [], "right": [], "both": []}
    for embedded in encoder.embedding(sources).detach():  # (n, d_e)
        half = encoder.rnn.hidden_size
        # A copy for each entry of c, so that one backward pass gives all rows of the Jacobian.
        X = embedded.expand(2 * half, -1, -1).clone().requires_grad_()
        last = encoder.rnn(X)[1]  # (2, 2 half, half)
        c = torch.cat([last[0], last[1]], dim=-1)  # (2 half, 2 half)
        (jacobian,) = torch.autograd.grad(c.diagonal().sum(), X)  # (2 half, n, d_e)
        for name, rows in (
            ("left", slice(half)),
            ("right", slice(half, None)),
            ("both", slice(None)),
        ):
            tables = jacobian[rows].transpose(0, 1)  # (n, entries of c, d_e)
            norms[name].append(torch.linalg.matrix_norm(tables, ord=2))
    return {name: _geometric_mean(torch.stack(rows)).numpy() for name, rows in norms.items()}


def _geometric_mean(norms: Tensor) -> Tensor:
    """Return the geometric means (n,) of norms (B, n)."""
    return norms.clamp_min(1e-30).log().mean(dim=0).exp()


@torch.no_grad()
def words_by_position(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `Inside.words`, `another` and `guessed`.

    Adjacent `pairs` must have similar lengths.
    """
    sources, lengths, targets = tensors(task.batch(pairs))
    inputs, wanted = targets[:, :-1], targets[:, 1:]
    own = model.encode(sources, lengths)
    c = cast(Tensor, own.context)
    found = []
    for context in (c, c.roll(1, dims=0), c.mean(dim=0).expand_as(c)):
        logits, _ = model.decoder(inputs, replace(own, context=context))
        right = (logits.argmax(dim=-1) == wanted).numpy()
        hits: list[list[bool]] = [[] for _ in range(PARTS)]
        for row, pair in enumerate(pairs):
            for target, source in content_links(pair, sources[row].numpy()):
                part = int(PARTS * source / len(pair.source))
                hits[part].append(bool(right[row, target]))
        found.append(np.array([np.mean(part) for part in hits]))
    return found[0], found[1], found[2]


def content_links(pair: Pair, ids: np.ndarray) -> list[tuple[int, int]]:
    """Return the sure links (target, source) of content words with exactly one sure link.

    ids: the ids of the source tokens; more frequent tokens have lower ids.
    """
    targets = [target for target, _ in pair.sure]
    return [
        (target, source)
        for target, source in sorted(pair.sure)
        if targets.count(target) == 1 and ids[source] >= PAD + 4 + FREQUENT
    ]
