"""The mistakes of `beam_search` with sums, scores and what is kept."""

from __future__ import annotations

import numpy as np

from ....judging.exercise import Misconception


def beam_search__probabilities_added(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [
                ([*tokens, token], total + float(np.exp(g))) for token, g in enumerate(gains)
            ]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__probabilities_multiplied(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 1.0)]
    ended: list = []

    def score(one):
        return float(np.log(one[1])) / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, product in kept:
            gains = step([start, *tokens])
            longer += [
                ([*tokens, token], product * float(np.exp(g))) for token, g in enumerate(gains)
            ]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, product = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, product))


def beam_search__penalty_multiplies(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] * ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__no_penalty(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1]

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__plain_length(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / max(len(one[0]), 1) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__stop_not_counted(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    def score_of_words(one):
        return score(([token for token in one[0] if token != stop], one[1]))

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score_of_words)
    return [token for token in tokens if token != stop], score_of_words((tokens, total))


def beam_search__start_counted(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((6 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__greedy(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if ended:
            break
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:1]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__beam_of_each(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if len(ended) >= beam:
            break
        best = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer = [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
            best += sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


WRONG_SCORES = (
    Misconception(
        "probabilities added",
        beam_search__probabilities_added,
        "The probability of a sentence is a product. Which sum belongs to it?",
    ),
    Misconception(
        "probabilities multiplied",
        beam_search__probabilities_multiplied,
        "A hundred factors, each far below 1: what is the smallest number above 0 that a computer "
        "can hold? Why does `step` give logarithms?",
    ),
    Misconception(
        "multiplied by the penalty",
        beam_search__penalty_multiplies,
        "The sums are below 0. Does your penalty bring a long sentence nearer to 0, or farther "
        "from it?",
    ),
    Misconception(
        "no length penalty",
        beam_search__no_penalty,
        "Every token makes a sum smaller. Which sentences does your search prefer?",
    ),
    Misconception(
        "divided by a power of the length itself",
        beam_search__plain_length,
        "For a sentence of one token the penalty is 1. What is it for one of seven, here and in "
        "your function?",
    ),
    Misconception(
        "stop not counted",
        beam_search__stop_not_counted,
        "Which tokens does the length of a sentence count? Is stop, which you take away, among "
        "them?",
    ),
    Misconception(
        "start counted",
        beam_search__start_counted,
        "Was start chosen, or was it there? Does the length count it?",
    ),
    Misconception(
        "greedy, whatever the beam",
        beam_search__greedy,
        "How many beginnings do you keep at a step?",
    ),
    Misconception(
        "a beam for each beginning",
        beam_search__beam_of_each,
        "With a beam of 2, how many beginnings do you hold after three steps?",
    ),
)
