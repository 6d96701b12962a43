"""The record of the trials by which chapter 3's rates were chosen."""

import json

from solutions.experiments.captioning.looking import FALL, HARD_RATE, RATES
from tests.benchmarks.captioning_rates import HARD, RESULT, TRIED, Trial, best


def test_the_rates_of_the_chapter_are_those_that_the_record_chose():
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    assert measured["command"] == "make bench"
    trials = [Trial(**one) for one in measured["trials"]]
    for name in RATES:
        assert [one.rate for one in trials if one.captioner == name] == list(TRIED)
    hard = [round(FALL * rate, 6) for rate in TRIED]
    assert [one.rate for one in trials if one.captioner == HARD] == hard
    assert best(trials) == RATES | {HARD: HARD_RATE}
