"""Test the recorded speed of grading, and the parts of the benchmark; it is not run here."""

import json
import subprocess
import sys

import pytest

from tests.benchmarks import peers
from tests.benchmarks.grading import CLASS, LARGE, NUMPY, PARTS, PEERS, RESULT, TORCH, summary
from tests.benchmarks.measuring import graded
from tests.benchmarks.peers import PeerFailed, PeerTest


def measured():
    return json.loads(RESULT.read_text(encoding="utf-8"))


def test_the_record_has_every_figure_that_the_page_reads():
    result = measured()
    assert result["submissions"] == CLASS
    assert list(result["assignments"]) == [TORCH, NUMPY]
    for assignment in result["assignments"].values():
        assert list(assignment["milliseconds"]) == list(PARTS)
        assert not any("failed" in assignment[peer] for peer in PEERS)
    assert list(result["large_class"]["seconds"]) == [str(size) for size in LARGE]


def test_grading_is_faster_than_both_peers_and_its_memory_does_not_grow():
    result = measured()
    figures = summary(result)
    assert figures["speedup_vs_nbgrader"] > 1
    assert figures["speedup_vs_otter"] > 1
    assert figures["worker_rss_mib"] <= 1024
    first, *_, last = result["large_class"]["mib"].values()
    assert last < 1.25 * first
    first, *_, last = result["large_class"]["seconds"].values()
    assert last / LARGE[-1] < 1.25 * first / LARGE[0]


def test_a_run_is_timed_by_its_progress_lines(tmp_path):
    say = "import time\nfor n in (1, 2, 3): print(f'grading {n} of 3: s', flush=True)"
    run = graded([sys.executable, "-c", say], tmp_path, at=(2,))
    assert 0 < run.first <= run.seconds_at[2] <= run.seconds


def test_a_run_that_fails_is_an_error(tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        graded([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_a_peer_that_fails_is_reported_with_its_exit_code(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "grader").symlink_to("/bin/false")
    with pytest.raises(PeerFailed, match="grader, exit code 1"):
        peers.run(tmp_path, tmp_path, "grader")


def test_points_go_to_the_exercise_with_the_longest_matching_name(tmp_path):
    tests = [{"name": "soft_lookup_backward - 1", "score": 2}, {"name": "soft_lookup", "score": 3}]
    (tmp_path / "results.json").write_text(json.dumps({"tests": tests}))
    points = peers.otter_points(tmp_path / "results.json", ["soft_lookup", "soft_lookup_backward"])
    assert points == {"soft_lookup_backward": 2, "soft_lookup": 3}
    assert peers.otter_points(tmp_path / "none.json", ["soft_lookup"]) == {}


def test_a_notebook_gets_the_metadata_and_tests_of_the_other_grader():
    def cell(name, source):
        marks = {"grade_id": name, "grade": name == "f", "solution": name == "f", "points": 2}
        return {"source": source, "metadata": {"nbgrader": marks}}

    content = {"cells": [cell("f", "def f(): ..."), cell("f-check", "check(f)")]}
    answer, test = peers.for_nbgrader(content, ["f"], {"f": PeerTest(2, "assert f()")})["cells"]
    assert answer["metadata"]["nbgrader"] == {"grade_id": "f", "grade": False, "solution": True}
    assert test["source"] == "assert f()"
    assert test["metadata"]["nbgrader"]["grade"]
    assert "def test_f(f):\n    assert f()\n" in peers.otter_test(
        "f", PeerTest(2, "assert f()"), ""
    )
