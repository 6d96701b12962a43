"""The exercise `greedy_decode`: a sentence written from one vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import context_bottleneck as solutions

from ...judging.exercise import Case, Exercise, Misconception, SourceFunction

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


def decode_cases(rng: np.random.Generator) -> Iterator[Case]:
    context = np.array([-9.0, 2.0, 5.0, 3.0, 4.0, 1.0])
    yield Case("six tokens, start is 0, stop is 1", (BEST_FIRST, context, 0, 1, 10))
    yield Case("no room at all", (BEST_FIRST, context, 0, 1, 0))
    yield Case("room for two tokens", (BEST_FIRST, context, 0, 1, 2))
    yield Case("room for exactly as many as come before stop", (BEST_FIRST, context, 0, 1, 3))
    equal = np.array([-9.0, 3.0, 5.0, 5.0, 5.0, 1.0])
    yield Case("equal scores", (BEST_FIRST, equal, 0, 1, 10))
    context, start, stop = _best_first(rng, 6, 0)
    yield Case("stop comes first", (BEST_FIRST, context, start, stop, 5))
    yield Case("a recurrent decoder", _recurrent(rng))
    yield Case("a recurrent decoder, another context", _recurrent(rng))


def decode_hidden(rng: np.random.Generator) -> Iterator[Case]:
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
        yield Case("a recurrent decoder", _recurrent(rng))


def _best_first(rng: np.random.Generator, size: int, before: int) -> tuple[np.ndarray, int, int]:
    """A context for BEST_FIRST with its start and stop: `before` tokens come before stop."""
    ranking = rng.permutation(size)
    context = np.empty(size)
    context[ranking] = np.arange(size, 0, -1) + rng.uniform(0, 0.5, size=size)
    return context, int(ranking[-1]), int(ranking[before])


def _recurrent(rng: np.random.Generator) -> tuple:
    """Arguments with RECURRENT, of which at least three different tokens come before stop."""
    step, start, stop, room = RECURRENT.load(), 0, 1, 8
    while True:
        context = rng.normal(size=4)
        tokens = solutions.greedy_decode(step, context, start, stop, room)
        if len(tokens) < room and len(set(tokens)) >= 3 and start not in tokens:
            return RECURRENT, context, start, stop, room


def greedy_decode__stop_kept(step, context, start, stop, max_len):
    tokens: list[int] = []
    previous, state = start, None
    while len(tokens) < max_len and previous != stop:
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        tokens.append(previous)
    return tokens


def greedy_decode__start_kept(step, context, start, stop, max_len):
    tokens, state = [start], None
    while len(tokens) < max_len + 1:
        scores, state = step(tokens[-1], state, context)
        token = int(np.argmax(scores))
        if token == stop:
            break
        tokens.append(token)
    return tokens


def greedy_decode__start_again(step, context, start, stop, max_len):
    tokens, state = [], None
    for _ in range(max_len):
        scores, state = step(start, state, context)
        token = int(np.argmax(scores))
        if token == stop:
            break
        tokens.append(token)
    return tokens


def greedy_decode__state_lost(step, context, start, stop, max_len):
    tokens, previous = [], start
    for _ in range(max_len):
        scores, _ = step(previous, None, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__context_as_state(step, context, start, stop, max_len):
    tokens, previous, state = [], start, context
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__context_from_the_state(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        context = state
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__lowest(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argmin(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__last_of_equals(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argsort(scores, kind="stable")[-1])
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__one_too_many(step, context, start, stop, max_len):
    tokens: list[int] = []
    previous, state = start, None
    while len(tokens) <= max_len:
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__at_least_one(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    while True:
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
        if len(tokens) >= max_len:
            break
    return tokens


def greedy_decode__no_limit(step, context, start, stop, max_len):
    tokens: list[int] = []
    previous, state = start, None
    while True:
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            return tokens
        tokens.append(previous)


def greedy_decode__start_and_stop_exchanged(step, context, start, stop, max_len):
    tokens, previous, state = [], stop, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == start:
            break
        tokens.append(previous)
    return tokens


def greedy_decode__cut_at_stop(step, context, start, stop, max_len):
    tokens, state = [start], None
    for _ in range(max_len):
        scores, state = step(tokens[-1], state, context)
        tokens.append(int(scores.argmax()))
    tokens = tokens[1:]
    return tokens[: tokens.index(stop)] if stop in tokens else tokens


def greedy_decode__recursive(step, context, start, stop, max_len):
    def rest(previous, state, room):
        if room == 0:
            return []
        scores, state = step(previous, state, context)
        best = max(range(len(scores)), key=lambda token: scores[token])
        return [] if best == stop else [best, *rest(best, state, room - 1)]

    return rest(start, None, max_len)


def greedy_decode__by_hand(step, context, start, stop, max_len):
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


GREEDY_DECODE = Exercise(
    name="greedy_decode",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.greedy_decode,
    cases=decode_cases,
    hidden=decode_hidden,
    misconceptions=(
        Misconception(
            "stop kept",
            greedy_decode__stop_kept,
            "Is stop a word of the translation? When do you look at what was chosen: before it "
            "goes into your list, or after?",
        ),
        Misconception(
            "start kept",
            greedy_decode__start_kept,
            "Did the decoder choose start, or did you put it there to begin with?",
        ),
        Misconception(
            "start handed in at every step",
            greedy_decode__start_again,
            "Which token does your second call of `step` get as the one before?",
        ),
        Misconception(
            "state not carried on",
            greedy_decode__state_lost,
            "`step` returns two things. Where does the second one go?",
        ),
        Misconception(
            "context handed in as the first state",
            greedy_decode__context_as_state,
            "What does the exercise say that the state is at the first step?",
        ),
        Misconception(
            "context replaced by the state",
            greedy_decode__context_from_the_state,
            "Does the source change while its translation is written? Should the context?",
        ),
        Misconception(
            "lowest score taken",
            greedy_decode__lowest,
            "Is a high score a good one or a bad one here?",
        ),
        Misconception(
            "last of equal scores",
            greedy_decode__last_of_equals,
            "Two tokens have the same score. Which one should win, and which one do you take?",
        ),
        Misconception(
            "one token too many",
            greedy_decode__one_too_many,
            "With max_len = 2, how many tokens may your list hold when your loop goes on?",
        ),
        Misconception(
            "at least one token",
            greedy_decode__at_least_one,
            "What do you return for max_len = 0? When does your loop look at the limit for the "
            "first time?",
        ),
        Misconception(
            "no limit",
            greedy_decode__no_limit,
            "What if a decoder never chooses stop?",
        ),
        Misconception(
            "start and stop exchanged",
            greedy_decode__start_and_stop_exchanged,
            "Which of the two tokens stands before the first word, and which one ends the "
            "sentence?",
        ),
    ),
    alternatives=(
        greedy_decode__cut_at_stop,
        greedy_decode__recursive,
        greedy_decode__by_hand,
    ),
    help=(
        "Begin with start and no state. Call `step`, take the best token, and hand it back in at "
        "the next call, with the state.",
        "`np.argmax` gives the first of equal scores; `int` makes an int of it. There are two "
        "reasons to end: stop was chosen, or there is no room left.",
        "Section “Start and stop”.",
    ),
)
