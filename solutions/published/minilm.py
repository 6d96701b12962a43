"""all-MiniLM-L6-v2 in this course's own encoder: from sentences to tokens, layers and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import safetensors.numpy
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from ..gpt_and_bert import mean_pool, rename_weights
from ..transformer_block import EncoderBlock
from .bert import BERT
from .files import TOKENIZER, WEIGHTS, read_published

VOCABULARY, D_MODEL, HEADS, D_FF, LAYERS = 30_522, 384, 12, 1536, 6
MAX_LEN = 512
"""The largest number of tokens of a text, including [CLS] and [SEP]."""


class UnfitWeightsError(Exception):
    """The names or shapes of the weights differ from those of the encoder."""


@dataclass(frozen=True)
class Batch:
    """Sentences as ids (batch, n), padded on the right with 0, and a mask: True for a token."""

    ids: Tensor
    mask: Tensor


class MiniLM:
    """The published sentence encoder, made of this course's blocks or of yours."""

    def __init__(self, block: Callable[[int, int, int], nn.Module] = EncoderBlock) -> None:
        """block: makes a block of `d_model, n_heads, d_ff`: your own `EncoderBlock`, for example.

        Raises PublishedFileError if a file is missing or differs from the published one, and
        UnfitWeightsError if the block's parameters have other names or shapes.
        """
        self.encoder = BERT(VOCABULARY, D_MODEL, HEADS, D_FF, LAYERS, MAX_LEN, block)
        fill(self.encoder, rename_weights(safetensors.numpy.load(read_published(WEIGHTS))))
        self.encoder.eval().requires_grad_(False)
        self.tokenizer = Tokenizer.from_str(read_published(TOKENIZER).decode("utf-8"))
        self.tokenizer.no_padding()  # the file's setting pads every sentence to 128 tokens
        self.tokenizer.no_truncation()

    def tokens(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence, with [CLS] before and [SEP] after them."""
        found: list[str] = self.tokenizer.encode(sentence).tokens
        return found

    def batch(self, sentences: Sequence[str]) -> Batch:
        """Return the sentences as ids, padded to the longest.

        Raises TypeError for bytes, and ValueError for a sentence that is empty or has more than 512
        tokens. Both messages contain the sentence's number.
        """
        return _padded(self._ids(sentences))

    def _ids(self, sentences: Sequence[str]) -> list[list[int]]:
        for number, sentence in enumerate(sentences, start=1):
            if not isinstance(sentence, str):
                raise TypeError(
                    f"sentence {number} is {type(sentence).__name__}, not text: decode it first, "
                    "as in data.decode('utf-8')"
                )
            if not sentence.strip():
                raise ValueError(f"sentence {number} is empty: there is nothing to embed")
        rows = [one.ids for one in self.tokenizer.encode_batch(list(sentences))]
        for number, row in enumerate(rows, start=1):
            if len(row) > MAX_LEN:
                raise ValueError(
                    f"sentence {number} has {len(row)} tokens, and the model has {MAX_LEN} "
                    "positions: cut it into shorter pieces"
                )
        return rows

    def layers(self, sentences: Sequence[str]) -> list[Tensor]:
        """Return the states after the embedding and after each block: 7 tensors (batch, n, 384)."""
        batch = self.batch(sentences)
        return self.encoder.layers(batch.ids, batch.mask)

    def embed(self, sentences: Sequence[str], at_once: int = 32) -> Tensor:
        """Return a vector of length 1 for each sentence: (len(sentences), 384).

        at_once: the number of sentences in a batch; sentences of similar length share a batch.
        Raises the same errors as `batch`.
        """
        rows = self._ids(sentences)
        order = sorted(range(len(rows)), key=lambda one: len(rows[one]))
        vectors = torch.zeros(len(sentences), D_MODEL)
        for begin in range(0, len(order), at_once):
            some = order[begin : begin + at_once]
            batch = _padded([rows[one] for one in some])
            pooled = mean_pool(self.encoder(batch.ids, batch.mask), batch.mask)
            vectors[some] = nn.functional.normalize(pooled, dim=-1)
        return vectors


def _padded(rows: list[list[int]]) -> Batch:
    n = max(map(len, rows), default=0)
    ids = torch.tensor([row + [0] * (n - len(row)) for row in rows]).reshape(len(rows), n)
    lengths = torch.tensor([len(row) for row in rows])
    return Batch(ids.long(), torch.arange(n) < lengths[:, None])


def fill(encoder: nn.Module, weights: dict) -> None:  # type: ignore[type-arg]
    """Load `weights`, a dictionary name -> array. Raises UnfitWeightsError if they do not fit."""
    own = {name: tuple(one.shape) for name, one in encoder.state_dict().items()}
    given = {name: tuple(one.shape) for name, one in weights.items()}
    for name in sorted(own.keys() | given.keys()):
        if name not in given:
            raise UnfitWeightsError(f"the weights have no {name!r}, which the encoder has")
        if name not in own:
            raise UnfitWeightsError(f"the encoder has no {name!r}, which the weights have")
        if own[name] != given[name]:
            raise UnfitWeightsError(
                f"{name!r} has shape {own[name]} in the encoder and {given[name]} in the weights"
            )
    encoder.load_state_dict({name: torch.from_numpy(one) for name, one in weights.items()})
