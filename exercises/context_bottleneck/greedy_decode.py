"""The exercise `greedy_decode`: a sentence written from one vector."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, SourceFunction
from solutions import context_bottleneck as solutions

greedy_decode = Declaration(
    solutions.greedy_decode,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Begin with start and without a state. Call `step`, take the best token, and pass it to "
        "the next call together with the state.",
        "`np.argmax` finds the first of several equal scores, and `int` turns its answer into a "
        "Python int. There are two reasons to end: stop was chosen, or max_len is reached.",
        "Section “The machine, whole”.",
    ),
)


@greedy_decode.right
def cut_at_stop(step, context, start, stop, max_len):
    tokens, state = [start], None
    for _ in range(max_len):
        scores, state = step(tokens[-1], state, context)
        tokens.append(int(scores.argmax()))
    tokens = tokens[1:]
    return tokens[: tokens.index(stop)] if stop in tokens else tokens


@greedy_decode.right
def recursive(step, context, start, stop, max_len):
    def rest(previous, state, room):
        if room == 0:
            return []
        scores, state = step(previous, state, context)
        best = max(range(len(scores)), key=lambda token: scores[token])
        return [] if best == stop else [best, *rest(best, state, room - 1)]

    return rest(start, None, max_len)


@greedy_decode.right
def by_hand(step, context, start, stop, max_len):
    tokens, token, state = [], start, None
    while max_len > 0:
        scores, state = step(token, state, context)
        token = 0
        for candidate, score in enumerate(scores):
            if score > scores[token]:
                token = candidate
        if token == stop:
            break
        tokens += [token]
        max_len -= 1
    return tokens


@greedy_decode.right
def plain(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


greedy_decode.wrong(
    "stop kept",
    "Is stop a word of the translation? When do you check the chosen token: before it goes into "
    "your list, or after?",
    plain.edit(
        "if previous == stop:\n    break\ntokens.append(previous)",
        "tokens.append(previous)\nif previous == stop:\n    break",
    ),
)
greedy_decode.wrong(
    "start kept",
    "Did the decoder choose start, or did you put it there to begin with?",
    plain.edit("[], start, None", "[start], start, None"),
)
greedy_decode.wrong(
    "start handed in at every step",
    "Which token does your second call of `step` get as its first argument?",
    plain.edit("step(previous, state, context)", "step(start, state, context)"),
)
greedy_decode.wrong(
    "state not carried on",
    "`step` returns two things. Where does the second one go?",
    plain.edit("step(previous, state, context)", "step(previous, None, context)"),
)
greedy_decode.wrong(
    "context handed in as the first state",
    "According to the docstring, what is the state at the first step?",
    plain.edit("[], start, None", "[], start, context"),
)
greedy_decode.wrong(
    "context replaced by the state",
    "Does the source change while its translation is written? Should the context?",
    plain.edit("previous = int", "context = state\nprevious = int"),
)
greedy_decode.wrong(
    "lowest score taken",
    "Does a high score mean a good token or a bad one here?",
    plain.edit("np.argmax", "np.argmin"),
)
greedy_decode.wrong(
    "last of equal scores",
    "Suppose that two tokens have the same score. Which of them should win, and which do you take?",
    plain.edit("np.argmax(scores)", 'np.argsort(scores, kind="stable")[-1]'),
)
greedy_decode.wrong(
    "one token too many",
    "With max_len = 2, how many tokens may your list hold at most, and how often does your loop "
    "run?",
    plain.edit("range(max_len)", "range(max_len + 1)"),
)
greedy_decode.wrong(
    "at least one token",
    "What do you return for max_len = 0? When does your loop check the limit for the first time?",
    plain.edit("range(max_len)", "range(max(max_len, 1))"),
)
greedy_decode.wrong(
    "no limit",
    "What if a decoder never chooses stop?",
    plain.edit("for _ in range(max_len):", "while True:"),
)
greedy_decode.wrong(
    "start and stop exchanged",
    "Which of the two tokens comes before the first word, and which one ends the sentence?",
    plain.edit("[], start, None", "[], stop, None").edit("previous == stop", "previous == start"),
)
greedy_decode.wrong(
    "start removed everywhere",
    "Which `start` does the docstring leave out: only the one that you pass in, or also those "
    "that the decoder chooses?",
    plain.edit("return tokens", "return [token for token in tokens if token != start]"),
)
greedy_decode.wrong(
    "search for the highest score starts at 0",
    "Suppose that all scores of a step are below 0, as log-probabilities are. Which token do you "
    "take?",
    plain.edit(
        "previous = int(np.argmax(scores))",
        "previous, highest = 0, 0\n"
        "for token in range(len(scores)):\n"
        "    if scores[token] > highest:\n"
        "        previous, highest = token, scores[token]",
    ),
)


BEST_FIRST = SourceFunction(
    "step",
    """
def step(previous, state, context):
    # every token once, the one with the highest entry of the context first
    used = np.zeros(len(context)) if state is None else state.copy()
    used[previous] = 100
    return context - used, used
""",
)
"""A decoder that can be followed by hand: its state notes what has been said."""


RECURRENT = SourceFunction(
    "step",
    """
def step(previous, state, context):
    # a small recurrent decoder for five tokens; the context is an input of every step
    state = np.zeros(4) if state is None else state
    embedding = np.array([[2, 0, 0, 1], [0, 2, 0, -1], [0, 0, 2, 1], [-2, 1, 0, 0], [1, -1, -2, 0]])
    W_hh = np.array([[0, 1, 0, 0], [-1, 0, 0.5, 0], [0, 0, 0.5, 1], [0.5, 0, -1, 0]])
    state = np.tanh(embedding[previous] / 2 + state @ W_hh + context)
    return state @ np.roll(embedding, 1, axis=0).T, state
""",
)


def drawn_decoder(rng: np.random.Generator) -> SourceFunction:
    """RECURRENT with other weights, which nobody can know beforehand."""
    embedding, W_hh = (rng.normal(size=shape).round(2).tolist() for shape in ((5, 4), (4, 4)))
    source = f"""
def step(previous, state, context):
    # a small recurrent decoder for five tokens; the context is an input of every step
    state = np.zeros(4) if state is None else state
    embedding = 2 * np.array({embedding})
    state = np.tanh(embedding[previous] / 2 + state @ np.array({W_hh}) + context)
    return state @ np.roll(embedding, 1, axis=0).T, state
"""
    return SourceFunction("step", source)


BY_TABLE = SourceFunction(
    "step",
    """
def step(previous, state, context):
    # the token that the table names scores highest, and the state counts the steps
    names, low = context
    count = 0 if state is None else state
    scores = np.full(len(names[0]), low)
    scores[names[count % len(names)][previous]] = low / 2
    return scores, count + 1
""",
)
"""A decoder whose context is no array, whose state is a number, and whose scores are all low."""


@greedy_decode.public
def _(rng):
    context = np.array([-9.0, 2.0, 5.0, 3.0, 4.0, 1.0])
    yield Case("six tokens, start is 0, stop is 1", (BEST_FIRST, context, 0, 1, 10)).holds(
        "step: a decoder, called as step(previous, state, context). previous is the token "
        "before, an int, and `start` at the first step. state is what the call before returned, "
        "and None at the first step.",
        "`stop` ends the sentence and is not in the list.",
        "Nor is the `start` that you hand to the first step; but where the decoder chooses that "
        "token, it is kept like any other.",
    )
    yield Case("no room at all", (BEST_FIRST, context, 0, 1, 0)).holds(
        "Returns the list of the chosen tokens, ints, at most `max_len` of them; max_len is 0 or "
        "more."
    )
    yield Case("room for two tokens", (BEST_FIRST, context, 0, 1, 2)).holds("Returns the…")
    yield Case(
        "room for exactly as many as come before stop", (BEST_FIRST, context, 0, 1, 3)
    ).holds("Returns the…")
    equal = np.array([-9.0, 3.0, 5.0, 5.0, 5.0, 1.0])
    yield Case("equal scores", (BEST_FIRST, equal, 0, 1, 10)).holds(
        "Of equal scores the lowest token wins."
    )
    context, start, stop = _best_first(rng, 6, 0)
    yield Case("stop comes first", (BEST_FIRST, context, start, stop, 5)).holds("`stop` ends…")
    yield Case("a recurrent decoder", _recurrent(rng)).holds(
        "step: a decoder…",
        "It returns (scores, state): scores of shape (V,), one for each token, and its new state.",
        "start and stop differ.",
    )
    yield Case("a recurrent decoder, another context", _recurrent(rng)).holds(
        "context: what the encoder made of the source, of any type; handed to every call as it is."
    )
    yield Case("the token `start` chosen again", _by_table(rng, 0, 1, [3, 0, 2, 0])).holds(
        "Nor is the…"
    )
    yield Case(
        "no limit reached, one token said twice", _by_table(rng, 4, 2, [3, 3, 0, 1, 0])
    ).holds("step: a decoder…", "context: what…")
    yield Case("very low scores", _by_table(rng, 1, 3, [4, 2, 0], low=-4e6)).holds(
        "It returns…", "start and…"
    )
    said = [int(token) for token in rng.choice([0, 2, 3, 4], size=70)]
    yield Case("a sentence of seventy tokens", _by_table(rng, 0, 1, said)).holds("Returns the…")
    high = np.array([0.0, 1e3, 1.004e3, 1.002e3, 1.003e3, 1.001e3])
    yield Case("scores of a thousand", (BEST_FIRST, high, 0, 1, 10)).holds("It returns…")


@greedy_decode.hidden
def _(rng):
    size = int(rng.integers(7, 10))
    context, start, stop = _best_first(rng, size, 4)
    yield Case("a list of five, four before stop", (BEST_FIRST, context, start, stop, 20))
    yield Case("no room at all", (BEST_FIRST, context, start, stop, 0))
    yield Case("room for three tokens", (BEST_FIRST, context, start, stop, 3))
    yield Case("room for as many as come before stop", (BEST_FIRST, context, start, stop, 4))
    equal = np.where(context > context[stop], 30.0, context)
    yield Case("equal scores", (BEST_FIRST, equal, start, stop, 20))
    context, start, stop = _best_first(rng, size, 0)
    yield Case("stop comes first", (BEST_FIRST, context, start, stop, 5))
    for _ in range(3):
        yield Case("a recurrent decoder", _recurrent(rng, drawn=True))
    start, stop, *said = (int(token) for token in rng.permutation(5))
    again = _by_table(rng, start, stop, [said[0], start, said[1], start, said[2]])
    yield Case("the token `start` chosen again", again)
    low = _by_table(rng, start, stop, said, low=-3e6)
    yield Case("very low scores", low)
    context, start, stop = _best_first(rng, size, 4)
    yield Case("scores of a thousand", (BEST_FIRST, context + 1000, start, stop, 20))


def _best_first(rng: np.random.Generator, size: int, before: int) -> tuple[np.ndarray, int, int]:
    """A context for BEST_FIRST with its start and stop: `before` tokens come before stop."""
    ranking = rng.permutation(size)
    context = np.empty(size)
    context[ranking] = np.arange(size, 0, -1) + rng.uniform(0, 0.5, size=size)
    return context, int(ranking[-1]), int(ranking[before])


def _by_table(
    rng: np.random.Generator, start: int, stop: int, said: list[int], low: float = -2.0
) -> tuple:
    """Arguments with BY_TABLE for five tokens: it says `said`, then stop; room for two more."""
    rows = [[int(token) for token in rng.integers(5, size=5)] for _ in range(len(said) + 1)]
    for row, before, token in zip(rows, [start, *said], [*said, stop], strict=True):
        row[before] = token
    return BY_TABLE, (rows, low), start, stop, len(said) + 2


def _recurrent(rng: np.random.Generator, drawn: bool = False) -> tuple:
    """Arguments with a recurrent decoder; at least three different tokens come before stop."""
    start, stop, room = 0, 1, 8
    while True:
        decoder = drawn_decoder(rng) if drawn else RECURRENT
        step = decoder.load()
        for context in rng.normal(size=(50, 4)):
            tokens = solutions.greedy_decode(step, context, start, stop, room)
            if len(tokens) < room and len(set(tokens)) >= 3 and start not in tokens:
                return decoder, context, start, stop, room
