"""Test the record of the experiments of chapter 3 that its two pages only read."""

import json
from itertools import product
from pathlib import Path
from typing import Any

from solutions.experiments.captioning import hiding, looking, remembering, worth
from solutions.experiments.captioning.baselines import BASELINES as OF_THE_CHAPTER
from solutions.running.seeds import SEEDS
from tests.benchmarks.captioning_apart import BASELINES, CONTROLS, ONE_VECTOR


def measured(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert found["command"] == "make bench"
    return found


def test_every_baseline_was_tried_at_both_rates_for_the_short_budget():
    found = measured(BASELINES)
    assert found["seeds"] == list(SEEDS)
    learned = worth.from_rows(found["arms"])
    assert len(learned) == len(SEEDS)
    for curves in learned:
        assert set(curves) == set(product(OF_THE_CHAPTER, worth.TRIED))
        for curve in curves.values():
            assert list(curve) == list(range(0, looking.SHORT.then + 1, worth.EVERY))
        assert len({curve[0] for curve in curves.values()}) == 1  # all start from one captioner
    assert worth.as_rows(learned) == found["arms"]


def test_the_captioner_without_attention_was_tested_through_the_long_budget():
    found = measured(ONE_VECTOR)
    assert found["seeds"] == list(SEEDS)
    assert len(found["runs"]) == len(SEEDS)
    for row in found["runs"]:
        run = looking.from_row(row)
        assert list(run.curve) == list(range(looking.EVERY, looking.LONG.steps + 1, looking.EVERY))
        assert json.loads(json.dumps(looking.as_row(run))) == row


def test_the_controls_are_those_of_the_appendix_and_come_back_as_they_were():
    rows = measured(CONTROLS)["runs"]
    about = [(row["captioner"], row["seed"], row["steps"]) for row in rows]
    assert about == [(run.name, run.seed, run.budget.steps) for run in remembering.APART]
    for run, row in zip(remembering.APART, rows, strict=True):
        one = remembering.from_row(row)
        assert set(one.said) == set(hiding.LOOKS)
        assert not one.state
        assert remembering.as_row(run, one) == row


def test_the_runs_of_the_appendix_and_those_apart_have_nothing_in_common():
    assert not set(remembering.APPENDIX) & set(remembering.APART)
    assert not set(remembering.CHAPTER) & set(remembering.APART)
