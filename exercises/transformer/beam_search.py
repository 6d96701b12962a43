"""The exercise `beam_search`: several beginnings kept at each step."""

import numpy as np

from autograder.exercise.declaring import Declaration
from solutions import transformer as solutions

from . import beam_search_cases

beam_search = Declaration(
    solutions.beam_search,
    points=5,
    difficulty=4,
    minutes=35,
    help=(
        "Keep a list of beginnings with their sums, at first the empty one with 0. At each step "
        "make all continuations of all of them, sort them by their sums, and take the best "
        "`beam`. Set aside those that have ended, and go on with the others. At the end compare "
        "scores.",
        "Compare sums while you search, and scores only at the end: the penalty does not change "
        "the order of beginnings of equal length. `sorted` leaves equal elements in the order in "
        "which they came. What do you return if nothing has ended, or if `max_len` is 0?",
        "Section “Keeping more than one beginning”.",
    ),
)


@beam_search.right
def table(step, start, stop, beam, max_len, length_penalty):
    kept: list = [[]]
    sums, ended = np.zeros(1), []
    for _ in range(max_len):
        table = sums[:, None] + np.array([step([start, *tokens]) for tokens in kept])
        order = np.argsort(-table, axis=None, kind="stable")[:beam]
        rows, columns = np.unravel_index(order, table.shape)
        longer = [[*kept[row], int(column)] for row, column in zip(rows, columns, strict=True)]
        found = list(zip(longer, table[rows, columns], strict=True))
        ended += [one for one in found if one[0][-1] == stop]
        found = [one for one in found if one[0][-1] != stop]
        kept, sums = [one for one, _ in found], np.array([total for _, total in found])
        if len(ended) >= beam or not kept:
            break
    results = ended if ended else list(zip(kept, sums, strict=True))
    lengths = np.array([len(tokens) for tokens, _ in results])
    scores = np.array([total for _, total in results]) * (6 / (5 + lengths)) ** length_penalty
    first = int(np.argmax(scores))
    tokens = results[first][0]
    return tokens[:-1] if ended else tokens, float(scores[first])


@beam_search.right
def recursive(step, start, stop, beam, max_len, length_penalty):
    def search(kept, ended, room):
        if room == 0 or not kept or len(ended) >= beam:
            return ended or kept
        longer: list = []
        for total, tokens in kept:
            gains = step([start, *tokens])
            longer.extend((total + gains[token], [*tokens, token]) for token in range(len(gains)))
        longer.sort(key=lambda one: one[0], reverse=True)
        done = [one for one in longer[:beam] if one[1][-1:] == [stop]]
        rest = [one for one in longer[:beam] if one[1][-1:] != [stop]]
        return search(rest, ended + done, room - 1)

    best_score, best = -np.inf, []
    for total, tokens in search([(0.0, [])], [], max_len):
        score = total / ((5 + len(tokens)) / 6) ** length_penalty
        if score > best_score:
            best_score, best = score, tokens
    return [token for token in best if token != stop], float(best_score)


@beam_search.right
def pick_by_pick(step, start, stop, beam, max_len, length_penalty):
    live: dict = {(): 0.0}
    ended: dict = {}
    while max_len > 0 and live and len(ended) < beam:
        max_len -= 1
        longer: dict = {}
        for tokens, total in live.items():
            gains = step([start, *tokens])
            for token in range(len(gains)):
                longer[(*tokens, token)] = total + gains[token]
        live = {}
        for _ in range(min(beam, len(longer))):
            best = max(longer, key=lambda tokens: longer[tokens])
            total = longer.pop(best)
            if best[-1] == stop:
                ended[best] = total
            else:
                live[best] = total
    scores = {
        tokens: total / ((5 + len(tokens)) / 6) ** length_penalty
        for tokens, total in (ended or live).items()
    }
    best = max(scores, key=lambda tokens: scores[tokens])
    return list(best[:-1] if ended else best), float(scores[best])


@beam_search.right
def plain(step, start, stop, beam, max_len, length_penalty):
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
    return [token for token in tokens if token != stop], score((tokens, total))


on_and_on = plain.edit("if len(ended) >= beam:\n    break", "")
beam_search.wrong(
    "probabilities added",
    "The probability of a sentence is a product. Which sum is its logarithm?",
    plain.edit("float(g)", "float(np.exp(g))"),
)
beam_search.wrong(
    "probabilities multiplied",
    "A hundred factors, each far below 1: what is the smallest number above 0 that a computer can "
    "hold? Why does `step` give logarithms?",
    plain.edit("([], 0.0)", "([], 1.0)")
    .edit("total + float(g)", "total * float(np.exp(g))")
    .edit("return one[1]", "return float(np.log(one[1]))"),
)
beam_search.wrong(
    "multiplied by the penalty",
    "The sums are below 0. Does your penalty bring a long sentence nearer to 0, or farther from "
    "it?",
    plain.edit("one[1] / ", "one[1] * "),
)
beam_search.wrong(
    "no length penalty",
    "Every token makes a sum smaller. Which sentences does your search prefer?",
    plain.edit(" / ((5 + len(one[0])) / 6) ** length_penalty", ""),
)
beam_search.wrong(
    "divided by a power of the length itself",
    "For a sentence of one token the penalty is 1. What is it for a sentence of seven, in the "
    "docstring and in your function?",
    plain.edit("((5 + len(one[0])) / 6)", "max(len(one[0]), 1)"),
)
beam_search.wrong(
    "stop not counted",
    "Which tokens count in the length of a sentence? Is stop, which you remove, among them?",
    plain.edit("len(one[0])", "len([token for token in one[0] if token != stop])"),
)
beam_search.wrong(
    "start counted",
    "Did the search choose start, or was it there before? Does it count in the length?",
    plain.edit("5 + len(one[0])", "6 + len(one[0])"),
)
beam_search.wrong(
    "greedy, whatever the beam",
    "How many beginnings do you keep at a step?",
    plain.edit("kept: list", "beam = 1\nkept: list"),
)
beam_search.wrong(
    "a beam for each beginning",
    "With a beam of 2, how many beginnings do you hold after three steps?",
    plain.edit(
        "longer += [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]",
        "own = [([*tokens, token], total + float(g)) for token, g in enumerate(gains)]\n"
        "longer += sorted(own, key=lambda one: -one[1])[:beam]",
    ).edit("best = sorted(longer, key=lambda one: -one[1])[:beam]", "best = longer"),
)
beam_search.wrong(
    "sentences that have ended forgotten",
    "A sentence ended early, and its score is the best. Where is it when your search is over?",
    plain.edit("ended or kept", "kept or ended"),
)
beam_search.wrong(
    "an open sentence among the ended",
    "May a sentence that has not ended beat one that has?",
    plain.edit("ended or kept", "ended + kept"),
)
beam_search.wrong(
    "an ended sentence continued",
    "What comes after stop? Do you call `step` for it?",
    plain.edit("kept = [one for one in best if one[0][-1] != stop]", "kept = best"),
)
beam_search.wrong(
    "an ended sentence keeps its place in the beam",
    "A sentence has ended. Does it still take the place of one that is being written?",
    on_and_on.edit(
        "gains = step([start, *tokens])",
        "if stop in tokens:\n"
        "    longer.append((tokens, total))\n"
        "    continue\n"
        "gains = step([start, *tokens])",
    ).edit(
        "ended += [one for one in best if one[0][-1] == stop]\n"
        "kept = [one for one in best if one[0][-1] != stop]",
        "ended = [one for one in best if one[0][-1] == stop]\nkept = best",
    ),
)
beam_search.wrong(
    "the beam narrows",
    "One of four has ended. How many beginnings are kept at the next step, three or four?",
    plain.edit("[:beam]", "[: beam - len(ended)]"),
)
beam_search.wrong(
    "the first that ends",
    "The first sentence to end is a short one. How many must have ended before you choose?",
    plain.edit("len(ended) >= beam", "ended"),
)
beam_search.wrong(
    "on after enough have ended",
    "How many sentences must have ended before the search is over?",
    on_and_on,
)
beam_search.wrong(
    "every token equal to start taken away",
    "The first start was there before the search. May the search itself choose that token?",
    plain.edit("token != stop", "token not in (start, stop)"),
)
beam_search.wrong(
    "the last of equal scores",
    "Two sentences have the same score. Which one does your function return, and which one ended "
    "first?",
    plain.edit("max(ended or kept, key=score)", "sorted(ended or kept, key=score)[-1]"),
)
beam_search.wrong(
    "stop kept",
    "Is stop a word of the sentence?",
    plain.edit("[token for token in tokens if token != stop]", "tokens"),
)
beam_search.wrong(
    "the penalty compounded at every step",
    "How often is a sum divided by the penalty: at each step, or once, at the end?",
    plain.edit(
        "total + float(g)", "(total + float(g)) / ((6 + len(tokens)) / 6) ** length_penalty"
    ).edit("one[1] / ((5 + len(one[0])) / 6) ** length_penalty", "one[1]"),
)
beam_search.wrong(
    "over as soon as the best one ends",
    "The best of the beginnings has ended. How many must have ended before you choose?",
    plain.edit(
        "kept = [one for one in best if one[0][-1] != stop]",
        "kept = [one for one in best if one[0][-1] != stop]\nif best[0][0][-1] == stop:\n    break",
    ),
)
beam_search.public(beam_search_cases.public)
beam_search.hidden(beam_search_cases.hidden)


beam_search.mutant(
    "probabilities multiplied", "total + float(gain)", "float(np.log(np.exp(total) * np.exp(gain)))"
)
beam_search.mutant("the last of equal beginnings", "sorted(longer,", "sorted(longer[::-1],")
beam_search.mutant(
    "the last of equal sentences", "max(ended or kept,", "max((ended or kept)[::-1],"
)
beam_search.mutant(
    "a beam wider than the continuations refused",
    "best = sorted",
    "longer[beam - 1]\nbest = sorted",
)
beam_search.mutant(
    "log-probabilities below -99 skipped",
    "for token, gain in enumerate(step([start, *tokens]))",
    "for token, gain in enumerate(step([start, *tokens])) if gain > -99",
)
beam_search.mutant("a tuple given to step", "step([start, *tokens])", "step((start, *tokens))")
beam_search.mutant(
    "an array given to step", "step([start, *tokens])", "step(np.array([start, *tokens]))"
)
beam_search.mutant(
    "over when exactly `beam` have ended", "len(ended) >= beam", "len(ended) == beam"
)
