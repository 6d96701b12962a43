"""Test nbgrader's formgrader in a real browser, on a course that this grader has graded."""

import csv

import nbformat
import pytest
from browsing import feedback_of, formgrader_server, instructor, open_submission
from classroom import MEAN_SUM, STUBS, hand_in, known_everywhere, make_course
from nbformat.v4 import new_markdown_cell, new_raw_cell
from typer.testing import CliRunner

from autograder import cli
from autograder.course.course import Course

RUBRIC = "1 point: names *linearity*, $x^2$."
EVIL = "<script>document.title = 'run'</script>\n\nBecause of <img src=x onerror=alert(1)> rows."
STUDENTS = {
    "ann": {},
    "bob": {"mean": MEAN_SUM},
    "cay": {"mean": STUBS["row_mean"], "why": STUBS["why"]},
    "eve": {"scale": "def scale(X, factor=2.0):\n    raise ValueError('<b>no</b>')", "why": EVIL},
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Yield a graded course of six students; the notebook of dan is damaged."""
    root = tmp_path_factory.mktemp("class") / "course"
    with pytest.MonkeyPatch.context() as patch:
        known_everywhere(patch)
        course = make_course(root)
        for student, answers in STUDENTS.items():
            hand_in(course, student, **answers)
        hand_in(course, "dan").write_bytes(b"{ not a notebook")
        path = hand_in(course, "fay", why=STUBS["why"])
        notebook = nbformat.read(path, as_version=4)
        notebook.cells += [
            new_markdown_cell("Because of *linearity*."),
            new_raw_cell("_So_ it is."),
        ]
        nbformat.write(notebook, path)
        course.rubrics.mkdir()
        (course.rubrics / "toy.md").write_text(f"# Toy: rubric\n\n## why, 5 points\n\n{RUBRIC}\n")
        result = CliRunner().invoke(cli.app, ["grade", "--course", str(root)])
        assert result.exit_code == 0, result.output
        yield Course.open(root)  # the formgrader's workers need the toy package too


@pytest.fixture(scope="module")
def formgrader(course, tmp_path_factory):
    """Yield the address of a Jupyter server that runs the formgrader in the course."""
    with formgrader_server(course.root, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def page(formgrader):
    """Yield a logged-in page of headless Chromium."""
    with instructor(formgrader) as browser_page:
        yield browser_page


def test_every_submission_is_listed_with_its_score(page, formgrader):
    page.goto(f"{formgrader}/formgrader/manage_submissions/toy")
    page.wait_for_selector("#main-table tr:nth-child(6)")
    cells = [row.split("\t") for row in page.locator("#main-table tr").all_inner_texts()]
    assert {row[1]: (row[4], row[3]) for row in cells} == {
        "ann": ("5 / 10", "needs manual grading"),
        "bob": ("3 / 10", "needs manual grading"),
        "cay": ("3 / 10", "graded"),
        "dan": ("0 / 10", "needs manual grading"),
        "eve": ("2 / 10", "needs manual grading"),
        "fay": ("5 / 10", "needs manual grading"),
    }


@pytest.mark.parametrize(
    ("student", "exercise", "feedback"),
    [
        ("ann", "scale", "3 of 3 points."),
        ("bob", "row_mean", "Misconception: sum for mean."),
        ("bob", "row_mean", "Ask yourself: How many numbers are in a row?"),
        ("cay", "row_mean", "0 of 2 points. Not answered"),
        ("cay", "why", "No response."),
        ("dan", "scale", "0 of 3 points. toy.ipynb is not a notebook"),
        ("eve", "scale", "0 of 3 points. Raised an exception. "),
        ("eve", "scale", "<b>no</b>"),
    ],
)
def test_submission_shows_the_feedback_of_each_exercise(
    page, formgrader, student, exercise, feedback
):
    open_submission(page, formgrader, "toy", student)
    assert feedback in feedback_of(page, exercise)


def test_grader_feedback_stays_visible_while_a_person_comments(page, formgrader):
    open_submission(page, formgrader, "toy", "bob")
    page.fill("#row_mean-comment", "Nearly.")
    assert page.locator("#row_mean-comment").input_value() == "Nearly."
    box = page.locator(".autograder-none", has_text="Misconception: sum for mean.")
    assert box.is_visible()
    page.fill("#row_mean-comment", "")
    assert page.locator(".autograder-full").count() == 1  # scale


def test_rubric_is_collapsed_above_the_points_and_hidden_from_students(page, formgrader, course):
    open_submission(page, formgrader, "toy", "ann")
    (rubric,) = page.locator(".rubric").all()
    assert not rubric.locator("p").is_visible()
    rubric.locator("summary").click()
    assert "1 point: names linearity" in rubric.inner_text()
    assert rubric.locator("math msup").count() == 1
    points, place = page.locator("#why").bounding_box(), rubric.bounding_box()
    assert 0 < points["y"] - (place["y"] + place["height"]) < 40
    result = CliRunner().invoke(cli.app, ["feedback", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    for path in course.feedback.glob("*/toy/toy.html"):
        assert "names" not in path.read_text()
        assert "ubric" not in path.read_text()


def test_missing_or_damaged_rubric_does_not_prevent_marking(page, formgrader, course):
    path = course.rubrics / "toy.md"
    text = path.read_text()
    path.unlink()
    open_submission(page, formgrader, "toy", "ann")
    assert page.locator(".rubric").count() == 0
    path.write_bytes(b"## why, 5 points\n\n\xff marks")
    open_submission(page, formgrader, "toy", "ann")
    assert "marks" in (page.locator(".rubric").text_content() or "")
    path.write_text(text)


def test_pages_contact_no_other_host_and_keyboard_shortcuts_work(page, formgrader):
    manage = ("manage_assignments", "manage_submissions/toy", "manage_students")
    manage += ("manage_students/ann", "manage_students/ann/toy")
    for place in (*manage, "gradebook", "gradebook/toy", "gradebook/toy/toy"):
        page.goto(f"{formgrader}/formgrader/{place}")
        page.wait_for_load_state("networkidle")
    open_submission(page, formgrader, "toy", "ann")
    assert page.foreign == []
    assert page.evaluate("formgrader.loaded"), "nbgrader's script waits for MathJax"
    assert page.evaluate("document.activeElement.classList.contains('tabbable')")


def test_damaged_notebook_is_shown_with_the_reason(page, formgrader):
    open_submission(page, formgrader, "toy", "dan")
    assert "No answer of this submission could be read." in page.inner_text("#notebook")
    assert STUBS["scale"].splitlines()[0] in page.inner_text("#notebook")


def test_added_cells_are_shown_in_formgrader_and_feedback(page, formgrader, course):
    open_submission(page, formgrader, "toy", "fay")
    notebook = page.inner_text("#notebook")
    assert "Because of linearity." in notebook
    assert "_So_ it is." in notebook
    assert "No response." not in notebook
    result = CliRunner().invoke(cli.app, ["feedback", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    text = (course.feedback / "fay" / "toy" / "toy.html").read_text()
    assert "Because of <em>linearity</em>." in text
    assert "_So_ it is." in text
    assert "A person will mark this answer." in text


def test_student_text_is_shown_but_not_run(page, formgrader):
    open_submission(page, formgrader, "toy", "eve")
    assert "Because of <img src=x onerror=alert(1)> rows." in page.inner_text("#notebook")
    assert page.title() == "toy"
    assert page.locator("#notebook img, #notebook script").count() == 0


def test_points_for_a_written_answer_reach_the_csv(page, formgrader, course):
    open_submission(page, formgrader, "toy", "bob")
    page.fill("#why", "4")
    with page.expect_response(lambda response: "/api/grade/" in response.url) as saved:
        page.press("#why", "Tab")
    assert saved.value.ok
    result = CliRunner().invoke(cli.app, ["export", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    with (course.root / "grades.csv").open(newline="") as stream:
        rows = {row["student"]: row for row in csv.DictReader(stream)}
    bob = rows["bob"]
    assert (bob["row_mean"], bob["scale"], bob["why"]) == ("0.0", "3.0", "4.0")
    assert (bob["score"], bob["waiting"]) == ("7.0", "0")
    assert (rows["ann"]["why"], rows["ann"]["waiting"]) == ("", "1")


def test_autograde_button_uses_this_grader(page, formgrader, course, tmp_path):
    escaped = tmp_path / "escaped"
    hand_in(course, "cay", mean=f"open({str(escaped)!r}, 'w').write('x')\n{MEAN_SUM}")
    page.goto(f"{formgrader}/formgrader/manage_submissions/toy")
    page.wait_for_selector("#main-table tr:nth-child(6)")
    row = page.locator("#main-table tr", has=page.locator("td.student-id:text-is('cay')"))
    row.locator(".autograde a").click()
    page.wait_for_selector("#success-modal", timeout=60_000)
    page.click("#success-modal button:has-text('OK')")
    open_submission(page, formgrader, "toy", "cay")
    assert "Raised an exception." in feedback_of(page, "row_mean")
    assert not escaped.exists()
