"""How far an exchanged word moves the vector of a sentence, by the length of the sentence.

The measure is the distance between the vectors of a sentence and of the same sentence with a noun
replaced by another noun of its kind, divided by the distance between two unrelated sentences of
that length. It is computed for chapter 1's translator and for a published sentence encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from ...data.translation import sample_pairs, to_text
from ...data.translation.nouns import NOUN
from ...published.minilm import MiniLM
from ...translators.machines import bottleneck
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task

LENGTHS = (5, 10, 20, 40, 80)
"""The lengths of the sentences in words and marks; a sentence may differ by a tenth."""
LONGEST_TOY = 40
"""The translator's training has very few longer sentences."""
SENTENCES = 40
"""Of each length."""
KINDS = ("person", "animal", "food")
Words = tuple[str, ...]


def sentences(length: int, seed: int = 0) -> list[tuple[Words, Words]]:
    """Return SENTENCES texts of about `length` words, each with a copy in which a noun differs.

    The longest texts consist of two sentences of half the length.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[Words, Words]] = []
    while len(found) < SENTENCES:
        for text in _texts(length, rng):
            nouns = [i for i, word in enumerate(text) if word in NOUN and NOUN[word].kind in KINDS]
            if nouns and len(found) < SENTENCES:
                i = int(rng.choice(nouns))
                kind = NOUN[text[i]].kind
                others = sorted(w for w in NOUN if NOUN[w].kind == kind and w not in text)
                found.append((text, (*text[:i], str(rng.choice(others)), *text[i + 1 :])))
    return found


def _texts(length: int, rng: np.random.Generator) -> list[Words]:
    """Return some texts of about `length` words."""
    if length > LONGEST_TOY:
        halves = _texts(length // 2, rng)
        return [one + two for one, two in zip(halves[::2], halves[1::2], strict=False)]
    clauses = (1, 2) if length < LONGEST_TOY // 2 else (2, 4)
    pairs = sample_pairs("french", 200, rng, clauses, "test")
    return [pair.source for pair in pairs if abs(len(pair.source) - length) <= length / 10]


Embed = Callable[[Sequence[Words]], Tensor]
"""A function that returns a vector of each sentence, (n, d)."""


def moves(embed: Embed, length: int) -> float:
    """Return the mean distance within a pair, divided by that of unrelated sentences."""
    pairs = sentences(length)
    before = embed([one for one, _ in pairs])  # (n, d)
    after = embed([other for _, other in pairs])
    unrelated = (before - before.roll(1, dims=0)).norm(dim=1).mean()
    return float((before - after).norm(dim=1).mean() / unrelated)


def of_the_encoder(minilm: MiniLM) -> list[float]:
    """Return `moves` of the published encoder for each of LENGTHS."""

    def embed(texts: Sequence[Words]) -> Tensor:
        return minilm.embed([to_text(text) for text in texts])

    return [moves(embed, length) for length in LENGTHS]


def of_the_translator(task: Task, state: Mapping[str, np.ndarray]) -> list[float]:
    """Return `moves` of chapter 1's machine, with its weights by name, up to LONGEST_TOY words."""
    model = bottleneck(len(task.source_vocabulary), len(task.target_vocabulary))
    model.load_state_dict({name: torch.from_numpy(one) for name, one in state.items()})
    return [moves(_contexts(model, task), one) for one in LENGTHS if one <= LONGEST_TOY]


def _contexts(model: Seq2Seq, task: Task) -> Embed:
    """Return the function that computes the vectors c of sentences."""

    @torch.no_grad()
    def embed(texts: Sequence[Words]) -> Tensor:
        rows = [torch.from_numpy(np.asarray(task.source_vocabulary.encode(one))) for one in texts]
        lengths = torch.tensor([len(row) for row in rows])
        sources = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        context = model.encode(sources, lengths).context
        assert context is not None
        return context

    return embed
