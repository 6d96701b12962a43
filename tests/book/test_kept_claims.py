"""Test claims of the chapters about stored numbers that no cell asserts."""

import json
from typing import Any

import numpy as np
from site_tools import ROOT

from solutions.experiments.captioning.hiding import ON_NAMED
from solutions.experiments.context_bottleneck import widths
from solutions.running.reporting import read_measured
from solutions.translators.machines import bottleneck
from solutions.translators.training import count_parameters

BOOK = ROOT / "book"


def kept(page: str, name: str) -> Any:
    return json.loads((BOOK / "executed" / page / f"{name}.json").read_text(encoding="utf-8"))


def test_more_training_raises_every_length_but_the_decline_remains() -> None:
    short = np.array(kept("context_bottleneck", "quality_by_length")["token_accuracy"])
    trainings = read_measured("training_or_width")["trainings"]
    long = np.array(trainings["fresh_pairs"]["token_accuracy"])
    assert (long > short).all()
    falls = [(accuracy[:, 0] - accuracy[:, -1]).mean() for accuracy in (short, long)]
    assert 0.9 < falls[1] / falls[0] < 1.15


def test_a_narrower_c_removes_about_a_hundred_thousand_parameters() -> None:
    narrow, wide = (count_parameters(make(400, 700)) for make in (widths.machine, bottleneck))
    assert 95_000 < wide - narrow < 105_000


def test_captioners_stay_in_their_group_through_the_long_budget_as_chapter_3_says() -> None:
    page, appendix = (kept(name, "numbers") for name in ("captioning", "captioning_appendix"))
    ranges = kept("captioning", "captioning_told_ranges")
    assert appendix["changed"] == 0
    assert appendix["long_remembering"] == page["remembering"]
    assert appendix["long_following"] == page["following"]
    moved = {name: ranges[name]["right, sees another"] for name in ("remembering", "looking")}
    apart = moved["remembering"][1] - moved["looking"][2]
    assert appendix["remembered_lowest"] - appendix["remembered_highest"] > apart


def test_a_look_that_sees_the_whole_picture_is_followed_in_three_cases_of_four() -> None:
    page, appendix = (kept(name, "numbers") for name in ("captioning", "captioning_appendix"))
    assert 0.7 < appendix["whole_5"] < 0.8
    null, small, whole = page["localisation_null"], appendix["where_1"], appendix["whole_1"]
    assert null < whole < (null + small) / 2  # "nearer to what the shapes alone would give"
    assert appendix["where_3"] > 0.98  # "Left with the named shape alone, right in nearly all"
    runs = read_measured("captioning_controls")["runs"]
    off = [run["said"][ON_NAMED]["weight"] for run in runs if run["captioner"] == "whole"]
    assert np.round(1 - np.array(off), 2).tolist() == [0.99] * 3  # "where the small view touches"


def test_without_a_source_half_as_many_next_words_of_long_sentences_are_right() -> None:
    numbers = kept("context_bottleneck", "numbers")
    assert 0.45 < numbers["sourceless_long"] / numbers["token_accuracy_forced_long"] < 0.55


def test_looking_back_loses_a_tenth_by_position_and_two_hundredths_by_edits() -> None:
    numbers = kept("alignment", "numbers")
    assert round(numbers["accuracy_shortest"] - numbers["accuracy_longest"], 1) == 0.1
    assert round(numbers["edit_accuracy_3_9"] - numbers["edit_accuracy_40_49"], 2) == 0.02


def test_as_many_hidden_words_bring_most_of_the_gain_by_steps_and_by_batches() -> None:
    numbers = kept("gpt_and_bert_gaps", "numbers")
    names = ("masked", "longer", "larger", "half")
    for way in ("in_order", "any_order"):
        masked, longer, larger, half = (numbers[f"{name}_nats_{way}"] for name in names)
        assert half < longer < larger < (masked + half) / 2
    assert all(numbers[f"when_{name}"] > 0.8 for name in ("longer", "larger"))  # far from one half


def test_at_its_best_budget_chapter_10_puts_the_gpt_between_the_4_gram_and_the_5_gram() -> None:
    numbers = kept("gpt_and_bert", "numbers")
    best = numbers["at_best_budget"]
    assert numbers["nats_ngram_5"] < best < numbers["nats_ngram_4"] < numbers["nats_ours"]
    assert best < numbers["budget_most"]
    assert numbers["best_budget"] < numbers["budgets_most"]


def test_hiding_a_third_word_costs_less_as_chapter_2_says() -> None:
    numbers = kept("alignment", "numbers")
    assert numbers["equal_gold"] < numbers["equal_third"] < numbers["equal_both"] - 0.08


def test_chapter_12_states_its_measured_numbers() -> None:
    text = (BOOK / "today.md").read_text(encoding="utf-8")
    numbers = kept("today", "numbers")
    assert "the GPT is past the 4-gram, and the model of today level with the 5-gram" in text
    of_today, of_gpt = numbers["own_budget_today"], numbers["own_budget_gpt"]
    assert abs(of_today - numbers["nats_ngram_5"]) < 0.01
    assert of_today < of_gpt < numbers["nats_ngram_4"]
    assert numbers["own_steps_today"] < 0.5 * numbers["own_steps_gpt"]
    saved = numbers["copy_nats_first"] - numbers["copy_nats_second"]
    lost = numbers["copy_without_heads"] - numbers["copy_nats_second"]
    assert 0.85 < lost / saved < 0.9  # "nearly nine tenths of what copying saved was gone"
    # more than the single rises add up to, on the ranking's text and elsewhere
    assert numbers["half_sum"] < numbers["half_sum_elsewhere"] < 0.5 < numbers["half_rise"]
    assert numbers["heads"] == 270
    assert "the same eight tokens" in text
    compared = json.loads((BOOK / "measured" / "smollm2.json").read_text(encoding="utf-8"))
    assert compared["most_tokens"] == 8


def test_at_their_own_budgets_most_of_the_lead_in_chapter_12_was_speed() -> None:
    numbers = kept("today_appendix", "numbers")
    early = numbers["late_base"] - numbers["late_today"]
    assert 0 < numbers["own_budget_gpt"] - numbers["own_budget_today"] < 0.3 * early
    for name in ("gpt", "today"):  # with more steps they learn the text by heart
        assert numbers[f"most_{name}"] > numbers[f"own_budget_{name}"] + 0.01
        assert numbers[f"most_training_{name}"] < numbers[f"own_budget_{name}"] - 0.4
