"""Test the record of the trials by which chapter 3's learning rates were chosen."""

import json

from solutions.experiments.captioning.looking import FALL, HARD_RATE, RATES
from tests.benchmarks.captioning_rates import HARD, RESULT, TRIED, Trial, best


def test_the_rates_of_the_chapter_are_the_best_of_the_record():
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    assert measured["command"] == "make bench"
    trials = [Trial(**fields) for fields in measured["trials"]]
    for name in RATES:
        assert [trial.rate for trial in trials if trial.captioner == name] == list(TRIED)
    hard = [round(FALL * rate, 6) for rate in TRIED]
    assert [trial.rate for trial in trials if trial.captioner == HARD] == hard
    assert best(trials) == RATES | {HARD: HARD_RATE}
