"""Test `autograder check NOTEBOOK`: public cases only, on a notebook in any folder."""

import json

import page
import pytest
import toy
from toy_course import COURSE
from typer.testing import CliRunner

from autograder.cli import app
from autograder.grading import checker
from autograder.grading.checker import CheckError, check_notebook
from autograder.nbgrader.release import build_notebook
from autograder.notebook.check import NOT_THE_GRADE, write_cases
from autograder.sandbox.backends import SandboxUnavailable, open_sandbox


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Write a downloaded toy assignment with one correct and one wrong answer."""
    content = build_notebook(page.ASSIGNMENT, page.write(tmp_path))
    for cell in content.cells:
        if cell.metadata.nbgrader.grade_id == "row_mean":
            cell.source = "def row_mean(X):\n    return X.sum(axis=-1)"
        if cell.metadata.nbgrader.grade_id == "scale":
            cell.source = toy.RIGHT_SCALE
    path = tmp_path / "downloads" / "toy.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(content))
    write_cases(page.ASSIGNMENT, path.with_suffix(".cases"))
    return path


def test_report_names_the_mistake_and_says_it_is_not_the_grade(notebook):
    lines = check_notebook(notebook, COURSE)
    assert lines[0].startswith("row_mean: not yet (WRONG_VALUE). On the case “two rows”")
    assert "sum for mean. Ask yourself: How many numbers" in lines[1]
    assert lines[2:] == ["scale: right on the public cases.", NOT_THE_GRADE]


def test_missing_answer_is_reported(notebook):
    content = json.loads(notebook.read_text())
    content["cells"] = [c for c in content["cells"] if not c["source"].startswith("def row_mean")]
    notebook.write_text(json.dumps(content))
    assert check_notebook(notebook, COURSE)[0].startswith(
        "row_mean: not yet (MISSING). toy.ipynb has no"
    )


def test_notebook_is_run_without_a_sandbox_and_the_report_says_so(notebook, monkeypatch):
    def only_trusting(trust=False, packages=()):
        if not trust:
            raise SandboxUnavailable("none here")
        return open_sandbox(trust=True)

    monkeypatch.setattr(checker, "open_sandbox", only_trusting)
    lines = check_notebook(notebook, COURSE)
    assert "scale: right on the public cases." in lines
    assert "without a sandbox" in lines[-1]


def test_symbolic_link_to_a_notebook_is_followed(notebook, tmp_path):
    (tmp_path / "link.ipynb").symlink_to(notebook)
    assert check_notebook(tmp_path / "link.ipynb", COURSE) == check_notebook(notebook, COURSE)


def rename(path):
    path.rename(path.with_name("toys.ipynb"))
    return path.with_name("toys.ipynb")


def lose_cases(path):
    path.with_suffix(".cases").unlink()
    return path


def lose(path):
    path.unlink()
    return path


def damage(path):
    path.write_bytes(b"{")
    return path


UNCHECKABLE = [
    (rename, r"no assignment has this name\. Rename it to one of: toy\.ipynb"),
    (lose_cases, r"toy\.cases: this file is missing\. It comes with"),
    (lose, r"toy\.ipynb: there is no such file"),
    (damage, "damaged or cut off"),
]


@pytest.mark.parametrize(("spoil", "message"), UNCHECKABLE)
def test_notebook_that_cannot_be_checked_gives_a_clear_error(notebook, spoil, message):
    path = spoil(notebook)
    with pytest.raises(CheckError, match=message):
        check_notebook(path, COURSE)
    assert (
        CliRunner().invoke(app, ["check", "--course-package", "toy_course", str(path)]).exit_code
        == 1
    )
