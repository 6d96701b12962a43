"""Test the helpers of chapter 9's page."""

import math

import matplotlib
import numpy as np
import torch

matplotlib.use("agg")

from solutions.experiments.transformer import pictures as pictures
from solutions.experiments.transformer.maps import read_maps
from solutions.translators.machines import transformer
from solutions.translators.training import make_task


def test_an_honest_machine_cannot_know_the_first_letter():
    torch.manual_seed(0)
    words, targets = pictures._words(4000)
    first, others = targets[:, 0], targets[:, 1:]
    assert torch.equal(others, words.sort(dim=1).values)
    shares = torch.bincount(first, minlength=pictures.LEAK_LETTERS) / len(first)
    assert (shares - 1 / pictures.LEAK_LETTERS).abs().max() < 0.02
    entropy = -(shares * shares.log()).sum().item() / targets.shape[1]
    assert math.isclose(entropy, pictures.LEAK_FLOOR, rel_tol=1e-2)


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
