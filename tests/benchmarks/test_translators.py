"""Test the tables of `make bench` that chapter 9 shows; the training itself is not run here."""

import json

import pytest

from solutions.running.seeds import SEEDS
from tests.benchmarks.ablation import CHANGES, OURS, RATES
from tests.benchmarks.ablation import RESULT as ABLATION
from tests.benchmarks.translators import RESULT, THEIRS, Trial, best_rate, row, table

FIGURES = ("seconds", "steps", "pairs", "bleu_long", "token_accuracy_long", "bleu_short")


def trial(bleu_long: float) -> Trial:
    return Trial(1000, 10.26, 200, 6400, bleu_long, 0.5, 30.0)


def test_a_row_has_the_figures_of_all_seeds_and_the_table_shows_mean_and_range():
    ours = row("ours", True, 0.003, [trial(10.0), trial(20.0), trial(60.0)])
    assert ours["bleu_long"] == [10.0, 20.0, 60.0]
    assert ours["parameters"] == 1000
    line = table([ours]).splitlines()[1]
    text = "ours 1000 10 200 30.0 (10.0 to 60.0), 30.0 (30.0 to 30.0)"
    assert " ".join(line.split()) == text


def test_the_measured_table_has_all_four_translators_and_all_seeds():
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    assert measured["command"] == "make bench"
    assert {*measured} == {"date", "machine", "versions", "command", "rows", "trials"}
    assert {*measured["versions"]} == {"python", "torch", "d2l", "sacrebleu"}
    rows = {line["name"]: line for line in measured["rows"]}
    assert [*rows] == [name for ours, d2l in THEIRS.items() for name in (ours, f"d2l {d2l}")]
    for line in rows.values():
        assert all(len(line[key]) == len(SEEDS) for key in FIGURES)
    for name in THEIRS.values():
        assert rows[f"d2l {name}"]["rate"] == best_rate(measured["trials"], f"d2l {name}")


def test_the_ablation_has_a_row_for_each_change_with_the_best_rate_that_was_tried():
    measured = json.loads(ABLATION.read_text(encoding="utf-8"))
    rows = {line["name"]: line for line in measured["rows"]}
    assert [*rows] == [*CHANGES, OURS]
    for name, line in rows.items():
        tried = sorted(t["rate"] for t in measured["trials"] if t["name"] == name)
        assert tried == sorted(RATES)
        assert line["rate"] == best_rate(measured["trials"], name)
        assert all(len(line[key]) == len(SEEDS) for key in FIGURES)
        assert line["seconds"] == pytest.approx(rows[OURS]["seconds"], rel=0.01)
        assert line["parameters"] == pytest.approx(rows[OURS]["parameters"], rel=0.1)


@pytest.mark.parametrize("kind", THEIRS)
def test_compared_translators_have_equal_sizes_and_training_times(kind):
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    rows = {line["name"]: line for line in measured["rows"]}
    ours, theirs = rows[kind], rows[f"d2l {THEIRS[kind]}"]
    assert theirs["parameters"] == pytest.approx(ours["parameters"], rel=0.1)
    assert theirs["seconds"] == pytest.approx(ours["seconds"], rel=0.01)
