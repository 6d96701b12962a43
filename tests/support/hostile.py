"""The hostile corpus: submissions that attack the grader, and a class in which each is graded.

A case is the submission of one student. These keys say what it attacks, and what must hold after
grading:

    attacks:    a sentence
    group:      resources, process, scores, answers, secrets, files, tools, or robust
    assignment: the assignment whose release the student worked on
    tool:       a file of the corpus's folder `tools`, put into a cell before the added cells
    expect:     exercise: {verdict, points, says, says_not}; the last two are regular expressions
    others:     PASS (the default) or any, for the exercises that `expect` does not name
    seconds:    how much longer the class may take because of this case (2)
    class:      `alone` for a class with only this case; any other name for a class of several
                cases, which are graded one after another
    neighbours: slow, if each answer of the honest students has to take a second of CPU
    memory:     MiB that the grader's own process may hold at most
    student:    the name of the student's folder, if that is the attack
    feedback:   true if the student's page and the CSV are checked too
    open:       why the grader fails the case today; starts with `as root: ` if only root fails it

A case of one answer of at most eight lines is an entry of `answers.yml`, under its assignment and
exercise, its group, and its name. Its `code` is the answer; `verdict`, `says` and `says_not` are
those of its exercise. Without a verdict, the answer must be accepted.

Every other case is a directory with its keys in `expect.yml`. The student's code lies beside it:
`<exercise>.py` is an answer, `own_1.py` and so on are added cells. Instead, `notebook.py` may
define `make(content, path)`, which gets the notebook as plain data. It returns the data or bytes to
write to `path`, or None if it has written there itself. All other answers are right.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from nightly import NIGHTLY

from autograder.exercise.model import Assignment
from autograder.probe.supervisor import CONTAINER, WARM
from autograder.sandbox.backends import KINDS
from autograder.sandbox.limits import LIMITS
from exercises import COURSE

if TYPE_CHECKING:
    import nbformat

    from autograder.course.course import Course

CORPUS = Path(__file__).parents[1] / "hostile"
GROUPS = ("resources", "process", "scores", "answers", "secrets", "files", "tools", "robust")

OUTCOME = ("verdict", "says", "says_not")
"""The keys of an entry of answers.yml that say how its exercise is graded."""

QUICK = dataclasses.replace(LIMITS, cell_seconds=2, cells_seconds=8)
"""The limits of the corpus: those of grading, with less patience."""

MODES = KINDS
"""The sandboxes in which the corpus is run, by the names that `open_sandbox` uses."""

GRADED = {
    "self_attention": (
        "dot_product_scores",
        "softmax",
        "self_attention",
        "permute_equivariantly",
    ),
    "queries_keys_values": ("padding_mask", "test_masked_blend"),
    "transformer_block": ("LayerNorm", "fold_norm"),
}
"""The only exercises of these assignments that are graded, since the others take long."""

IN_THE_COLD = ("self_attention", "transformer_block")
"""One assignment without torch and one with it, whose cases run in the cold sandbox by day."""

BUSY = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end:\n    pass\n"


@dataclass(frozen=True)
class Expected:
    """The expected outcome of an exercise: verdicts, points, and patterns of the reason."""

    verdicts: tuple[str, ...]
    points: int = 0
    says: str | None = None
    says_not: str | None = None


@dataclass(frozen=True)
class Case:
    """One hostile submission, and what must hold after it was graded."""

    name: str
    attacks: str
    group: str
    assignment: str
    expect: Mapping[str, Expected]
    answers: Mapping[str, str]
    cells: tuple[str, ...] = ()
    notebook: Path | None = None
    others: str = "PASS"
    seconds: float = 2
    class_name: str = ""
    neighbours: str = ""
    memory: int | None = None
    student: str = ""
    feedback: bool = False
    open: str | None = None

    @property
    def in_class(self) -> str:
        """The class in which the case is graded."""
        if self.class_name:
            return self.name if self.class_name == "alone" else self.class_name
        return f"{self.assignment}-pages" if self.feedback else self.assignment

    @property
    def fails(self) -> str | None:
        """Why the grader fails the case on this machine, or None."""
        reason = self.open or ""
        return None if reason.startswith("as root: ") and os.geteuid() else reason or None


@functools.cache
def corpus() -> tuple[Case, ...]:
    """Return every case. Raises ValueError for a case that breaks the rules of the module."""
    cases = [read_case(path.parent) for path in CORPUS.glob("*/expect.yml")]
    cases += read_answers(CORPUS / "answers.yml")
    return tuple(sorted(cases, key=lambda case: case.name))


def cases_in(mode: str) -> tuple[Case, ...]:
    """Return the cases that run in a mode: all in the warm sandbox, a few per group in the cold.

    The nightly run takes all cases in every mode, containers included. The few are every fifth of
    those that are submitted for an assignment of IN_THE_COLD, and the named class of several.
    """
    if mode == WARM or NIGHTLY:
        return corpus()
    if mode == CONTAINER:
        return ()
    chosen = [case for case in corpus() if case.class_name not in ("", "alone")]
    for group in GROUPS:
        plain = [case for case in corpus() if case.group == group and case.in_class in IN_THE_COLD]
        chosen += plain[::5]
    return tuple(sorted(chosen, key=lambda case: case.name))


def read_case(folder: Path) -> Case:
    """Return the case in `folder`."""
    data = yaml.safe_load((folder / "expect.yml").read_text(encoding="utf-8"))
    own = sorted(folder.glob("own_*.py"), key=lambda file: int(file.stem[4:]))
    notebook = folder / "notebook.py"
    answers = {file.stem: file for file in folder.glob("*.py") if file not in (notebook, *own)}
    data["answers"] = {name: file.read_text(encoding="utf-8") for name, file in answers.items()}
    data["cells"] = [file.read_text(encoding="utf-8") for file in own]
    data["notebook"] = notebook if notebook.exists() else None
    return _case(folder.name, data)


def read_answers(file: Path) -> Iterator[Case]:
    """Yield the cases of a file like `answers.yml`."""
    for heading, groups in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        assignment, exercise = heading.split("/")
        for group, entries in groups.items():
            for name, data in entries.items():
                outcome = {key: data.pop(key) for key in OUTCOME if key in data}
                data["expect"] = {exercise: outcome} if outcome else {}
                data["answers"] = {exercise: data.pop("code")}
                yield _case(name, {"assignment": assignment, "group": group, **data})


def _case(name: str, data: dict[str, Any]) -> Case:
    expect = data.pop("expect", None) or {}
    data["expect"] = {exercise: _expected(outcome) for exercise, outcome in expect.items()}
    data["class_name"] = data.pop("class", "")
    tool = data.pop("tool", None)
    tools = [(CORPUS / "tools" / f"{tool}.py").read_text(encoding="utf-8")] if tool else []
    data["cells"] = (*tools, *data.pop("cells", ()))
    unknown = data.keys() - {part.name for part in dataclasses.fields(Case)}
    if unknown or data["group"] not in GROUPS:
        raise ValueError(f"{name} has the key or the group {unknown or data['group']}")
    return Case(name=name, **data)


def _expected(data: dict[str, Any]) -> Expected:
    verdicts = data.pop("verdict")
    return Expected(tuple(verdicts) if isinstance(verdicts, list) else (verdicts,), **data)


@functools.cache
def assignment(name: str) -> Assignment:
    """Return the assignment, without the exercises that take long."""
    whole = COURSE[name]
    names = GRADED.get(name)
    exercises = tuple(
        exercise for exercise in whole.exercises if names is None or exercise.name in names
    )
    return dataclasses.replace(whole, exercises=exercises)


@functools.cache
def released(name: str) -> nbformat.NotebookNode:
    """Return the release of an assignment, without the cells of exercises that were left out.

    The module that makes releases takes more than a second to import and is imported here: each
    worker that grades a class imports this module, but never makes a release.
    """
    from autograder.nbgrader.release import build_notebook

    whole = COURSE[name]
    notebook = build_notebook(whole, COURSE.page(name))
    removed = {
        exercise.name for exercise in whole.exercises if exercise not in assignment(name).exercises
    }
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.metadata.nbgrader.grade_id.removesuffix("-check") not in removed
    ]
    return notebook


@functools.cache
def _right_text(name: str) -> str:
    from autograder.grading.sample import notebook_text, sample_class

    (sample,) = (
        submission
        for submission in sample_class([assignment(name)])
        if submission.student == "s01-perfect"
    )
    return notebook_text(sample, released(name))


def right_notebook(name: str) -> dict[str, Any]:
    """Return the notebook with every answer right, as plain data, each source one string."""
    content: dict[str, Any] = json.loads(_right_text(name))
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
    return content


def answer_cell(content: dict[str, Any], exercise: str) -> dict[str, Any]:
    """Return the cell of a notebook that answers an exercise."""
    return next(
        cell
        for cell in content["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == exercise
    )


def code_cell(source: str) -> dict[str, Any]:
    """Return a code cell as a student would add it."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"own-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def hand_in(course: Course, case: Case) -> Path:
    """Put a case into the course and return the student's folder."""
    folder = course.submitted / (case.student or case.name)
    path = folder / case.assignment / f"{case.assignment}.ipynb"
    path.parent.mkdir(parents=True)
    write(case, with_sources(case), path)
    return folder


def write(case: Case, content: dict[str, Any], path: Path) -> None:
    """Write the case's notebook, or the result of its notebook.py, to `path`."""
    result: Any = content
    if case.notebook:
        result = _module(case.notebook).make(content, path)
    if result is not None:
        path.write_bytes(result if isinstance(result, bytes) else json.dumps(result).encode())


def with_sources(case: Case) -> dict[str, Any]:
    """Return the right notebook with the case's own answers and cells."""
    content = right_notebook(case.assignment)
    for exercise, source in case.answers.items():
        answer_cell(content, exercise)["source"] = source
    first = next(i for i, cell in enumerate(content["cells"]) if cell["cell_type"] == "code") + 1
    content["cells"][first:first] = map(code_cell, case.cells)
    return content


def hand_in_honest(course: Course, student: str, assignment: str, slow: bool = False) -> None:
    """Put right answers into the course; `slow` ones need a second of CPU each time they run."""
    content = right_notebook(assignment)
    if slow:
        content["cells"].append(code_cell(BUSY))
    path = course.submitted / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"hostile_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Row:
    """A line of grades.json."""

    verdict: str
    points: int
    message: str


@dataclass(frozen=True)
class Graded:
    """The result of grading a class.

    `rows` by student and exercise, `pages` by student; `faults` lists what went wrong for the class
    as a whole, by the rules that hold for every class; `memory` is the grader's own peak, in MiB.
    """

    rows: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    memory: int = 0
    seconds: float = 0.0


def faults_of(case: Case, graded: Graded) -> Iterator[str]:
    """Yield a line for each way in which the result differs from `expect.yml`."""
    rows = graded.rows.get(case.name, {})
    exercises = {exercise.name: exercise for exercise in assignment(case.assignment).exercises}
    if list(rows) != list(exercises):
        yield f"it has rows for {list(rows)}"
    for name, row in rows.items():
        expected = case.expect.get(name)
        if expected is None and case.others == "any":
            continue
        if expected is None:
            expected = Expected(("PASS",), exercises[name].points)
        if row.verdict not in expected.verdicts or row.points != expected.points:
            yield f"{name}: {row.verdict}, {row.points} points: {row.message}"
        if not row.message:
            yield f"{name}: no reason"
        if expected.says is not None and not re.search(expected.says, row.message):
            yield f"{name} does not say {expected.says}: {row.message}"
        if expected.says_not is not None and re.search(expected.says_not, row.message):
            yield f"{name} says {expected.says_not}: {row.message}"
    if case.memory is not None and graded.memory > case.memory:
        yield f"the grader took {graded.memory} MiB"
