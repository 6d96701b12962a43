"""Share out the tests of `pytest -n 3 --dist loadfile` so that the longest pieces come first.

By default, a worker gets a file at a time, starting with the files that have the most tests. A file
with few tests that take minutes then comes last, and the other workers wait for it. Here the files
of LONG come first, in its order. A file of APART is split into pieces; its pieces share nothing
that takes long to set up.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

LONG = (
    "tests/hostile/test_corpus.py",
    "tests/book/test_pages.py",
    "tests/book/test_paper.py",
    "tests/book/test_playground_claims.py",
    "tests/exercises/test_exercises.py",
    "tests/autograder/notebook/test_agreement.py",
    "tests/book/test_practise_verdicts.py",
    "tests/exercises/test_semantic_mutants.py",
    "tests/autograder/grading/test_cluster.py",
    "tests/solutions/test_smollm2.py",
    "tests/autograder/judging/test_naming.py",
    "tests/autograder/grading/test_program.py",
    "tests/autograder/notebook/test_selfcheck.py",
    "tests/exercises/test_mutants.py",
    "tests/book/test_practise_page.py",
    "tests/autograder/nbgrader/test_sample_course.py",
)
"""The files that take minutes, the longest first; a wrong position costs only time."""

APART = {
    "tests/autograder/notebook/test_agreement.py": r"\[\w+\]$",  # by chapter
    "tests/book/test_pages.py": r"\[\w+\]$",  # by reader
    "tests/book/test_practise_verdicts.py": r"\[\w+\]$",  # by chapter
    "tests/hostile/test_corpus.py": r"-(?:warm|cold)\]$",  # by sandbox
}
"""The pattern that tells apart the pieces of a file in the names of its tests."""


def piece(test: str) -> str:
    """Return the piece of work that a test belongs to: its file, or a part of that."""
    file = test.split("::")[0]
    part = re.search(APART[file], test) if file in APART else None
    return f"{file}{part[0]}" if part else file


def longest_first(tests: list[str]) -> list[int]:
    """Return the indices of the tests in the order in which they are distributed."""
    size = Counter(map(piece, tests))
    place = {file: at for at, file in enumerate(LONG)}

    def key(at: int) -> tuple[int, int]:
        return place.get(tests[at].split("::")[0], len(LONG)), -size[piece(tests[at])]

    return sorted(range(len(tests)), key=key)


class LongestFirst(LoadFileScheduling):
    """Give each worker a piece at a time, in the order in which the tests were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return piece(nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("loadscopereorder", False):  # `make quick` sets its own order
        items[:] = [items[at] for at in longest_first([item.nodeid for item in items])]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LongestFirst | None:
    if config.getoption("dist") != "loadfile" or not config.getoption("loadscopereorder"):
        return None
    config.option.loadscopereorder = False
    return LongestFirst(config, log)
