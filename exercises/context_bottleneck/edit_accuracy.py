"""The exercise `edit_accuracy`: a measure that one skipped word does not ruin."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import edit_distance as solutions

edit_accuracy = Declaration(
    solutions.edit_accuracy,
    points=3,
    difficulty=3,
    minutes=25,
    help=(
        "Let D[i, j] be the smallest number of edits that turn the first i tokens of one into the "
        "first j of the other. Which entries are easy?",
        "D[i, 0] = i and D[0, j] = j. The last edit takes a token out, puts one in, or exchanges "
        "one, which is free if the two are equal: D[i, j] is the smallest of D[i - 1, j] + 1, "
        "D[i, j - 1] + 1 and D[i - 1, j - 1] + (0 or 1).",
        "Section “Where it falls”.",
    ),
)


@edit_accuracy.right
def first_tokens_first(written, reference):
    known = {}

    def edits(i, j):
        if not i or not j:
            return i + j
        if (i, j) not in known:
            exchanged = edits(i - 1, j - 1) + int(written[i - 1] != reference[j - 1])
            known[i, j] = min(exchanged, edits(i - 1, j) + 1, edits(i, j - 1) + 1)
        return known[i, j]

    m, n = len(written), len(reference)
    return 1 - edits(m, n) / max(m, n) if max(m, n) else 1.0


@edit_accuracy.right
def reference_down(written, reference):
    above = np.arange(len(written) + 1)
    for j, wanted in enumerate(reference):
        row = np.minimum(above[1:] + 1, above[:-1] + (np.asarray(written) != wanted))
        row = np.concatenate([[j + 1], row])
        steps = np.arange(len(row))
        above = np.minimum.accumulate(row - steps) + steps
    longer = max(len(written), len(reference), 1)
    return float((longer - above[-1]) / longer) if len(written) or len(reference) else 1.0


@edit_accuracy.right
def plain(written, reference):
    m, n = len(written), len(reference)
    D = np.zeros((m + 1, n + 1))
    D[:, 0] = np.arange(m + 1)
    D[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            exchanged = D[i - 1, j - 1] + (written[i - 1] != reference[j - 1])
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, exchanged)
    if m + n == 0:
        return 1.0
    return float(1 - D[m, n] / max(m, n))


@edit_accuracy.wrong(
    "position by position",
    "Leave out the first word of a right translation. How many edits repair it, and what do you "
    "return?",
)
def _(written, reference):
    longer = max(len(written), len(reference))
    right = sum(int(a == b) for a, b in zip(written, reference, strict=False))
    return right / longer if longer else 1.0


@edit_accuracy.wrong(
    "order ignored",
    "Turn the words of a right translation round. Is it still right?",
)
def _(written, reference):
    longer = max(len(written), len(reference))
    left, right = list(reference), 0
    for token in written:
        if token in left:
            left.remove(token)
            right += 1
    return right / longer if longer else 1.0


edit_accuracy.wrong(
    "exchanging a token counts 2",
    "How many edits does it take to exchange one token for another?",
    plain.edit("(written[i - 1] != reference[j - 1])", "2 * (written[i - 1] != reference[j - 1])"),
)
edit_accuracy.wrong(
    "common tokens in order counted",
    "“a b” and “b a” have one token in order in common. How many edits lie between them?",
    plain.edit(
        "exchanged = D[i - 1, j - 1] + (written[i - 1] != reference[j - 1])",
        "exchanged = D[i - 1, j - 1] + (m + n) * (written[i - 1] != reference[j - 1])",
    ).edit(
        "return float(1 - D[m, n] / max(m, n))",
        "return float((m + n - D[m, n]) / 2 / max(m, n))",
    ),
)
edit_accuracy.wrong(
    "two neighbours turned round count 1",
    "The docstring has three kinds of edits. Does one of them swap neighbours?",
    plain.edit(
        "D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, exchanged)",
        "D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, exchanged)\n"
        "if i > 1 and j > 1 and (written[i - 1], written[i - 2]) == (reference[j - 2], "
        "reference[j - 1]):\n"
        "    D[i, j] = min(D[i, j], D[i - 2, j - 2] + 1)",
    ),
)
edit_accuracy.wrong(
    "no token is put in",
    "What do you return when the translation lacks a word?",
    plain.edit(
        "min(D[i - 1, j] + 1, D[i, j - 1] + 1, exchanged)", "min(D[i - 1, j] + 1, exchanged)"
    ),
)
edit_accuracy.wrong(
    "no token is taken out",
    "What do you return when the translation has a word too many?",
    plain.edit(
        "min(D[i - 1, j] + 1, D[i, j - 1] + 1, exchanged)", "min(D[i, j - 1] + 1, exchanged)"
    ),
)
edit_accuracy.wrong(
    "tokens too many at the start are free",
    "How many edits turn three tokens into none?",
    plain.edit("D[:, 0] = np.arange(m + 1)", "D[:, 0] = 0"),
)
edit_accuracy.wrong(
    "divided by the length of the reference",
    "A translation is twice as long as its reference, and has nothing in common with it. What do "
    "you return?",
    plain.edit("D[m, n] / max(m, n)", "D[m, n] / max(n, 1)"),
)
edit_accuracy.wrong(
    "divided by both lengths",
    "Two sequences of one token each have nothing in common. What do you return?",
    plain.edit("D[m, n] / max(m, n)", "D[m, n] / (m + n)"),
)
edit_accuracy.wrong(
    "the share of errors",
    "What do you return for two equal sequences?",
    plain.edit("float(1 - D[m, n] / max(m, n))", "float(D[m, n] / max(m, n))"),
)
edit_accuracy.wrong(
    "nothing for two empty sequences",
    "How many edits lie between two empty sequences? What share of them is right?",
    plain.edit("return 1.0", "return 0.0"),
)


@edit_accuracy.public
def _(rng):
    reference = np.arange(1, 7)
    yield Case("equal", (reference, reference)).holds("as a float from 0 to 1")
    yield Case("the first token is missing", (reference[1:], reference)).holds(
        "puts one in", "Returns 1 - d / l, where l is the larger of m and n"
    )
    yield Case("a token too many", (np.array([9, *reference]), reference)).holds(
        "An edit takes one token out", "Returns 1…"
    )
    yield Case("a token exchanged", (np.array([1, 2, 9, 4, 5, 6]), reference)).holds(
        "or exchanges one for another, and each counts 1."
    )
    yield Case("two neighbours turned round", (np.array([1, 3, 2, 4, 5, 6]), reference)).holds(
        "or exchanges…"
    )
    yield Case("turned round", (reference[::-1], reference)).holds("Let d be the smallest number")
    yield Case("nothing in common, twice as long", (np.arange(10, 22), reference)).holds("as a…")
    yield Case("nothing written", (np.array([], dtype=int), reference)).holds(
        "written, reference: token ids, (m,) and (n,); either may be empty."
    )
    yield Case("empty reference", (reference, np.array([], dtype=int))).holds("written, reference…")
    empty = np.array([], dtype=int)
    yield Case("both empty", (empty, empty)).holds("two empty sequences agree entirely.")
    yield Case("two of three at the end", (np.array([7, 8]), np.array([1, 7, 8]))).holds(
        "Let d be…"
    )
    yield Case("few kinds of tokens", (rng.integers(3, size=9), rng.integers(3, size=12))).holds(
        "Let d be…"
    )
    yield Case("as long, few kinds", (rng.integers(3, size=9), rng.integers(3, size=9)))
    yield Case("one token each", (np.array([4]), np.array([5])))


@edit_accuracy.hidden
def _(rng):
    m, n = (int(one) for one in rng.permutation([8, 10, 12, 14])[:2])
    reference = rng.integers(5, size=n)
    yield Case("few kinds of tokens", (rng.integers(3, size=m), rng.integers(3, size=n)))
    yield Case("as long", (rng.integers(3, size=n), rng.integers(3, size=n))).holds("Let d be…")
    yield Case("the first is missing", (reference[1:], reference)).holds("puts one…")
    yield Case("two too many", (np.array([8, *reference[:3], 9, *reference[3:]]), reference))
    yield Case("exchanged", (np.where(np.arange(n) % 4 == 1, 7, reference), reference)).holds(
        "or exchanges…"
    )
    swapped = np.arange(n)
    swapped[[2, 3, 5, 6]] = swapped[[3, 2, 6, 5]]
    yield Case("neighbours turned round", (swapped, np.arange(n))).holds("or exchanges…")
    yield Case("turned round", (np.arange(n)[::-1], np.arange(n))).holds("Let d be…")
    yield Case("much longer", (rng.integers(4, size=2 * n), reference)).holds("Returns 1…")
    yield Case("much shorter", (reference[: n // 3], reference)).holds("Returns 1…")
    yield Case("nothing written", (reference[:0], reference)).holds("written, reference…")
    yield Case("empty reference", (reference, reference[:0])).holds("written, reference…")
    yield Case("both empty", (reference[:0], reference[:0])).holds("two empty…")
    yield Case("equal", (reference, reference)).holds("as a…")
