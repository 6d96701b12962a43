"""Test that a practise page writes the released notebook, which is graded in the same way."""

import copy
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from site_tools import ROOT

from autograder.course.course import Course
from autograder.exercise.model import Assignment
from autograder.grading.checker import judge_notebook
from autograder.grading.sample import answer_source
from autograder.judging.verdict import Verdict
from autograder.nbgrader.release import release
from autograder.sandbox.backends import Sandbox
from exercises import COURSE

WRITE = ROOT / "tests" / "web" / "practise" / "write.mjs"
CHAPTERS = (
    *("context_bottleneck", "alignment", "captioning", "self_attention", "queries_keys_values"),
    *("multi_head", "positions"),
)
ODD = "A line\r\nand another\x0b\x85\u2028: é 😀 \\ \x7f\t</script>\n\n"
HELPER = "def helper():\n    return 'of my own'\n"
Answers = dict[str, Any]


def write(folder: Path, released: Path, *all_answers: Answers) -> list[tuple[Path, Answers]]:
    """Write a notebook for each set of answers; return its path and what is read back from it."""
    jobs = [
        {
            "released": str(released),
            "answers": answers,
            "target": str(folder / f"{at}.ipynb"),
        }
        for at, answers in enumerate(all_answers)
    ]
    path = folder / "jobs.json"
    path.write_text(json.dumps(jobs), encoding="utf-8")
    done = subprocess.run(["node", str(WRITE), str(path)], capture_output=True, check=True)
    read = [json.loads(line) for line in done.stdout.splitlines()]
    return [(Path(job["target"]), contents) for job, contents in zip(jobs, read, strict=True)]


def filled(released: Path, answers: Answers) -> str:
    """Return nbformat's text of the release with these answers in it."""
    notebook = copy.deepcopy(nbformat.read(released, as_version=4))
    for cell in notebook.cells:
        cell.source = answers["sources"].get(cell.id, cell.source)
    for own in answers["own"]:
        place = [cell.id for cell in notebook.cells].index(own["after"]) + 1
        cell = nbformat.v4.new_code_cell(own["source"], id=own["id"])
        notebook.cells.insert(place, cell)
    return nbformat.writes(notebook) + "\n"


def class_work(assignment: Assignment) -> Iterator[tuple[str, str, str | None]]:
    """Yield (exercise, source, mistake): a third right, a third mistaken, the others untouched."""
    for at, exercise in enumerate(assignment.exercises):
        if at % 3 == 0:
            yield exercise.name, answer_source(exercise.alternatives[0], exercise.name), None
        elif at % 3 == 1:
            mistake = next(
                misconception
                for misconception in exercise.misconceptions
                if not misconception.released
            )
            yield exercise.name, answer_source(mistake.wrong, exercise.name), mistake.name


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_writes_the_released_notebook_with_the_answers_and_it_gets_the_same_verdicts(
    chapter: str, tmp_path: Path, sandbox: Sandbox
) -> None:
    course = Course.create(tmp_path, "exercises")
    (released,) = release(course, [chapter])
    assignment = COURSE[chapter]
    work = list(class_work(assignment))
    tasks: list[Any] = [*assignment.exercises, *assignment.written]
    names = [task.name for task in tasks]
    own = [
        {"id": "own-2", "after": names[0], "source": "helper()"},
        {"id": "own-1", "after": names[0], "source": HELPER},
    ]
    answered = {"sources": {name: source for name, source, _ in work}, "own": own[::-1]}
    odd = {"sources": dict.fromkeys(names, ODD), "own": []}
    nothing = {"sources": {}, "own": []}
    notebooks = write(tmp_path, released, nothing, answered, odd)

    assert notebooks[0][0].read_bytes() == released.read_bytes()
    in_order = {"sources": answered["sources"], "own": own}  # each is inserted above the one before
    assert notebooks[1][0].read_bytes() == filled(released, in_order).encode()
    assert notebooks[2][0].read_bytes() == filled(released, odd).encode()
    for answers, (_, read) in zip((nothing, answered, odd), notebooks, strict=True):
        assert read == answers | {"aside": []}

    notebooks[1][0].replace(released)  # the cases are stored there
    judgements = judge_notebook(released, COURSE, sandbox)
    for name, _, mistake in work:
        assert judgements[name].passed == (mistake is None), name
        assert judgements[name].misconception == mistake, name
    for name in set(judgements) - {name for name, _, _ in work}:
        assert judgements[name].verdict in (Verdict.MISSING, Verdict.EXCEPTION), name
