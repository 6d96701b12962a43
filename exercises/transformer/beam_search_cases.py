"""The cases of the exercise `beam_search`."""

from dataclasses import replace

import numpy as np

from autograder.exercise.declaring import Case, SourceFunction
from solutions import transformer as solutions

FOUR_TOKENS = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 0 and stop is 1; what follows depends on the last token only, and stop misleads
    table = [[0.01, 0.04, 0.5, 0.45], [0.01, 0.01, 0.97, 0.01], [0.1, 0.3, 0.3, 0.3],
             [0.01, 0.9, 0.05, 0.04]]
    return np.log(np.array(table)[tokens[-1]])
""",
)
"""A language that can be followed by hand; a greedy search takes the wrong first token."""


TWO_LENGTHS = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 3 and stop is 0: after 1 comes stop at once, after 2 comes more
    table = [[-9, -9, -9, -9], [-1, -3, -3, -9], [-3, -4, -0.5, -9], [-9, -1, -1.25, -9]]
    return np.array(table, dtype=float)[tokens[-1]]
""",
)
"""Short sentences with large sums, and long ones with smaller: the length penalty decides."""


ALL_EQUAL = SourceFunction(
    "step",
    """
def step(tokens):
    # all beginnings of the same length are equally good; stop is 2
    return np.full(4, -1.0)
""",
)
"Every choice is a tie."


TIED_BEGINNINGS = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 3 and stop is 0; two continuations of 2, and one of 1, come to the same sum
    table = [[-9, -9, -9, -9], [-9, -0.5, -9, -9], [-9, -1, -1, -9], [-9, -1.5, -1, -9]]
    return np.array(table, dtype=float)[tokens[-1]]
""",
)
"Three equal sums for two places: the beginnings decide which comes first, not the ids."


TIED_SENTENCES = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 3 and stop is 0; stopping at once costs as much as one word and then stop
    table = [[-9, -9, -9, -9], [-1, -9, -9, -9], [-1, -9, -9, -9], [-2, -1, -1, -9]]
    return np.array(table, dtype=float)[tokens[-1]]
""",
)
"Three sentences with the same score: one ends first, and two end together."


START_AGAIN = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 1 and stop is 0; the sentence is 2, 1, 3
    scores = np.full(4, -9.0)
    texts = [[1], [1, 2], [1, 2, 1], [1, 2, 1, 3]]
    scores[[2, 1, 3, 0][texts.index(tokens)] if tokens in texts else 0] = -0.1
    return scores
""",
)
"The token that is used as start is also a word of the sentence."


IMPROBABLE = SourceFunction("step", TWO_LENGTHS.source.replace("[-1]]", "[-1]] * 400"))
"Probabilities too small for a floating-point number; their logarithms are not."


ONE_LONG_SENTENCE = SourceFunction(
    "step",
    """
def step(tokens):
    # start is 2 and stop is 0; the sentence has 70 words
    return np.log([0.2, 0.7, 0.1] if len(tokens) <= 70 else [0.8, 0.1, 0.1])
""",
)


def drawn_language(rng: np.random.Generator, size: int, start: int, stop: int) -> SourceFunction:
    """Log-probabilities of `size` tokens that depend on every token before; start hardly follows.

    They are waves of drawn frequencies, so that they need no generator and no table. Whoever asks
    what comes after stop is misled.
    """
    waves = [round(float(one), 3) for one in rng.uniform(1, 9, size=size)]
    turn = round(float(rng.uniform(1, 9)), 3)
    source = f"""
def step(tokens):
    # every beginning has its own scores; `step` should not be called after stop
    if {stop} in tokens:
        return np.full({size}, -0.01)
    mark = sum((place + {turn}) * (token + 1) for place, token in enumerate(tokens))
    scores = 2 * np.sin(mark * np.array({waves}))
    scores[{start}] = -9
    return scores - np.log(np.exp(scores).sum())
"""
    return SourceFunction("step", source)


STOPS_EARLY = np.array(
    [[-9, -9, -9, -9, -9], [-0.1, -9, -0.2, -9, -9], [-9, -9, -9, -0.1, -9], [-0.1, -9, -9, -9, -9],
     [-1, -1.1, -9, -9, -9]]
)  # fmt: skip
"""With a beam of 2, two sentences have ended when a third begins to look better."""

LATE_REWARD = np.array(
    [[-9, -9, -9, -9, -9], [-9, -9, -0.1, -0.2, -9], [-5, -9, -9, -9, -9], [-0.05, -9, -9, -9, -9],
     [-1, -0.1, -9, -9, -9]]
)  # fmt: skip
"""With a beam of 2, the second best of two open sentences is the better one in the end."""

TWO_AT_ONCE = np.array(
    [[-9, -9, -9, -9, -9], [-9, -9, -9, -0.3, -9], [-0.5, -9, -0.2, -9, -9], [-0.2, -9, -9, -9, -9],
     [-1, -0.9, -1.1, -9, -9]]
)  # fmt: skip
"""With a beam of 3, two sentences have ended, and then four; a longer one looks better later."""

EARLY_AND_LATE = np.concatenate([LATE_REWARD[:4], STOPS_EARLY[4:]])
"""The same after a sentence that ends at once, and must not take the place of the second best."""


def renamed(rng: np.random.Generator, table: np.ndarray) -> tuple[SourceFunction, int, int]:
    """The language of a table whose stop is 0 and start 4, under other ids; its start and stop.

    Row i of a table scores what follows token i.
    """
    ids = rng.permutation(len(table))
    scores = np.empty_like(table)
    scores[ids[:, None], ids] = table + rng.uniform(-0.02, 0.02, size=table.shape)
    start, stop = int(ids[4]), int(ids[0])
    source = f"""
def step(tokens):
    # start is {start} and stop is {stop}; what follows depends on the last token only
    return np.array({np.round(scores, 3).tolist()})[tokens[-1]]
"""
    return SourceFunction("step", source), start, stop


def public(rng):
    yield Case("no room at all", (FOUR_TOKENS, 0, 1, 2, 0, 1.0)).holds("may be 0")
    yield Case("a beam of 1, no length penalty", (FOUR_TOKENS, 0, 1, 1, 6, 0.0)).holds(
        "how many beginnings are kept, at least 1", "With a beam of 1 the search is greedy."
    )
    yield Case("a beam of 2", (FOUR_TOKENS, 0, 1, 2, 6, 0.0)).holds(
        "given the…",
        "how many…",
        "Each kept beginning is continued by each of the V tokens, and of all these the `beam` "
        "with the largest sums of log-probabilities are kept",
        "Returns the tokens of the sentence with the highest score, without these two, and its "
        "score",
    )
    yield Case("room for one token", (FOUR_TOKENS, 0, 1, 2, 1, 1.0)).holds(
        "max_len: how often they are continued, at most"
    )
    yield Case("two lengths, no length penalty", (TWO_LENGTHS, 3, 0, 3, 5, 0.0)).holds(
        "The score of a sentence is its sum divided by ((5 + length) / 6)^length_penalty, where "
        "length counts the `stop` at its end, but not the `start` that was there before."
    )
    yield Case("two lengths, a length penalty of 2", (TWO_LENGTHS, 3, 0, 3, 5, 2.0)).holds(
        "The search is over when at least `beam` have ended.", "The score…", "Returns the…"
    )
    yield Case("nothing but ties", (ALL_EQUAL, 3, 2, 2, 4, 0.5)).holds(
        "of equal ones, those of the beginning that was better, then those with the lower token"
    )
    yield Case("ties between two beginnings", (TIED_BEGINNINGS, 3, 0, 2, 2, 0.0)).holds("of equal…")
    yield Case("equal scores, one ended first", (TIED_SENTENCES, 3, 0, 3, 5, 0.0)).holds(
        "Of equal scores the one that ended first wins, then the one with the better place among "
        "those kept."
    )
    yield Case("equal scores, two end together", (TIED_SENTENCES, 3, 0, 2, 5, 0.0)).holds(
        "Of equal…"
    )
    yield Case("start is chosen", (START_AGAIN, 1, 0, 1, 6, 1.0)).holds(
        "given the…", "where `start` was chosen, it is a token like any other"
    )
    yield Case("a beam wider than the vocabulary", (FOUR_TOKENS, 0, 1, 9, 6, 1.0)).holds(
        "and all of them where there are fewer"
    )
    yield Case("very improbable sentences", (IMPROBABLE, 3, 0, 3, 5, 2.0)).holds(
        "however far below 0"
    )
    yield Case("room for a hundred tokens", (ONE_LONG_SENTENCE, 2, 0, 1, 100, 1.0)).holds(
        "max_len: how…", "With a beam…"
    )
    yield _drawn(rng, 2, 0.6).holds(
        "given the tokens so far, a list of ints with `start` first, it returns the "
        "log-probabilities of the token that follows, (V,)"
    )
    for beam, length_penalty in ((3, 1.0), (4, 0.0), (3, 2.0)):
        yield _drawn(rng, beam, length_penalty)
    yield _drawn(rng, 2, 0.6, ended=False).holds(
        "A sentence that has not ended is returned only if none has."
    )
    yield Case("two end early", (*renamed(rng, STOPS_EARLY), 2, 8, 2.0)).holds(
        "Those of them that were continued by `stop` have ended: they are put aside, and only "
        "the others are continued, to `beam` again at most.",
        "The search…",
    )
    yield Case("more than `beam` have ended", (*renamed(rng, TWO_AT_ONCE), 3, 8, 2.0)).holds(
        "The search…"
    )
    yield Case("the second best wins late", (*renamed(rng, LATE_REWARD), 2, 8, 1.0)).holds(
        "Each kept…"
    )
    yield Case(
        "one ends early, and one wins late", (*renamed(rng, EARLY_AND_LATE), 2, 8, 2.0)
    ).holds("Those of…")
    yield Case(
        "one ends early, the others are cut off", (*renamed(rng, EARLY_AND_LATE), 2, 2, 2.0)
    ).holds("A sentence…")


def hidden(rng):
    yield _drawn(rng, 1, 0.0)
    for beam in (2, 3, 4, 5):
        yield _drawn(rng, beam, round(float(rng.uniform(0.3, 2)), 2))
    yield _drawn(rng, 3, 0.0)
    yield _drawn(rng, 2, round(float(rng.uniform(0.5, 1)), 2), ended=False)
    penalty = round(float(rng.uniform(1.7, 2)), 2)
    yield Case("two end early", (*renamed(rng, STOPS_EARLY), 2, 8, penalty))
    yield Case("more than `beam` have ended", (*renamed(rng, TWO_AT_ONCE), 3, 8, penalty))
    yield Case("the second best wins late", (*renamed(rng, LATE_REWARD), 2, 8, penalty / 2))
    for note, room in (("and one wins late", 8), ("the others are cut off", 2)):
        language = renamed(rng, EARLY_AND_LATE)
        yield Case(f"one ends early, {note}", (*language, 2, room, penalty))
    stop = int(rng.integers(3))
    ties = SourceFunction("step", ALL_EQUAL.source.replace("stop is 2", f"stop is {stop}"))
    yield Case("nothing but ties", (ties, 3, stop, 3, 4, 0.5))
    room = int(rng.integers(4, 30))
    yield Case("equal scores, one ended first", (TIED_SENTENCES, 3, 0, 3, room, 0.0))
    yield Case("equal scores, two end together", (TIED_SENTENCES, 3, 0, 2, room, 0.0))
    yield Case("start is chosen", (START_AGAIN, 1, 0, 1, room, penalty))
    wide = _drawn(rng, int(rng.integers(6, 12)), penalty / 2)
    yield replace(wide, note="a beam wider than the vocabulary")
    yield Case("very improbable sentences", (IMPROBABLE, 3, 0, 3, 5, penalty))


def _drawn(rng: np.random.Generator, beam: int, length_penalty: float, ended: bool = True) -> Case:
    """A search in a drawn language whose answer has at least two tokens, and has ended or not.

    A beam above 1 finds something else than a beam of 1.
    """
    size, room = 5, 8 if ended else 3
    while True:
        start, stop = (int(one) for one in rng.permutation(size)[:2])
        language = drawn_language(rng, size, start, stop)
        limits = (room, length_penalty)
        best, greedy = (
            solutions.beam_search(language.load(), start, stop, width, *limits)
            for width in (beam, 1)
        )
        tokens, _ = best
        if len(tokens) >= 2 and (len(tokens) < room) == ended and (beam == 1 or best != greedy):
            note = f"a beam of {beam}, a length penalty of {length_penalty:g}"
            note = note if ended else f"{note}, cut off"
            return Case(note, (language, start, stop, beam, *limits))
