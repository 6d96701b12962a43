"""Test how source words are hidden from a decoder; untrained models are enough."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from few_pairs import PAIRS, TASK

from solutions.data.translation import sample_pairs
from solutions.experiments.alignment.fixed_phrase import ENGLISH, FRENCH, GOLD
from solutions.experiments.alignment.hiding import (
    HIDDEN,
    KINDS,
    Trials,
    choose,
    hide,
    kind_of,
    one_gold_word,
    right_without,
)
from solutions.experiments.alignment.maps import read_maps
from solutions.translators.seq2seq import Memory
from solutions.translators.training import tensors


@pytest.fixture(scope="module")
def maps(model):
    """Return the maps with every word marked right; untrained models are right only by chance."""
    read = read_maps(model, TASK, PAIRS)
    return [replace(read_map, right=np.ones_like(read_map.right)) for read_map in read]


def test_hiding_a_word_equals_removing_it(model):
    pairs, differ = PAIRS[:6], 0
    maps = read_maps(model, TASK, pairs)
    peaks = [read_map.weights == read_map.weights.max(axis=1, keepdims=True) for read_map in maps]
    nothing = [np.zeros_like(table) for table in peaks]
    blind, seeing = right_without(model, TASK, pairs, [peaks, nothing])
    for read_map, without, all_seen in zip(maps, blind, seeing, strict=True):
        np.testing.assert_array_equal(all_seen, read_map.right)
        sources, lengths, targets = tensors(TASK.batch([read_map.pair]))
        with torch.no_grad():
            memory = model.encode(sources, lengths)
            state = model.decoder.start(memory)
            for i, row in enumerate(read_map.weights):
                keep = np.arange(len(row)) != row.argmax()
                less = Memory(memory.states[:, keep], memory.mask[:, keep], memory.context)
                keys = state[1][:, keep]
                logits, _, _ = model.decode_step(targets[:, i], (state[0], keys), less)
                assert bool(logits.argmax() == targets[0, i + 1]) == without[i]
                before, state, _ = model.decode_step(targets[:, i], state, memory)
                differ += not torch.equal(before.argmax(), logits.argmax())
    assert differ > 0  # hiding the word has an effect


def test_the_words_to_hide_are_four_choices_and_two_pairs():
    weights, rng = np.array([0.1, 0.5, 0.3, 0.06, 0.04]), np.random.default_rng(0)
    assert HIDDEN == ("peak", "gold", "other", "random", "both", "gold and third")
    drawn = [choose(weights, 2, rng) for _ in range(200)]
    # the peak is not gold, so it is the other word
    assert all(words[:3] + words[4:] == [[1], [2], [1], [2, 1], [2, 0]] for words in drawn)
    assert sorted({j for words in drawn for j in words[3]}) == [0, 3, 4]
    drawn = [choose(weights, 1, rng) for _ in range(200)]
    assert all(words[:3] + words[4:] == [[1], [1], [2], [1, 2], [1, 0]] for words in drawn)
    assert sorted({j for words in drawn for j in words[3]}) == [0, 2, 3, 4]
    with pytest.raises(ValueError, match="2 source words"):
        choose(weights[:2], 0, rng)


def test_every_right_word_with_one_gold_word_is_tried(model, maps):
    trials = hide(model, TASK, maps, seed=0)
    expected = [
        (k, i)
        for k, pair in enumerate(PAIRS)
        for i in range(len(pair.target))
        if one_gold_word(pair, i) is not None
    ]
    assert [tuple(map(int, place)) for place in trials.places] == expected
    assert trials.weights.shape == trials.lost.shape == (len(expected), len(HIDDEN))
    peak, gold, other, random, both, with_third = trials.weights.T
    assert (peak >= np.stack([gold, other, random]).max(axis=0)).all()
    assert (other >= random).all()
    np.testing.assert_allclose(both, gold + other)
    assert (with_third <= both).all()
    assert (with_third >= gold).all()
    np.testing.assert_array_equal(trials.lost[trials.agrees, 0], trials.lost[trials.agrees, 1])
    np.testing.assert_array_equal(trials.lost[~trials.agrees, 0], trials.lost[~trials.agrees, 2])


def test_wrongly_translated_words_are_not_tried(model, maps):
    wrong = [replace(read_map, right=np.zeros_like(read_map.right)) for read_map in maps[1:]]
    trials = hide(model, TASK, [maps[0], *wrong], seed=0)
    assert set(trials.places[:, 0]) == {0}


def test_equally_weighted_words_are_content_words_whose_other_weighs_as_much_as_gold():
    weights = [[0.5, 0.4, 0.5], [0.5, 0.3, 0.5], [0.42, 0.42, 0.3], [0.09, 0.09, 0.09]]
    table = np.column_stack([weights, np.zeros((4, 3))])
    kinds, places = np.array(["content"] * 4), np.zeros((4, 2), dtype=int)
    trials = Trials(places, kinds, np.zeros(4, dtype=bool), table, table > 1)
    assert trials.equally_weighted().tolist() == [True, False, True, False]
    assert not replace(trials, kinds=np.array(["function"] * 4)).equally_weighted().any()


def test_losses_are_shares_of_the_chosen_words(model, maps):
    trials = hide(model, TASK, maps, seed=0)
    content = trials.kinds == "content"
    assert trials.losses("gold") == pytest.approx(trials.lost[:, 1].mean())
    assert trials.losses("random", content) == pytest.approx(trials.lost[content, 3].mean())


def test_a_word_has_one_gold_word_if_its_only_link_is_sure():
    for pair in PAIRS:
        for i in range(len(pair.target)):
            possible = [source for target, source in pair.possible if target == i]
            sure = [source for target, source in pair.sure if target == i]
            result = one_gold_word(pair, i)
            assert (result is not None) == (len(possible) == 1 and sure == possible)
            assert result is None or [result] == sure


def test_the_kinds_of_words():
    for token in ("le", "du", "l'", "qu'", "à", "votre", "elle", "-vous", "est-ce"):
        assert kind_of(token) == "function"
    for token in ("chat", "mange", "rouge", "deux", "jamais", "comment", "est"):
        assert kind_of(token) == "content"
    assert {kind_of(token) for token in ",.?"} == {"mark"}
    assert {kind_of(token) for pair in PAIRS for token in pair.target} == set(KINDS)


def test_the_fixed_phrase_is_linked_as_declared():
    drawn = sample_pairs("french", 2000, np.random.default_rng(0), clauses=(1, 2), split="test")
    pairs = [pair for pair in drawn if "Area" in pair.source]
    assert pairs
    for pair in pairs:
        j, i = pair.source.index("Area") - 3, pair.target.index("zone") - 1
        assert pair.source[j : j + 4] == ENGLISH
        assert pair.target[i + 1 : i + 4] == FRENCH[1:]
        assert {(i + row, j + GOLD[row]) for row in (1, 2, 3)} <= pair.sure
