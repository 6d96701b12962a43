"""Test that the sample class is complete and reproducible; test_sample_course.py grades it."""

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


def test_sample_class_covers_the_required_verdicts():
    assert len(SAMPLES) >= 14
    assert len({(sample.student, sample.assignment) for sample in SAMPLES}) == len(SAMPLES)
    assert {sample.assignment for sample in SAMPLES} == {
        assignment.name for assignment in ASSIGNMENTS
    }
    expected = [outcome for sample in SAMPLES for outcome in sample.expected.values()]
    assert len({outcome.misconception for outcome in expected if outcome.misconception}) == 6
    verdicts = {outcome.verdict for outcome in expected}
    assert verdicts >= {Verdict.TIMEOUT, Verdict.MEMORY, Verdict.MALFORMED, Verdict.MISSING}
    perfect = Counter(
        sample.student
        for sample in SAMPLES
        if {outcome.verdict for outcome in sample.expected.values()} == {Verdict.PASS}
    )
    assert perfect["s01-perfect"] == perfect["s02-computed-otherwise"] == len(ASSIGNMENTS)


def test_every_sample_answer_defines_its_exercise():
    for sample in SAMPLES:
        assert set(sample.expected) >= set(sample.answers)
        for name, source in sample.answers.items():
            kinds = (ast.FunctionDef, ast.ClassDef)
            assert name in [node.name for node in ast.parse(source).body if isinstance(node, kinds)]


def test_sample_class_is_reproducible(tmp_path, monkeypatch):
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


def test_missing_release_is_reported_with_advice(tmp_path):
    with pytest.raises(CourseError, match="autograder release"):
        hand_in(Course.create(tmp_path / "course"), ASSIGNMENTS)
