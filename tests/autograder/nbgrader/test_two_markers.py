"""Test a shared course: two users grade and mark in it, and a third user has no access."""

import csv
import grp
import json
import os
import shutil
import urllib.request

import pytest
from browsing import TOKEN, formgrader_server
from classroom import MEAN_SUM, hand_in, make_course
from people import make_person, open_folder

from autograder.course.course import Course
from autograder.course.sharing import readers


@pytest.fixture(scope="module")
def folder():
    """Yield a folder that every user may enter."""
    path = open_folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def people(folder):
    """Return two users with a common group, and a user outside of it."""
    users = grp.getgrnam("users").gr_gid
    return [
        make_person(folder, 12000 + n, *groups) for n, groups in enumerate([[users]] * 2 + [[]])
    ]


@pytest.fixture(scope="module")
def course(folder, people):
    """Yield a graded course that the first user owns and shares."""
    ada = people[0]
    before = os.umask(0o022)
    course = make_course(folder / "course")
    for student in ("ann", "cay"):
        hand_in(course, student)
    for path in (course.root, *course.root.rglob("*")):
        os.chown(path, ada.number, ada.number)
    command_output(ada, "grade", course)
    command_output(ada, "share", course, "users")
    yield course
    os.umask(before)


def command_output(person, command, course, *arguments):
    result = person.autograder(command, *arguments, "--course", course.root)
    assert result.returncode == 0, result.stderr
    return result.stdout


def call_formgrader(address, path, **values):
    """Send a GET request to the formgrader's API, or PUT `values`; return its answer."""
    request = urllib.request.Request(
        f"{address}/formgrader/api/{path}",
        data=json.dumps(values).encode() if values else None,
        headers={"Authorization": f"token {TOKEN}"},
        method="PUT" if values else "GET",
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def points_of_why(course):
    """Return the exported points for written answers."""
    with (course.root / "grades.csv").open(newline="") as stream:
        return [row["why"] for row in csv.DictReader(stream) if row["why"]]


def hand_in_as(person, course, student, **answers):
    """Hand in as `person`, who copies the file with the usual umask."""
    path = hand_in(course, student, **answers)
    for location in (path, path.parent, path.parent.parent):
        os.chown(location, person.number, -1)
        location.chmod(0o644 if location == path else 0o2755)


def test_both_markers_can_grade_mark_and_export_in_turn(course, people):
    ada, bob, _ = people
    hand_in_as(bob, course, "ann", mean=MEAN_SUM)
    hand_in_as(bob, course, "eve")
    assert "2 judged, 1 known" in command_output(bob, "grade", course)
    with formgrader_server(course.root, bob.home, bob) as address:
        (submission, *_) = call_formgrader(address, "submitted_notebooks/toy/toy")
        grades = call_formgrader(address, f"grades?submission_id={submission['id']}")
        (why,) = [grade for grade in grades if grade["name"] == "why"]
        call_formgrader(address, f"grade/{why['id']}", manual_score=4.0)
    command_output(bob, "feedback", course)
    command_output(bob, "export", course)
    assert points_of_why(course) == ["4.0"]
    for person, student in ((ada, "eve"), (bob, "cay")):  # each overwrites files of the other
        hand_in_as(person, course, student, mean=MEAN_SUM)
        assert "1 judged, 2 known" in command_output(person, "grade", course)
        command_output(person, "feedback", course)
        command_output(person, "export", course)
    assert points_of_why(course) == ["4.0"]
    owners = {path.stat().st_uid for path in course.root.rglob("*")}
    assert owners == {ada.number, bob.number}
    assert [row[1] for row in readers(Course.open(course.root))] == [True, True]


@pytest.mark.parametrize("command", ["grade", "feedback", "export"])
def test_user_outside_the_group_gets_a_one_line_error(course, people, command):
    result = people[2].autograder(command, "--course", course.root)
    assert result.returncode == 1
    assert "you may not read this course. Ask its owner (12000)" in result.stderr
