"""The map in docs/architecture.md is true, and the packages keep the order that it tells of."""

import re
from pathlib import Path

import jupytext
import pytest
from course_build.inputs import imported_names

from exercises import COURSE

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("exercises/*/assignment.md"))
FILE = re.compile(r"`((?:book|exercises|solutions|autograder|tests)/[\w/.]+)`")


def code_cells(path):
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "code" and not cell.source.lstrip().startswith("%"):
            yield cell.source


def test_every_file_that_the_documents_name_exists():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("book/howto_*.md")]
    for path in documents:
        for file in FILE.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / file).exists(), f"{path.name} names {file}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_its_name_in_every_package(chapter):
    assert (ROOT / "book" / f"{chapter}.md").is_file()
    assert (ROOT / "solutions" / f"{chapter}.py").is_file()
    assert (ROOT / "solutions" / "experiments" / chapter / "__init__.py").is_file()
    assert (ROOT / "exercises" / chapter / "__init__.py").is_file()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_and_question_stands_in_a_file_of_its_name(chapter):
    folder = ROOT / "exercises" / chapter
    names = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", exercise.name).lower()
        for exercise in COURSE[chapter].exercises
    }
    names |= {question.name for question in COURSE[chapter].written}
    found = {path.stem for path in folder.glob("*.py") if path.name[:2] != "__"}
    declared = {re.sub("_(cases|answers)$", "", name) for name in found}
    assert declared == names, f"list each file in exercises/{chapter}/__init__.py, by its name"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_an_assignment_is_read_where_no_mathjax_is(chapter):
    cells = jupytext.read(ROOT / "exercises" / chapter / "assignment.md").cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert [text for text in texts if "$" in text] == []


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.md")), ids=lambda path: path.stem)
def test_a_chapter_imports_no_part_of_the_autograder(path):
    found = [name for cell in code_cells(path) for name in imported_names(cell)]
    assert [name for name in found if name.split(".")[0] in ("autograder", "tests")] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_an_assignment_imports_the_self_check_and_nothing_else_of_the_course(chapter):
    cells = code_cells(ROOT / "exercises" / chapter / "assignment.md")
    found = {name for cell in cells for name in imported_names(cell)}
    ours = {name for name in found if name.split(".")[0] in ("autograder", "solutions", "tests")}
    assert ours == {"autograder", "autograder.check"}


@pytest.mark.parametrize(("package", "most"), [("solutions", 250), ("autograder", 400)])
def test_files_stay_small(package, most):
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / package).rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > most
    }
    assert long == {}
