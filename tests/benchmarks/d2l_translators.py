"""Train the translators of the `d2l` package (Zhang et al., Dive into Deep Learning).

From the package: both encoders, the attention, the parts of the blocks, the initial weights, Adam,
clipping, and `predict_step`. The package has no decoders, since the book defines them in its text
(sections "Sequence-to-Sequence Learning", "The Bahdanau Attention Mechanism", "The Transformer
Architecture"). The decoders here follow that text and use the parts of the package.

These settings differ from the book:
- no dropout instead of 0.2, since no pair is seen twice;
- one layer instead of two in the recurrent translators;
- batches of 32 pairs instead of 128. All sources of a batch have the same length, since their
  recurrent encoders would read padding;
- a constant learning rate that is tuned on validation pairs, see `RATES`.
The widths give each translator about as many parameters as ours of the same kind.

`Changes` are the changes that the ablation makes to their Transformer, one after another.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.data.translation import Batch, Pair
from solutions.data.translation.vocabulary import PAD, STOP
from solutions.transformer import TOKEN_SIZE
from solutions.translators.quality import MAX_LENGTH
from solutions.translators.training import CLIP, DEVICE, PARALLEL, Task, tensors

BATCH = 32
RATES = (0.0025, 0.005, 0.01, 0.02)
"""The learning rates that are tried for the recurrent translators. The book uses the second."""
FOLDER = Path("_build/d2l")
"""The folder into which `tests.benchmarks.translators` installs the package. The course does not
depend on it."""
_OF_OTHER_CHAPTERS = ("torchvision", "pandas", "scipy", "scipy.spatial")


def _package() -> Any:
    """Import `d2l.torch`.

    For its chapters on pictures and tables it imports packages that the course does not have and
    that its translators never call. A mock replaces each of these that is missing.
    """
    absent = [name for name in _OF_OTHER_CHAPTERS if not _is_there(name)]
    sys.modules.update({name: MagicMock() for name in absent})
    sys.path.insert(0, str(FOLDER))
    package = importlib.import_module("d2l.torch")
    sys.path.remove(str(FOLDER))
    for name in absent:
        del sys.modules[name]
    return package


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None


d2l = _package()


class RecurrentDecoder(nn.Module):
    """A GRU that reads the encoder's last output at every step."""

    def __init__(self, tokens: int, width: int, layers: int, dropout: float) -> None:
        """Build the decoder; `width` is that of the embeddings and of the states."""
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.rnn = d2l.GRU(2 * width, width, layers, dropout)
        self.dense = nn.LazyLinear(tokens)
        self.apply(d2l.init_seq2seq)

    def init_state(self, encoded: tuple[Tensor, Tensor], *_: Tensor) -> tuple[Tensor, Tensor]:
        """Return the encoder's last output (B, d), and its last state (layers, B, d)."""
        outputs, hidden = encoded
        return outputs[-1], hidden

    def forward(self, X: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Any]:
        """X: (B, m) ids. Returns logits (B, m, V), and the state after them."""
        context, hidden = state
        embedded = self.embedding(X.T)  # (m, B, d)
        inputs = torch.cat([embedded, context.expand(len(embedded), -1, -1)], dim=-1)
        outputs, hidden = self.rnn(inputs, hidden)
        return self.dense(outputs).transpose(0, 1), (context, hidden)


class BahdanauDecoder(nn.Module):
    """A GRU that attends to the encoder's outputs before each step, by additive attention."""

    def __init__(self, tokens: int, width: int, layers: int, dropout: float) -> None:
        """Build the decoder; `width` is that of the embeddings and of the states."""
        super().__init__()
        self.attention = d2l.AdditiveAttention(width, dropout)
        self.embedding = nn.Embedding(tokens, width)
        self.rnn = nn.GRU(2 * width, width, layers, dropout=dropout)
        self.dense = nn.LazyLinear(tokens)
        self.apply(d2l.init_seq2seq)

    def init_state(self, encoded: tuple[Tensor, Tensor], lengths: Tensor) -> Any:
        """Return the encoder's outputs (B, n, d), their lengths (B,), and its last state."""
        outputs, hidden = encoded
        return outputs.transpose(0, 1), lengths, hidden

    def forward(self, X: Tensor, state: Any) -> tuple[Tensor, Any]:
        """X: (B, m) ids. Returns logits (B, m, V), and the state after them."""
        encoded, lengths, hidden = state
        outputs = []
        for embedded in self.embedding(X.T):  # (B, d)
            context = self.attention(hidden[-1][:, None], encoded, encoded, lengths)[:, 0]
            output, hidden = self.rnn(torch.cat([context, embedded], dim=-1)[None], hidden)
            outputs.append(output)
        return self.dense(torch.cat(outputs)).transpose(0, 1), (encoded, lengths, hidden)


class TransformerDecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the source, and the position-wise network."""

    def __init__(self, width: int, d_ff: int, heads: int, dropout: float) -> None:
        """width: size of the embeddings. d_ff: hidden size of the position-wise network."""
        super().__init__()
        self.attention1 = d2l.MultiHeadAttention(width, heads, dropout)
        self.attention2 = d2l.MultiHeadAttention(width, heads, dropout)
        self.ffn = d2l.PositionWiseFFN(d_ff, width)
        self.norms = nn.ModuleList(d2l.AddNorm(width, dropout) for _ in range(3))

    def forward(self, X: Tensor, encoded: Tensor, lengths: Tensor) -> Tensor:
        """X: (B, m, d); encoded: (B, n, d), of which `lengths` (B,) count. Returns (B, m, d)."""
        so_far = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.norms[0](X, self.attention1(X, X, X, so_far))
        Z = self.norms[1](Y, self.attention2(Y, encoded, encoded, lengths))
        return self.norms[2](Z, self.ffn(Z))


@dataclass(frozen=True)
class Changes:
    """The changes that make their Transformer more like ours. By default it is that of the book.

    schedule: the rate rises linearly for as many steps as ours, and falls linearly to 0 at the end
    of the training time. small_embeddings: the embeddings are initialised like ours. norm_first:
    there is a norm before each sublayer, and at the end of each stack.
    """

    schedule: bool = False
    small_embeddings: bool = False
    norm_first: bool = False


class NormFirstEncoderBlock(nn.Module):
    """An encoder block of their parts, with the norm before each sublayer."""

    def __init__(self, width: int, d_ff: int, heads: int, dropout: float) -> None:
        """width: size of the embeddings. d_ff: hidden size of the position-wise network."""
        super().__init__()
        self.attention = d2l.MultiHeadAttention(width, heads, dropout)
        self.ffn = d2l.PositionWiseFFN(d_ff, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, X: Tensor, lengths: Tensor) -> Tensor:
        """X: (B, n, d), of which `lengths` (B,) count. Returns the same shape."""
        Y = self.norms[0](X)
        X = X + self.attention(Y, Y, Y, lengths)
        return X + self.ffn(self.norms[1](X))


class NormFirstEncoder(d2l.TransformerEncoder):  # type: ignore[misc, name-defined]
    """Their encoder with `NormFirstEncoderBlock`, and a norm after the last block."""

    def __init__(
        self, tokens: int, width: int, d_ff: int, heads: int, blocks: int, dropout: float
    ) -> None:
        """width: size of the embeddings. d_ff: hidden size of the position-wise networks."""
        super().__init__(tokens, width, d_ff, heads, blocks, dropout)
        own = (NormFirstEncoderBlock(width, d_ff, heads, dropout) for _ in range(blocks))
        self.blks = nn.Sequential(*own)
        self.norm = nn.LayerNorm(width)

    def forward(self, X: Tensor, lengths: Tensor) -> Tensor:
        """X: (B, n) ids. Returns (B, n, d)."""
        return self.norm(super().forward(X, lengths))


class NormFirstDecoderBlock(nn.Module):
    """The parts of `TransformerDecoderBlock`, with the norm before each sublayer."""

    def __init__(self, width: int, d_ff: int, heads: int, dropout: float) -> None:
        """width: size of the embeddings. d_ff: hidden size of the position-wise network."""
        super().__init__()
        self.attention1 = d2l.MultiHeadAttention(width, heads, dropout)
        self.attention2 = d2l.MultiHeadAttention(width, heads, dropout)
        self.ffn = d2l.PositionWiseFFN(d_ff, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))

    def forward(self, X: Tensor, encoded: Tensor, lengths: Tensor) -> Tensor:
        """X: (B, m, d); encoded: (B, n, d), of which `lengths` (B,) count. Returns (B, m, d)."""
        so_far = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.norms[0](X)
        X = X + self.attention1(Y, Y, Y, so_far)
        X = X + self.attention2(self.norms[1](X), encoded, encoded, lengths)
        return X + self.ffn(self.norms[2](X))


class TransformerDecoder(nn.Module):
    """A stack of blocks that reads all target tokens so far, each at its own position.

    This is the only part whose behaviour differs from the book. The book's decoder gets one token
    at a time from `predict_step` and adds the vector of position 0 to each, unlike in training.
    This decoder keeps the earlier tokens. In three trials with seed 0 the difference was small:
    BLEU on long sentences was 29.7, 27.6 and 17.9 here, and 30.5, 27.7 and 17.6 in the book's way.
    """

    def __init__(
        self,
        tokens: int,
        width: int,
        d_ff: int,
        heads: int,
        blocks: int,
        dropout: float,
        norm_first: bool = False,
    ) -> None:
        """width: size of the embeddings. d_ff: hidden size of the position-wise networks."""
        super().__init__()
        self.scale = math.sqrt(width)
        self.embedding = nn.Embedding(tokens, width)
        self.pos_encoding = d2l.PositionalEncoding(width, dropout)
        block = NormFirstDecoderBlock if norm_first else TransformerDecoderBlock
        self.blocks = nn.ModuleList(block(width, d_ff, heads, dropout) for _ in range(blocks))
        self.norm = nn.LayerNorm(width) if norm_first else nn.Identity()
        self.dense = nn.LazyLinear(tokens)

    def init_state(self, encoded: Tensor, lengths: Tensor) -> Any:
        """Return the encoder's outputs (B, n, d), their lengths (B,), and no token so far."""
        return encoded, lengths, lengths.new_empty(len(lengths), 0)

    def forward(self, X: Tensor, state: Any) -> tuple[Tensor, Any]:
        """X: (B, m) ids. Returns logits (B, m, V), and the state after them."""
        encoded, lengths, before = state
        tokens = torch.cat([before, X], dim=1)
        Y = self.pos_encoding(self.embedding(tokens) * self.scale)
        for block in self.blocks:
            Y = block(Y, encoded, lengths)
        return self.dense(self.norm(Y[:, before.shape[1] :])), (encoded, lengths, tokens)


def rnn(source_tokens: int, target_tokens: int) -> Any:
    """Return the translator of "Sequence-to-Sequence Learning", untrained."""
    width, layers, dropout = 136, 1, 0.0
    encoder = d2l.Seq2SeqEncoder(source_tokens, width, width, layers, dropout)
    return _model(encoder, RecurrentDecoder(target_tokens, width, layers, dropout))


def bahdanau(source_tokens: int, target_tokens: int) -> Any:
    """Return the translator of "The Bahdanau Attention Mechanism", untrained."""
    width, layers, dropout = 128, 1, 0.0
    encoder = d2l.Seq2SeqEncoder(source_tokens, width, width, layers, dropout)
    return _model(encoder, BahdanauDecoder(target_tokens, width, layers, dropout))


NONE = Changes()


def transformer(source_tokens: int, target_tokens: int, changes: Changes = NONE) -> Any:
    """Return the translator of "The Transformer Architecture" with `changes`, untrained."""
    sizes = 64, 128, 4, 2, 0.0  # width, d_ff, heads, blocks, dropout
    kind = NormFirstEncoder if changes.norm_first else d2l.TransformerEncoder
    encoder = kind(source_tokens, *sizes)
    decoder = TransformerDecoder(target_tokens, *sizes, norm_first=changes.norm_first)
    if changes.small_embeddings:
        for embedding in (encoder.embedding, decoder.embedding):
            nn.init.normal_(embedding.weight, std=TOKEN_SIZE * sizes[0] ** -0.5)
    return _model(encoder, decoder)


def _model(encoder: nn.Module, decoder: nn.Module) -> Any:
    model = d2l.Seq2Seq(encoder, decoder, tgt_pad=PAD, lr=0.0)
    ids = torch.full((1, 2), STOP)
    model(ids, ids, torch.tensor([2]))  # the lazy layers take their sizes from the first input
    return model.to(DEVICE)


def unpadded(task: Task, seed: int) -> Iterator[Batch]:
    """Yield batches of 32 pairs whose sources have the same length, in random order.

    The pairs of each length that do not fill a batch are left out.
    """
    by_length = defaultdict(list)
    for pair in task.pairs:
        by_length[len(pair.source)].append(pair)
    groups = [
        pairs[i : i + BATCH]
        for _, pairs in sorted(by_length.items())
        for i in range(0, len(pairs) - BATCH + 1, BATCH)
    ]
    for i in np.random.default_rng(seed).permutation(len(groups)):
        yield task.batch(groups[i])


def train(
    model: Any, task: Task, seed: int, seconds: float, rate: float, schedule: bool = False
) -> tuple[float, int]:
    """Train `model` as in their book, for `seconds` of processor time.

    Returns the seconds spent and the number of steps. Raises ValueError if the pairs run out.
    """
    start = time.process_time()
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)  # as theirs, but faster
    for step, batch in enumerate(unpadded(task, seed)):
        spent = time.process_time() - start
        if spent >= seconds:
            return spent, step
        if schedule:
            rise = min(1, (step + 1) / PARALLEL.warm_up)
            optimiser.param_groups[0]["lr"] = rate * rise * (1 - spent / seconds)
        sources, lengths, targets = tensors(batch)
        logits = model(_ended(sources, lengths), targets[:, :-1], lengths + 1)
        loss = F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
    raise ValueError(f"{len(task.pairs)} pairs were not enough for {seconds:.0f} s")


def _ended(sources: Tensor, lengths: Tensor) -> Tensor:
    """Append [STOP] to each source, as their book does. Returns (B, n + 1)."""
    return F.pad(sources, (0, 1), value=PAD).scatter(1, lengths[:, None], STOP)


@torch.no_grad()
def translate_pairs(model: Any, task: Task, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Return the tokens that `model` writes for the sources of `pairs`, by their `predict_step`.

    As in training, all sources of a batch have the same length, since their recurrent encoders
    read padding.
    """
    by_length = defaultdict(list)
    for i, pair in enumerate(pairs):
        by_length[len(pair.source)].append(i)
    written: dict[int, tuple[str, ...]] = {}
    model.eval()
    for places in by_length.values():
        sources, lengths, targets = tensors(task.batch([pairs[i] for i in places]))
        batch = (_ended(sources, lengths), targets, lengths + 1, targets)
        tokens, _ = model.predict_step(batch, DEVICE, MAX_LENGTH)
        written |= dict(zip(places, map(task.target_vocabulary.decode, tokens), strict=True))
    return [written[i] for i in range(len(pairs))]
