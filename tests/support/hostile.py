"""The hostile corpus: a directory a case, and a class of students in which it is graded.

A case is what one student hands in. `expect.yml` says what it attacks, and what must be true after
grading:

    attacks:    a sentence
    group:      resources, process, scores, answers, secrets, files, tools, or robust
    assignment: whose release the student had
    tool:       a file of the corpus's folder `tools`, a cell in front of those that were added
    expect:     exercise: {verdict, points, says, says_not}; the last two are regular expressions
    others:     PASS (the default) or any, for the exercises that `expect` does not name
    seconds:    how much longer the class may take because of it (2)
    class:      `alone` for a class with this case only; another name for a class of several,
                graded one after another
    neighbours: slow, where the honest ones shall need a second of CPU for each answer
    memory:     MiB that the grader's own process may have at most
    student:    the name of the folder, if that is the attack
    feedback:   true if the page for the student is looked at, and the CSV
    open:       why the grader fails the case today, and `as root: ` before it if only there

What the student writes stands beside it: `<exercise>.py` is an answer, `own_1.py` and so on are
added cells; all other answers are right. `notebook.py` defines `make(content, path)` instead, which
is given the notebook as plain data. It returns what to write to `path`: data or bytes; or None if
it has put there what it wants to.
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

QUICK = dataclasses.replace(LIMITS, cell_seconds=2, cells_seconds=8)
"""The limits of the corpus: those of grading, but for the patience."""

MODES = KINDS
"""The sandboxes in which the corpus is run, by the names that `open_sandbox` has for them."""

KEPT = {
    "self_attention": (
        "dot_product_scores",
        "softmax",
        "self_attention",
        "permute_equivariantly",
    ),
    "queries_keys_values": ("causal_mask", "test_masked_blend"),
    "transformer_block": ("LayerNorm", "FeedForward"),
}
"""Of these assignments only these exercises, since the others take long."""

IN_THE_COLD = ("self_attention", "transformer_block")
"""One assignment without torch and one with it: what the cold sandbox does for a case."""

BUSY = "import time\nend = time.process_time() + 1\nwhile time.process_time() < end:\n    pass\n"


@dataclass(frozen=True)
class Expected:
    """What must come of one exercise: one of the verdicts, the points, and what the reason says."""

    verdicts: tuple[str, ...]
    points: int
    says: str | None = None
    says_not: str | None = None


@dataclass(frozen=True)
class Case:
    """One hostile submission, and what must be true after it was graded."""

    folder: Path
    attacks: str
    group: str
    assignment: str
    expect: Mapping[str, Expected]
    tool: str = ""
    others: str = "PASS"
    seconds: float = 2
    room: str = ""
    neighbours: str = ""
    memory: int | None = None
    student: str = ""
    feedback: bool = False
    open: str | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def in_class(self) -> str:
        """The class that it is graded in."""
        if self.room:
            return self.name if self.room == "alone" else self.room
        return f"{self.assignment}-pages" if self.feedback else self.assignment

    @property
    def fails(self) -> str | None:
        """Why the grader fails it here, or None."""
        reason = self.open or ""
        return None if reason.startswith("as root: ") and os.geteuid() else reason or None


@functools.cache
def corpus() -> tuple[Case, ...]:
    """Every case. Raises ValueError for one that is not as the module's docstring says."""
    folders = sorted(path.parent for path in CORPUS.glob("*/expect.yml"))
    return tuple(map(read_case, folders))


def cases_in(mode: str) -> tuple[Case, ...]:
    """The cases that run in a mode: all in the warm sandbox, a few of each group in the cold.

    By night all run in each, in containers, too. The few are every fifth that is handed in with an
    assignment of IN_THE_COLD, and the class of several that has a name.
    """
    if mode == WARM or NIGHTLY:
        return corpus()
    if mode == CONTAINER:
        return ()
    chosen = [case for case in corpus() if case.room not in ("", "alone")]
    for group in GROUPS:
        plain = [one for one in corpus() if one.group == group and one.in_class in IN_THE_COLD]
        chosen += plain[::5]
    return tuple(sorted(chosen, key=lambda case: case.name))


def read_case(folder: Path) -> Case:
    """The case in `folder`."""
    data = yaml.safe_load((folder / "expect.yml").read_text(encoding="utf-8"))
    data["room"] = data.pop("class", "")
    expect = {name: _expected(one) for name, one in (data.pop("expect", None) or {}).items()}
    unknown = data.keys() - {part.name for part in dataclasses.fields(Case)}
    if unknown or data["group"] not in GROUPS:
        raise ValueError(f"{folder.name}: expect.yml has {unknown or data['group']}")
    return Case(folder=folder, expect=expect, **data)


def _expected(data: dict[str, Any]) -> Expected:
    verdicts = data.pop("verdict")
    return Expected(tuple(verdicts) if isinstance(verdicts, list) else (verdicts,), **data)


@functools.cache
def assignment(name: str) -> Assignment:
    """The assignment, without the exercises that take long."""
    whole = COURSE[name]
    kept = KEPT.get(name)
    exercises = tuple(one for one in whole.exercises if kept is None or one.name in kept)
    return dataclasses.replace(whole, exercises=exercises)


@functools.cache
def released(name: str) -> nbformat.NotebookNode:
    """The release of an assignment, without the cells of exercises that were left out.

    What makes releases takes more than a second to import, and is imported here: each worker that
    grades a class begins with this module, and makes none.
    """
    from autograder.nbgrader.release import build_notebook

    whole = COURSE[name]
    notebook = build_notebook(whole, COURSE.page(name))
    gone = {one.name for one in whole.exercises if one not in assignment(name).exercises}
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.metadata.nbgrader.grade_id.removesuffix("-check") not in gone
    ]
    return notebook


@functools.cache
def _right_text(name: str) -> str:
    from autograder.grading.sample import notebook_text, sample_class

    (sample,) = (one for one in sample_class([assignment(name)]) if one.student == "s01-perfect")
    return notebook_text(sample, released(name))


def right_notebook(name: str) -> dict[str, Any]:
    """The notebook with every answer right, as plain data, each source one string."""
    content: dict[str, Any] = json.loads(_right_text(name))
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
    return content


def answer_cell(content: dict[str, Any], exercise: str) -> dict[str, Any]:
    """The cell of a notebook that answers an exercise."""
    return next(
        cell
        for cell in content["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == exercise
    )


def code_cell(source: str) -> dict[str, Any]:
    """A code cell that a student has added."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"own-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def hand_in(course: Course, case: Case) -> Path:
    """Put a case into the course; returns the student's folder."""
    folder = course.submitted / (case.student or case.name)
    path = folder / case.assignment / f"{case.assignment}.ipynb"
    path.parent.mkdir(parents=True)
    write(case, with_sources(case), path)
    return folder


def write(case: Case, content: dict[str, Any], path: Path) -> None:
    """Write the case's notebook, or whatever its notebook.py makes of it, to `path`."""
    made: Any = content
    if (case.folder / "notebook.py").exists():
        made = _module(case.folder / "notebook.py").make(content, path)
    if made is not None:
        path.write_bytes(made if isinstance(made, bytes) else json.dumps(made).encode())


def with_sources(case: Case) -> dict[str, Any]:
    """The right notebook with the case's own answers and cells."""
    content = right_notebook(case.assignment)
    for exercise in assignment(case.assignment).exercises:
        file = case.folder / f"{exercise.name}.py"
        if file.exists():
            answer_cell(content, exercise.name)["source"] = file.read_text(encoding="utf-8")
    own = sorted(case.folder.glob("own_*.py"), key=lambda file: int(file.stem[4:]))
    if case.tool:
        own.insert(0, CORPUS / "tools" / f"{case.tool}.py")
    first = next(i for i, cell in enumerate(content["cells"]) if cell["cell_type"] == "code") + 1
    content["cells"][first:first] = [code_cell(file.read_text(encoding="utf-8")) for file in own]
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
    """What a class looked like after it was graded.

    `rows` by student and exercise, `pages` by student; `faults` says what the class as a whole
    lost, by the rules that hold for every class; `memory` is the grader's own peak, in MiB.
    """

    rows: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    memory: int = 0
    seconds: float = 0.0


def faults_of(case: Case, graded: Graded) -> Iterator[str]:
    """What is not as `expect.yml` says, a line each."""
    rows = graded.rows.get(case.name, {})
    exercises = {one.name: one for one in assignment(case.assignment).exercises}
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
