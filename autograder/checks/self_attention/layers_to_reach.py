"""The exercise `layers_to_reach`: the path length of a layer that cannot be read, only run."""

import numpy as np

from solutions import self_attention as solutions

from ...judging.declaring import Declaration
from ...judging.exercise import Kind
from . import layers_to_reach_cases

layers_to_reach = Declaration(
    solutions.layers_to_reach,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Change the token, run the layer again, and see which outputs move. Then let those be the "
        "tokens that change.",
        "A boolean table tells whom each output sees in one layer: fill it column by column, one "
        "changed token each. From layer to layer the set of tokens that have heard of the source "
        "grows. When has it stopped growing?",
        "Section “What it sees, and how far that is”.",
    ),
)


@layers_to_reach.right
def heard(layer, X, source, target):
    rng, Y = np.random.default_rng(5), layer(X)
    size = np.abs(X).max()
    hears = {i: set() for i in range(len(X))}
    for j in range(len(X)):
        for _ in range(2):
            changed = X.copy()
            changed[j] = rng.normal(size=X.shape[1]) * size
            for i in np.flatnonzero(np.abs(layer(changed) - Y).max(axis=1) > 1e-5 * size):
                hears[int(i)].add(j)
    told = {source}
    for layers in range(1, 2 * len(X)):
        told = {i for i, others in hears.items() if others & told}
        if target in told:
            return layers
    return 0


@layers_to_reach.right
def breadth_first(layer, X, source, target):
    size, Y = np.abs(X).max(), layer(X)
    frontier, layers = {source: 0}, 0
    waiting = [source]
    while waiting:
        j = waiting.pop(0)
        layers = frontier[j] + 1
        changed = X.copy()
        changed[j] = size * np.random.default_rng(j).uniform(-1, 1, X.shape[1])
        for i in np.flatnonzero(np.abs(layer(changed) - Y).max(axis=1) > 1e-7 * size):
            if i not in frontier:
                frontier[int(i)] = layers
                waiting.append(int(i))
    return frontier.get(target, 0)


@layers_to_reach.right
def powers(layer, X, source, target):
    n, size = len(X), float(np.abs(X).max())
    table = np.zeros((n, n))
    for j in range(n):
        changed = X.copy()
        changed[j] = size * np.random.default_rng(1).uniform(-1, 1, X.shape[1])
        table[:, j] = np.abs(layer(changed) - layer(X)).sum(axis=1) > 1e-6 * size
    paths = np.eye(n)
    for layers in range(1, n):
        paths = np.minimum(table @ paths, 1)  # the ways of so many layers, counted as one
        if paths[target, source]:
            return layers
    return 0


@layers_to_reach.right
def plain(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
        sees[:, j] = difference > 1e-6 * np.abs(X).max()
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


@layers_to_reach.wrong(
    "one layer only",
    "A window of radius 1, and a token two places off: what has the token between them learnt "
    "after the first layer, and who looks at that one in the second?",
)
def _(layer, X, source, target):
    changed = X.copy()
    changed[source] = -2 * X[source]
    difference = np.abs(layer(changed) - layer(X))[target].max()
    return int(difference > 1e-6 * np.abs(X).max())


layers_to_reach.wrong(
    "rounding taken for influence",
    "Print how much the outputs change, with all digits. Is 1e-16 an influence?",
    plain.edit("> 1e-6 * np.abs(X).max()", "> 0"),
)
layers_to_reach.wrong(
    "source and target exchanged",
    "Which of the two tokens do you change, and at which output do you look? Try a layer that "
    "only looks back.",
    plain.edit("n = len(X)", "n, source, target = len(X), target, source"),
)
layers_to_reach.wrong(
    "layers counted from 0",
    "How many layers does self-attention need? What do you return for it?",
    plain.edit("range(1, n)", "range(n - 1)"),
)


@layers_to_reach.wrong("the distance in place of the layers", "Where does your answer run `layer`?")
def _(layer, X, source, target):
    return abs(target - source)


@layers_to_reach.wrong(
    "the distance divided by the reach",
    "That holds for a window without gaps that looks both ways. What if a layer sees only every "
    "second token, or looks back only?",
)
def _(layer, X, source, target):
    changed = X.copy()
    changed[source, 0] *= -2
    difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
    seen = np.flatnonzero(difference > 1e-6 * np.abs(X).max())
    farthest = max(np.abs(seen - source).max(), 1)
    return int(np.ceil(abs(target - source) / farthest))


layers_to_reach.wrong(
    "a tolerance that does not know how large the tokens are",
    "Is a change of 1e-9 much between numbers near 1? And between numbers near 1e-9? With what "
    "should a change be compared?",
    plain.edit("> 1e-6 * np.abs(X).max()", "> 1e-8"),
)
layers_to_reach.wrong(
    "the token multiplied by a number",
    "What does your change make of a token of zeros? And does a layer that looks at nothing but a "
    "token's direction notice it?",
    plain.edit(
        "changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()",
        "changed[j] *= 2",
    ),
)
layers_to_reach.wrong(
    "the same number added to every feature",
    "Suppose that a layer first subtracts the mean of a token's features. Does it notice your "
    "change?",
    plain.edit(
        "changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()",
        "changed[j] += np.abs(X).max()",
    ),
)
layers_to_reach.public(layers_to_reach_cases.public)
layers_to_reach.hidden(layers_to_reach_cases.hidden)
