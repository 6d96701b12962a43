"""Test the record of chapter 10's fine-tuning, and the parts that need no data set."""

import json

import numpy as np
import pytest

from solutions.running.seeds import SEEDS
from tests.benchmarks.fine_tuning import (
    NUMBERS,
    NUMBERS_OF,
    RANKS,
    RANKS_AT,
    RATES,
    RESULT,
    chosen,
    logistic,
)
from tests.benchmarks.reviews import words


def test_the_logistic_regression_is_where_its_loss_is_flat():
    generator = np.random.default_rng(0)
    X, labels = generator.normal(size=(30, 3)), generator.integers(2, size=30)
    weight, bias = logistic(X, labels, 0.1)
    error = 1 / (1 + np.exp(-(X @ weight + bias))) - labels
    assert X.T @ error / 30 + 0.1 * weight == pytest.approx(0, abs=1e-5)
    assert error.mean() == pytest.approx(0, abs=1e-5)


def test_a_text_falls_into_words_and_signs():
    assert words("It's NOT good, 5/10!") == ["it's", "not", "good", ",", "5", "/", "1", "0", "!"]


def test_every_setting_of_the_record_is_the_best_of_its_trials():
    record = json.loads(RESULT.read_text(encoding="utf-8"))
    assert record["numbers"] == list(NUMBERS)
    for way, rates in RATES.items():
        assert list(record["ways"][way]) == list(map(str, NUMBERS_OF[way]))
        for n in NUMBERS_OF[way]:
            trials = [one for one in record["trials"] if (one["way"], one["n"]) == (way, n)]
            assert len(trials) == len(rates) + (n in RANKS_AT and len(RANKS[way]) - 1)
            assert {one["rate"] for one in trials} == set(rates)
            kept, best = record["ways"][way][str(n)], chosen(record["trials"], way, n)
            assert (kept["rate"], kept["rank"]) == (best.rate, best.rank)
            assert len(kept["accuracy"]) == len(SEEDS)
