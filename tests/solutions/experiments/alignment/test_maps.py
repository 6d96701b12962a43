"""Test how the weights of a decoder are read; untrained models are enough."""

import numpy as np
import pytest
import torch
from few_pairs import PAIRS, TASK

from solutions.alignment import alignment_error_rate
from solutions.experiments.alignment.maps import (
    diagonal,
    gold_tables,
    read_maps,
    stacked,
)
from solutions.translators.recurrent import BottleneckDecoder, Encoder
from solutions.translators.seq2seq import Seq2Seq
from solutions.translators.training import tensors


def test_gold_tables_hold_every_link_once():
    for pair in PAIRS:
        sure, possible = gold_tables(pair)
        assert sure.shape == possible.shape == (len(pair.target), len(pair.source))
        assert {tuple(map(int, place)) for place in np.argwhere(sure)} == pair.sure
        assert {tuple(map(int, place)) for place in np.argwhere(possible)} == pair.possible
        assert {int(i) for i in np.flatnonzero(~possible.any(axis=1))} == pair.unaligned


def test_maps_are_the_weights_of_the_forced_reference(model):
    sources, lengths, targets = tensors(TASK.batch(PAIRS))
    with torch.no_grad():
        logits, weights = model(sources, lengths, targets[:, :-1])
    for k, read_map in enumerate(read_maps(model, TASK, PAIRS)):
        m, n = read_map.weights.shape
        assert (m, n) == (len(read_map.pair.target), len(read_map.pair.source))
        np.testing.assert_allclose(read_map.weights, weights[k, :m, :n], atol=1e-6)
        np.testing.assert_allclose(read_map.weights.sum(axis=1), 1, atol=1e-5)
        right = logits[k, :m].argmax(dim=-1).numpy() == targets[k, 1 : m + 1].numpy()
        np.testing.assert_array_equal(read_map.right, right)


def test_a_pair_alone_is_read_as_in_a_batch(model):
    together = read_maps(model, TASK, PAIRS)
    for pair, read_map in zip(PAIRS[:4], together, strict=False):
        (alone,) = read_maps(model, TASK, [pair])
        np.testing.assert_allclose(alone.weights, read_map.weights, atol=1e-5)
        np.testing.assert_array_equal(alone.right, read_map.right)


def test_a_decoder_without_attention_has_no_map():
    source, target = map(len, (TASK.source_vocabulary, TASK.target_vocabulary))
    blind = Seq2Seq(Encoder(source, 4), BottleneckDecoder(target, 8, 8))
    with pytest.raises(ValueError, match="does not look"):
        read_maps(blind, TASK, PAIRS)


def test_the_rate_of_stacked_tables_counts_all_links_together():
    tables = [gold_tables(pair) for pair in PAIRS]
    maps = [diagonal(pair) for pair in PAIRS]
    claimed = sum(len(table_) for table_ in maps)
    total = claimed + sum(int(sure.sum()) for sure, _ in tables)
    agreed = sum(
        int((table_ * sure).sum() + (table_ * possible).sum())
        for table_, (sure, possible) in zip(maps, tables, strict=True)
    )
    rate = alignment_error_rate(*stacked(maps, *zip(*tables, strict=True)))
    assert rate == pytest.approx(1 - agreed / total)
    one_pair = alignment_error_rate(*stacked(maps[:1], *zip(tables[0], strict=True)))
    assert one_pair == alignment_error_rate(maps[0], *tables[0])
