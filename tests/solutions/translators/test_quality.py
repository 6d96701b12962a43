"""Test training on pairs that are seen once, and the scores of a translation."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.data.translation.vocabulary import PAD, STOP
from solutions.translators.machines import attention, trained
from solutions.translators.quality import _held_out_pairs as drawn_once
from solutions.translators.quality import (
    bleu,
    held_out_pairs,
    quality,
    token_accuracy,
    translate_pairs,
)
from solutions.translators.training import batches, make_task

SENTENCES = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6), min_size=1, max_size=4
)


def test_token_accuracy_by_hand():
    reference = [("die", "Katze", "schläft", ".")]
    assert token_accuracy(reference, reference) == 1
    assert token_accuracy([("die", "Katze", ".")], reference) == 2 / 4  # later tokens are shifted
    assert token_accuracy([("die", "Katze", "schläft", ".", ".")], reference) == 4 / 5
    assert token_accuracy([()], reference) == 0
    both = token_accuracy([("a",), ("a", "b", "c")], [("a",), ("c", "b", "a")])
    assert both == 2 / 4  # over all positions, not over sentences


@given(SENTENCES)
def test_a_perfect_translation_has_full_marks(sentences):
    assert token_accuracy(sentences, sentences) == 1
    if any(len(sentence) >= 4 for sentence in sentences):  # BLEU counts runs of four tokens
        assert bleu(sentences, sentences) == pytest.approx(100)


def test_bleu_forgives_what_token_accuracy_does_not():
    reference = [tuple(["a", "b", "c", "d", "e", "f", "g", "h"])]
    moved = [tuple(["x", "a", "b", "c", "d", "e", "f", "g", "h"])]
    assert token_accuracy(moved, reference) == 0
    assert bleu(moved, reference) > 80


def test_lists_of_different_lengths_are_refused():
    for translations, references in ([], []), ([("a",)], []), ([("a",)], [("a",), ("b",)]):
        with pytest.raises(ValueError, match="one translation for each reference"):
            token_accuracy(translations, references)


def test_held_out_pairs_have_the_lengths_and_are_always_the_same():
    pairs = held_out_pairs("french", (10, 12), 20, (1, 2))
    assert len(pairs) == 20
    assert {len(pair.source) for pair in pairs} <= {10, 11, 12}
    assert (
        held_out_pairs("french", (10, 12), 20, (1, 2)) is not pairs
    )  # each caller gets a new list
    drawn_once.cache_clear()
    assert pairs == held_out_pairs("french", (10, 12), 20, (1, 2))


def test_impossible_lengths_are_refused():
    with pytest.raises(ValueError, match="hardly any sentence of 1 to 1 clauses has 50 to 60"):
        held_out_pairs("german", (50, 60), 5, (1, 1))


def test_every_pair_is_seen_once_with_little_padding():
    task = make_task("german", (1, 4), 960, seed=3)
    seen, tokens, places = [], np.zeros(2), np.zeros(2)
    for batch in batches(task, 24, seed=3):
        assert len(batch.sources) == 24
        sides = (batch.sources, batch.targets)
        tokens += [(side != PAD).sum() for side in sides]
        places += [side.size for side in sides]
        for row, n in zip(batch.sources, batch.source_lengths, strict=True):
            seen.append(task.source_vocabulary.decode(row[:n]))
    assert sorted(seen) == sorted(pair.source for pair in task.pairs)
    assert (tokens > 0.85 * places).all()


def test_training_teaches_and_repeats_to_the_bit():
    test = held_out_pairs("german", (3, 10), 40, (1, 1))
    weights, qualities = [], []
    for steps in (1, 60, 60):
        torch.set_num_threads(1)
        model, task, seconds = trained(attention, "german", (1, 1), steps, seed=0)
        assert seconds > 0
        weights.append(torch.cat([p.flatten() for p in model.parameters()]).detach().numpy())
        qualities.append(quality(model, task, test).token_accuracy)
    assert np.array_equal(weights[1], weights[2])
    assert qualities[1] > qualities[0] + 0.1
    output = translate_pairs(model, task, test[:3])
    assert all(task.target_vocabulary.tokens[STOP] not in tokens for tokens in output)
