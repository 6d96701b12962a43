"""The exercise `bpe_encode`: a word cut by learned merges. To debug."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.variants import byte_pairs as solutions

from ...judging.exercise import Case, Exercise, Kind, Misconception, Promise


def encode_cases(rng: np.random.Generator) -> Iterator[Case]:
    hugs = [("u", "g"), ("h", "ug"), ("ug", "s")]
    yield Case("a word that was learned", ("hug", hugs))
    yield Case("the earlier merge takes what a later one wants", ("hugs", hugs))
    yield Case("two merges want the same letter", ("abc", [("b", "c"), ("a", "b")]))
    yield Case("one letter five times", ("aaaaa", [("a", "a"), ("aa", "aa")]))
    yield Case("a pair in several places", ("cacaocaca", [("c", "a"), ("ca", "o"), ("ca", "ca")]))
    yield Case("a later merge makes the token of an earlier one", _made_late("lamp"))
    yield Case("letters that no merge knows", ("über", [("e", "r"), ("b", "er")]))
    yield Case("a long word", _long_word(rng, "abcdefg", 9))
    yield Case("another long word", _long_word(rng, "hijklmn", 12))
    yield Case("no merges", ("hug", []))
    yield Case("no letters", ("", hugs))
    yield Case("one letter", ("g", hugs))


def encode_hidden(rng: np.random.Generator) -> Iterator[Case]:
    a, b, c = rng.permutation(list("klmnop"))[:3].tolist()
    yield Case("two merges want the same letter", (a + b + c, [(b, c), (a, b)]))
    merges = [(b, c), (a, b + c), (b + c, a)]
    yield Case("the earlier merge takes what a later one wants", (a + b + c + a, merges))
    yield Case("one letter many times", (a * int(rng.integers(5, 10)), [(a, a), (a * 2, a * 2)]))
    letters = rng.permutation(list("qrstuv"))[:4].tolist()
    yield Case("a later merge makes the token of an earlier one", _made_late("".join(letters)))
    yield Case("a long word", _long_word(rng, "bcdefgh", 10))
    yield Case("another long word", _long_word(rng, "pqrstuv", 14))
    yield Case("a word of other letters", _long_word(rng, "äöüßéèç", 11))
    yield Case("a very long word", _long_word(rng, "tuvwxyz", 25))


def _made_late(word: str) -> tuple[str, list[tuple[str, str]]]:
    """A word of four letters, whose first three are joined last, and in another way than before."""
    a, b, c, d = list(word)
    return word, [(b, c), (a, b), (a + b, c), (a + b + c, d), (a, b + c)]


def _long_word(
    rng: np.random.Generator, letters: str, number: int
) -> tuple[str, list[tuple[str, str]]]:
    """Pieces in which two merges want the same letter, and merges in which the first one wins."""
    a, b, c, d, e, f, g = rng.permutation(list(letters)).tolist()
    merges = [(b, c), (a, b), (e, f), (d, e + f), (d, e), (g, g), (a + b, g), (b + c, a)]
    pieces = [a + b + c, d + e + f, d + e, g * 3, a + b + g]
    drawn = rng.choice(pieces, size=number).tolist()
    word = "".join([*drawn, *rng.permutation(pieces).tolist()])
    return word, [*merges, (g + g, g), (d, e + f + a)]


def encode__longest_first(word, merges):
    known = {left + right for left, right in merges} | set(word)
    tokens, begin = [], 0
    while begin < len(word):
        end = len(word)
        while word[begin:end] not in known:
            end -= 1
        tokens.append(word[begin:end])
        begin = end
    return tokens


def encode__left_to_right(word, merges):
    known, tokens = set(merges), []
    for character in word:
        tokens.append(character)
        while len(tokens) > 1 and (tokens[-2], tokens[-1]) in known:
            tokens[-2:] = [tokens[-2] + tokens[-1]]
    return tokens


def encode__first_place_only(word, merges):
    tokens = list(word)
    for left, right in merges:
        for at in range(len(tokens) - 1):
            if tokens[at] == left and tokens[at + 1] == right:
                tokens[at : at + 2] = [left + right]
                break
    return tokens


def encode__last_merge_first(word, merges):
    tokens = list(word)
    for pair in reversed(merges):
        at = 0
        while at < len(tokens) - 1:
            if (tokens[at], tokens[at + 1]) == pair:
                tokens[at : at + 2] = ["".join(pair)]
            at += 1
    return tokens


def encode__from_the_right(word, merges):
    tokens = list(word)
    for pair in merges:
        at = len(tokens) - 2
        while at >= 0:
            if tuple(tokens[at : at + 2]) == pair:
                tokens[at : at + 2] = ["".join(pair)]
            at -= 1
    return tokens


def encode__lowest_rank(word, merges):
    tokens = list(word)
    while True:
        pairs = {(tokens[at], tokens[at + 1]) for at in range(len(tokens) - 1)}
        best = next((pair for pair in merges if pair in pairs), None)
        if best is None:
            return tokens
        merged, at = [], 0
        while at < len(tokens):
            both = tuple(tokens[at : at + 2]) == best
            merged.append("".join(best) if both else tokens[at])
            at += 2 if both else 1
        tokens = merged


def encode__replaced_in_the_text(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


def encode__token_by_token(word, merges):
    tokens = [*word]
    for pair in merges:
        merged = []
        rest = iter(range(len(tokens)))
        for at in rest:
            if at + 1 < len(tokens) and (tokens[at], tokens[at + 1]) == pair:
                merged.append(tokens[at] + tokens[at + 1])
                next(rest)
            else:
                merged.append(tokens[at])
        tokens = merged
    return tokens


def encode__in_place(word, merges):
    tokens = list(word)
    for left, right in merges:
        at = 0
        while at + 1 < len(tokens):
            if tokens[at] == left and tokens[at + 1] == right:
                tokens[at] = left + right
                del tokens[at + 1]
            at += 1
    return tokens


def encode__recursive(word, merges):
    def merge(tokens, left, right):
        for at in range(1, len(tokens)):
            if (tokens[at - 1], tokens[at]) == (left, right):
                return [*tokens[: at - 1], left + right, *merge(tokens[at + 1 :], left, right)]
        return tokens

    tokens = list(word)
    for left, right in merges:
        tokens = merge(tokens, left, right)
    return tokens


BPE_ENCODE = Exercise(
    name="bpe_encode",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.bpe_encode,
    cases=encode_cases,
    hidden=encode_hidden,
    misconceptions=(
        Misconception(
            "the longest token first",
            encode__longest_first,
            "You know which tokens exist. Where does your function use the order in which they "
            "were learned?",
        ),
        Misconception(
            "merged as soon as it is read",
            encode__left_to_right,
            "Two merges want the same letter. Which of them was learned first, and which one does "
            "your function make?",
        ),
        Misconception(
            "in the first place only",
            encode__first_place_only,
            "A pair stands in the word twice. What becomes of the second one?",
        ),
        Misconception(
            "the last merge first",
            encode__last_merge_first,
            "A merge joins tokens that earlier merges have made. What is there before them?",
        ),
        Misconception(
            "from the right",
            encode__from_the_right,
            "Three equal letters, and a merge of two of them: which two does the docstring take?",
        ),
        Misconception(
            "gone through until nothing changes",
            encode__lowest_rank,
            "How often does the docstring go through the merges? What becomes of a pair that comes "
            "to stand side by side only after its turn?",
        ),
        Misconception(
            "replaced in the text",
            encode__replaced_in_the_text,
            "A token may end with the letter that a merge begins with. Does `replace` look for "
            "tokens, or for letters?",
        ),
    ),
    alternatives=(
        encode__token_by_token,
        encode__in_place,
        encode__recursive,
    ),
    help=(
        "Take a word of three letters in which two merges want the middle one. Which tokens should "
        "come out, and which does the function give?",
        "One loop over the merges, in their order, and within it one from left to right over the "
        "tokens.",
        "Chapter 10, the section on tokens between letters and words, says how merges are learned. "
        "A word is to be cut as it would have been cut then.",
    ),
    promises=(
        Promise(
            "word: any text, which may be empty; its characters need not occur in `merges`.",
            ("no letters", "one letter", "letters that no merge knows"),
        ),
        Promise(
            "merges: pairs of tokens, no pair twice, in the order in which they were learned: what "
            "a pair is made of are characters and tokens of earlier pairs.",
            ("no merges", "a word that was learned", "two merges want the same letter"),
        ),
        Promise("The word begins as its characters.", ("no merges",)),
        Promise(
            "The merges are gone through once, in their order, and each is made wherever its pair "
            "stands, from left to right.",
            (
                "one letter five times",
                "a pair in several places",
                "the earlier merge takes what a later one wants",
                "a later merge makes the token of an earlier one",
            ),
        ),
        Promise(
            "Returns the tokens; joined, they are the word.",
            ("a long word", "another long word"),
        ),
    ),
    kind=Kind.DEBUG,
    released=encode__longest_first,
)
