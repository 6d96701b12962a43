"""Test that every command on the instructor's pages runs, in order, as a reader types it."""

import grp
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
import typer
from markdown_it import MarkdownIt
from typer.core import TyperGroup

from autograder.cli import app
from autograder.course.course import Course
from autograder.grading.sample import answer_source
from exercises import COURSE

ROOT = Path(__file__).parents[2]
PAGES = ("howto_instructor.md", "howto_teach.md", "howto_scale.md")
ASSIGNMENT = "self_attention"  # the assignment of the small course, which the pages name

SHELLS = ("", "sh", "bash", "console")
RUN = ("autograder", "cd", "nbgrader", "time")
NOT_RUN = {
    "make course": "installs the course; continuous integration does it on every push",
    "source .venv/bin/activate": "activates what `make course` has installed",
    "make site ANSWERS=hidden": "builds the whole site; tests/book/test_answers.py has the edition",
    "autograder share markers --course my-course": "needs a group of the machine; test_sharing.py",
    "jupyter lab": "a server that does not end; test_formgrader.py opens the formgrader",
    "my-course/submitted/<student>/<assignment>/<assignment>.ipynb": "a path, not a command",
    "pip install --constraint requirements.txt --editable './autograder[grading,torch,cluster]' "
    "--editable . --extra-index-url https://download.pytorch.org/whl/cpu": "installs packages",
    "pip install --constraint requirements.txt --editable './autograder[postgresql]'": "the same",
    "dask scheduler": "a server that does not end; test_cluster.py starts one",
    "dask worker tcp://SCHEDULER:8786 --nworkers -1 --nthreads 1": "the same",
    "autograder grade --course my-course --scheduler tcp://SCHEDULER:8786": "test_cluster.py",
    "createdb grades": "needs a database server; test_postgresql.py starts one",
}
"""Lines that this test cannot run, with the reason or the test that covers them."""

ONCE = {"autograder doctor": PAGES[0]}
"""Slow lines with the same effect on every page, and the only page where they run."""


@dataclass(frozen=True)
class Line:
    """A line of the command block with this `number` on a page."""

    number: int
    text: str


def lines(page: str) -> list[Line]:
    """Return the lines of a page's command blocks, which are fences for a shell."""
    text = (ROOT / "book" / page).read_text(encoding="utf-8")
    fences = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    commands = [fence.content for fence in fences if fence.info.strip() in SHELLS]
    return [
        Line(number, command)
        for number, content in enumerate(commands)
        for line in content.replace("\\\n", " ").splitlines()
        if (command := re.sub(r"(^|\s+)#.*", "", line).strip())
    ]


class Terminal:
    """A reader's terminal in `folder`, and a class that hands in after each release.

    The course package is the real one reduced to one assignment, so that a release takes a second.
    """

    def __init__(self, folder: Path, students: set[str]) -> None:
        self.start = self.folder = folder / "start"
        self.start.mkdir()
        self.students = students
        packages = folder / "packages"
        for name in (ASSIGNMENT, "forbidden.py"):
            path = ROOT / "exercises" / name
            copy = shutil.copytree if path.is_dir() else shutil.copy
            (packages / "exercises").mkdir(parents=True, exist_ok=True)
            copy(path, packages / "exercises" / name)
        (packages / "exercises" / "__init__.py").write_text(
            "from autograder.exercise.course_package import CoursePackage\n"
            f"COURSE = CoursePackage(__name__, ({ASSIGNMENT!r},), uses=('solutions',))\n",
            encoding="utf-8",
        )
        scripts = Path(sys.executable).parent
        self.environment = os.environ | {
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}",
        }

    def type(self, line: str) -> None:
        """Run a line, and fail the test if the command fails."""
        group = grp.getgrgid(os.getgid()).gr_name
        line = re.sub(r"\bmarkers\b", group, line)  # the pages name the group "markers"
        program, *arguments = shlex.split(line)
        if program == "cd":
            self.folder = (self.folder / arguments[0]).resolve(strict=True)
            return
        process = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            input="y\n",  # the answer of a person to a question
            capture_output=True,
            text=True,
        )
        assert process.returncode == 0, f"{line}\n{process.stdout}\n{process.stderr}"
        if program == "autograder" and "--course" in arguments:
            self._follow_up(arguments[0], Course.open(self.folder / _course(line)))

    def prepare(self, name: str) -> None:
        """Make a course that a page uses but does not make."""
        self.type(f"autograder init {name}")
        self.type(f"autograder release --course {name}")

    def _follow_up(self, command: str, course: Course) -> None:
        """Hand in after a release; after other commands, check the files written for the class."""
        students = sorted(path.name for path in course.submitted.iterdir())
        if command == "release":
            self._hand_in(course)
        elif command == "feedback":
            pages = course.feedback.glob(f"*/{ASSIGNMENT}/{ASSIGNMENT}.html")
            assert sorted(page.parts[-3] for page in pages) == students != []
        elif command == "export":
            table = (course.root / "grades.csv").read_text(encoding="utf-8")
            assert [student for student in students if student not in table] == []

    def _hand_in(self, course: Course) -> None:
        """Hand in: the first student answers all but the written question, the others less."""
        for number, student in enumerate(sorted(self.students)):
            path = course.release / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            answers = {
                exercise.name: answer_source(exercise.alternatives[0], exercise.name)
                for exercise in COURSE[ASSIGNMENT].exercises[number:]
            }
            for cell in notebook.cells:
                cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
            path = course.submitted / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)


def _course(line: str) -> str:
    return re.search(r"--course[= ](\S+)", line)[1]


def courses_made_elsewhere(commands: list[str]) -> set[str]:
    """Return the courses that a page uses if it makes none and continues another page."""
    if any(line.startswith("autograder init") for line in commands):
        return set()
    return {_course(line) for line in commands if "--course" in line}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs(page: str, tmp_path: Path) -> None:
    typed = [
        line
        for line in lines(page)
        if line.text not in NOT_RUN and ONCE.get(line.text, page) == page
    ]
    unknown = [line.text for line in typed if line.text.split()[0] not in RUN]
    assert unknown == [], (
        f"{page}: add these to NOT_RUN with a reason, or their program to RUN: {list(RUN)}"
    )
    named = re.findall(r"--student (\S+)", "\n".join(line.text for line in typed))
    terminal = Terminal(tmp_path, {"ada", "bob", *named})
    for course in sorted(courses_made_elsewhere([line.text for line in typed])):
        terminal.prepare(course)
    number = -1
    for line in typed:
        if line.number != number:
            terminal.folder, number = terminal.start, line.number
        start = time.monotonic()
        terminal.type(line.text)
        print(f"{time.monotonic() - start:5.1f} s  {line.text}")


def test_list_of_skipped_lines_matches_the_pages() -> None:
    on_the_pages = {line.text for page in PAGES for line in lines(page)}
    assert NOT_RUN.keys() - on_the_pages == set()


def mentions() -> Iterator[tuple[str, str]]:
    """Yield (page, command) for each command `autograder ...` in a page's text or blocks."""
    for path in (ROOT / "README.md", *sorted((ROOT / "book").glob("howto_*.md"))):
        for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
            texts = [child.content for child in token.children or () if child.type == "code_inline"]
            if token.type == "fence":
                texts = token.content.replace("\\\n", " ").splitlines()
            for text in texts:
                if re.match(r"autograder [a-z]", text):
                    yield path.name, text


@pytest.mark.parametrize(("page", "text"), sorted(set(mentions())))
def test_mentioned_commands_and_options_exist(page: str, text: str) -> None:
    _, name, *arguments = shlex.split(text, comments=True)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands.get(name)
    assert command is not None, f"{page} mentions `{text}`, but there is no such command."
    command.make_context(name, arguments, resilient_parsing=not arguments)
