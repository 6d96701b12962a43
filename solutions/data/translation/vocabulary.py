"""The mapping between tokens and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

PAD, START, STOP, UNKNOWN = range(4)
SPECIAL = ("[PAD]", "[START]", "[STOP]", "[UNK]")
"""The tokens with the first four ids."""


class Vocabulary:
    """The tokens of one language, each with its id; ids 0 to 3 are `SPECIAL`."""

    def __init__(self, tokens: Iterable[str]) -> None:
        """Number the distinct `tokens` in order, from 4 on."""
        ordinary = dict.fromkeys(tokens)
        self.tokens = (*SPECIAL, *(token for token in ordinary if token not in SPECIAL))
        self._ids = {token: i for i, token in enumerate(self.tokens)}

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """Make the vocabulary of tokenised `sentences`, the most frequent token first."""
        counts = Counter(token for sentence in sentences for token in sentence)
        return cls(sorted(counts, key=lambda token: (-counts[token], token)))

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        """Return whether `token` is in the vocabulary."""
        return token in self._ids

    def encode(self, sentence: Sequence[str]) -> np.ndarray:
        """Return the ids of `sentence`, (n,), int64; an unknown word gets the id of [UNK].

        Raises ValueError for an empty sentence, and TypeError for text that is not tokenised.
        """
        if isinstance(sentence, str):
            raise TypeError(f"a sentence is a sequence of tokens, not text: {sentence!r}")
        if not len(sentence):
            raise ValueError("an empty sentence cannot be encoded: give at least one token")
        return np.array([self._ids.get(token, UNKNOWN) for token in sentence], dtype=np.int64)

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Return the tokens of `ids` up to the first [STOP], without [START] and [PAD].

        Raises ValueError for an id that is not in the vocabulary.
        """
        tokens: list[str] = []
        for i in map(int, ids):
            if not 0 <= i < len(self.tokens):
                raise ValueError(f"no token has the id {i}; ids go from 0 to {len(self) - 1}")
            if i == STOP:
                break
            if i not in {PAD, START}:
                tokens.append(self.tokens[i])
        return tuple(tokens)
