"""What goes wrong in `byte_pair_merges`."""

from __future__ import annotations

from ...judging.exercise import Misconception


def merges__words_counted_once(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for tokens in split.values():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 2 if both else 1
            split[word] = merged
    return merges


def merges__first_seen(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, tokens in split.items():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: counts[pair])
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 2 if both else 1
            split[word] = merged
    return merges


def merges__last_of_equal(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, tokens in split.items():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 2 if both else 1
            split[word] = merged
    return merges


def merges__rarest(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, tokens in split.items():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 2 if both else 1
            split[word] = merged
    return merges


def merges__counted_once_for_all(words, n_merges):
    counts = {}
    for word, often in words.items():
        for at in range(len(word) - 1):
            pair = word[at], word[at + 1]
            counts[pair] = counts.get(pair, 0) + often
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


def merges__overlapping_merges(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, tokens in split.items():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 1
            split[word] = merged
    return merges


def merges__merged_token_returned(words, n_merges):
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, tokens in split.items():
            for at in range(len(tokens) - 1):
                pair = tokens[at], tokens[at + 1]
                counts[pair] = counts.get(pair, 0) + words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for word, tokens in split.items():
            merged, at = [], 0
            while at < len(tokens):
                both = tuple(tokens[at : at + 2]) == best
                merged.append("".join(best) if both else tokens[at])
                at += 2 if both else 1
            split[word] = merged
    return ["".join(pair) for pair in merges]


def merges__across_words(words, n_merges):
    tokens = [one for word, often in words.items() for _ in range(often) for one in word]
    merges = []
    while len(merges) < n_merges and len(tokens) > 1:
        counts = {}
        for at in range(len(tokens) - 1):
            pair = tokens[at], tokens[at + 1]
            counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        merged, at = [], 0
        while at < len(tokens):
            both = tuple(tokens[at : at + 2]) == best
            merged.append("".join(best) if both else tokens[at])
            at += 2 if both else 1
        tokens = merged
    return merges


WRONG = (
    Misconception(
        "every word counted once",
        merges__words_counted_once,
        "A word stands in the text a hundred times. How often do its pairs?",
    ),
    Misconception(
        "of equal pairs the one seen first",
        merges__first_seen,
        "Of two equally common pairs, which one does the docstring merge, and which does yours?",
    ),
    Misconception(
        "of equal pairs the last",
        merges__last_of_equal,
        "Of two equally common pairs, which one does the docstring merge, and which does yours?",
    ),
    Misconception(
        "the rarest pair",
        merges__rarest,
        "Which pair shortens the text most when it is merged?",
    ),
    Misconception(
        "counted once for all",
        merges__counted_once_for_all,
        "After a merge there are new pairs, and some of the old ones are gone. Do you count again?",
    ),
    Misconception(
        "the right token of a merged pair kept",
        merges__overlapping_merges,
        "After a merge, do the tokens of a word, joined, still make the word?",
    ),
    Misconception(
        "the merged tokens returned",
        merges__merged_token_returned,
        "Was 'abc' made of 'a' and 'bc', or of 'ab' and 'c'? Does your answer say so?",
    ),
    Misconception(
        "pairs across words",
        merges__across_words,
        "The last letter of one word and the first of the next: are they neighbours within a word?",
    ),
)
