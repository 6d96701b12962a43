"""Test the record of the trials by which a rate was chosen; the training is not run here."""

import json

from solutions.running.seeds import SEEDS
from solutions.translators.machines import BOTTLENECK_STEPS
from solutions.translators.training import RECURRENT
from tests.benchmarks.learning_rate import RATES, RESULT, SEED, best


def test_the_rate_of_chapter_1_is_the_best_that_was_tried():
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    assert (measured["seed"], measured["steps"]) == (SEED, BOTTLENECK_STEPS)
    assert SEED not in SEEDS
    assert [trial["rate"] for trial in measured["trials"]] == list(RATES)
    assert best(measured["trials"]) == RECURRENT.rate
