"""Tokens for the book's text: bytes, merged by the course's own byte-pair encoding."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import torch

from ...gpt_and_bert import byte_pair_merges
from ...variants.byte_pairs import bpe_encode

N_BYTES = 256
_WORD = re.compile(r"\n| ?[^\W\d_]+| ?\d| ?[^\s\w]+|\s|_")
"""A line end, a word with the space before it, a digit, or other characters."""


@dataclass(frozen=True)
class Tokens:
    """A byte-pair encoding: the bytes of each id, written in Latin-1."""

    merges: list[tuple[str, str]]
    _cut: dict[str, list[int]] = field(default_factory=dict, repr=False)

    @property
    def pieces(self) -> list[str]:
        """Return the bytes of each id; the first 256 ids are the single bytes."""
        return [chr(one) for one in range(N_BYTES)] + ["".join(pair) for pair in self.merges]

    def encode(self, text: str) -> torch.Tensor:
        """Return the ids of a text, (n,); any text can be encoded."""
        ids = {piece: at for at, piece in reversed(list(enumerate(self.pieces)))}
        found: list[int] = []
        for word in words_of(text):
            if word not in self._cut:
                self._cut[word] = [ids[piece] for piece in bpe_encode(word, self.merges)]
            found += self._cut[word]
        return torch.tensor(found)

    def decode(self, ids: torch.Tensor) -> str:
        """Return the text of ids; invalid UTF-8 becomes the replacement character."""
        pieces = self.pieces
        data = "".join(pieces[one] for one in ids.tolist()).encode("latin-1")
        return data.decode("utf-8", errors="replace")


def words_of(text: str) -> list[str]:
    """Return words with the space before them; each character represents a byte of UTF-8."""
    return [word.encode("utf-8").decode("latin-1") for word in _WORD.findall(text)]


def learned(text: str, n_merges: int) -> Tokens:
    """Learn the byte-pair encoding of a text."""
    return Tokens(byte_pair_merges(dict(Counter(words_of(text))), n_merges))
