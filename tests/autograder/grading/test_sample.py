"""The sample class: complete, the same every time, and graded as it says."""

import ast
from collections import Counter

import pytest

from autograder.checks import assignments
from autograder.classroom import release as release_module
from autograder.classroom.course import Course, CourseError
from autograder.classroom.release import release
from autograder.grading import program as grading
from autograder.grading.grade import read_released
from autograder.grading.notebook import read_submission
from autograder.grading.sample import hand_in, sample_class
from autograder.judging.verdict import Verdict
from autograder.sandbox.backends import open_sandbox
from autograder.sandbox.limits import Limits

QUICK = Limits(seconds=2)
ASSIGNMENTS = list(assignments().values())
SAMPLES = sample_class(ASSIGNMENTS)


def make_class(root):
    """A course with every release and the class; no submission is made of the public cases."""
    made = Course.create(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_module, "write_cases", lambda assignment, path: None)
        release(made)
    hand_in(made, ASSIGNMENTS)
    return made


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("sample") / "course")


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


def test_the_class_is_the_same_every_time(course, tmp_path):
    second = make_class(tmp_path / "second")
    files = sorted(path.relative_to(course.root) for path in course.submitted.rglob("*.ipynb"))
    assert len(files) == len(SAMPLES)
    for file in files:
        assert (second.root / file).read_bytes() == (course.root / file).read_bytes()


def test_without_a_release_it_says_what_to_do(tmp_path):
    with pytest.raises(CourseError, match="autograder release"):
        hand_in(Course.create(tmp_path / "course"), ASSIGNMENTS)


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox(limits=QUICK)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda one: f"{one.student}.{one.assignment}")
def test_it_is_graded_as_it_says(course, sandbox, sample, monkeypatch):
    monkeypatch.setattr(grading, "LIMITS", QUICK)
    (file,) = course.submissions([sample.assignment], [sample.student])
    assignment = assignments()[sample.assignment]
    released = read_released(course, sample.assignment)
    submission = read_submission(file, assignment, released)
    judgements = submission.problems | grading.judge_program(
        submission.program,
        assignment,
        course_key=course.key,
        digest=submission.digest,
        sandbox=sandbox,
        only=[name for name in sample.expected if name not in submission.problems],
    )
    assert judgements.keys() == sample.expected.keys()
    for name, expected in sample.expected.items():
        judgement = judgements[name]
        assert judgement.misconception == expected.misconception, (name, judgement)
        if expected.verdict is None:
            assert not judgement.passed, name
        else:
            assert judgement.verdict is expected.verdict, (name, judgement)
