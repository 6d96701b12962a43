"""Where a translation breaks, and which trainings chapter 1 asks for."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.experiments.context_bottleneck import by_length as bottleneck_by_length
from solutions.experiments.context_bottleneck.by_length import (
    BY_WIDTH,
    EXAMPLE_LENGTHS,
    JOBS,
    WHOLE_RANGE,
    Example,
    Measured,
    length_slider,
    measure,
)
from solutions.running.seeds import SEEDS
from solutions.translators.machines import WIDTHS

WORDS = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)


def test_every_setting_is_trained_with_every_seed():
    settings = [WHOLE_RANGE, *BY_WIDTH.values()]
    assert Counter(JOBS) == {(setting, seed): 1 for setting in settings for seed in SEEDS}
    assert {setting.language for setting in settings} == {"german", "french"}
    assert [setting.width for setting in BY_WIDTH.values()] == list(WIDTHS)
    assert EXAMPLE_LENGTHS[-1][1] > WHOLE_RANGE.lengths[-1][1]


@given(WORDS, WORDS)
def test_a_translation_breaks_at_its_first_fault(translation, reference):
    place = Example(("x",), reference, translation).breaks_at
    if place is None:
        assert translation == reference
    else:
        assert translation[:place] == reference[:place]
        assert translation[place : place + 1] != reference[place : place + 1]


def test_a_short_training_fills_every_field(monkeypatch):
    """The real machine and the real pairs, for two steps."""
    small = replace(WHOLE_RANGE, steps=2, width=8)
    monkeypatch.setattr(bottleneck_by_length, "WHOLE_RANGE", small)
    monkeypatch.setattr(bottleneck_by_length, "JOBS", [(small, 0)])
    monkeypatch.setattr(bottleneck_by_length, "SENTENCES", 4)
    run = measure(0)
    assert len(run.by_length) == len(small.lengths)
    assert all(
        0 <= found.token_accuracy <= 1
        for found in (*run.by_length, run.short, run.long, run.beyond)
    )
    assert len(run.examples) == len(EXAMPLE_LENGTHS)
    for example, (low, high) in zip(run.examples, EXAMPLE_LENGTHS, strict=True):
        assert low <= len(example.source) <= high
    assert run.parameters > 0
    assert run.seconds > 0
    entries = length_slider([run])["french"]
    assert [entry["tokens"] for entry in entries] == [len(one.source) for one in run.examples]
    assert all(entry["breaks_at"] is not None for entry in entries)  # it has learned nothing
    assert isinstance(run, Measured)


def test_the_slider_says_where_a_known_translation_breaks():
    example = Example(
        ("the", "cat", "sleeps", "."),
        ("die", "Katze", "schläft", "."),
        ("die", "Katze", "singt", "."),
    )
    run = Measured(BY_WIDTH[WIDTHS[0]], [], None, None, None, [example], 1, 0.0)
    assert length_slider([run]) == {
        "german": [
            {
                "tokens": 4,
                "source": "The cat sleeps.",
                "reference": "Die Katze schläft.",
                "translation": ["die", "Katze", "singt", "."],
                "breaks_at": 2,
            }
        ]
    }


@pytest.mark.parametrize("job", [-100, 100])
def test_a_job_that_there_is_not_is_an_error(job):
    with pytest.raises(IndexError):
        measure(job)
