"""A file of the student's with the name of a module: the self-check works, or names it."""

import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.course.course import Course
from autograder.grading.sample import answer_source
from autograder.nbgrader.release import assignment_zip, release
from exercises import COURSE

NAME = "self_attention"
(SOFTMAX,) = (one for one in COURSE[NAME].exercises if one.name == "softmax")
ANSWER = answer_source(SOFTMAX.alternatives[0], "softmax")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """What a student has downloaded."""
    folder = tmp_path_factory.mktemp("unpacked")
    course = Course.create(tmp_path_factory.mktemp("class") / "course")
    release(course, [NAME])
    assignment_zip(course, NAME, folder / "archive.zip")
    with zipfile.ZipFile(folder / "archive.zip") as archive:
        archive.extractall(folder)
    return folder / NAME


@pytest.fixture
def desk(unpacked, tmp_path):
    """A copy of it, for a test to put a file into."""
    return shutil.copytree(unpacked, tmp_path / "desk")


def cells(desk):
    """The first code cell as it was released, an answer, and its self-check."""
    given = nbformat.read(desk / f"{NAME}.ipynb", as_version=4)
    first = next(cell for cell in given.cells if cell.cell_type == "code")
    return first.source, ANSWER, "check(softmax)"


def as_a_script(desk, before=""):
    """What Python prints that looks for modules in the working folder first, as it does there."""
    *begin, last = cells(desk)
    code = "\n".join(["import sys", "sys.path.insert(0, '')", before, *begin, f"print({last})"])
    command = [sys.executable, "-I", "-B", "-c", code]
    return subprocess.run(command, cwd=desk, capture_output=True, text=True)


def message(file):
    return f"ImportError: {file}: Python needs another module of this name"


@pytest.mark.parametrize("name", ["copy", "json", "numpy", "random", "secrets"])
def test_a_file_in_the_place_of_a_module_is_named(desk, name):
    file = desk / f"{name}.py"
    file.write_text("answer = 42\n")
    last = as_a_script(desk).stderr.splitlines()[-1]
    assert last.startswith(message(file))
    assert "Rename the file" in last


def test_so_is_a_folder_and_a_file_that_fails_itself(desk):
    (desk / "json").mkdir()
    (desk / "json" / "__init__.py").touch()
    assert message(desk / "json" / "__init__.py") in as_a_script(desk).stderr
    shutil.rmtree(desk / "json")
    (desk / "random.py").write_text("dice = 1 / 0\n")
    assert message(desk / "random.py") in as_a_script(desk).stderr


@pytest.mark.parametrize("name", ["queue", "helpers"])
def test_what_is_in_nobodys_way_costs_nothing(desk, name):
    (desk / f"{name}.py").write_text("answer = 42\n")
    done = as_a_script(desk)
    assert "softmax: right on the public cases" in done.stdout, done.stderr


def test_what_has_another_reason_is_not_put_on_a_file(desk):
    (desk / "queue.py").write_text("answer = 42\n")
    (desk / f"{NAME}.cases").unlink()
    done = as_a_script(desk, before="import queue")
    assert done.stderr.splitlines()[-1].startswith("LookupError: No .cases file")


def in_a_notebook(desk):
    """What a real kernel shows of the cells in this folder: the last output."""
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells(desk))])
    resources = {"metadata": {"path": str(desk)}}
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=None)
    client.allow_errors = True
    client.execute()
    return [output for cell in notebook.cells for output in cell.outputs]


@pytest.mark.parametrize("name", ["copy", "json", "random"])
def test_a_notebook_finds_pythons_own_modules_first(desk, name):
    (desk / f"{name}.py").write_text("answer = 42\n")
    (shown,) = in_a_notebook(desk)
    assert "right on the public cases" in shown.data["text/plain"]


def test_a_notebook_names_what_takes_the_place_of_numpy(desk):
    (desk / "numpy.py").write_text("answer = 42\n")
    first, *_ = in_a_notebook(desk)
    assert first.evalue.startswith(str(desk / "numpy.py"))


def test_the_command_is_not_misled(desk):
    for name in ("copy", "json", "random", "signal"):
        (desk / f"{name}.py").write_text("answer = 42\n")
    shutil.rmtree(desk / "autograder")  # it stands before the installed one
    command = [sys.executable, "-m", "autograder", "check", f"{NAME}.ipynb"]
    done = subprocess.run(command, cwd=desk, capture_output=True, text=True)
    assert "softmax: not yet (MISSING)" in done.stdout, done.stderr
