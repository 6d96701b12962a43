"""Find the sentences of a docstring of which no case holds an answer to a part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

SENTENCE_END = re.compile(r"(?<!\bal)(?<!\.\.)[.!?]\)?\s+|\.\.\.\s+(?=[A-Z])")
"""Where a sentence ends; "et al. 2015" and "h_1 ... h_T" are in the middle of one."""

WORK = r"[^();:]*\((?:19|20)\d\d\)(?:, (?:section|equation|table|figure|appendix) [\w.]+)*"
CITATION = re.compile(rf"Sources?: {WORK}(?:; {WORK})*\.|\([^()]*\b(?:19|20)\d\d[^()]*\)\.?")
"""A sentence that says where something comes from, and nothing else."""


def sentences(docstring: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a docstring begins and ends."""
    begin = 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(docstring)), len(docstring)]:
        if docstring[begin:end].strip():
            yield begin, end
        begin = end


def unquoted(docstrings: Sequence[str], quotes: Iterable[str]) -> list[str]:
    """Return the sentences that no quote touches, except the summary and mere citations."""
    quotes, sentences_left = list(quotes), []
    for part, docstring in enumerate(docstrings):
        spans = [(docstring.find(quote), len(quote)) for quote in quotes if quote in docstring]
        for begin, end in sentences(docstring):
            sentence = docstring[begin:end].strip()
            if (part == 0 and begin == 0) or CITATION.fullmatch(sentence):
                continue
            if not any(at < end and begin < at + length for at, length in spans):
                sentences_left.append(sentence)
    return sentences_left
