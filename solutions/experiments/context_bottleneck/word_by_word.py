"""Translation with an output for each source token: what a second direction can and cannot repair.

Every English word of a pair is labelled with the German words of its sure links in the gold
alignment. A recurrent reader that predicts these labels writes a gloss: German words in English
order. The gloss of the right labels is the best that any such reader can write.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...data.translation import Pair, Split, Vocabulary, make_batch, sample_pairs
from ...data.translation.vocabulary import PAD

D_EMBEDDING, D_HIDDEN = 48, 64
CLAUSES = (1, 2)
PAIRS, TEST = 4000, 300
TEST_CLAUSES, TEST_LONG = (1, 2, 3, 4, 6, 8), 60
STEPS, BATCH, RATE = 200, 32, 2e-2
DIRECTIONS = {"one direction": False, "two directions": True}
ARTICLE = "the"


@dataclass(frozen=True)
class Labelled:
    """A source with a label for each token, as a pair for `make_batch`."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def gloss(pair: Pair) -> Labelled:
    """Label each source token with the target words whose first sure link points to it, joined.

    A target word without a sure link occurs in no label. A source token without one has the label
    "-".
    """
    words: list[list[str]] = [[] for _ in pair.source]
    first: dict[int, int] = {}
    for target, source in sorted(pair.sure):
        first.setdefault(target, source)
    for target, source in first.items():
        words[source].append(pair.target[target])
    return Labelled(pair.source, tuple(" ".join(one) or "-" for one in words))


def written(labels: tuple[str, ...]) -> str:
    """Return the words of the labels, in the order of the source."""
    return " ".join(label for label in labels if label != "-")


class Labeller(nn.Module):
    """A GRU over the source, with one direction or two of half the width, and labels for tokens."""

    def __init__(self, words: int, labels: int, both: bool) -> None:
        """words, labels: sizes of the vocabularies. both: whether there are two directions."""
        super().__init__()
        self.embedding = nn.Embedding(words, D_EMBEDDING, padding_idx=PAD)
        width = D_HIDDEN // 2 if both else D_HIDDEN
        self.rnn = nn.GRU(D_EMBEDDING, width, batch_first=True, bidirectional=both)
        self.read_out = nn.Linear(D_HIDDEN, labels)

    def forward(self, sources: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (B, n, labels). sources: (B, n) ids, padded."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(sources), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.read_out(states)


@dataclass(frozen=True)
class Labels:
    """The share of right labels, of all tokens and of the tokens "the".

    by_length: number of clauses -> (mean source tokens, share of right labels), for sentences of up
    to 8 clauses; training sentences have CLAUSES.
    """

    all: float
    articles: float
    by_length: dict[int, tuple[float, float]]
    parameters: int


def compare_directions(seed: int) -> dict[str, Labels]:
    """Train a `Labeller` in each of DIRECTIONS and test it on sentences of the test split."""
    train = _sample(PAIRS, seed, CLAUSES, "train")
    test = _sample(TEST, 1000 + seed, CLAUSES, "test")
    by_length = {c: _sample(TEST_LONG, 1000 + seed, (c, c), "test") for c in TEST_CLAUSES}
    words = Vocabulary.of(pair.source for pair in train)
    labels = Vocabulary.of(pair.target for pair in train)
    found = {}
    for name, both in DIRECTIONS.items():
        torch.manual_seed(seed)
        model = Labeller(len(words), len(labels), both)
        optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
        decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, STEPS)
        order = np.random.default_rng(2000 + seed)
        for _ in range(STEPS):
            chosen = [train[i] for i in order.integers(PAIRS, size=BATCH)]
            sources, lengths, targets = _tensors(chosen, words, labels)
            logits = model(sources, lengths).flatten(0, 1)
            loss = F.cross_entropy(logits, targets.flatten(), ignore_index=PAD)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            decay.step()
        right, articles = _shares_right(model, test, words, labels)
        lengths_and_shares = {
            clauses: (
                float(np.mean([len(pair.source) for pair in pairs])),
                _shares_right(model, pairs, words, labels)[0],
            )
            for clauses, pairs in by_length.items()
        }
        parameters = sum(parameter.numel() for parameter in model.parameters())
        found[name] = Labels(right, articles, lengths_and_shares, parameters)
    return found


def _sample(n: int, seed: int, clauses: tuple[int, int], split: Split) -> list[Labelled]:
    rng = np.random.default_rng(seed)
    return [gloss(pair) for pair in sample_pairs("german", n, rng, clauses, split)]


def _tensors(
    pairs: list[Labelled], words: Vocabulary, labels: Vocabulary
) -> tuple[Tensor, Tensor, Tensor]:
    """Return sources (B, n), their lengths (B,), and labels (B, n), which are PAD at padding."""
    batch = make_batch(pairs, words, labels)
    sources = torch.from_numpy(batch.sources)
    targets = torch.from_numpy(batch.targets)[:, 1:-1]  # without start and stop
    return sources, torch.from_numpy(batch.source_lengths), targets.masked_fill(sources == PAD, PAD)


@torch.no_grad()
def _shares_right(
    model: Labeller, pairs: list[Labelled], words: Vocabulary, labels: Vocabulary
) -> tuple[float, float]:
    """Return the shares of right labels, of all tokens and of the tokens "the"."""
    sources, lengths, targets = _tensors(pairs, words, labels)
    right = model(sources, lengths).argmax(dim=-1) == targets
    articles = sources == int(words.encode([ARTICLE])[0])
    return right[sources != PAD].float().mean().item(), right[articles].float().mean().item()
