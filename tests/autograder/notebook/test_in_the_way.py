"""Test files of students that shadow a module: the self-check works, or names the file."""

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
(SOFTMAX,) = (exercise for exercise in COURSE[NAME].exercises if exercise.name == "softmax")
ANSWER = answer_source(SOFTMAX.alternatives[0], "softmax")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Return the unpacked folder that a student downloads."""
    folder = tmp_path_factory.mktemp("unpacked")
    course = Course.create(tmp_path_factory.mktemp("class") / "course")
    release(course, [NAME])
    assignment_zip(course, NAME, folder / "archive.zip")
    with zipfile.ZipFile(folder / "archive.zip") as archive:
        archive.extractall(folder)
    return folder / NAME


@pytest.fixture
def desk(unpacked, tmp_path):
    """Return a copy of the folder that a test may change."""
    return shutil.copytree(unpacked, tmp_path / "desk")


def cells(desk):
    """Return the first released code cell, an answer, and its self-check."""
    notebook = nbformat.read(desk / f"{NAME}.ipynb", as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    return first.source, ANSWER, "check(softmax)"


def run_as_script(desk, before=""):
    """Run the cells in a Python that searches the working folder first, as a kernel does."""
    *begin, last = cells(desk)
    code = "\n".join(["import sys", "sys.path.insert(0, '')", before, *begin, f"print({last})"])
    command = [sys.executable, "-I", "-B", "-c", code]
    return subprocess.run(command, cwd=desk, capture_output=True, text=True)


def message(file):
    return f"ImportError: {file}: Python needs another module of this name"


@pytest.mark.parametrize("name", ["copy", "json", "numpy", "random", "secrets"])
def test_file_that_shadows_a_module_is_named(desk, name):
    file = desk / f"{name}.py"
    file.write_text("answer = 42\n")
    last = run_as_script(desk).stderr.splitlines()[-1]
    assert last.startswith(message(file))
    assert "Rename the file" in last


def test_shadowing_folder_and_failing_file_are_named(desk):
    (desk / "json").mkdir()
    (desk / "json" / "__init__.py").touch()
    assert message(desk / "json" / "__init__.py") in run_as_script(desk).stderr
    shutil.rmtree(desk / "json")
    (desk / "random.py").write_text("dice = 1 / 0\n")
    assert message(desk / "random.py") in run_as_script(desk).stderr


@pytest.mark.parametrize("name", ["queue", "helpers"])
def test_file_that_shadows_no_needed_module_is_harmless(desk, name):
    (desk / f"{name}.py").write_text("answer = 42\n")
    process = run_as_script(desk)
    assert "softmax: right on the public cases" in process.stdout, process.stderr


def test_error_with_another_cause_does_not_blame_a_file(desk):
    (desk / "queue.py").write_text("answer = 42\n")
    (desk / f"{NAME}.cases").unlink()
    process = run_as_script(desk, before="import queue")
    assert process.stderr.splitlines()[-1].startswith("LookupError: No .cases file")


def notebook_outputs(desk):
    """Return the outputs of the cells run by a real kernel in this folder."""
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells(desk))])
    resources = {"metadata": {"path": str(desk)}}
    client = NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=None)
    client.allow_errors = True
    client.execute()
    return [output for cell in notebook.cells for output in cell.outputs]


@pytest.mark.parametrize("name", ["copy", "json", "random"])
def test_notebook_imports_standard_modules_first(desk, name):
    (desk / f"{name}.py").write_text("answer = 42\n")
    (output,) = notebook_outputs(desk)
    assert "right on the public cases" in output.data["text/plain"]


def test_notebook_names_the_file_that_shadows_numpy(desk):
    (desk / "numpy.py").write_text("answer = 42\n")
    first, *_ = notebook_outputs(desk)
    assert first.evalue.startswith(str(desk / "numpy.py"))


def test_command_ignores_shadowing_files(desk):
    for name in ("copy", "json", "random", "signal"):
        (desk / f"{name}.py").write_text("answer = 42\n")
    shutil.rmtree(desk / "autograder")  # it would shadow the installed package
    command = [sys.executable, "-m", "autograder", "check", f"{NAME}.ipynb"]
    process = subprocess.run(command, cwd=desk, capture_output=True, text=True)
    assert "softmax: not yet (MISSING)" in process.stdout, process.stderr
