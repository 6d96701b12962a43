"""Test the report on a class: its numbers, its page, its anonymity and its JSON."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from classroom import MEAN_SUM, hand_in, known_everywhere, make_course
from inprocess import InProcess
from toy import WRITTEN_TOY
from typer.testing import CliRunner

from autograder import cli
from autograder.course.journal import Record, Row
from autograder.grading.grade import grade
from autograder.nbgrader.gradebook import Gradebook
from autograder.nbgrader.scores import Score
from autograder.notebook.check import write_cases
from autograder.report import model
from autograder.report.build import LABEL, Sources, anonymous, labels
from autograder.report.gather import make_report
from autograder.report.measures import LEAST, discrimination, distribution
from autograder.report.mistakes import histories, mistakes, stuck
from autograder.report.page import report_page

ROOT = Path(__file__).parents[3]

MEAN_COLUMNS = "def row_mean(X):\n    return X.mean(axis=0)"

NAMES = {
    "ann": ("Ann", "Example"),
    "Ζωή": ("Ζωή", "Παπαδοπούλου"),
    "محمد": ("محمد", "العربي"),
    "李小龙": ("小龙", "李"),
    "विद्या": ("विद्या", "शर्मा"),
    "o'neil, söhne": ("Órla", "O'Neil <b>"),
    "x" * 100: ("<script>alert(1)</script>", "\u202egpj.exe"),
    "{{ 7 + 7 }}{% x %}": ("'\"><img src=x onerror=alert(1)>", "javascript:alert(1)"),
}
"""Identifiers, with first and last names."""


@pytest.fixture
def course(tmp_path, monkeypatch):
    known_everywhere(monkeypatch)
    course = make_course(tmp_path / "course")
    write_cases(WRITTEN_TOY, course.release / "toy" / "toy.cases")
    return course


def run(*arguments):
    return CliRunner().invoke(cli.app, ["report", *map(str, arguments)])


def page_of(course, assignment="toy", hide=False):
    text = report_page(course, make_report(course, assignment, hide))
    return BeautifulSoup(text, features="html.parser")


def words(node):
    return " ".join(node.get_text(" ").split())


def record(student, digest, *rows, assignment="toy", fingerprint="f"):
    made = tuple(
        Row(student, assignment, exercise, verdict, 0, 2, misconception, "")
        for exercise, verdict, misconception in rows
    )
    hints = {row.exercise: f"Why {row.misconception}?" for row in made if row.misconception}
    return Record(student, assignment, digest, fingerprint, False, made, hints)


def test_distribution_and_discrimination_are_those_of_numpy():
    rng = np.random.default_rng(0)
    shares = [*rng.uniform(size=97), 0.3, 1.0, 1.2]
    clipped = np.minimum(shares, 1)
    found = distribution(shares)
    assert found.bins == tuple(np.histogram(clipped, np.linspace(0, 1, 11) - [*[1e-9] * 10, 0])[0])
    assert (found.n, found.mean) == (100, pytest.approx(clipped.mean()))
    quartiles = np.quantile(clipped, [0.25, 0.5, 0.75])
    assert [found.lower_quartile, found.median, found.upper_quartile] == pytest.approx(quartiles)
    assert distribution([]) == model.Distribution(0, (0,) * 10)

    item, rest = rng.normal(size=(2, 200))
    rest += item
    found = discrimination(list(item), list(rest))
    assert found.value == pytest.approx(np.corrcoef(item, rest)[0, 1])
    drawn = [
        np.corrcoef(item[chosen], rest[chosen])[0, 1]
        for chosen in rng.integers(200, size=(2000, 200))
    ]
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.04)
    assert discrimination(list(item[: LEAST - 1]), list(rest[: LEAST - 1])) is None
    assert discrimination([1.0] * LEAST, list(rest[:LEAST])) is None


def test_mistakes_are_counted_in_the_newest_version_and_the_frequent_come_first():
    wrong, other = ("b", "WRONG_VALUE", "sum for mean"), ("b", "WRONG_VALUE", "columns")
    nameless, right = ("b", "WRONG_SHAPE", None), ("b", "PASS", None)
    records = [
        record("ann", "1", wrong),
        record("ann", "2", wrong),
        record("ann", "2", wrong, fingerprint="judged again: no new version"),
        record("bob", "1", wrong),
        record("bob", "2", right),
        *(record(name, "1", other) for name in ("cid", "dan")),
        *(record("eve", digest, nameless) for digest in "123"),
        *(record("fay", digest, nameless) for digest in "12"),
        record("gil", "1", ("b", "MISSING", None), ("a", "A_VERDICT_OF_ANOTHER_VERSION", None)),
    ]
    classes = histories(records, "toy")
    rows = mistakes(classes, ["a", "b"], {"b": "Section 1"})
    assert [(row.exercise, row.name, row.count, row.overcome) for row in rows] == [
        ("a", "A_VERDICT_OF_ANOTHER_VERSION", 1, 0),
        ("b", "columns", 2, 0),
        ("b", "sum for mean", 1, 1),
        ("b", "wrong shape", 2, 0),
    ]
    assert {row.of for row in rows} == {7}
    assert rows[2].question == "Why sum for mean?"
    assert rows[2].students == ("ann",)
    assert [(row.student, row.submissions) for row in stuck(classes)] == [("eve", 3), ("ann", 2)]


def test_labels_are_stable_and_tell_nothing_of_the_order_of_names():
    key, names = b"k" * 32, [f"student{number:03}" for number in range(200)]
    first = labels(names, key)
    assert len(set(first.values())) == 200
    assert labels([*names, "another"], key).items() >= first.items()
    assert labels(names, b"l" * 32) != first
    order = np.argsort([first[name] for name in names])
    assert abs(np.corrcoef(order, np.arange(200))[0, 1]) < 0.25
    assert {len(label) for label in first.values()} == {len("student ") + LABEL}


def test_page_shows_mistake_with_question_picture_section_and_students(course, sandbox):
    hand_in(course, "ann")
    for student in ("bob", "cid"):
        hand_in(course, student, mean=MEAN_SUM)
    grade(course, None, None, InProcess(sandbox))
    hand_in(course, "bob", mean=f"{MEAN_SUM} * 1")
    hand_in(course, "cid", mean=MEAN_COLUMNS, why="Your answer here.")
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_student("dan")
        book.nbgrader.add_student("eve")
    grade(course, None, None, InProcess(sandbox))
    hand_in(course, "ann", why="Later.")
    hand_in(course, "eve")
    result = run("toy", "--course", course.root)
    assert result.stdout.strip() == f"{course.reports / 'toy.html'}: written."
    assert result.stderr.splitlines()[-1] == "comparing 2 of 2: all exercises"
    whole = page_of(course)
    assert whole.find("h1").get_text() == "A toy"
    again = [words(item) for item in whole.select(".again li")]
    assert again == ["1 of 3 : columns for rows in row_mean", "1 of 3 : sum for mean in row_mean"]
    link = whole.select(".again a")[1]["href"]
    section = whole.find(id=link.removeprefix("#"))
    assert "How many numbers are in a row?" in words(section)
    assert words(section.find("details")) == "1 student bob"
    titles = [picture["aria-label"].partition(",")[0] for picture in section.select("svg")]
    assert titles == ["X", "wrong result", "right result", "difference"]
    assert "(1 made it before and no longer does)" in words(section)
    assert "Cured by: where" in words(whole)
    text = words(whole)
    for part in (
        "Stuck: the same mistake in several versions: 1 bob : sum for mean in row_mean , in 2",
        "Waiting for a mark: 2 ann : 1 answer bob : 1 answer",
        "Not handed in: 1 dan",
        "not in the newest version: 2 ann eve",
        "why : 0 of 2 answers marked 1 left it empty",
        "2 submissions wait for marks, and count without them.",
        "nothing can be said about what is usual in this class",
    ):
        assert part in text, part
    assert words(whole.select("tbody tr")[0]) == "row_mean 33% of 2 3 1 2"


def test_sections_are_links_once_the_course_has_the_address_of_the_book(course, sandbox):
    hand_in(course, "ann", mean=MEAN_SUM)
    grade(course, None, None, InProcess(sandbox))
    notebook = course.autograded / "ann" / "toy" / "toy.ipynb"
    text = notebook.read_text(encoding="utf-8")
    assert text.count('"where": "where"') >= 1
    notebook.write_text(text.replace('"where": "where"', '"where": "The section “A *b*”."'))
    pages = [course.reports / "toy.html", course.feedback / "ann" / "toy" / "toy.html"]
    for address, link in (
        ("", None),
        ('"https://example.org/it/index.html"', "https://example.org/it/toy.html#a-b"),
        ('"example.org"', "https://example.org/it/toy.html#a-b"),  # nothing is written
    ):
        with (course.root / "nbgrader_config.py").open("a") as stream:
            stream.write(f"c.CoursePackage.book = {address}\n" * bool(address))
        for command in (["report", "toy"], ["feedback"]):
            result = CliRunner().invoke(cli.app, [*command, "--course", str(course.root)])
            if address == '"example.org"':
                assert result.exit_code == 1
                (line,) = result.stderr.splitlines()
                assert line.startswith("autograder: 'example.org' is not the address of a book.")
            else:
                assert result.exit_code == 0, result.output
        for page in pages:
            shown = BeautifulSoup(page.read_text(encoding="utf-8"), features="html.parser")
            links = {a["href"] for a in shown.select("a[href]") if a["href"][0] != "#"}
            assert links == {link} - {None}, page
            assert "The section “A" in shown.get_text()


def test_names_of_every_script_stay_text_and_anonymous_files_have_none(course, sandbox):
    for student in NAMES:
        hand_in(course, student.replace("/", ""), mean=MEAN_SUM)
    files = {file.student: file.path for file in course.submissions()}
    grade(course, None, None, InProcess(sandbox))
    with Gradebook(course.gradebook_url) as book:
        for student in files:
            first, last = NAMES[student]
            row = book.nbgrader.find_student(student)
            row.first_name, row.last_name, row.email = first, last, f"{first}@example.org"
            row.lms_user_id = f"lms-{first}"
        book.nbgrader.db.commit()
    whole = page_of(course)
    assert whole.select("script, img, iframe, object, form, link, base, [onerror], [src]") == []
    shown = {node.get_text() for node in whole.select("bdi")}
    assert shown >= files.keys()
    assert "\u202e" not in str(whole)
    assert "{{" in str(whole)
    assert not whole.select("a[href]:not([href^='#'])")
    policy = whole.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")

    hidden = str(page_of(course, hide=True))
    printed = run("toy", "--course", course.root, "--anonymous", "--json").stdout
    term = report_page(course, make_report(course, None, anonymous=True))
    parts = {part for pair in NAMES.items() for name in (pair[0], *pair[1]) for part in [name]}
    for text in (hidden, json.dumps(json.loads(printed), ensure_ascii=False), term):
        found = [name for name in parts if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
        assert found == []
        assert str(course.root) not in text
        assert "@example" not in text
        assert text.count("student ") >= len(NAMES)


def test_anonymous_sources_are_sorted_by_label():
    scores = [
        Score(name, "L", "F", "e", "p", "toy", None, 0.0, 1.0, 0.0, 2.0, 0, (), True)
        for name in ("ann", "bob", "cid", "dan")
    ]
    hidden = anonymous(Sources(scores, [], [], [("bob", "toy"), ("ann", "toy")]), b"k" * 32)
    found = [score.student for score in hidden.scores]
    assert found == sorted(found)
    assert [student for student, _ in hidden.ungraded] == sorted(
        student for student, _ in hidden.ungraded
    )
    assert {(score.last_name, score.email) for score in hidden.scores} == {(None, None)}


def test_bad_input_is_a_clear_line(course, sandbox):
    for arguments in ([], ["toy"], ["toy", "--json"]):
        result = run(*arguments, "--course", course.root)
        assert result.exit_code == 1
        assert "nothing is graded yet. Run `autograder grade" in result.stderr
    assert not (course.root / "gradebook.db").exists()
    assert not course.reports.exists()
    with Gradebook(course.gradebook_url):
        pass  # a gradebook without an assignment
    assert "nothing is graded yet" in run("--course", course.root).stderr
    hand_in(course, "ann")
    grade(course, None, None, InProcess(sandbox))
    result = run("tyo", "--course", course.root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "tyo: the gradebook has no assignment of this name. It has: toy." in result.stderr
    result = run("toy_test", "--course", course.root)
    assert "toy_test: nobody has handed it in, or nothing of it is graded" in result.stderr
    course.journal.write_text("damaged\n")
    result = run("toy", "--course", course.root)
    assert "line 1 is damaged or edited" in result.stderr
    assert course.journal.read_text() == "damaged\n"


def test_one_student_an_assignment_of_nobody_and_an_older_journal_have_right_pages(course, sandbox):
    hand_in(course, "ann", mean=MEAN_SUM)
    grade(course, None, None, InProcess(sandbox))
    with Gradebook(course.gradebook_url) as book:
        book.nbgrader.add_assignment("later")
    (entry,) = (json.loads(line) for line in course.journal.read_text().splitlines()[:1])
    del entry["examples"]
    course.journal.write_text(json.dumps(entry) + "\n")
    notebook = course.autograded / "ann" / "toy" / "toy.ipynb"
    notebook.write_text("{")
    before = {path: path.stat().st_mtime_ns for path in course.root.iterdir()}
    result = run("--course", course.root)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == f"{course.reports / 'whole-term.html'}: written."
    changed = {path.name for path in course.root.iterdir()} - {path.name for path in before}
    assert changed == {"reports"}
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert "1 of 1 sum for mean" in words(page_of(course))
    assert "There are none yet" in words(page_of(course, "later"))
    assert "later" in words(page_of(course, None))
    course.journal.unlink()
    assert "No answer is wrong" in words(page_of(course))


def test_documented_fields_are_those_of_the_json():
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for name, kind in vars(model).items():
        if dataclasses.is_dataclass(kind):
            section = text.partition(f"### {name}\n")[2].partition("\n### ")[0]
            documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
            assert documented == [field.name for field in dataclasses.fields(kind)], name
