"""Two users of one machine grade and mark in one course, and a third one sees nothing."""

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
    """A folder that everybody may pass through."""
    made = open_folder()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def people(folder):
    """Two people with a group in common, and one outside of it."""
    users = grp.getgrnam("users").gr_gid
    return [
        make_person(folder, 12000 + n, *groups) for n, groups in enumerate([[users]] * 2 + [[]])
    ]


@pytest.fixture(scope="module")
def course(folder, people):
    """A graded course of the first person, who has shared it."""
    ada = people[0]
    before = os.umask(0o022)
    made = make_course(folder / "course")
    for student in ("ann", "cay"):
        hand_in(made, student)
    for path in (made.root, *made.root.rglob("*")):
        os.chown(path, ada.number, ada.number)
    done(ada, "grade", made)
    done(ada, "share", made, "users")
    yield made
    os.umask(before)


def done(person, command, course, *arguments):
    result = person.autograder(command, *arguments, "--course", course.root)
    assert result.returncode == 0, result.stderr
    return result.stdout


def ask(address, path, **values):
    """Ask the formgrader; with `values`, put them there."""
    request = urllib.request.Request(
        f"{address}/formgrader/api/{path}",
        data=json.dumps(values).encode() if values else None,
        headers={"Authorization": f"token {TOKEN}"},
        method="PUT" if values else "GET",
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def points_of_why(course):
    """The points that a person has given for written answers, from the export."""
    with (course.root / "grades.csv").open(newline="") as stream:
        return [row["why"] for row in csv.DictReader(stream) if row["why"]]


def hand_in_as(person, course, student, **answers):
    """Hand in as the first time, by a person who copies the file with the usual umask."""
    path = hand_in(course, student, **answers)
    for one in (path, path.parent, path.parent.parent):
        os.chown(one, person.number, -1)
        one.chmod(0o644 if one == path else 0o2755)


def test_the_second_marker_grades_marks_and_exports_and_so_does_the_first_again(course, people):
    ada, bob, _ = people
    hand_in_as(bob, course, "ann", mean=MEAN_SUM)
    hand_in_as(bob, course, "eve")
    assert "2 judged, 1 known" in done(bob, "grade", course)
    with formgrader_server(course.root, bob.home, bob) as address:
        (submission, *_) = ask(address, "submitted_notebooks/toy/toy")
        grades = ask(address, f"grades?submission_id={submission['id']}")
        (why,) = [grade for grade in grades if grade["name"] == "why"]
        ask(address, f"grade/{why['id']}", manual_score=4.0)
    done(bob, "feedback", course)
    done(bob, "export", course)
    assert points_of_why(course) == ["4.0"]
    for person, student in ((ada, "eve"), (bob, "cay")):  # each over what the other one wrote
        hand_in_as(person, course, student, mean=MEAN_SUM)
        assert "1 judged, 2 known" in done(person, "grade", course)
        done(person, "feedback", course)
        done(person, "export", course)
    assert points_of_why(course) == ["4.0"]
    owners = {path.stat().st_uid for path in course.root.rglob("*")}
    assert owners == {ada.number, bob.number}
    assert [row[1] for row in readers(Course.open(course.root))] == [True, True]


@pytest.mark.parametrize("command", ["grade", "feedback", "export"])
def test_somebody_outside_of_the_group_gets_one_line(course, people, command):
    result = people[2].autograder(command, "--course", course.root)
    assert result.returncode == 1
    assert "you may not read this course. Ask its owner (12000)" in result.stderr
