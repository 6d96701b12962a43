"""Test a small training of chapters 2 and 9, and the results that later chapters use."""

import json

import numpy as np
import pytest
import torch

from solutions.translators import quality_by_length
from solutions.translators.machines import BEYOND, BEYOND_CLAUSES, CLAUSES, LENGTHS
from solutions.translators.quality import held_out_pairs, translate_pairs
from solutions.translators.quality_by_length import (
    LANGUAGE,
    MACHINES,
    as_figure_data,
    measure,
    restore,
)


@pytest.fixture(scope="module", params=list(MACHINES))
def run(request):
    """Return two steps of the real machine on the real pairs."""
    with pytest.MonkeyPatch.context() as patch:
        machine, _, recipe = MACHINES[request.param]
        patch.setitem(MACHINES, request.param, (machine, 2, recipe))
        patch.setattr(quality_by_length, "SENTENCES", 4)
        return measure(request.param, seed=0)


def test_every_field_is_filled(run):
    assert len(run.by_length) == len(LENGTHS)
    for result in (*run.by_length, run.long, run.beyond):
        assert 0 <= result.token_accuracy <= 1
        assert 0 <= result.bleu <= 100
    assert run.parameters > 0
    assert run.seconds > 0


def test_a_restored_machine_gives_the_same_translations(run):
    pairs = held_out_pairs(LANGUAGE, (3, 9), 3, CLAUSES)
    torch.manual_seed(1)
    first, second = (translate_pairs(restore(run), run.task, pairs) for _ in range(2))
    assert first == second
    assert run.state.keys() == restore(run).state_dict().keys()


def test_sentences_beyond_have_more_clauses_than_any_of_the_training():
    assert BEYOND_CLAUSES[0] > CLAUSES[1]
    for pair in held_out_pairs(LANGUAGE, BEYOND, 20, BEYOND_CLAUSES):
        assert BEYOND[0] <= len(pair.source) <= BEYOND[1]


def test_figure_data_has_a_row_per_seed(run):
    data = json.loads(json.dumps(as_figure_data([run, run])))
    assert np.shape(data["token_accuracy"]) == np.shape(data["bleu"]) == (2, len(LENGTHS))
    assert data["bleu_beyond"] == [run.beyond.bleu] * 2
    assert data["token_accuracy_long"] == [run.long.token_accuracy] * 2
    assert data["parameters"] == [run.parameters] * 2
