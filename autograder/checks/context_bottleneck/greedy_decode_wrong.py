"""Mistakes that people make with `greedy_decode`, one function each, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


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


def greedy_decode__start_struck_out(step, context, start, stop, max_len):
    tokens: list[int] = []
    previous, state = start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        previous = int(np.argmax(scores))
        if previous == stop:
            break
        tokens.append(previous)
    return [token for token in tokens if token != start]


def greedy_decode__best_above_0(step, context, start, stop, max_len):
    tokens, previous, state = [], start, None
    for _ in range(max_len):
        scores, state = step(previous, state, context)
        best, highest = 0, 0
        for token in range(len(scores)):
            if scores[token] > highest:
                best, highest = token, scores[token]
        previous = best
        if previous == stop:
            break
        tokens.append(previous)
    return tokens


MISCONCEPTIONS = (
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
        "Which of the two tokens stands before the first word, and which one ends the sentence?",
    ),
    Misconception(
        "start struck out everywhere",
        greedy_decode__start_struck_out,
        "Which `start` does the docstring leave out: the one that you hand in, or each one "
        "that the decoder chooses?",
    ),
    Misconception(
        "search for the highest score begun at 0",
        greedy_decode__best_above_0,
        "All scores of a step are below 0, as log-probabilities are. Which token do you take?",
    ),
)
