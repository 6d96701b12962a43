"""Test that `make quick` selects tests by the changes in git and by imports."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from touched import FAR, Selection

from exercises import COURSE

ROOT = Path(__file__).parents[1]
PARTS = (".gitignore", "autograder", "exercises", "pyproject.toml", "solutions", "tests")
PROOFS = ROOT / "tests" / "exercises" / "test_exercises.py"


def exercises(*changed: str) -> set[str]:
    """Return the exercises, as chapter.name, that are proved again after these changes."""
    selection = Selection(ROOT, changed)
    names = set()
    for assignment in COURSE.values():
        for exercise in assignment.exercises:
            call = SimpleNamespace(params={"exercise": exercise})
            if selection.nearness(SimpleNamespace(path=PROOFS, callspec=call)) < FAR:
                names.add(f"{assignment.name}.{exercise.name}")
    return names


def files(*changed: str) -> dict[str, int]:
    """Return the test files affected by these changes, with their distance."""
    selection = Selection(ROOT, changed)
    tests = {path.name: selection.distance(path) for path in (ROOT / "tests").rglob("test_*.py")}
    return {name: near for name, near in tests.items() if near < FAR}


def test_changed_check_selects_only_its_exercise():
    assert exercises("exercises/self_attention/softmax.py") == {"self_attention.softmax"}
    cases = "exercises/transformer/beam_search_cases.py"
    assert exercises(cases) == {"transformer.beam_search"}


def test_changed_chapter_module_selects_its_exercises_and_tests():
    assert {name.split(".")[0] for name in exercises("solutions/captioning.py")} == {"captioning"}
    touched = files("solutions/captioning.py")
    assert "test_captioning.py" in touched
    assert "test_positions.py" not in touched


def test_changed_grader_selects_its_tests_and_one_chapter():
    chapters = {name.split(".")[0] for name in exercises("autograder/judging/judge.py")}
    assert chapters == {"self_attention"}
    touched = files("autograder/judging/judge.py")
    assert touched["test_judge.py"] < touched["test_formgrader.py"], "nearer tests come first"
    assert "test_captioning.py" not in touched


def test_changed_other_file_selects_tests_that_name_it():
    assert "test_packages.py" in files("requirements.txt")
    assert "test_extensions.py" in files("book/_ext/course_quiz.py")
    assert "test_positions.py" not in files("requirements.txt"), "it does not name requirements.txt"


def test_changed_test_or_helper_selects_the_tests_that_use_it():
    assert files("tests/solutions/test_positions.py") == {"test_positions.py": 0}
    touched = files("tests/support/toy.py")
    assert "test_judge.py" in touched
    assert "test_positions.py" not in touched


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a repository with a copy of the code and one uncommitted change."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, folder / part)
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (
        ["init", "--quiet"],
        ["add", "--all"],
        [*author, "commit", "--quiet", "--message", "all"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    with (folder / "solutions" / "captioning.py").open("a") as changed:
        changed.write("\n# changed\n")
    return folder


def run_pytest(checkout: Path, *options: str, budget: int = 30) -> tuple[int, str]:
    code = (
        f"import sys, pytest, touched; touched.BUDGET = {budget}; "
        f"sys.exit(pytest.main({['-p', 'touched', *options]}))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": f"{checkout / 'tests' / 'support'}:{checkout}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return process.returncode, process.stdout + process.stderr


def test_pytest_runs_only_tests_of_files_changed_in_git(checkout):
    code, output = run_pytest(checkout, "--collect-only", "tests/solutions")
    assert code == 0, output
    collected = {line.split("::")[0] for line in output.splitlines() if "::" in line}
    assert "tests/solutions/test_captioning.py" in collected
    assert "tests/solutions/test_positions.py" not in collected


def test_unknown_commit_is_reported(checkout):
    code, output = run_pytest(checkout, "--since", "nonesuch")
    assert code != 0
    assert "git knows no changes since 'nonesuch'" in output


def test_test_that_exceeds_the_budget_is_abandoned(checkout):
    slow = checkout / "tests" / "solutions" / "test_slow.py"
    slow.write_text("import time\n\n\ndef test_slow():\n    time.sleep(250)\n")
    try:
        code, output = run_pytest(checkout, "tests/solutions/test_slow.py", budget=1)
    finally:
        slow.unlink()
    assert code == 0, output
    assert "1 more tests are touched" in output
