"""Invent a large class, graded without judging: `python -m tests.support.invented_class COURSE`.

Each answer is one of the course's right or wrong ones in words of the student's own, and its
judgement is known from that. Three pairs of students have the same answers under other names.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader import api

from autograder.course.course import Course
from autograder.course.files import replace_text
from autograder.exercise.answers import source_as
from autograder.exercise.model import Assignment, Exercise
from autograder.grading import jobs
from autograder.grading.grade import grade, read_released
from autograder.judging.verdict import Judgement, Verdict
from autograder.nbgrader.gradebook import Gradebook
from autograder.nbgrader.release import release

COPIES = 3
"""The number of pairs that hand in the same: the last students have the answers of the first."""

ABSENT = 0.08
WRONG, MISSING = 0.25, 0.05


@dataclass(frozen=True)
class Chosen:
    """An answer with the judgement that it gets."""

    source: str
    judgement: Judgement


class Invented:
    """Workers that know each judgement from the text of the answer; see grading/workers.py."""

    died = ()
    trust = False
    capacity = 8

    def __init__(self, known: Mapping[str, Judgement]) -> None:
        self._known = known

    def describe(self, released: jobs.Released):
        return jobs.describe(released)

    def submit(self, job: jobs.Job) -> Future[dict[str, Judgement]]:
        sources = {cell.exercise: cell.source for cell in job.program if cell.exercise}
        future: Future[dict[str, Judgement]] = Future()
        future.set_result({name: self._known[sources[name]] for name in job.exercises})
        return future

    def check(self) -> None:
        pass


def invent(root: Path, name: str, students: int, seed: int = 0) -> Course:
    """Return a graded course at `root` with `students` of whom some hand in twice."""
    course = Course.create(root)
    release(course, [name])
    assignment = course.package[name]
    released = read_released(course, name)
    rng = random.Random(seed)
    known: dict[str, Judgement] = {}
    originals: list[dict[str, str]] = []
    for version in range(2):
        for number in range(students):
            if number < ABSENT * students and number > COPIES:
                continue
            student = f"student-{number:04}"
            path = course.submitted / student / name / f"{name}.ipynb"
            if version and rng.random() > 0.3:
                continue
            answers = {}
            copied = number - (students - COPIES)
            for exercise in assignment.exercises:
                chosen = _choose(exercise, rng, wrong=WRONG * (2 - version))
                if copied >= 0:
                    first = originals[copied][exercise.name]
                    chosen = Chosen(renamed(first, rng), known[first])
                known[chosen.source] = chosen.judgement
                answers[exercise.name] = chosen.source
            if not version:
                originals.append(answers)
            replace_text(path, _notebook(released, assignment, answers, rng))
        grade(course, [name], None, Invented(known))
    _mark(course, assignment, rng)
    return course


def _choose(exercise: Exercise, rng: random.Random, wrong: float) -> Chosen:
    drawn = rng.random()
    if drawn < MISSING:
        text = f"def {exercise.name}(*arguments):\n    raise NotImplementedError  # {rng.random()}"
        return Chosen(text, Judgement(Verdict.MISSING, "Not answered yet."))
    if drawn < MISSING + wrong:
        mistakes = [m for m in exercise.misconceptions if not m.released]
        # The first are the commonest, as in a real class.
        mistake = mistakes[min(int(rng.expovariate(0.7)), len(mistakes) - 1)]
        text = _own_words(source_as(mistake.wrong, exercise.name), rng)
        return Chosen(
            text, Judgement(Verdict.WRONG_VALUE, "Wrong.", mistake.name, mistake.hint, case=0)
        )
    answer = rng.choice([*exercise.alternatives, exercise.reference])
    text = _own_words(source_as(answer, exercise.name), rng)
    return Chosen(text, Judgement(Verdict.PASS, "Right."))


def _own_words(source: str, rng: random.Random) -> str:
    """Return an answer with other names, and some statements that another would not write."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for _ in range(rng.randint(0, 3)):
                a, b = rng.choice("pqrst"), rng.choice("uvwxyz")
                n = rng.randint(2, 99)
                extra = rng.choice(
                    [f"{a} = {n}", f"{a} = [{b} * {b} for {b} in range({n})]", f"assert {n}"]
                )
                node.body.insert(rng.randint(0, len(node.body) - 1), ast.parse(extra).body[0])
    return renamed(ast.unparse(tree), rng)


def renamed(source: str, rng: random.Random) -> str:
    """Return an answer under other names of its own variables, with a comment."""
    tree = ast.parse(source)
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stored = {
        node.id: f"{node.id}_{rng.randint(0, 10**6)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        if node.id not in arguments
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in stored:
            node.id = stored[node.id]
    return f"{ast.unparse(tree)}\n# {rng.random()}"


def _notebook(
    released: nbformat.NotebookNode,
    assignment: Assignment,
    answers: Mapping[str, str],
    rng: random.Random,
) -> str:
    notebook = copy.deepcopy(released)
    written = {question.name for question in assignment.written}
    for cell in notebook.cells:
        name = cell.metadata.nbgrader.grade_id
        cell.source = answers.get(name, cell.source)
        if name in written and rng.random() < 0.9:
            cell.source = f"Because of {rng.random()}."
    return nbformat.writes(notebook) + "\n"


def _mark(course: Course, assignment: Assignment, rng: random.Random) -> None:
    """Mark some of the written answers by hand."""
    with Gradebook(course.gradebook_url) as book:
        for grade_ in book.nbgrader.db.query(api.Grade).filter_by(needs_manual_grade=True):
            if rng.random() < 0.6:
                grade_.manual_score, grade_.needs_manual_grade = float(rng.randint(0, 4)), False
        book.nbgrader.db.commit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("course", type=Path)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--assignment", default="self_attention")
    chosen_ = parser.parse_args()
    invent(chosen_.course, chosen_.assignment, chosen_.students)
