"""`make quick` runs what a change touches: what git says, and what the imports say."""

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
    """The exercises, by chapter and name, whose proof is run after a change of these files."""
    selection = Selection(ROOT, changed)
    found = set()
    for assignment in COURSE.values():
        for exercise in assignment.exercises:
            given = SimpleNamespace(params={"exercise": exercise})
            if selection.nearness(SimpleNamespace(path=PROOFS, callspec=given)) < FAR:
                found.add(f"{assignment.name}.{exercise.name}")
    return found


def files(*changed: str) -> dict[str, int]:
    """The files of tests that such a change touches, and how near they are to it."""
    selection = Selection(ROOT, changed)
    tests = {path.name: selection.distance(path) for path in (ROOT / "tests").rglob("test_*.py")}
    return {name: near for name, near in tests.items() if near < FAR}


def test_a_change_in_a_check_asks_for_its_exercise_and_no_other():
    assert exercises("exercises/self_attention/softmax.py") == {"self_attention.softmax"}
    cases = "exercises/transformer/beam_search_cases.py"
    assert exercises(cases) == {"transformer.beam_search"}


def test_a_change_in_a_chapters_module_asks_for_its_exercises_and_its_tests():
    assert {name.split(".")[0] for name in exercises("solutions/captioning.py")} == {"captioning"}
    touched = files("solutions/captioning.py")
    assert "test_captioning.py" in touched
    assert "test_positions.py" not in touched


def test_a_change_in_the_grader_asks_for_its_tests_and_one_chapter():
    chapters = {name.split(".")[0] for name in exercises("autograder/judging/judge.py")}
    assert chapters == {"self_attention"}
    touched = files("autograder/judging/judge.py")
    assert touched["test_judge.py"] < touched["test_formgrader.py"], "the nearest first"
    assert "test_captioning.py" not in touched


def test_a_change_of_another_file_asks_for_the_tests_that_name_it():
    assert "test_packages.py" in files("requirements.txt")
    assert "test_extensions.py" in files("book/_ext/course_quiz.py")
    assert "test_positions.py" not in files("requirements.txt"), "it names an empty folder"


def test_a_change_in_a_test_asks_for_it_and_one_in_a_helper_for_who_uses_it():
    assert files("tests/solutions/test_positions.py") == {"test_positions.py": 0}
    touched = files("tests/support/toy.py")
    assert "test_judge.py" in touched
    assert "test_positions.py" not in touched


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The code in a repository of its own, with one change that is not committed."""
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


def pytest_there(checkout: Path, *options: str, budget: int = 30) -> tuple[int, str]:
    code = (
        f"import sys, pytest, touched; touched.BUDGET = {budget}; "
        f"sys.exit(pytest.main({['-p', 'touched', *options]}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": f"{checkout / 'tests' / 'support'}:{checkout}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def test_pytest_runs_what_git_says_was_changed_and_no_other_file(checkout):
    code, said = pytest_there(checkout, "--collect-only", "tests/solutions")
    assert code == 0, said
    collected = {line.split("::")[0] for line in said.splitlines() if "::" in line}
    assert "tests/solutions/test_captioning.py" in collected
    assert "tests/solutions/test_positions.py" not in collected


def test_a_commit_that_is_none_is_told_so(checkout):
    code, said = pytest_there(checkout, "--since", "nonesuch")
    assert code != 0
    assert "git knows no changes since 'nonesuch'" in said


def test_what_is_running_when_the_time_is_over_is_given_up(checkout):
    slow = checkout / "tests" / "solutions" / "test_slow.py"
    slow.write_text("import time\n\n\ndef test_slow():\n    time.sleep(250)\n")
    try:
        code, said = pytest_there(checkout, "tests/solutions/test_slow.py", budget=1)
    finally:
        slow.unlink()
    assert code == 0, said
    assert "1 more tests are touched" in said
