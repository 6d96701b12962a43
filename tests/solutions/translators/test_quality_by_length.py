"""Test a small training of chapters 2 and 9, and the results that later chapters use."""

import pytest
import torch

from solutions.translators import quality_by_length
from solutions.translators.machines import BEYOND, BEYOND_CLAUSES, CLAUSES
from solutions.translators.quality import held_out_pairs, translate_pairs
from solutions.translators.quality_by_length import (
    LANGUAGE,
    MACHINES,
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
