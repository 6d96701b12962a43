"""Test that a page's reports are stored with its run and read by later pages."""

import json

import numpy as np
import pytest

from solutions.running.readable import readable
from solutions.running.reporting import (
    figure_data,
    model_data,
    read_figure_data,
    read_model_data,
    read_timing_data,
    report,
    report_timings,
    timing_data,
)


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    """Return the folder of the run of a page called `earlier`."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    monkeypatch.setenv("COURSE_RUN", str(folder))
    monkeypatch.setenv("COURSE_EXECUTED", str(tmp_path))
    return folder


def test_a_later_page_reads_results_of_an_earlier_page(run):
    figure_data("curve", {"x": [1, 2], "name": "é"})
    figure_data("curve", {"x": [3], "name": "é"})
    timing_data("clock", [0.5])
    model_data("machine", [b"one", b"two"])
    assert read_figure_data("curve", "earlier") == {"x": [3], "name": "é"}
    assert read_timing_data("clock", "earlier") == [0.5]
    assert read_model_data("machine", "earlier") == [b"one", b"two"]
    assert not (run / "clock.json").exists(), "it is others in each run"


def test_missing_data_names_the_page_to_execute():
    with pytest.raises(FileNotFoundError, match=r"curve\.json .* make fresh PAGES=earlier"):
        read_figure_data("curve", "earlier")


def test_a_number_outside_json_is_refused_and_nothing_is_lost():
    figure_data("curve", [1])
    with pytest.raises(ValueError, match="not JSON compliant"):
        figure_data("curve", [float(np.nan)])
    assert read_figure_data("curve", "earlier") == [1]


def test_a_page_stores_its_reports_and_keeps_timings_separate(run):
    report("earlier", mean=np.float32(0.5), name="a")
    report("earlier", steps=7)
    report_timings("earlier", seconds=1.5)
    assert json.loads((run / "numbers.json").read_text()) == {"mean": 0.5, "name": "a", "steps": 7}
    assert json.loads((run / "timed" / "numbers.json").read_text()) == {"seconds": 1.5}
    with pytest.raises(ValueError, match="the page earlier reports as 'other'"):
        report("other", mean=3)


def test_nothing_is_written_outside_a_build(run, monkeypatch):
    monkeypatch.delenv("COURSE_RUN")
    report("anything", mean=3)
    figure_data("curve", [1])
    assert list(run.iterdir()) == []


def test_readable_json_is_the_same_data_in_lines():
    data = {"a": [1, 2.5, None], "b": [[1, 2], [3]], "c": {}, "d": list(range(60)), "é": "x\n"}
    text = readable(data)
    assert json.loads(text) == data
    assert max(map(len, text.splitlines())) <= 101
    assert '"a": [1, 2.5, null]' in text
