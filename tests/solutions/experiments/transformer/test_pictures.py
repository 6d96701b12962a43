"""Test the helpers of chapter 9's page."""

import math

import matplotlib
import numpy as np
import torch

matplotlib.use("agg")

from solutions.experiments.transformer import pictures as pictures
from solutions.experiments.transformer.maps import read_maps
from solutions.transformer import beam_search
from solutions.translators.machines import transformer
from solutions.translators.training import make_task

A, B, STOP, START = range(4)
FOLLOWS = {
    (): (0.5, 0.4, 0.1),
    (A,): (0.3, 0.4, 0.3),
    (B,): (0.05, 0.05, 0.9),
    (A, B): (0.2, 0.2, 0.6),
}


def step(tokens: list[int]) -> np.ndarray:
    return np.log(FOLLOWS[tuple(tokens[1:])])


def test_the_steps_of_a_beam_search_are_those_worked_out_by_hand():
    steps, written, score = pictures.beam_steps(step, START, STOP, 2, 3, 1.0)
    assert [[entry.tokens for entry in kept] for kept in steps] == [
        [(A,), (B,)],
        [(B, STOP), (A, B)],
        [(A, B, STOP), (A, B, A)],
    ]
    assert [[entry.ended for entry in kept] for kept in steps] == [
        [False, False],
        [True, False],
        [True, False],
    ]
    ended = steps[1][0]
    assert math.isclose(ended.total, math.log(0.36))
    assert math.isclose(ended.score, math.log(0.36) / (7 / 6))
    assert (written, score) == beam_search(step, START, STOP, 2, 3, 1.0) == ([B], ended.score)


def test_a_search_that_may_not_take_a_step_has_none():
    assert pictures.beam_steps(step, START, STOP, 2, 0, 0.0) == ([], [], 0.0)


def test_only_kept_unfinished_hypotheses_are_continued():
    requests: list[tuple[int, ...]] = []
    table = np.random.default_rng(0).normal(size=(9, 5))

    def random(tokens: list[int]) -> np.ndarray:
        requests.append(tuple(tokens[1:]))
        return table[sum(tokens) % 9]

    steps, _, _ = pictures.beam_steps(random, START, STOP, 3, 6, 0.6)
    kept = [entry.tokens for step in steps[:-1] for entry in step if not entry.ended]
    assert requests == [(), *kept]


def test_a_hidden_place_is_hidden_from_every_head_and_layer():
    task = make_task("french", (1, 1), 64, seed=0)
    torch.manual_seed(0)
    model = transformer(len(task.source_vocabulary), len(task.target_vocabulary)).eval()
    pairs = task.pairs[:3]
    seen = []
    places = [np.arange(len(pair.target)) % len(pair.source) for pair in pairs]
    stack = model.decoder.stack
    stack.register_forward_hook(lambda *call: seen.append(call[1][2]))
    right = pictures.right_without(model, task, pairs, places)
    assert [len(row) for row in right] == [len(pair.target) for pair in pairs]
    for i, mask in enumerate(seen):
        for k, (pair, place) in enumerate(zip(pairs, places, strict=True)):
            if i < len(pair.target):
                hidden = [j for j in range(len(pair.source)) if not mask[k, 0, j]]
                assert hidden == [place[i]]


def test_hiding_no_place_changes_nothing():
    task = make_task("french", (1, 1), 64, seed=0)
    torch.manual_seed(0)
    model = transformer(len(task.source_vocabulary), len(task.target_vocabulary)).eval()
    pairs = task.pairs[:2]
    longest = max(len(pair.source) for pair in pairs)
    beside = [pair for pair in pairs if len(pair.source) < longest]
    maps = {read_map.pair: read_map.right for read_map in read_maps(model, task, pairs)}
    places = [np.full(len(pair.target), longest - 1) for pair in pairs]  # padding, except for one
    right = pictures.right_without(model, task, pairs, places)
    assert beside
    for pair, row in zip(pairs, right, strict=True):
        if pair in beside:
            assert row.tolist() == maps[pair].tolist()
