"""The exercise `byte_pair_merges`: tokens learned by merging the commonest pair."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import gpt_and_bert as solutions

byte_pair_merges = Declaration(
    solutions.byte_pair_merges,
    points=4,
    difficulty=3,
    minutes=30,
    help=(
        "Keep each word as a list of tokens. Count all pairs, take the commonest, merge it in "
        "every word, and start again.",
        "`zip(tokens, tokens[1:])` gives the pairs of a word. `min` with the key (-count, pair) "
        "takes the commonest, and the first one if several are equally common.",
        "Section “Tokens between letters and words”.",
    ),
)


@byte_pair_merges.right
def plain(words, n_merges):
    texts = {word: tuple(word) for word in words}
    found = []
    for _ in range(n_merges):
        counts = {}
        for word, tokens in texts.items():
            for at in range(len(tokens) - 1):
                left, right = tokens[at : at + 2]
                counts[left, right] = counts.get((left, right), 0) + words[word]
        if not counts:
            break
        most = max(counts.values())
        first, second = sorted(pair for pair, often in counts.items() if often == most)[0]
        found.append((first, second))
        for word, tokens in texts.items():
            rest, merged = list(tokens), []
            while rest:
                if rest[:2] == [first, second]:
                    merged.append(first + second)
                    rest = rest[2:]
                else:
                    merged.append(rest.pop(0))
            texts[word] = tuple(merged)
    return found


@byte_pair_merges.right
def by_number(words, n_merges):
    characters = sorted(set("".join(words)))
    names = dict(enumerate(characters))
    texts = [([characters.index(one) for one in word], often) for word, often in words.items()]
    found = []
    while len(found) < n_merges:
        counts = {}
        for ids, often in texts:
            for at in range(1, len(ids)):
                pair = ids[at - 1], ids[at]
                counts[pair] = counts.get(pair, 0) + often
        if not counts:
            return found
        best = min(counts, key=lambda pair: (-counts[pair], names[pair[0]], names[pair[1]]))
        found.append((names[best[0]], names[best[1]]))
        new = len(names)
        names[new] = "".join(found[-1])
        for ids, _ in texts:
            at = 0
            while at + 1 < len(ids):
                if (ids[at], ids[at + 1]) == best:
                    ids[at : at + 2] = [new]
                at += 1
    return found


@byte_pair_merges.right
def recursive(words, n_merges):
    def merge(tokens, left, right):
        for at in range(len(tokens) - 1):
            if tokens[at] == left and tokens[at + 1] == right:
                return [*tokens[:at], left + right, *merge(tokens[at + 2 :], left, right)]
        return tokens

    def learn(texts, left_to_do):
        pairs = [
            (tokens[at], tokens[at + 1], often)
            for tokens, often in texts
            for at in range(len(tokens) - 1)
        ]
        if not pairs or left_to_do == 0:
            return []
        kinds = sorted({(left, right) for left, right, _ in pairs})
        totals = [sum(often for *pair, often in pairs if tuple(pair) == kind) for kind in kinds]
        left, right = kinds[totals.index(max(totals))]
        merged = [(merge(tokens, left, right), often) for tokens, often in texts]
        return [(left, right), *learn(merged, left_to_do - 1)]

    return learn([(list(word), often) for word, often in words.items()], n_merges)


byte_pair_merges.wrong(
    "every word counted once",
    "A word occurs a hundred times in the text. How often do its pairs occur?",
    plain.edit("+ words[word]", "+ 1"),
)
byte_pair_merges.wrong(
    "the first seen of equally common pairs",
    "Of two equally common pairs, which one should be merged, and which one does your function "
    "merge?",
    plain.edit(
        "sorted(pair for pair, often in counts.items() if often == most)[0]",
        "max(counts, key=counts.get)",
    ),
)
byte_pair_merges.wrong(
    "the last of equally common pairs",
    "Of two equally common pairs, which one should be merged, and which one does your function "
    "merge?",
    plain.edit("often == most)[0]", "often == most)[-1]"),
)
byte_pair_merges.wrong(
    "the rarest pair",
    "Which pair shortens the text most when it is merged?",
    plain.edit("max(counts.values())", "min(counts.values())"),
)


@byte_pair_merges.wrong(
    "counted once for all",
    "After a merge there are new pairs, and some of the old ones are gone. Do you count again?",
)
def _(words, n_merges):
    counts = {}
    for word, often in words.items():
        for at in range(len(word) - 1):
            pair = word[at], word[at + 1]
            counts[pair] = counts.get(pair, 0) + often
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


byte_pair_merges.wrong(
    "the right token of a merged pair kept",
    "After a merge, join the tokens of a word. Do they still make the word?",
    plain.edit("rest[2:]", "rest[1:]"),
)
byte_pair_merges.wrong(
    "the merged tokens returned",
    "Was 'abc' made of 'a' and 'bc', or of 'ab' and 'c'? Does your answer say so?",
    plain.edit("found.append((first, second))", "found.append(first + second)"),
)
byte_pair_merges.wrong(
    "pairs across words",
    "The last letter of one word and the first of the next: are they neighbours within a word?",
    plain.edit(
        "texts = {word: tuple(word) for word in words}",
        'text = "".join(word * often for word, often in words.items())\n'
        "texts, words = {text: tuple(text)}, {text: 1}",
    ),
)


byte_pair_merges.wrong(
    "pairs that overlap counted once",
    "How often does the docstring count a, a in 'aaa'?",
    plain.edit(
        "for at in range(len(tokens) - 1):\n    left, right = tokens[at : at + 2]",
        "free = 0\n"
        "for at in range(len(tokens) - 1):\n"
        "    left, right = tokens[at : at + 2]\n"
        "    if at < free:\n"
        "        continue\n"
        "    free = at + 2 if tokens[at : at + 2] == tokens[at + 1 : at + 3] else 0",
    ),
)


byte_pair_merges.wrong(
    "ordered by the joined text",
    "Which comes first in the order of Python's tuples: ('ab', 'a') or ('a', 'c')?",
    plain.edit(
        "sorted(pair for pair, often in counts.items() if often == most)[0]",
        "min((pair for pair in counts if counts[pair] == most), key=''.join)",
    ),
)
byte_pair_merges.wrong(
    "over as soon as no pair occurs twice",
    "Does the docstring end when every pair is rare, or when no word has two tokens any more?",
    plain.edit(
        "most = max(counts.values())",
        "most = max(counts.values())\nif most < 2:\n    break",
    ),
)
byte_pair_merges.wrong(
    "a mark at the end of each word",
    "Some encoders mark the end of a word. Does a word of this docstring begin as its characters, "
    "or as its characters and a mark?",
    plain.edit(
        "tuple(word) for word in words",
        "(*word[:-1], *(x + '</w>' for x in word[-1:])) for word in words",
    ),
)
byte_pair_merges.wrong(
    "a token for the end of each word",
    "Some encoders put a token at the end of each word. Does a word of this docstring begin as its "
    "characters, or as its characters and one token more?",
    plain.edit("tuple(word) for word in words", "(*word, '</w>') for word in words"),
)
byte_pair_merges.wrong(
    "merged in the text, not among the tokens",
    "A token may end with the letter that the pair begins with. Does `replace` look for tokens, or "
    "for letters?",
    plain.edit(
        "texts[word] = tuple(merged)",
        'text = " ".join(texts[word])\n'
        'texts[word] = tuple(text.replace(f"{first} {second}", first + second).split())',
    ),
)
byte_pair_merges.wrong(
    "only the first occurrence in a word merged",
    "A pair occurs twice in a word. What happens to the second one?",
    plain.edit(
        "if rest[:2] == [first, second]:",
        "if rest[:2] == [first, second] and first + second not in merged:",
    ),
)


@byte_pair_merges.public
def _(rng):
    yield Case("three words, one merge", ({"hug": 10, "pug": 5, "hugs": 5}, 1)).holds(
        "how often each word stands in a text; a word begins as its characters, one a token.",
        "`words` is not changed.",
    )
    yield Case("three words, all merges", ({"hug": 10, "pug": 5, "hugs": 5}, 20)).holds(
        "The commonest pair is merged into one token wherever it stands, from left to right",
        "Returns the merged pairs in their order, fewer than n_merges if no word has two tokens "
        "any more.",
    )
    yield Case(
        "a rare long word, a common short one", ({"banana": 2, "ban": 7, "nab": 6}, 6)
    ).holds(
        "how often…",
        "At each of n_merges steps, every pair of neighbours within a word is counted, as often "
        "as the word stands in the text",
    )
    yield Case("one letter four times", ({"aaaa": 3, "ab": 4, "ba": 4}, 5)).holds(
        "pairs may overlap", "The commonest…"
    )
    yield Case("pairs that are equally common", ({"ab": 1, "ca": 1, "bc": 1, "zz": 1}, 4)).holds(
        "of equally common pairs the first in the order of Python's tuples."
    )
    yield Case("words of three letters", (_words(rng, "abc", 12), 8)).holds("The commonest…")
    yield Case("words of six letters", (_words(rng, "abcdef", 15), 10))
    yield Case("the end of one word and the beginning of the next", ({"xa": 3, "bx": 3}, 3)).holds(
        "At each of…"
    )
    yield Case("no merge", ({"hug": 10, "pug": 5}, 0)).holds("Returns the…")
    yield Case("no words", ({}, 5)).holds("Returns the…")
    yield Case("an empty word, and words of one letter", ({"": 4, "a": 9, "ba": 1}, 5)).holds(
        "how often…"
    )
    equal = {"aba": 1, "ac": 1}
    yield Case("equally common pairs, one of them with a longer token", (equal, 3)).holds(
        "of equally common pairs the first in the order of Python's tuples."
    )
    equal = {"xyx": 2, "xz": 2, "yz": 1}
    yield Case("three kinds of words, two of them equally common", (equal, 4))


@byte_pair_merges.hidden
def _(rng):
    a, b, c = rng.permutation(list("klmnop"))[:3].tolist()
    often = rng.integers(3, 30, size=4).tolist()
    yield Case("three words, one merge", (_counted([a + b, b + c, c + a + b], often), 1))
    yield Case("one letter four times", (_counted([a * 4, a + b, b + a], [3, 4, 4]), 6))
    yield Case(
        "pairs that are equally common", (_counted([c + a, a + b, b + c, b + b], [2] * 4), 4)
    )
    yield Case("few letters", (_words(rng, a + b + c, 14), int(rng.integers(6, 12))))
    yield Case("words of six letters", (_words(rng, "rstuvw", 18), 12))
    yield Case("words of five letters", (_words(rng, "ghijk", 10), 9))
    yield Case("all merges", (_words(rng, "xyz", 6), 100)).holds("Returns the…")
    a, b, c = sorted((a, b, c))
    for often in (1, int(rng.integers(2, 9))):
        equal = {a + b + a: often, a + c: often}
        yield Case("equally common pairs, one of them with a longer token", (equal, 3))


def _counted(words: list[str], often: list[int]) -> dict[str, int]:
    return dict(zip(words, often, strict=False))


def _words(rng: np.random.Generator, letters: str, number: int) -> dict[str, int]:
    """Random words of two to six letters, some of them common."""
    found = {}
    for _ in range(number):
        word = "".join(rng.choice(list(letters), size=int(rng.integers(2, 7))).tolist())
        found[word] = int(rng.geometric(0.15))
    return found
