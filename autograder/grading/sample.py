"""Create an invented class for a demonstration: `python -m autograder.grading.sample COURSE`.

The submissions are made from the course's release. Right answers are the exercises' alternatives,
wrong answers their misconceptions, and some submissions are attacks that a grader must survive.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import nbformat

from ..course.course import Course, CourseError
from ..course.files import replace_text
from ..exercise.answers import source_as
from ..exercise.model import Assignment
from ..judging.verdict import Verdict
from .grade import read_released

WRITTEN_ANSWER = (
    "In “the dog that chased the cat was tired”, the verb needs its subject, but their embeddings "
    "have little in common. So their dot product is small and the verb hardly looks there. What a "
    "token looks for and what it offers should be two different vectors, both learned."
)

WARN = """\
import sys
import warnings

warnings.warn("this answer is right, and loud about it")
print("DEBUG: still here", file=sys.stderr)

"""

LOOP = """\
def NAME(*arguments, **keywords):
    while True:
        pass
"""

MEMORY_BOMB = """\
def NAME(*arguments, **keywords):
    hoard = []
    while True:
        hoard.append(np.zeros(2**24))
"""

PROWL = """\
import importlib
import os
import socket

PLACES = (".", "..", "../..", "/home", "/root", "~", "/srv", "/mnt", "/tmp")
FILES = ("course.key", "gradebook.db", "grades.json", "journal.jsonl", "source", "submitted")


def loot():
    found = [name for name in os.environ if "KEY" in name or "TOKEN" in name]
    for place in PLACES:
        for file in FILES:
            path = os.path.join(os.path.expanduser(place), file)
            if os.path.exists(path):
                found.append(path)
    for module in ("exercises", "autograder.judging", "solutions"):
        try:
            found.append(repr(importlib.import_module(module)))
        except ImportError:
            pass
    for address in (("example.org", 80), ("192.0.2.1", 80)):
        try:
            socket.create_connection(address, timeout=1).close()
            found.append(repr(address))
        except OSError:
            pass
    return found


FOUND = loot()
print("found:", FOUND)


def NAME(*arguments, **keywords):
    return ", ".join(FOUND)
"""


@dataclass(frozen=True)
class Expected:
    """The expected judgement of an exercise; a `verdict` of None means any verdict except PASS."""

    verdict: Verdict | None
    misconception: str | None = None


@dataclass(frozen=True)
class SampleSubmission:
    """One submission: student, assignment, what it shows, its answers, and the expected judgements.

    An exercise without an answer keeps its stub. `repeated` is the name of a cell that occurs
    twice; a `damaged` file is cut in half.
    """

    student: str
    assignment: str
    shows: str
    answers: Mapping[str, str]
    expected: Mapping[str, Expected]
    written: bool = False
    repeated: str | None = None
    damaged: bool = False

    def but(self, name: str, answer: str | None, expected: Expected) -> SampleSubmission:
        """Return a copy with another answer to one exercise, or its stub if `answer` is None."""
        answers = {key: source for key, source in self.answers.items() if key != name}
        if answer is not None:
            answers[name] = answer
        return replace(self, answers=answers, expected={**self.expected, name: expected})


def sample_class(assignments: Sequence[Assignment]) -> list[SampleSubmission]:
    """Return the same submissions for the same assignments, in whatever order they are given."""
    assignments = sorted(assignments, key=lambda assignment: assignment.name)
    first, last = assignments[0], assignments[-1]
    samples = []
    for assignment in assignments:
        perfect = _right("s01-perfect", assignment, "everything right, in words too")
        samples.append(replace(perfect, written=True))
        samples.append(_right("s02-computed-otherwise", assignment, "right, written otherwise", 1))
    partly = _right("s03-partly-right", last, "every second exercise left open", 2)
    for exercise in last.exercises[1::2]:
        partly = partly.but(exercise.name, None, Expected(Verdict.MISSING))
    samples += [partly, *_mistaken(assignments)]
    untouched = _right("s10-untouched-stub", first, "handed in as it was released")
    for exercise in first.exercises:
        untouched = untouched.but(exercise.name, None, Expected(Verdict.MISSING))
    samples.append(untouched)
    target = first.exercises[0].name
    for student, shows, source, verdict in (
        ("s11-endless-loop", "a loop without an end", LOOP, Verdict.TIMEOUT),
        ("s12-memory-bomb", "more memory than there is", MEMORY_BOMB, Verdict.MEMORY),
        ("s13-prowler", "looks for hidden tests and the network", PROWL, Verdict.WRONG_TYPE),
    ):
        right = _right(student, first, shows)
        samples.append(right.but(target, source.replace("NAME", target), Expected(verdict)))
    damaged = _right("s14-damaged-file", last, "a file that was cut off")
    malformed = {exercise.name: Expected(Verdict.MALFORMED) for exercise in last.exercises}
    samples.append(replace(damaged, damaged=True, expected=malformed))
    repeated = _right("s15-duplicated-cell", first, "a cell that occurs twice")
    samples.append(replace(repeated, repeated=target))
    loud = _right("s16-right-but-loud", last, "right answers that write to standard error")
    samples.append(replace(loud, answers={n: WARN + source for n, source in loud.answers.items()}))
    return sorted(samples, key=lambda sample: (sample.student, sample.assignment))


def _right(student: str, assignment: Assignment, shows: str, kind: int = 0) -> SampleSubmission:
    """Return a submission with right answers: each exercise's alternative number `kind`."""
    answers = {
        exercise.name: answer_source(exercise.alternatives[kind], exercise.name)
        for exercise in assignment.exercises
    }
    expected = {exercise.name: Expected(Verdict.PASS) for exercise in assignment.exercises}
    return SampleSubmission(student, assignment.name, shows, answers, expected)


def _mistaken(assignments: Sequence[Assignment]) -> Iterator[SampleSubmission]:
    """Yield six submissions, each with a single mistake, in a different exercise.

    The bug in a debugging exercise's release is not used, since students do not make it.
    """
    for number in range(6):
        assignment = assignments[number % len(assignments)]
        turn = number // len(assignments)
        exercise = assignment.exercises[turn % len(assignment.exercises)]
        mistakes = [mistake for mistake in exercise.misconceptions if not mistake.released]
        mistake = mistakes[turn // len(assignment.exercises)]
        slug = "-".join(re.findall("[a-z0-9]+", mistake.name.lower())[:3])
        shows = f"{exercise.name}: {mistake.name}"
        right = _right(f"s{number + 4:02}-{slug}", assignment, shows)
        wrong = answer_source(mistake.wrong, exercise.name)
        yield right.but(exercise.name, wrong, Expected(None, mistake.name))


def answer_source(function: Callable[..., Any], name: str) -> str:
    """Return the source of `function` as a student's answer, renamed to the exercise's name."""
    return source_as(function, name)


def notebook_text(sample: SampleSubmission, released: nbformat.NotebookNode) -> str:
    """Return the text of the notebook file that the student hands in."""
    notebook = copy.deepcopy(released)
    for cell in list(notebook.cells):
        marks = cell.metadata.nbgrader
        if marks.grade and cell.cell_type == "code":
            cell.source = sample.answers.get(marks.grade_id, cell.source)
        elif marks.grade and sample.written:
            cell.source = WRITTEN_ANSWER
        if marks.grade_id == sample.repeated:
            copied = copy.deepcopy(cell)
            copied["id"] = f"{cell['id']}-again"
            copied.source = f"{cell.source}  # the same once more"
            notebook.cells.insert(notebook.cells.index(cell) + 1, copied)
    text: str = nbformat.writes(notebook) + "\n"
    return text[: len(text) // 2] if sample.damaged else text


def hand_in(course: Course, assignments: Sequence[Assignment]) -> list[SampleSubmission]:
    """Put the sample class into COURSE/submitted; raise CourseError if nothing is released."""
    released = {
        assignment.name: read_released(course, assignment.name) for assignment in assignments
    }
    samples = sample_class(assignments)
    for sample in samples:
        name = sample.assignment
        path = course.submitted / sample.student / name / f"{name}.ipynb"
        replace_text(path, notebook_text(sample, released[name]))
    return samples


def main(root: str) -> None:
    """Create the sample class in the course at `root`, and print what each submission shows."""
    course = Course.open(root)
    for sample in hand_in(course, list(course.package.values())):
        print(f"{sample.student}  {sample.assignment}: {sample.shows}")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else ".")
    except CourseError as error:
        sys.exit(str(error))
