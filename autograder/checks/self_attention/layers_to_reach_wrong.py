"""Mistakes that people make with `layers_to_reach`, one function each, and their hints."""

from __future__ import annotations

import numpy as np

from ...judging.exercise import Misconception


def reach__one_layer_only(layer, X, source, target):
    changed = X.copy()
    changed[source] = -2 * X[source]
    difference = np.abs(layer(changed) - layer(X))[target].max()
    return int(difference > 1e-6 * np.abs(X).max())


def reach__exact(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        sees[:, j] = (layer(changed) != layer(X)).any(axis=-1)
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


def reach__exchanged(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
        sees[:, j] = difference > 1e-6 * np.abs(X).max()
    reached = np.arange(n) == target
    for layers in range(1, n):
        reached = sees @ reached
        if reached[source]:
            return layers
    return 0


def reach__counted_from_0(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
        sees[:, j] = difference > 1e-6 * np.abs(X).max()
    reached = np.arange(n) == source
    for layers in range(n - 1):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


def reach__distance(layer, X, source, target):
    return abs(target - source)


def reach__distance_over_reach(layer, X, source, target):
    changed = X.copy()
    changed[source, 0] *= -2
    difference = np.abs(layer(changed) - layer(X)).max(axis=-1)
    seen = np.flatnonzero(difference > 1e-6 * np.abs(X).max())
    farthest = max(np.abs(seen - source).max(), 1)
    return int(np.ceil(abs(target - source) / farthest))


def reach__fixed_tolerance(layer, X, source, target):
    n = len(X)
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] = np.random.default_rng(0).uniform(-1, 1, X.shape[1]) * np.abs(X).max()
        sees[:, j] = np.abs(layer(changed) - layer(X)).max(axis=-1) > 1e-8
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


def reach__multiplied(layer, X, source, target):
    n, size = len(X), np.abs(X).max()
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] *= 2
        sees[:, j] = np.abs(layer(changed) - layer(X)).max(axis=-1) > 1e-6 * size
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


def reach__same_number_added(layer, X, source, target):
    n, size = len(X), np.abs(X).max()
    sees = np.zeros((n, n), dtype=bool)
    for j in range(n):
        changed = X.copy()
        changed[j] += size
        sees[:, j] = np.abs(layer(changed) - layer(X)).max(axis=-1) > 1e-6 * size
    reached = np.arange(n) == source
    for layers in range(1, n):
        reached = sees @ reached
        if reached[target]:
            return layers
    return 0


MISCONCEPTIONS = (
    Misconception(
        "one layer only",
        reach__one_layer_only,
        "A window of radius 1, and a token two places off: what has the token between them "
        "learnt after the first layer, and who looks at that one in the second?",
    ),
    Misconception(
        "rounding taken for influence",
        reach__exact,
        "Print how much the outputs change, with all digits. Is 1e-16 an influence?",
    ),
    Misconception(
        "source and target exchanged",
        reach__exchanged,
        "Which of the two tokens do you change, and at which output do you look? Try a layer "
        "that only looks back.",
    ),
    Misconception(
        "layers counted from 0",
        reach__counted_from_0,
        "How many layers does self-attention need? What do you return for it?",
    ),
    Misconception(
        "the distance in place of the layers",
        reach__distance,
        "Where does your answer run `layer`?",
    ),
    Misconception(
        "the distance divided by the reach",
        reach__distance_over_reach,
        "That holds for a window without gaps that looks both ways. What if a layer sees only "
        "every second token, or looks back only?",
    ),
    Misconception(
        "a tolerance that does not know how large the tokens are",
        reach__fixed_tolerance,
        "Is a change of 1e-9 much between numbers near 1? And between numbers near 1e-9? With "
        "what should a change be compared?",
    ),
    Misconception(
        "the token multiplied by a number",
        reach__multiplied,
        "What does your change make of a token of zeros? And does a layer that looks at nothing "
        "but a token's direction notice it?",
    ),
    Misconception(
        "the same number added to every feature",
        reach__same_number_added,
        "Suppose that a layer first subtracts the mean of a token's features. Does it notice "
        "your change?",
    ),
)
