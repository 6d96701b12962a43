"""Search asked in the book's own words: its sentences, and a few words of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...data.book_text import CHAPTERS, paragraphs
from ...published.minilm import MiniLM
from .ranking import BM25, words

FEWEST, MOST = 6, 14
"""The words of a sentence that is asked."""

A_CHAPTER, KEYWORDS = 6, 3
DRAWS = (0, 1, 2)
"""The sentences of each chapter, the words drawn from each, and the seeds of the draws."""


@dataclass(frozen=True)
class Asked:
    """The queries that find a paragraph of the right chapter, of n_queries.

    by_meaning, by_words: sentence by sentence. keys_by_meaning, keys_by_words: means over the
    draws, if a query is KEYWORDS words of the sentence, in any order.
    """

    n_queries: int
    by_meaning: int
    by_words: int
    keys_by_meaning: float
    keys_by_words: float


def sentences_of(text: Sequence[str]) -> list[str]:
    """Return the sentences of paragraphs that are neither short nor long.

    Each is whole, has no formula, and has KEYWORDS different words or more that are not common.
    """
    every = [one for paragraph in text for one in re.split(r"(?<=[.!?]) ", paragraph)]
    return [
        one
        for one in every
        if FEWEST <= len(re.findall(r"[\w']+", one)) <= MOST
        and re.fullmatch(r"[A-Z][^$]+[.!?]", one)
        and "so much" not in one  # a number that the copy of the text leaves out
        and len(set(words(one))) >= KEYWORDS
    ]


def chosen() -> list[tuple[str, str]]:
    """Return the queries, A_CHAPTER of each chapter at equal distances, each with its chapter."""
    found = []
    for page in CHAPTERS[1:]:
        own = sentences_of(paragraphs(page))
        found += [
            (own[(2 * at + 1) * len(own) // (2 * A_CHAPTER)], page) for at in range(A_CHAPTER)
        ]
    return found


def keywords(sentence: str, generator: np.random.Generator) -> str:
    """Return some words of a sentence that are not common, in any order."""
    return " ".join(generator.choice(sorted(set(words(sentence))), KEYWORDS, replace=False))


def asked(model: MiniLM) -> Asked:
    """Search with all queries, by meaning and by BM25."""
    pages, texts = zip(
        *((page, one) for page in CHAPTERS[1:] for one in paragraphs(page)), strict=True
    )
    vectors, ranking = model.embed(texts), BM25(list(texts))
    queries = chosen()

    def by_meaning(asks: list[str]) -> list[int]:
        nearest: list[int] = (model.embed(asks) @ vectors.T).argmax(dim=-1).tolist()
        return nearest

    def by_words(asks: list[str]) -> list[int]:
        return [ranking.best(one) for one in asks]

    def right(search: Callable[[list[str]], list[int]], asks: list[str]) -> int:
        return sum(pages[at] == page for at, (_, page) in zip(search(asks), queries, strict=True))

    whole = [one for one, _ in queries]
    draws = [[keywords(one, np.random.default_rng(seed)) for one in whole] for seed in DRAWS]
    return Asked(
        len(queries),
        right(by_meaning, whole),
        right(by_words, whole),
        float(np.mean([right(by_meaning, keys) for keys in draws])),
        float(np.mean([right(by_words, keys) for keys in draws])),
    )
