"""The data of figures, kept with the build and read by later chapters."""

import json
import subprocess
import sys

import numpy as np
import pytest

from solutions.running.reporting import figure_data, read_figure_data, report


@pytest.fixture(autouse=True)
def build(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_BUILD", str(tmp_path))
    return tmp_path


def test_a_later_chapter_reads_what_an_earlier_one_kept(build):
    figure_data("curve", {"x": [1, 2], "name": "é"})
    figure_data("curve", {"x": [3], "name": "é"})
    assert read_figure_data("curve", "earlier") == {"x": [3], "name": "é"}
    assert json.loads((build / "figures" / "curve.json").read_text(encoding="utf-8"))["x"] == [3]
    assert [path.name for path in (build / "figures").iterdir()] == ["curve.json"]


def test_missing_data_names_the_notebook_to_run():
    with pytest.raises(FileNotFoundError, match=r"curve\.json is missing: run .* earlier\.md"):
        read_figure_data("curve", "earlier")


def test_a_number_that_json_has_not_is_refused_and_loses_nothing():
    figure_data("curve", [1])
    with pytest.raises(ValueError, match="not JSON compliant"):
        figure_data("curve", [float(np.nan)])
    assert read_figure_data("curve", "earlier") == [1]


def test_a_run_keeps_what_it_reports_and_forgets_what_an_earlier_run_did(build):
    path = build / "results.json"
    path.write_text('{"one": {"old": 1}, "earlier": {"kept": 2}}')
    report("one", mean=np.float32(0.5), name="a")
    report("other", mean=3)
    report("one", steps=7)
    assert json.loads(path.read_text()) == {
        "earlier": {"kept": 2},
        "one": {"mean": 0.5, "name": "a", "steps": 7},
        "other": {"mean": 3},
    }


def test_chapters_that_report_side_by_side_lose_nothing(build):
    program = (
        "import sys; from solutions.running.reporting import report\n"
        "for step in range(40): report(sys.argv[1], **{f'step_{step}': step})"
    )
    chapters = ["first", "second", "third"]
    running = [subprocess.Popen([sys.executable, "-c", program, name]) for name in chapters]
    assert [process.wait() for process in running] == [0, 0, 0]
    results = json.loads((build / "results.json").read_text())
    assert {name: len(found) for name, found in results.items()} == dict.fromkeys(chapters, 40)
