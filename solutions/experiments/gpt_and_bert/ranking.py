"""BM25, the usual rival of search by meaning: shared words, weighted by how rare they are."""

from __future__ import annotations

import math
import re
from collections import Counter

from ...data.book_text import CHAPTERS, paragraphs
from .search import QUESTIONS, STOP_WORDS

K_1, B = 1.2, 0.75
"""How soon a repeated word stops counting, and how much long paragraphs are held back."""


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, without common words, with repetitions."""
    return [word for word in re.findall(r"[a-zà-ÿ]+", text.lower()) if word not in STOP_WORDS]


class BM25:
    """The ranking of Robertson and Zaragoza (2009), section 3, with the idf that is never below 0.

    It scores each text by the words that it shares with a question.
    """

    def __init__(self, texts: list[str]) -> None:
        """Count the words of the texts."""
        self.counts = [Counter(words(text)) for text in texts]
        self.lengths = [count.total() for count in self.counts]
        self.mean = sum(self.lengths) / len(texts)
        found_in = Counter(word for count in self.counts for word in count)
        n = len(texts)
        self.rarity = {
            word: math.log(1 + (n - often + 0.5) / (often + 0.5))
            for word, often in found_in.items()
        }

    def best(self, question: str) -> int:
        """Return the number of the best text."""
        asked = set(words(question))
        scores = []
        for count, length in zip(self.counts, self.lengths, strict=True):
            full = K_1 * (1 - B + B * length / self.mean)
            scores.append(
                sum(
                    self.rarity[word] * count[word] * (K_1 + 1) / (count[word] + full)
                    for word in asked & count.keys()
                )
            )
        return scores.index(max(scores))


def by_words() -> list[tuple[str, str]]:
    """Return, for each question of `search`, the best paragraph of the book and its chapter."""
    every = [(page, one) for page in CHAPTERS[1:] for one in paragraphs(page)]
    ranking = BM25([text for _, text in every])
    return [every[ranking.best(question)] for question, _ in QUESTIONS]
