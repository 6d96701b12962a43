"""Test which tests `make quick` selects: a test that it leaves out fails only in `make test`."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from touched import FAR, Selection

from exercises import COURSE

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "tests" / "exercises" / "test_exercises.py"


@pytest.mark.parametrize(
    ("changed", "near", "far"),
    [
        ("solutions/captioning.py", "solutions/test_captioning.py", "solutions/test_positions.py"),
        ("autograder/judging/judge.py", "autograder/judging/test_judge.py", "book/test_quiz.py"),
        ("tests/support/toy.py", "autograder/judging/test_judge.py", "solutions/test_positions.py"),
        ("requirements.txt", "test_packages.py", "solutions/test_positions.py"),
        ("book/_ext/course_quiz.py", "book/test_extensions.py", "solutions/test_positions.py"),
    ],
)
def test_change_selects_the_test_files_that_use_it(changed: str, near: str, far: str) -> None:
    selection = Selection(ROOT, [changed])
    assert selection.distance(ROOT / "tests" / near) < FAR
    assert selection.distance(ROOT / "tests" / far) == FAR


@pytest.mark.parametrize(
    ("changed", "part", "exercises"),
    [
        ("exercises/self_attention/softmax.py", "exercise", {"self_attention.softmax"}),
        ("exercises/transformer/beam_search_cases.py", "exercise", {"transformer.beam_search"}),
        ("solutions/captioning.py", "chapter", {"captioning"}),
        ("autograder/judging/judge.py", "chapter", {"self_attention"}),  # a sample of the course
    ],
)
def test_change_selects_the_proofs_of_its_exercises(
    changed: str, part: str, exercises: set[str]
) -> None:
    selection = Selection(ROOT, [changed])
    proved = {
        assignment.name if part == "chapter" else f"{assignment.name}.{exercise.name}"
        for assignment in COURSE.values()
        for exercise in assignment.exercises
        if selection.nearness(
            SimpleNamespace(path=PROOFS, callspec=SimpleNamespace(params={"exercise": exercise}))
        )
        < FAR
    }
    assert proved == exercises
