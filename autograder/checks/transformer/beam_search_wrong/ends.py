"""The mistakes of `beam_search` with sentences that have ended."""

from __future__ import annotations

from ....judging.exercise import Misconception


def beam_search__ended_forgotten(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(kept or ended, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__ended_compete_with_unended(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended + kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__ended_continued(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = best
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__ended_in_the_beam(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        longer = []
        for tokens, total in kept:
            if stop in tokens:
                longer.append((tokens, total))
                continue
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        kept = sorted(longer, key=lambda one: -one[1])[:beam]
    ended = [one for one in kept if stop in one[0]]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__narrower(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[: beam - len(ended)]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__first_ended(step, start, stop, beam, max_len, length_penalty):
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
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__to_the_last_step(step, start, stop, beam, max_len, length_penalty):
    kept: list = [([], 0.0)]
    ended: list = []

    def score(one):
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        longer = []
        for tokens, total in kept:
            gains = step([start, *tokens])
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token != stop], score((tokens, total))


def beam_search__stop_kept(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return tokens, score((tokens, total))


def beam_search__start_taken_away(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = max(ended or kept, key=score)
    return [token for token in tokens if token not in (start, stop)], score((tokens, total))


def beam_search__last_of_equal_scores(step, start, stop, beam, max_len, length_penalty):
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
            longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]
        best = sorted(longer, key=lambda one: -one[1])[:beam]
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    tokens, total = sorted(ended or kept, key=score)[-1]
    return [token for token in tokens if token != stop], score((tokens, total))


WRONG_ENDS = (
    Misconception(
        "the ended forgotten",
        beam_search__ended_forgotten,
        "A sentence ended early, and its score is the best. Where is it when your search is over?",
    ),
    Misconception(
        "an open sentence among the ended",
        beam_search__ended_compete_with_unended,
        "May a sentence that has not ended win against one that has?",
    ),
    Misconception(
        "an ended sentence continued",
        beam_search__ended_continued,
        "What comes after stop? Do you ask `step` for it?",
    ),
    Misconception(
        "an ended sentence keeps its place in the beam",
        beam_search__ended_in_the_beam,
        "A sentence has ended. Does it still take the place of one that is being written?",
    ),
    Misconception(
        "the beam narrows",
        beam_search__narrower,
        "One of four has ended. How many beginnings are kept at the next step, three or four?",
    ),
    Misconception(
        "the first that ends",
        beam_search__first_ended,
        "The first sentence to end is a short one. How many must have ended before you choose?",
    ),
    Misconception(
        "on after enough have ended",
        beam_search__to_the_last_step,
        "How many sentences must end until the search is over?",
    ),
    Misconception(
        "every token equal to start taken away",
        beam_search__start_taken_away,
        "The first start was there before the search. May the search itself choose that token?",
    ),
    Misconception(
        "the last of equal scores",
        beam_search__last_of_equal_scores,
        "Two sentences have the same score. Which one does your function return, and which one "
        "ended first?",
    ),
    Misconception(
        "stop kept",
        beam_search__stop_kept,
        "Is stop a word of the sentence?",
    ),
)
