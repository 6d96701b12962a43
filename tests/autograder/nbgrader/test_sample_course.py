"""Test the graded sample course of `make course` in a real browser."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from browsing import feedback_of, formgrader_server, instructor, open_submission, score_of
from nightly import some
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import Course
from autograder.grading.sample import sample_class
from exercises import COURSE

RIGHT_EVERYWHERE = ("s01-perfect", "s02-computed-otherwise")
"""Students who have answered every exercise of every assignment correctly."""

GRADED = Path(__file__).parents[3] / "_build" / "course"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a copy of the graded sample course for marking."""
    if not (GRADED / "grades.json").exists():
        pytest.fail("there is no graded sample course: type `make class`")
    root = tmp_path_factory.mktemp("sample") / "course"
    shutil.copytree(GRADED, root)
    return Course.open(root)


@pytest.fixture(scope="module")
def rows(course):
    return json.loads(course.grades.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(course, tmp_path_factory):
    with (
        formgrader_server(course.root, tmp_path_factory.mktemp("home")) as address,
        instructor(address) as browser_page,
    ):
        browser_page.address = address
        yield browser_page


def test_every_submission_of_the_sample_class_has_its_rows(rows):
    assignments = COURSE
    samples = sample_class(list(assignments.values()))
    assert len(samples) >= 14
    expected = {
        (sample.student, sample.assignment, exercise.name)
        for sample in samples
        for exercise in assignments[sample.assignment].exercises
    }
    assert {(row["student"], row["assignment"], row["exercise"]) for row in rows} == expected
    assert len(rows) == len(expected)


def test_sample_class_is_judged_as_intended(rows):
    judged = {(row["student"], row["assignment"], row["exercise"]): row for row in rows}
    for sample in sample_class(list(COURSE.values())):
        for exercise, expected in sample.expected.items():
            row = judged[sample.student, sample.assignment, exercise]
            assert row["misconception"] == expected.misconception, row
            if expected.verdict is None:
                assert row["verdict"] != "PASS", row
            else:
                assert row["verdict"] == expected.verdict, row
            most = row["max_points"]
            if row["verdict"] == "MISSED":  # a test that lets some wrong implementations through
                assert 0 <= row["points"] < most, row
            elif row["verdict"] == "PASS":
                assert row["points"] == most, row
            else:  # nothing, or all but the points for promised errors
                assert row["points"] in (0, round(0.75 * most, 1)), row


def test_formgrader_shows_scores_and_feedback_of_each_submission(page, rows):
    submissions = sorted({(row["student"], row["assignment"]) for row in rows})
    whole = [submission for submission in submissions if submission[0] in RIGHT_EVERYWHERE]
    assert len(whole) == len(RIGHT_EVERYWHERE) * len(COURSE)
    others = [submission for submission in submissions if submission not in whole]
    for student, assignment in (*some(whole), *some(others, 4)):
        open_submission(page, page.address, assignment, student)
        for row in rows:
            if (row["student"], row["assignment"]) == (student, assignment):
                assert score_of(page, row["exercise"]) == row["points"], row
                feedback = feedback_of(page, row["exercise"])
                assert row["message"] in feedback, row
                assert row["misconception"] is None or row["misconception"] in feedback, row


def test_points_for_written_answers_reach_the_csv(page, rows, course):
    marked_by_hand = some(COURSE.items(), 3)
    for name, assignment in marked_by_hand:
        open_submission(page, page.address, name, "s01-perfect")
        for written in assignment.written:
            page.fill(f"[id='{written.name}']", "1.5")
            with page.expect_response(lambda response: "/api/grade/" in response.url) as saved:
                page.press(f"[id='{written.name}']", "Tab")
            assert saved.value.ok
    result = CliRunner().invoke(cli.app, ["export", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    with (course.root / "grades.csv").open(newline="") as stream:
        table = {(row["student"], row["assignment"]): row for row in csv.DictReader(stream)}
    for row in rows:
        assert float(table[row["student"], row["assignment"]][row["exercise"]]) == row["points"]
    for name, assignment in marked_by_hand:
        marked = table["s01-perfect", name]
        assert [float(marked[written.name]) for written in assignment.written] == [1.5]
        machine = sum(exercise.points for exercise in assignment.exercises)
        assert float(marked["score"]) == machine + 1.5
