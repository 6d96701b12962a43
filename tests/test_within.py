"""Test that a limited run starts no test after its time, and begins each day at another place."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
DAY = 24 * 60 * 60


def run(folder: Path, until: float, *arguments: str) -> str:
    """Run the tests of a folder until a time, and return what pytest prints."""
    command = [sys.executable, "-m", "pytest", "-p", "within", "--until", str(until)]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments, "."],
        cwd=folder,
        env={"PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three test files of two tests each."""
    (tmp_path / "pytest.ini").touch()
    for name in "abc":
        text = "def test_one():\n    pass\n\ndef test_two():\n    pass\n"
        (tmp_path / f"test_{name}.py").write_text(text)
    return tmp_path


def test_a_test_that_would_start_too_late_is_left_to_the_nightly_run_and_counted(
    folder: Path,
) -> None:
    printed = run(folder, time.time() - 1, "-n", "2", "--dist", "loadfile")
    assert "NOT run, as the time is over: 6 tests of 3 files." in printed
    assert "6 skipped" in printed


def test_a_run_in_time_says_nothing_of_it(folder: Path) -> None:
    printed = run(folder, time.time() + DAY)
    assert "6 passed" in printed
    assert "NOT run" not in printed


def test_each_file_is_the_first_once_in_three_days(folder: Path) -> None:
    orders = {}
    for day in range(3):
        lines = run(folder, day * DAY, "--collect-only", "-q").splitlines()
        orders[day] = [line[5] for line in lines if line.startswith("test_")]
    assert orders == {0: [*"aabbcc"], 1: [*"bbccaa"], 2: [*"ccaabb"]}
