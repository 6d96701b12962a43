"""Test which source positions chapter 9 hides from a row."""

import numpy as np
import torch

from solutions.experiments.transformer import ahead
from solutions.experiments.transformer.maps import read_maps
from solutions.translators.machines import transformer
from solutions.translators.training import make_task


def test_each_way_hides_another_word():
    task = make_task("french", (1, 2), 64, seed=0)
    torch.manual_seed(0)
    model = transformer(len(task.source_vocabulary), len(task.target_vocabulary)).eval()
    maps = read_maps(model, task, task.pairs[:5])
    places = ahead.hidden_places(maps)
    rows = zip(maps, *places.values(), strict=True)
    for one, peaks, gold, others in rows:
        weights = ahead.mean_map(one)
        assert np.array_equal(peaks, weights.argmax(axis=1))
        for i in range(len(one.pair.target)):
            links = {j for k, j in one.pair.possible if k == i}
            assert (gold[i] in links) if links else (gold[i] == peaks[i])
            assert all(weights[i, j] <= weights[i, gold[i]] for j in links)
            assert others[i] not in (peaks[i], gold[i])
            assert 0 <= others[i] < len(one.pair.source)
