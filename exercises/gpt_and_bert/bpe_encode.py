"""The exercise `bpe_encode`: a word cut by learned merges. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.gpt_and_bert import byte_pair_merges
from solutions.variants import byte_pairs as solutions

bpe_encode = Declaration(
    solutions.bpe_encode,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "Take a word of three letters in which two merges could use the middle one. Which tokens "
        "should come out, and which does the function return?",
        "Write one loop over the merges, in their order, and within it one over the tokens, from "
        "left to right.",
        "Section “Tokens between letters and words” says how merges are learned. A new word "
        "should be cut as it would have been cut then.",
    ),
)


@bpe_encode.right
def token_by_token(word, merges):
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


@bpe_encode.right
def plain(word, merges):
    tokens = list(word)
    for left, right in merges:
        at = 0
        while at + 1 < len(tokens):
            if tokens[at] == left and tokens[at + 1] == right:
                tokens[at] = left + right
                del tokens[at + 1]
            at += 1
    return tokens


@bpe_encode.right
def recursive(word, merges):
    def merge(tokens, left, right):
        for at in range(1, len(tokens)):
            if (tokens[at - 1], tokens[at]) == (left, right):
                return [*tokens[: at - 1], left + right, *merge(tokens[at + 1 :], left, right)]
        return tokens

    tokens = list(word)
    for left, right in merges:
        tokens = merge(tokens, left, right)
    return tokens


@bpe_encode.right
def lowest_rank_first(word, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    tokens = list(word)
    while len(tokens) > 1:
        pairs = [(tokens[at], tokens[at + 1]) for at in range(len(tokens) - 1)]
        first = min(pairs, key=lambda pair: ranks.get(pair, len(ranks)))
        if first not in ranks:
            break
        merged = []
        for token in tokens:
            if merged and (merged[-1], token) == first:
                merged[-1] += token
            else:
                merged.append(token)
        tokens = merged
    return tokens


@bpe_encode.wrong(
    "the longest token first",
    "You know which tokens exist. Where does your function use the order in which they were "
    "learned?",
    released=True,
)
def _(word, merges):
    known = {left + right for left, right in merges} | set(word)
    tokens, begin = [], 0
    while begin < len(word):
        end = len(word)
        while word[begin:end] not in known:
            end -= 1
        tokens.append(word[begin:end])
        begin = end
    return tokens


@bpe_encode.wrong(
    "merged as soon as it is read",
    "Two merges could use the same letter. Which of them was learned first, and which one does "
    "your function apply?",
)
def _(word, merges):
    known, tokens = set(merges), []
    for character in word:
        tokens.append(character)
        while len(tokens) > 1 and (tokens[-2], tokens[-1]) in known:
            tokens[-2:] = [tokens[-2] + tokens[-1]]
    return tokens


bpe_encode.wrong(
    "only the first occurrence merged",
    "A pair occurs twice in the word. What happens to the second one?",
    plain.edit("del tokens[at + 1]", "del tokens[at + 1]\nbreak"),
)
bpe_encode.wrong(
    "the last merge first",
    "A merge joins tokens that earlier merges have made. What does it find before they have been "
    "made?",
    plain.edit("in merges", "in reversed(merges)"),
)
bpe_encode.wrong(
    "from the right",
    "Three equal letters, and a merge of two of them: which two does the docstring take?",
    plain.edit("at = 0\nwhile at + 1 < len(tokens):", "at = len(tokens) - 2\nwhile at >= 0:").edit(
        "at += 1", "at -= 1"
    ),
)


@bpe_encode.wrong(
    "replaced in the text",
    "A token may end with the letter that a merge begins with. Does `replace` look for tokens, or "
    "for letters?",
)
def _(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


@bpe_encode.public
def _(rng):
    hugs = byte_pair_merges({"hug": 9, "mugs": 3, "tugs": 3}, 3)  # u g, then h ug, then ug s
    yield Case("a word that was learned", ("hug", hugs)).holds(
        "merges: pairs of tokens in the order in which `byte_pair_merges` learned them from some "
        "words, as many as it learned or only the first of them."
    )
    yield Case("the earlier merge takes the letter of a later one", ("hugs", hugs)).holds(
        "The merges are gone through in their order, and each is made wherever its pair stands, "
        "from left to right."
    )
    yield Case("two merges could use the same letter", ("abc", [("b", "c"), ("a", "b")])).holds(
        "merges: pairs…"
    )
    yield Case("one letter five times", ("aaaaa", [("a", "a"), ("aa", "aa")])).holds("The merges…")
    yield Case(
        "a pair in several places", ("cacaocaca", [("c", "a"), ("ca", "o"), ("ca", "ca")])
    ).holds("The merges…")
    yield Case("letters that are in no merge", ("über", [("e", "r"), ("b", "er")])).holds(
        "word: any text, which may be empty; its characters need not occur in `merges`."
    )
    yield Case("a long word", _long_word(rng, "abcdefg", 9)).holds(
        "Returns the tokens; joined, they are the word."
    )
    yield Case("another long word", _long_word(rng, "hijklmn", 12)).holds("Returns the…")
    yield Case("no merges", ("hug", [])).holds(
        "merges: pairs…", "The word begins as its characters."
    )
    yield Case("no letters", ("", hugs)).holds("word: any…")
    yield Case("one letter", ("g", hugs)).holds("word: any…")


@bpe_encode.hidden
def _(rng):
    a, b, c = rng.permutation(list("klmnop"))[:3].tolist()
    yield Case("two merges could use the same letter", (a + b + c, [(b, c), (a, b)]))
    merges = byte_pair_merges({a + b + c: 6, b + c + a: 4}, 3)
    yield Case("the earlier merge takes the letter of a later one", (a + b + c + a, merges))
    yield Case("one letter many times", (a * int(rng.integers(5, 10)), [(a, a), (a * 2, a * 2)]))
    yield Case("a long word", _long_word(rng, "bcdefgh", 10))
    yield Case("another long word", _long_word(rng, "pqrstuv", 14))
    yield Case("a word of other letters", _long_word(rng, "äöüßéèç", 11))
    yield Case("a very long word", _long_word(rng, "tuvwxyz", 25))


def _long_word(
    rng: np.random.Generator, letters: str, number: int
) -> tuple[str, list[tuple[str, str]]]:
    """Pieces in which two merges want the same letter, and merges in which the first one wins."""
    a, b, c, d, e, f, g = rng.permutation(list(letters)).tolist()
    commonest = [e + f, b + c, a + b, d + e + f, d + e, a + b + g, g * 2, b + c + a, g * 3]
    often = [200, 100, 80, 70, 60, 40, 35, 30, 10]
    merges = byte_pair_merges(dict(zip(commonest, often, strict=True)), len(commonest))
    pieces = [a + b + c, d + e + f, d + e, g * 3, a + b + g]
    drawn = rng.choice(pieces, size=number).tolist()
    return "".join([*drawn, *rng.permutation(pieces).tolist()]), merges
