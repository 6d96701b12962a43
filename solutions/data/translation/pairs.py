"""A pair of sentences with its gold alignment, and conversion between tokens and text.

Rules for tokens: a punctuation mark is a token. A sentence begins with a small letter, unless its
first word always has a capital. A contraction ("du", "au", "im", "zur") is one token, aligned with
both words that it replaces. An elided word with its apostrophe is a token ("l'", "qu'"), and so is
a pronoun attached to its verb ("-vous").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from . import english, french, german
from .syntax import Sentence, Word

Language = Literal["german", "french"]

_GRAMMARS = {"german": german.sentence, "french": french.sentence}

# A French word shortened before a vowel, or a pronoun attached to a verb, is a separate token.
_ELIDED = r"(?:[ldjmtsnc]|qu|lorsqu|puisqu|jusqu)'(?=\w)"
_WHOLE = r"aujourd'hui|quelqu'un|rendez-vous"
_WORD = r"\w+(?:['-](?!(?:je|tu|ils?|elles?|on|nous|vous|t-ils?|t-elles?|t-on)\b)\w+)*"
_HUNG = r"-(?:je|tu|ils?|elles?|on|nous|vous|t(?=-))\b"
_TOKEN = re.compile(rf"\b(?:{_WHOLE})\b|\b{_ELIDED}|{_HUNG}|{_WORD}|\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """An English sentence and its translation, with the gold word alignment.

    `sure` and `possible` hold (target index, source index); `sure` is a subset of `possible`, as in
    Och and Ney's alignment error rate. `unaligned` holds the target indices without an English
    word: every target index is either in a possible link or in `unaligned`.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    unaligned: frozenset[int]


def grammar_of(language: Language) -> Callable[[Sentence], list[Word]]:
    """Return the grammar that writes `language`. Raises ValueError if there is none."""
    if language not in _GRAMMARS:
        raise ValueError(f"no grammar for {language!r}; there is one for: {', '.join(_GRAMMARS)}")
    return _GRAMMARS[language]


def translate(sentence: Sentence, language: Language) -> Pair:
    """Write an abstract sentence in English and in `language` ("german" or "french").

    Raises ValueError for another language.
    """
    source = english.sentence(sentence)
    position = {key: i for i, (_, key) in enumerate(source)}
    target = grammar_of(language)(sentence)
    sure = {(t, position[key]) for t, word in enumerate(target) for key in word[1]}
    possible = {(t, position[key]) for t, word in enumerate(target) for key in word[2]}
    return Pair(
        source=tuple(word for word, _ in source),
        target=tuple(word for word, _, _ in target),
        sure=frozenset(sure),
        possible=frozenset(sure | possible),
        unaligned=frozenset(t for t, word in enumerate(target) if not word[1] and not word[2]),
    )


def to_text(tokens: tuple[str, ...], language: str = "english") -> str:
    """Return `tokens` as ordinary text: with an initial capital, and "l'" and "-vous" joined.

    In "french", a non-breaking space precedes a question mark.
    """
    text = ""
    for token in tokens:
        joined = token in {",", ".", "?", "!"} or token.startswith("-") or text.endswith("'")
        text += token if joined or not text else " " + token
    if language == "french":
        text = text.replace("?", "\N{NO-BREAK SPACE}?")
    return text[:1].upper() + text[1:]


def tokenise(text: str) -> tuple[str, ...]:
    """Split `text` into the generator's kind of tokens, without changing any capital.

    Punctuation marks are separate; "l'homme" gives "l'", "homme" and "trouvez-vous" gives
    "trouvez", "-vous"; "du" and "im" stay one token.
    """
    return tuple(_TOKEN.findall(text.replace("’", "'")))  # noqa: RUF001 (typed in many files)
