"""Search the book's paragraphs by meaning, and by common words of question and paragraph."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ...data.book_text import CHAPTERS, paragraphs
from ...published.minilm import MiniLM

QUESTIONS = (
    ("Why does a translation of a very long sentence fall apart?", "context_bottleneck"),
    ("Do old inputs lose their influence in a recurrent network?", "context_bottleneck"),
    ("Can I read a sentence from back to front as well?", "context_bottleneck"),
    ("Which French word belongs to which English one?", "alignment"),
    ("How do I keep the blanks at the end of a short sentence from counting?", "alignment"),
    ("Can a picture of the weights be misleading?", "alignment"),
    ("Describe a photograph in words, one region at a time.", "captioning"),
    ("How can one train something that rolls dice?", "captioning"),
    ("What makes the estimate of a random gradient less noisy?", "captioning"),
    ("What happens if the words of a sentence are shuffled?", "self_attention"),
    ("How far does a token see when it looks at near neighbours only?", "self_attention"),
    ("Must two words that belong together have similar vectors?", "self_attention"),
    ("Why are the scores made smaller before the softmax?", "queries_keys_values"),
    ("How do I stop a token from seeing the future?", "queries_keys_values"),
    ("What is the difference between a dictionary and attention?", "queries_keys_values"),
    ("Can parts of a trained layer be removed without harm?", "multi_head"),
    ("Is it dearer to have eight small lookups than one large one?", "multi_head"),
    ("How does a model know the order of the words?", "positions"),
    ("Will it work on texts longer than any it has seen?", "positions"),
    ("Sines and cosines of different speeds", "positions"),
    ("Why can a network of many layers be trained at all?", "transformer_block"),
    ("Should features be rescaled before or after adding?", "transformer_block"),
    ("How are several candidate translations kept at once?", "transformer"),
    ("Why does the learning rate rise at first?", "transformer"),
)
"""Questions in words different from the book's, and the chapter that answers each."""

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be before by can do does for from have how i if in is it its of on "
        "one or should so than that the they this to very was what when which why will with all "
        "has not must no only",
    )
)
"""Common words, which are not counted in the overlap."""


@dataclass(frozen=True)
class Search:
    """For each question and each method, the best paragraph and its chapter.

    accuracy, accuracy_overlap: the share of questions whose paragraph is from the right chapter.
    chance: the mean share of paragraphs from the right chapter.
    """

    by_meaning: list[tuple[str, str]]
    by_overlap: list[tuple[str, str]]
    accuracy: float
    accuracy_overlap: float
    chance: float


def search(model: MiniLM) -> Search:
    """Find the best paragraph for each question."""
    every = [(page, one) for page in CHAPTERS[1:] for one in paragraphs(page)]
    texts = [text for _, text in every]
    questions = [question for question, _ in QUESTIONS]
    cosines = model.embed(questions) @ model.embed(texts).T  # (questions, paragraphs)
    by_meaning = [every[at] for at in cosines.argmax(dim=-1).tolist()]
    by_overlap = [every[best_overlap(question, texts)] for question in questions]
    pages = Counter(page for page, _ in every)
    return Search(
        by_meaning,
        by_overlap,
        _accuracy(by_meaning),
        _accuracy(by_overlap),
        sum(pages[right] for _, right in QUESTIONS) / len(every) / len(QUESTIONS),
    )


def best_overlap(question: str, texts: list[str]) -> int:
    """Return the first text with the largest share of words in common with the question.

    The share is the number of common words divided by the number of all different words (Jaccard).
    """
    asked = content_words(question)
    shares = []
    for text in texts:
        words = content_words(text)
        shares.append(len(asked & words) / max(len(asked | words), 1))
    return shares.index(max(shares))


def content_words(text: str) -> set[str]:
    """Return the words of a text in small letters, without common words."""
    return set(re.findall(r"[a-zà-ÿ]+", text.lower())) - STOP_WORDS


def _accuracy(found: list[tuple[str, str]]) -> float:
    right = [page == wanted for (page, _), (_, wanted) in zip(found, QUESTIONS, strict=True)]
    return sum(right) / len(right)
