"""Test courses in folders of any name: no name is read as a pattern, format, or address."""

import os
import string

import page
import pytest
import toy
from classroom import hand_in
from inprocess import InProcess
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.course import Course, CourseError
from autograder.grading.grade import grade
from autograder.nbgrader.export import export_csv
from autograder.nbgrader.feedback import generate_feedback
from autograder.nbgrader.gradebook import Gradebook, check_version
from autograder.nbgrader.preset import configure
from autograder.nbgrader.release import release_one
from autograder.sandbox.backends import open_sandbox

EVERY = "".join(char for char in string.printable if char.isprintable() and char != "/")
NAMES = [EVERY, EVERY[::-1], "~", " ", "%41", "a#b", "[c]", "[", "{0}", "{student_id}", "a?b", "**"]
NAMES += ["%(here)s", ":memory:", "file:x?uri=true", "é中"]


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Return a function that makes a course in a named folder and releases the toy assignment."""
    source = page.write(tmp_path)

    def make_in(name):
        course = Course.create(tmp_path / "parent" / name / "my course", "toy_course")
        release_one(course, page.ASSIGNMENT, source)
        return Course.open(course.root)

    return make_in


def only(folder, *names):
    return sorted(os.listdir(folder)) == sorted(names)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_nbgrader_finds_a_course_in_a_folder_of_any_name(make, name, tmp_path):
    course = make(name)
    assert (course.release / "toy" / "toy.ipynb").is_file()
    assert (course.root / "gradebook.db").is_file()
    assert only(tmp_path, "parent", "toy.md")
    assert only(tmp_path / "parent", name)
    hand_in(course, "ann")
    check_version(course.gradebook_url)
    with Gradebook(course.gradebook_url) as book:
        assert [assignment.name for assignment in book.nbgrader.assignments] == ["toy"]
    config = Config()
    config.CourseDirectory.root = str(course.root)
    configure(config)
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert api.coursedir.db_url == course.gradebook_url
    assert api.get_source_assignments() == {"toy"}
    assert api.get_submitted_students("toy") == {"ann"}


@pytest.mark.parametrize("name", [EVERY, "%41 [c] {0} ~ $ ?mode=memory #"], ids=["every", "some"])
def test_class_is_graded_in_a_folder_of_any_name(make, name, tmp_path):
    course = make(name)
    hand_in(course, "ann", scale=toy.RIGHT_SCALE)
    grade(course, None, None, InProcess(open_sandbox()))
    assert generate_feedback(course, lambda *_: None) == (1, [])
    feedback = (course.feedback / "ann" / "toy" / "toy.html").read_text()
    assert "scale</a> 3/3</li>" in feedback
    assert '"ann"' in export_csv(course)[0].read_text()
    assert only(tmp_path / "parent", name)


def test_folder_name_with_an_environment_variable_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_VARIABLE", "x")
    with pytest.raises(CourseError, match="Nothing was created; choose another name"):
        Course.create(tmp_path / "a$SOME_VARIABLE")
    assert not os.listdir(tmp_path)
