"""Every command of the instructor's pages runs, in the order of the page, as a reader types it."""

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
ASSIGNMENT = "self_attention"  # of the small course: the one that the page names

RUN = ("autograder", "cd", "nbgrader", "time")
NOT_RUN = {
    "make course": "installs the course; continuous integration does it on every push",
    "source .venv/bin/activate": "of what `make course` has installed",
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
"""Lines that this test cannot run, each with the reason or with the test that covers it."""

ONCE = {"autograder doctor": PAGES[0]}
"""Lines that take long and do the same on every page: they run on this one alone."""


@dataclass(frozen=True)
class Line:
    """A line of a command block: block `number` of the page."""

    number: int
    text: str


def lines(page: str) -> list[Line]:
    """Return the lines of the page's command blocks: of fences that name no other language."""
    text = (ROOT / "book" / page).read_text(encoding="utf-8")
    fences = [one for one in MarkdownIt().parse(text) if one.type == "fence"]
    commands = [one.content for one in fences if one.info.strip() in ("", "sh", "bash", "console")]
    return [
        Line(number, command)
        for number, content in enumerate(commands)
        for line in content.replace("\\\n", " ").splitlines()
        if (command := re.sub(r"(^|\s+)#.*", "", line).strip())
    ]


class Terminal:
    """A reader's terminal in `folder`, and the class that hands in whenever something is released.

    The course package is the real one with a single assignment, so that a release takes a second.
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
        """Run a line; the test fails if the command does."""
        line = re.sub(r"\bmarkers\b", grp.getgrgid(os.getgid()).gr_name, line)  # the pages' group
        program, *arguments = shlex.split(line)
        if program == "cd":
            self.folder = (self.folder / arguments[0]).resolve(strict=True)
            return
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            input="y\n",  # what a person answers who is asked
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if program == "autograder" and "--course" in arguments:
            self._follow_up(arguments[0], Course.open(self.folder / _course(line)))

    def prepare(self, name: str) -> None:
        """Make a course that a page uses and does not make itself."""
        self.type(f"autograder init {name}")
        self.type(f"autograder release --course {name}")

    def _follow_up(self, command: str, course: Course) -> None:
        """Have the class hand in what was released; look at what was written for it."""
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
        """One student is right everywhere, but for the written question; the others less so."""
        for number, student in enumerate(sorted(self.students)):
            path = course.release / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            answers = {
                one.name: answer_source(one.alternatives[0], one.name)
                for one in COURSE[ASSIGNMENT].exercises[number:]
            }
            for cell in notebook.cells:
                cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
            path = course.submitted / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)


def _course(line: str) -> str:
    return re.search(r"--course[= ](\S+)", line)[1]


def made_elsewhere(commands: list[str]) -> set[str]:
    """Return the courses that a page uses which makes none: it goes on where another one ended."""
    if any(line.startswith("autograder init") for line in commands):
        return set()
    return {_course(line) for line in commands if "--course" in line}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_runs(page: str, tmp_path: Path) -> None:
    typed = [
        line
        for line in lines(page)
        if line.text not in NOT_RUN and ONCE.get(line.text, page) == page
    ]
    unknown = [line.text for line in typed if line.text.split()[0] not in RUN]
    assert unknown == [], f"{page}: run these, or say in NOT_RUN why not. {list(RUN)} are run."
    named = re.findall(r"--student (\S+)", "\n".join(line.text for line in typed))
    terminal = Terminal(tmp_path, {"ada", "bob", *named})
    for course in sorted(made_elsewhere([line.text for line in typed])):
        terminal.prepare(course)
    number = -1
    for line in typed:
        if line.number != number:
            terminal.folder, number = terminal.start, line.number
        start = time.monotonic()
        terminal.type(line.text)
        print(f"{time.monotonic() - start:5.1f} s  {line.text}")


def test_the_list_of_lines_that_are_not_run_has_no_other() -> None:
    on_the_pages = {line.text for page in PAGES for line in lines(page)}
    assert NOT_RUN.keys() - on_the_pages == set()


def mentions() -> Iterator[tuple[str, str]]:
    """Each command `autograder ...` in the text of a page or in one of its blocks."""
    for path in (ROOT / "README.md", *sorted((ROOT / "book").glob("howto_*.md"))):
        for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
            texts = [one.content for one in token.children or () if one.type == "code_inline"]
            if token.type == "fence":
                texts = token.content.replace("\\\n", " ").splitlines()
            for text in texts:
                if re.match(r"autograder [a-z]", text):
                    yield path.name, text


@pytest.mark.parametrize(("page", "text"), sorted(set(mentions())))
def test_every_mention_of_a_command_has_its_options(page: str, text: str) -> None:
    _, name, *arguments = shlex.split(text, comments=True)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands.get(name)
    assert command is not None, f"{page} says `{text}`, and there is no such command."
    command.make_context(name, arguments, resilient_parsing=not arguments)
