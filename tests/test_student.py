"""Test that students need only an archive and NumPy, and torch from chapter 8 on."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
import toy
from nbclient import NotebookClient

import autograder
from autograder.course.course import Course
from autograder.grading.sample import answer_source
from autograder.nbgrader.release import RUN_FIRST, assignment_zip, release
from autograder.notebook import TORCH_INDEX
from autograder.notebook.check import NAME_UNKNOWN
from exercises import COURSE

ROOT = Path(__file__).parents[1]
CHAPTERS = ("self_attention", "transformer_block")  # with NumPy alone, and with torch
ELSEWHERE = ("jupytext", "matplotlib", "nbformat", "nbgrader", "rich", "solutions", "typer")

SESSION = f"""\
import sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, "")
for name in {ELSEWHERE}:
    sys.modules[name] = None
from autograder import check
import autograder
assert Path(autograder.__file__).parent == Path.cwd() / "autograder", autograder.__file__
"""

LOADED = """
for module in list(sys.modules.values()):
    if module is not None and module.__name__.split(".")[0] == "autograder":
        print("loaded", Path(module.__file__).relative_to(Path.cwd()).as_posix())
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Return a folder with two unpacked archives."""
    folder = tmp_path_factory.mktemp("desk")
    course = Course.create(tmp_path_factory.mktemp("class") / "course")
    release(course, CHAPTERS)
    for name in CHAPTERS:
        assignment_zip(course, name, folder / f"{name}.zip")
        with zipfile.ZipFile(folder / f"{name}.zip") as archive:
            archive.extractall(folder)
    return folder


def session(folder: Path, *cells: str) -> list[str]:
    """Return the lines that a Python in `folder` prints, without access to this checkout."""
    code = "\n".join((SESSION, *cells, LOADED))
    process = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


@pytest.mark.parametrize("name", CHAPTERS)
def test_unpacked_archive_checks_answers_without_the_course(desk, name):
    assignment = COURSE[name]
    cells = [toy.imports(assignment).source]
    for exercise in assignment.exercises:
        for function in (exercise.alternatives[0], exercise.misconceptions[-1].wrong):
            source = answer_source(function, exercise.name)
            cells += [f"exec({source!r})", f"print(repr(check({exercise.name})))"]
    lines = session(desk / name, *cells)
    for exercise in assignment.exercises:
        assert f"{exercise.name}: right on the public cases" in lines
        assert f"This looks like: {exercise.misconceptions[-1].name}." in lines
    packed = {f.relative_to(desk / name).as_posix() for f in (desk / name).rglob("*.py")}
    loaded = {line.removeprefix("loaded ") for line in lines if line.startswith("loaded ")}
    assert loaded <= packed
    self_check = {file for file in packed if file.startswith("autograder/")}
    assert name != CHAPTERS[1] or loaded == self_check, "the archive has unneeded files"


@pytest.mark.parametrize("name", CHAPTERS)
def test_archive_contains_no_answers(desk, name):
    files = sorted(path.relative_to(desk / name).as_posix() for path in (desk / name).rglob("*"))
    assert not [file for file in files if "checks" in file or "solutions" in file]
    text = "".join(file.read_text() for file in (desk / name).rglob("*.py"))
    for exercise in COURSE[name].exercises:
        assert exercise.name not in text


def code_cells(folder: Path) -> list[nbformat.NotebookNode]:
    notebook = nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize(
    ("name", "package", "requirement"),
    [
        ("self_attention", "numpy", "numpy"),
        ("transformer_block", "numpy", "numpy"),
        ("transformer_block", "torch", f"torch --extra-index-url {TORCH_INDEX}"),
    ],
)
def test_first_cell_names_the_package_to_install(desk, name, package, requirement):
    setup = f"import sys; sys.path.insert(0, ''); sys.modules[{package!r}] = None\n"
    command = [sys.executable, "-I", "-B", "-c", setup + code_cells(desk / name)[0].source]
    process = subprocess.run(command, cwd=desk / name, capture_output=True, text=True, timeout=120)
    *_, message = process.stderr.partition("ModuleNotFoundError: ")
    assert f"The exercises need {package}, which" in message
    assert sys.executable in message
    assert f"\n    %pip install {requirement}\n" in message


def test_chapter_without_torch_does_not_require_it(desk):
    setup = "import sys; sys.path.insert(0, ''); sys.modules['torch'] = None\n"
    cell = code_cells(desk / "self_attention")[0].source
    command = [sys.executable, "-I", "-B", "-c", setup + cell]
    subprocess.run(command, cwd=desk / "self_attention", check=True, timeout=120)


def test_check_after_a_restart_says_which_cells_to_run(desk):
    folder = desk / "self_attention"
    first, answer, check = code_cells(folder)[:3]
    answer.source = "def dot_product_scores(X):\n    return np.matmul(X, np.swapaxes(X, -1, -2))"
    again = [nbformat.v4.new_code_cell(check.source) for _ in range(2)]
    alone = nbformat.v4.new_code_cell("from autograder import check")
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=[check, alone, answer, again[0], first, again[1]]),
        resources={"metadata": {"path": str(folder)}},
        timeout=None,
        allow_errors=True,
    )
    client.execute()
    (before,), _, _, (forgotten,), _, (after,) = [cell.outputs for cell in client.nb.cells]
    assert before.ename == "NameError"
    traceback_text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(before.traceback))
    assert f"check(dot_product_scores){RUN_FIRST}" in traceback_text
    assert NAME_UNKNOWN in forgotten.data["text/plain"]
    assert "right on the public cases" in after.data["text/plain"]


def test_old_python_is_refused_with_the_required_version(monkeypatch):
    source = Path(autograder.__file__).read_text()
    monkeypatch.setattr(sys, "version_info", (3, 10, 4, "final", 0))
    with pytest.raises(ImportError, match=r"need Python 3\.11 or newer\. This is \d"):
        exec(source, {"__name__": "autograder"})


PAGE_CONFIG = """\
import json
from jupyterlab_server.config import get_page_config
print(json.dumps(get_page_config([])['disabledExtensions']))
"""


@pytest.fixture
def practise(tmp_path):
    """Return a function that runs `.ci/practise` with one chapter and a stand-in for JupyterLab.

    The stand-in prints the extensions that JupyterLab would disable, and its own command line.
    """
    page = tmp_path / "exercises" / "self_attention" / "assignment.md"
    page.parent.mkdir(parents=True)
    page.symlink_to(ROOT / "exercises" / "self_attention" / page.name)
    jupyter = tmp_path / "bin" / "jupyter"
    jupyter.parent.mkdir()
    jupyter.write_text(f'#!/bin/sh\n{sys.executable} -c "{PAGE_CONFIG}"\necho "jupyter $*"\n')
    jupyter.chmod(0o755)
    path = [str(jupyter.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = os.environ | {"PATH": os.pathsep.join(path), "PYTHONPATH": str(ROOT)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(ROOT / ".ci" / "practise"), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )

    return run


def test_practise_prepares_assignments_once_and_keeps_answers(practise, tmp_path):
    first = practise()
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-1] == "jupyter lab practise"
    folder = tmp_path / "practise" / "self_attention"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["autograder", "self_attention.cases", "self_attention.ipynb"]
    notebook = folder / "self_attention.ipynb"
    notebook.write_text("my answers")
    again = practise("self_attention")
    assert "Making" not in again.stdout
    assert again.stdout.splitlines()[-1] == (
        "jupyter lab practise/self_attention/self_attention.ipynb"
    )
    assert notebook.read_text() == "my answers"


def test_practise_disables_teacher_buttons_and_announcements(practise):
    *_, disabled, _ = practise().stdout.splitlines()
    assert sorted(json.loads(disabled)) == [
        "@jupyter/nbgrader",
        "@jupyterlab/apputils-extension:announcements",
    ]


def test_practise_reports_an_unknown_chapter(practise, tmp_path):
    process = practise("self_atention")
    assert process.returncode == 1
    assert process.stderr == (
        "There is no chapter self_atention. Its name is one of: self_attention\n"
    )
    assert not (tmp_path / "practise").exists()
