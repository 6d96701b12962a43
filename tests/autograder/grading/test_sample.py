"""The sample class: complete, and the same every time; test_sample_course.py reads its grades."""

import ast
import shutil
from collections import Counter

import pytest

from autograder.course.course import Course, CourseError
from autograder.grading.sample import hand_in, sample_class
from autograder.judging.verdict import Verdict
from autograder.nbgrader import release as release_module
from autograder.nbgrader.release import release
from exercises import COURSE

ASSIGNMENTS = list(COURSE.values())
SAMPLES = sample_class(ASSIGNMENTS)


def test_the_class_shows_all_that_it_should():
    assert len(SAMPLES) >= 14
    assert len({(one.student, one.assignment) for one in SAMPLES}) == len(SAMPLES)
    assert {one.assignment for one in SAMPLES} == {one.name for one in ASSIGNMENTS}
    expected = [expected for one in SAMPLES for expected in one.expected.values()]
    assert len({one.misconception for one in expected if one.misconception}) == 6
    verdicts = {one.verdict for one in expected}
    assert verdicts >= {Verdict.TIMEOUT, Verdict.MEMORY, Verdict.MALFORMED, Verdict.MISSING}
    perfect = Counter(
        one.student
        for one in SAMPLES
        if {expected.verdict for expected in one.expected.values()} == {Verdict.PASS}
    )
    assert perfect["s01-perfect"] == perfect["s02-computed-otherwise"] == len(ASSIGNMENTS)


def test_every_answer_is_python_that_defines_its_exercise():
    for sample in SAMPLES:
        assert set(sample.expected) >= set(sample.answers)
        for name, source in sample.answers.items():
            kinds = (ast.FunctionDef, ast.ClassDef)
            assert name in [one.name for one in ast.parse(source).body if isinstance(one, kinds)]


def test_the_class_is_the_same_every_time(tmp_path, monkeypatch):
    monkeypatch.setattr(release_module, "write_cases", lambda assignment, path: None)
    first, second = (Course.create(tmp_path / name) for name in ("first", "second"))
    release(first)
    shutil.copytree(first.release, second.release, dirs_exist_ok=True)
    for course in (first, second):
        hand_in(course, ASSIGNMENTS)
    files = sorted(path.relative_to(first.root) for path in first.submitted.rglob("*.ipynb"))
    assert len(files) == len(SAMPLES)
    for file in files:
        assert (second.root / file).read_bytes() == (first.root / file).read_bytes()


def test_without_a_release_it_says_what_to_do(tmp_path):
    with pytest.raises(CourseError, match="autograder release"):
        hand_in(Course.create(tmp_path / "course"), ASSIGNMENTS)
