"""Test what a feedback page says and draws, and that it keeps hidden cases and texts to itself."""

import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from classroom import MEAN_SUM, hand_in, make_course
from docutils.nodes import make_id
from inprocess import InProcess
from toy import MEAN, WRITTEN_TOY

from autograder.course.journal import Journal
from autograder.exercise.guides import guides
from autograder.exercise.model import public_cases
from autograder.grading.grade import grade
from autograder.judging.examples import MOST_NUMBERS, example_of, value_of
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.verdict import Example
from autograder.nbgrader import rendering, results
from autograder.nbgrader.feedback import generate_feedback
from autograder.nbgrader.findings import TRY_HIDDEN, Book
from autograder.nbgrader.gradebook import Gradebook
from autograder.notebook.check import write_cases
from autograder.probe.values import Differentiated, Raised, Tensor
from exercises import COURSE

BOOK = Path(__file__).parents[3] / "book"

WRONG_ON_HIDDEN = "def row_mean(X):\n    return X.mean(axis=-1) + (X.shape == (7, 3)) * 123.456"

TELLS_LATER = """
seen = []

def row_mean(X):
    seen.append(len(X))
    return X.mean(axis=-1) + 777.25 * (7 in seen and len(X) == 2)
"""
"""Returns on a public case, in the second pass, what it has seen of a hidden one."""


@pytest.fixture
def course(tmp_path):
    course = make_course(tmp_path / "course")
    write_cases(WRITTEN_TOY, course.release / "toy" / "toy.cases")
    return course


@pytest.fixture
def page(course, sandbox):
    """Return a function that grades the class and returns the page of a student."""

    def make(student):
        grade(course, None, None, InProcess(sandbox))
        generate_feedback(course, lambda *_: None)
        path = course.feedback / student / "toy" / "toy.html"
        return BeautifulSoup(path.read_text(encoding="utf-8"), features="html.parser")

    return make


def words(node):
    return " ".join(node.get_text(" ").split())


def test_wrong_answer_has_its_case_in_pictures_its_question_and_advice(course, page):
    hand_in(course, "bob", mean=MEAN_SUM)
    section = page("bob").find(id="row_mean")
    labels = [picture["aria-label"] for picture in section.select(".case svg")]
    titles = [label.partition(",")[0] for label in labels]
    assert titles == ["X", "your result", "right result", "difference"]
    numbers = [
        [float(n) for n in re.findall(r"-?[\d.]+", label.split(": ")[1])] for label in labels
    ]
    assert np.allclose(np.subtract(numbers[1], numbers[2]), numbers[3], atol=0.02)
    assert np.allclose(numbers[1], np.reshape(numbers[0], (2, 3)).sum(axis=-1), atol=0.02)
    text = words(section)
    for part in (
        "Wrong value. On the case “two rows”: ",
        "This looks like: sum for mean .",
        "Ask yourself: How many numbers are in a row?",
        "The case “two rows”",
        "Run check(row_mean) below your answer",
        "Read again. where",
    ):
        assert part in text


def test_right_answer_is_a_line_with_its_code_folded(course, page):
    hand_in(course, "ann")
    section = page("ann").find(id="row_mean")
    assert section.select(".case, .finding") == []
    assert "Right on all" in words(section)
    assert "def row_mean" in words(section.select_one("details.own"))


def test_page_says_nothing_of_a_hidden_case_but_the_kind_of_failure(course, page):
    hand_in(course, "eve", mean=WRONG_ON_HIDDEN)
    whole = page("eve")
    section = whole.find(id="row_mean")
    assert "Right on the public cases. On a hidden one (many rows)" in words(section)
    assert TRY_HIDDEN in words(section)
    assert whole.find("svg") is None
    assert "123" not in words(section).replace(words(section.find("pre")), "")
    notebook = course.autograded / "eve" / "toy" / "toy.ipynb"
    assert (
        json.loads(notebook.read_text())["metadata"]["autograder"]["exercises"]["row_mean"][
            "example"
        ]
        is None
    )


def test_result_that_an_answer_gave_after_the_hidden_cases_is_not_drawn(course, page):
    hand_in(course, "eve", mean=TELLS_LATER)
    section = page("eve").find(id="row_mean")
    assert "0/2" in words(section)
    assert len(section.select(".case svg")) >= 3
    assert "777" not in str(section).replace(str(section.find("pre")), "")


def test_head_says_who_when_which_version_and_what_is_missing(course, page):
    path = hand_in(course, "bob", mean=MEAN_SUM)
    (path.parent / "timestamp.txt").write_text("2026-02-03 14:05:00 UTC\n")
    with (course.root / "nbgrader_config.py").open("a") as stream:
        stream.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("toy", duedate="2026-02-01 12:00:00 UTC")
    first = page("bob")
    version = Journal(course.journal, dry=True).newest("bob", "toy").digest[:8]
    assert first.find("h1").get_text() == "A toy"
    assert words(first.find("dl")) == (
        f"Student bob Handed in 3 February 2026, 14:05 UTC, 2 days 2 hours late Version {version} "
        "Late penalty 3 points taken off To be marked 1 answer, by a person"
    )
    with Gradebook(course.gradebook_url) as book:
        mark = book.nbgrader.find_grade("why", "toy", "toy", "bob")
        mark.manual_score, mark.needs_manual_grade = 4.0, False
        comment = book.nbgrader.find_comment("why", "toy", "toy", "bob")
        comment.manual_comment = "Nearly: say **why**."
        book.nbgrader.db.commit()
    second = page("bob")
    assert "To be marked" not in words(second.find("dl"))
    assert "4/5, marked by a person" in words(second.find(id="why"))
    assert words(second.select_one("#why .person")) == "Comment by a person Nearly: say why ."


def test_prose_of_the_assignment_is_folded_and_a_students_cell_is_not(course, page):
    path = hand_in(course, "ann")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell("My own words."))
    nbformat.write(notebook, path)
    whole = page("ann")
    own = whole.find(string="My own words.")
    assert own is not None
    assert own.find_parent("details") is None
    given = whole.select("details.given")
    assert "A toy" in words(given[0])
    assert all(cell.find(class_="answer") is None for cell in given)


def test_page_of_an_earlier_version_of_the_grader_shows_the_comment_in_words(course, page):
    hand_in(course, "bob", mean=MEAN_SUM)
    page("bob")
    notebook = course.autograded / "bob" / "toy" / "toy.ipynb"
    for change in (lambda data: data.pop("autograder"), _without_verdict):
        data = json.loads(notebook.read_text())
        change(data["metadata"])
        notebook.write_text(json.dumps(data))
        generate_feedback(course, lambda *_: None)
        text = (course.feedback / "bob" / "toy" / "toy.html").read_text()
        assert "Misconception&#58;" in text or "Misconception: sum for mean" in text
        assert "<svg" not in text


def _without_verdict(metadata):
    metadata["autograder"] = {"title": "x", "exercises": {"row_mean": {"message": 3}}}


def test_journal_without_examples_is_read_and_its_page_has_words_only(course, page, sandbox):
    hand_in(course, "bob", mean=MEAN_SUM)
    grade(course, None, None, InProcess(sandbox))
    with Journal(course.journal, dry=True) as journal:
        record = journal.newest("bob", "toy")
    assert set(record.examples) == {"row_mean"}
    entry = {**json.loads(course.journal.read_text().splitlines()[0])}
    del entry["examples"]
    course.journal.write_text(json.dumps(entry) + "\n")
    with Journal(course.journal) as journal:
        assert journal.newest("bob", "toy").examples == {}
    whole = page("bob")
    assert whole.find("svg") is None
    assert "How many numbers are in a row?" in words(whole.find(id="row_mean"))


@pytest.mark.parametrize(
    "example",
    [
        Example(0, "two rows", "no base64"),
        Example(0, "two rows", "AAAA"),
        Example(0, "another note", ""),
        Example(99, "two rows", ""),
        Example(-1, "large", ""),
    ],
)
def test_example_that_does_not_fit_is_not_drawn_as_the_students_result(course, page, example):
    hand_in(course, "bob", mean=MEAN_SUM)
    page("bob")
    path = course.autograded / "bob" / "toy" / "toy.ipynb"
    data = json.loads(path.read_text())
    data["metadata"]["autograder"]["exercises"]["row_mean"]["example"] = vars(example)
    path.write_text(json.dumps(data))
    generate_feedback(course, lambda *_: None)
    text = (course.feedback / "bob" / "toy" / "toy.html").read_text()
    assert "your result" not in text
    assert "sum for mean" in text


def _kept(value):
    key = build_key(MEAN, public_cases(MEAN), ())
    observations = observe_quietly(lambda X: X.sum(axis=-1), key.cases)
    judgement = judge(key, observations)
    observations[0] = type(observations[0])(value, ())
    return value_of(example_of(judgement, key, observations))


def test_only_numbers_of_an_answer_are_kept_and_not_too_many():
    array, tensor = np.arange(3.0), Tensor(np.ones(2, np.float32))
    text, items = _kept(("secret", [array, {"a": array}, 7, None]))
    assert text is None
    assert np.array_equal(items[0], array)
    assert items[1:] == [None, None, None]
    assert _kept(Raised("ValueError", "secret")) is None
    assert _kept(np.zeros(MOST_NUMBERS + 1)) is None
    assert _kept([0] * (MOST_NUMBERS + 1)) == []
    both = _kept(Differentiated(tensor, {"x": tensor, "y": None}))
    assert np.array_equal(both.gradients["x"].array, tensor.array)
    assert both.gradients["y"] is None


def test_another_way_is_one_that_the_student_did_not_write():
    first, second = guides(COURSE["self_attention"])["softmax"].others
    assert first.startswith("def softmax(")
    assert results.different((first, second), "def softmax(x):\n    pass") == first
    assert results.different((first, second), f"import numpy as np\n\n{first}\n") == second
    assert results.different((first,), first) == ""


def test_links_lead_to_sections_of_the_chapter():
    linked = 0
    for assignment in COURSE.values():
        book = Book("https://example.org/book", assignment.name)
        text = (BOOK / f"{assignment.name}.md").read_text(encoding="utf-8")
        anchors = set(map(make_id, re.findall(r"^#+ (.+)$", text, re.MULTILINE)))
        for exercise in assignment.exercises:
            where = book.where(exercise.help[2])
            prefix = f"https://example.org/book/{assignment.name}.html#"
            links = re.findall(r'href="([^"]+)"', where)
            linked += bool(links)
            for link in links:
                assert link.startswith(prefix)
                assert link.removeprefix(prefix) in anchors, (exercise.name, where)
    assert linked > 100
    assert "href" not in Book(None, "toy").where("Section “A”.")


def test_text_of_an_assignment_is_rendered_once_for_all_pages(monkeypatch):
    rendering.NewPage().preprocess(None, {})
    first = rendering.clean_markdown("Some **prose** of the assignment.")
    monkeypatch.setattr(rendering._BUDGET._process, "ask", lambda *_: pytest.fail("asked again"))
    assert rendering.clean_markdown("Some **prose** of the assignment.") == first
