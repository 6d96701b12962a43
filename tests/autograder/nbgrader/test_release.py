"""Test releases: the files that students get through nbgrader, identical every time."""

import io
import os
import subprocess
import sys
import zipfile

import nbformat
import page
import pytest
import toy
from nbgrader import api
from nbgrader.validator import Validator

from autograder.course.course import Course
from autograder.exercise.model import Kind, public_cases
from autograder.exercise.stubs import stub
from autograder.judging.keys import build_key
from autograder.nbgrader.gradebook import GradebookError
from autograder.nbgrader.release import (
    RUN_FIRST,
    ReleaseError,
    assignment_zip,
    build_notebook,
    release,
    release_one,
    self_check_files,
)
from autograder.notebook.check import read_cases
from autograder.probe import wire


@pytest.fixture
def course(tmp_path):
    return Course.create(tmp_path / "course", "toy_course")


@pytest.fixture
def toy_page(tmp_path):
    return page.write(tmp_path)


@pytest.fixture
def released(course, toy_page):
    return release_one(course, page.ASSIGNMENT, toy_page)


def cells_by_mark(path):
    return {
        cell.metadata.nbgrader.grade_id: cell for cell in nbformat.read(path, as_version=4).cells
    }


def test_page_becomes_a_notebook_with_every_exercise_in_place(course, released):
    assert released == course.release / "toy" / "toy.ipynb"
    cells = cells_by_mark(released)
    assert list(cells) == [
        "part-01",
        "part-02",
        "part-03",
        "row_mean-task",
        "row_mean",
        "row_mean-check",
        "part-05",
        "scale-task",
        "scale",
        "scale-check",
        "why-task",
        "why",
        "part-08",
        "progress-task",
        "progress-check",
    ]
    assert cells["progress-check"].source == f"check(){RUN_FIRST}"
    assert cells["row_mean"].source == stub(toy.MEAN)
    assert cells["row_mean-check"].source == f"check(row_mean){RUN_FIRST}"
    task = cells["row_mean-task"].source
    assert "**2 points**, difficulty 1 of 5, about 5 minutes" in task
    assert f"**Implement.** {Kind.IMPLEMENT.instruction}" in task
    idea, code, where = toy.MEAN.help
    assert task.index(where) < task.index(idea) < task.index(code)
    assert task.count("<details>") == task.count("</details>") == 3
    assert "Why is a mean linear?" in cells["why-task"].source
    assert page.WHY.rubric not in released.read_text()
    assert page.WHY.rubric in (course.rubrics / "toy.md").read_text()


def test_only_answers_are_editable_and_carry_points(released):
    for name, cell in cells_by_mark(released).items():
        marks = cell.metadata.nbgrader
        answer = name in ("row_mean", "scale", "why")
        assert (marks.grade, marks.solution, marks.locked) == (answer, answer, not answer)
        assert cell.metadata.get("editable", True) is answer
        assert marks.get("points") == {"row_mean": 2, "scale": 3, "why": 5}.get(name)


def test_release_includes_the_public_cases(released):
    keys = read_cases(released.with_suffix(".cases"))
    assert [key.exercise for key in keys] == ["row_mean", "scale"]
    for key, exercise in zip(keys, page.ASSIGNMENT.exercises, strict=True):
        whole = build_key(exercise, public_cases(exercise), ())
        assert _mistakes(key) == _mistakes(whole)


def _mistakes(key):
    """Return the encoded observations of each misconception, including changed arguments."""
    return [wire.encode(tuple(wrong.observations)) for wrong in key.misconceptions]


def test_release_is_byte_identical_every_time(tmp_path, course, toy_page, released):
    names = ("toy.ipynb", "toy.cases")
    first = [(released.parent / name).read_bytes() for name in names]
    second = release_one(
        Course.create(tmp_path / "second", "toy_course"), page.ASSIGNMENT, toy_page
    )
    assert [(second.parent / name).read_bytes() for name in names] == first
    release_one(course, page.ASSIGNMENT, toy_page)
    assert [(released.parent / name).read_bytes() for name in names] == first
    assert sorted(path.name for path in released.parent.iterdir()) == sorted((*names, "autograder"))
    assert not (course.root / ".release-new").exists()


def test_given_module_is_released_and_zipped(course, tmp_path):
    path = page.with_module(tmp_path, "FACTOR = 2.0\n")
    released = release_one(course, page.ASSIGNMENT, path)
    assert released.with_name("factors.py").read_text() == "FACTOR = 2.0\n"
    assignment_zip(course, "toy", tmp_path / "toy.zip")
    with zipfile.ZipFile(tmp_path / "toy.zip") as archive:
        assert archive.read("toy/factors.py") == b"FACTOR = 2.0\n"


def test_next_release_deletes_obsolete_self_check_files(course, toy_page, released):
    for folder in (course.source, course.release):
        (folder / "toy" / "autograder" / "old.py").write_text("")
    release_one(course, page.ASSIGNMENT, toy_page)
    assert not [*course.root.rglob("old.py")]


def test_release_enters_the_points_in_the_gradebook(course, released):
    with api.Gradebook(course.gradebook_url) as gradebook:
        assignment = gradebook.find_assignment("toy")
        assert assignment.max_score == 10
        assert assignment.max_written_score == 5


def test_nbgraders_command_makes_the_same_release(course, released):
    expected = released.read_bytes()
    released.unlink()
    environment = os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "toy", "--force"]
    process = subprocess.run(
        command, cwd=course.root, env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    assert released.read_bytes() == expected


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
def test_releasing_again_keeps_submissions_and_grades(course, toy_page, released):
    submission = course.submitted / "ann" / "toy" / "toy.ipynb"
    submission.parent.mkdir(parents=True)
    submission.write_bytes(b"as handed in")
    with api.Gradebook(course.gradebook_url) as gradebook:
        gradebook.add_student("ann")
        gradebook.add_submission("toy", "ann")
        gradebook.find_grade("row_mean", "toy", "toy", "ann").manual_score = 1.5
        gradebook.db.commit()
    release_one(course, page.ASSIGNMENT, toy_page)
    assert submission.read_bytes() == b"as handed in"
    with api.Gradebook(course.gradebook_url) as gradebook:
        assert gradebook.find_grade("row_mean", "toy", "toy", "ann").manual_score == 1.5


def test_failed_release_leaves_the_previous_release(course, tmp_path, released):
    before = released.read_bytes()
    fewer = toy.Assignment("toy", "A toy", (toy.MEAN,), ())
    text = page.PAGE.replace("```{code-cell} ipython3\n:exercise: scale\n```\n", "")
    text = text.replace('+++ {"written": "why"}', "+++")
    with pytest.raises(GradebookError, match="scale"):
        release_one(course, fewer, page.write(tmp_path, text))
    assert released.read_bytes() == before


CHANGES = {
    "no page": (None, r"toy\.md: the text of the assignment is missing"),
    "a placeholder too few": ((":exercise: scale\n", ""), "scale: each exercise needs exactly one"),
    "a placeholder twice": ((":exercise: scale", ":exercise: row_mean"), "row_mean, scale"),
    "an unknown exercise": (
        (":exercise: scale", ":exercise: scales"),
        "scales: the assignment has",
    ),
    "a missing module": (
        ("Now scale.", "```{code-cell} ipython3\n:module: factors\nimport factors\n```"),
        r"given module factors, but .*factors\.py is missing",
    ),
    "a written exercise": (('{"written": "why"}', '{"written": "scale"}'), "scale: the assignment"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_page_that_does_not_match_the_assignment_is_reported(tmp_path, change, message):
    path = tmp_path / "toy.md"
    if change:
        assert change[0] in page.PAGE
        page.write(tmp_path, page.PAGE.replace(*change))
    with pytest.raises(ReleaseError, match=message):
        build_notebook(page.ASSIGNMENT, path)


def test_release_makes_all_or_named_assignments_and_refuses_unknown_names(
    course, toy_page, monkeypatch
):
    with pytest.raises(
        ReleaseError,
        match=r"toys: no assignment has this name\. The assignments are: toy, toy_test",
    ):
        release(course, ["toys"])
    assert release(course, ["toy"]) == [course.release / "toy" / "toy.ipynb"]
    assert [path.stem for path in release(course)] == ["toy", "toy_test"]


def test_nbgrader_finds_no_changed_cells_in_a_release(released):
    notebook = nbformat.read(released, as_version=4)
    assert Validator()._get_changed_cells(notebook) == []
    changed = next(c for c in notebook.cells if c.metadata.nbgrader.grade_id == "row_mean-check")
    changed.source = "print('all tests passed')"
    assert Validator()._get_changed_cells(notebook) == [changed]


def test_zip_of_an_assignment_is_complete_and_reproducible(course, released, tmp_path):
    for name in ("one.zip", "two.zip"):
        assignment_zip(course, "toy", tmp_path / name)
        os.utime(released, (1e9, 1e9))
    packed = (tmp_path / "one.zip").read_bytes()
    assert packed == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = archive.namelist()
        assert names == [
            "toy/toy.ipynb",
            *(f"toy/{file.as_posix()}" for file in self_check_files()),
            "toy/toy.cases",
        ]
        assert archive.read("toy/toy.ipynb") == released.read_bytes()
