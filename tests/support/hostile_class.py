"""Grade a class of hostile and honest students with the command, in a process of its own.

Whatever a case does to the grader, the tests go on: at its deadline, the process is killed with
everything that it has started.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import hostile
from hostile import Case, Graded, Row

TRACE = "hostile-was-here"
"""A word in the name or content of whatever a case tries to write outside its sandbox."""

SECRET = "HOSTILE_SECRET_TOKEN"
"""A variable of the grader's environment that no submission may see."""

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/desk", "/run", "/etc", "/usr", ".")

START = 120.0
"""Seconds that a class may take in addition to its cases, on a busy machine: to load the modules
and make the pages. A class that hangs does not end by then either."""

REAP = 5.0
"""Seconds after which all processes of a class must have gone."""


@functools.cache
def graded(name: str, mode: str) -> Graded:
    """Return the class called `name`, graded in `mode`."""
    cases = [case for case in hostile.cases_in(mode) if case.in_class == name]
    with tempfile.TemporaryDirectory(prefix="class-", ignore_cleanup_errors=True) as folder:
        course = _make(Path(folder) / "course", cases)
        before = _digests(course)
        faults = list(_run(course.root, cases, mode))
        faults += [f"{file} was changed" for file in _digests(course) ^ before]
        faults += [f"{path} is there" for path in _traces(course)]
        return _read(course, cases, faults)


def _make(root: Path, cases: Sequence[Case]):
    import nbformat

    from autograder.course.course import Course
    from autograder.notebook.check import write_cases

    course = Course.create(root, "hostile_course")
    for assignment in {case.assignment for case in cases}:
        path = course.release / assignment / f"{assignment}.ipynb"
        path.parent.mkdir()
        nbformat.write(hostile.released(assignment), path)
        if any(case.feedback for case in cases):  # pages draw the cases in this file
            write_cases(hostile.assignment(assignment), path.with_suffix(".cases"))
        for student in _honest(cases):
            slow = any(case.neighbours == "slow" for case in cases)
            hostile.hand_in_honest(course, student, assignment, slow)
    for case in cases:
        hostile.hand_in(course, case)
    return course


def _honest(cases: Sequence[Case]) -> list[str]:
    """Return the honest students: at both ends of the class, and in the middle of a large class."""
    return ["0-honest", "zz-honest", *(["m-honest"] if len(cases) > 10 else [])]


def _run(root: Path, cases: Sequence[Case], mode: str) -> Iterator[str]:
    """Grade the class, and yield what went wrong for all of it."""
    most = START + 8 * len(cases) + sum(case.seconds for case in cases)
    pages = any(case.feedback for case in cases)
    jobs = "1" if cases[0].class_name not in ("", "alone") else "2"  # a channel has an order
    command = [sys.executable, __file__, str(root), mode, jobs, *(["pages"] if pages else [])]
    places = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places), SECRET: "x"},
    )
    try:
        output, _ = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        for pid in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate()
        yield f"it did not end within {most:.0f} s"
        return
    text = output.decode("utf-8", "backslashreplace")
    if process.returncode:
        yield f"exit code {process.returncode}: {text[-2000:]}"
    if any((ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160 for char in text):
        yield "control characters reached the terminal"
    if any(line.strip().startswith("FORGED") for line in text.splitlines()):
        yield "a line was forged"


def _digests(course) -> set[tuple[str, str]]:
    """Return a digest of every file that grading must not change."""
    files = [course.root / "course.key", course.root / "nbgrader_config.py"]
    for folder in (course.release, course.submitted):
        files += [path for path in folder.rglob("*") if not path.is_symlink() and path.is_file()]
    return {(str(file), _digest(file)) for file in files}


def _digest(file: Path) -> str:
    """Return a digest of the beginning: some files claim to be a terabyte long."""
    with file.open("rb") as stream:
        return hashlib.sha256(stream.read(2**24)).hexdigest()


def _traces(course) -> Iterator[Path]:
    """Yield the files that a submission has left outside its sandbox."""
    for place in (*map(Path, PLACES), course.root, course.submitted):
        for path in place.glob(f"*{TRACE}*"):
            yield path
            path.unlink()


def _read(course, cases: Sequence[Case], faults: list[str]) -> Graded:
    names = {str(course.submitted / (case.student or case.name)): case.name for case in cases}
    try:
        report = json.loads((course.root / "report.json").read_text())
        grades = json.loads(course.grades.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Graded(faults=(*faults, "there are no grades"))
    students = {
        student: names.get(folder, student) for student, folder in report["students"].items()
    }
    rows: dict[str, dict[str, Row]] = {}
    for row in grades:
        result = Row(row["verdict"], row["points"], row["message"])
        rows.setdefault(students[row["student"]], {})[row["exercise"]] = result
    faults += report["faults"]
    for student in _honest(cases):
        worse = {name: row.verdict for name, row in rows[student].items() if row.verdict != "PASS"}
        if worse or not rows[student]:
            faults.append(f"{student} was hurt: {worse}")
    for student, name in students.items():
        points = sum(row.points for row in rows.get(name, {}).values())
        if report["scores"].get(student) != points:
            faults.append(f"{name}: the gradebook says {report['scores'].get(student)}")
    for path in course.reports.glob("*.html"):
        active = live(path.read_text(encoding="utf-8")) - OF_A_REPORT
        faults += [f"{path.name}: live: {content}" for content in active]
    return Graded(rows, dict(_pages(course, students)), tuple(faults), report["memory"])


def _pages(course, students: dict[str, str]) -> Iterator[tuple[str, str]]:
    for student, name in students.items():
        for file in (course.feedback / student).glob("*/*.html"):
            yield name, file.read_text(encoding="utf-8")


def descendants(pid: int) -> list[int]:
    """Return the processes that `pid` has started, and their descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            words = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if fields[0] != "Z" and b"resource_tracker" not in words:  # it ends with its parent
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    pids = children.get(pid, [])
    for child in pids:
        pids += children.get(child, [])
    return pids


class _Live(HTMLParser):
    """Count the parts of a page that a browser would run or fetch.

    The pictures of a failing case are not counted. They are in an element with a class, which no
    text of a student's can have, since classes are removed from it.
    """

    ACTIVE = ("script", "iframe", "object", "embed", "svg", "math", "form", "base", "meta", "link")

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self._depth = 0  # of the `div` elements from that with the pictures on

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "div" and self._depth > 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._depth += tag == "div" and (self._depth > 0 or ("class", "case") in attrs)
        if tag in self.ACTIVE and not (tag == "svg" and self._depth):
            self.found[tag] += 1
        for name, value in attrs:
            scheme = "".join((value or "").split()).partition(":")[0].lower()
            if name.startswith("on") or (name == "style" and "url" in (value or "")):
                self.found[name] += 1
            linked = name in ("href", "src", "action", "xlink:href", "srcdoc")
            if linked and ":" in (value or "") and scheme not in ("http", "https", "mailto"):
                self.found[f"{name} {scheme}"] += 1


OF_A_REPORT = Counter({"svg": 1, "meta": 4})
"""The histogram of a report, and what its head says."""


def live(page: str) -> Counter[str]:
    """Return the parts of a page that a browser would run or fetch, with their counts."""
    parser = _Live()
    parser.feed(page)
    return parser.found


def prepare(root: str, mode: str) -> None:
    """Give this process and each worker the class's sandbox, limits and assignments."""
    from autograder.grading import questions
    from autograder.sandbox import backends

    questions.LIMITS = hostile.QUICK
    real = backends.open_sandbox
    backends.open_sandbox = lambda trust=False, packages=(): real(
        limits=hostile.QUICK, mode=mode, packages=packages
    )


def main(root: str, mode: str, jobs: str, pages: str = "") -> None:
    """Grade the class at `root` with the command, and write the result to report.json."""
    from nbgrader import api

    from autograder import cli
    from autograder.course.course import Course

    become_reaper = 36  # PR_SET_CHILD_SUBREAPER: orphans become our children
    ctypes.CDLL(None).prctl(become_reaper, 1, 0, 0, 0)
    prepare(root, mode)
    course = Course.open(root)
    cli.app(["grade", "--course", root, "--jobs", jobs], standalone_mode=False)
    memory = _most_memory()
    faults = []
    if left := _left():
        faults.append(f"processes are left: {left}")
    if pages:
        cli.app(["feedback", "--course", root], standalone_mode=False)
        cli.app(["export", "--course", root], standalone_mode=False)
        for name in {file.assignment for file in course.submissions()}:
            cli.app(["report", name, "--course", root], standalone_mode=False)
    with api.Gradebook(course.gradebook_url) as book:
        names = {file.assignment for file in course.submissions()}
        scores = {
            entry.student.id: sum(
                grade.auto_score or 0 for notebook in entry.notebooks for grade in notebook.grades
            )
            for name in names
            for entry in book.assignment_submissions(name)
        }
    students = {file.student: str(file.path.parents[1]) for file in course.submissions()}
    report = {"faults": faults, "memory": memory, "scores": scores, "students": students}
    (course.root / "report.json").write_text(json.dumps(report))


def _most_memory() -> int:
    """Return the peak memory of this process in MiB; `ru_maxrss` starts at the worker's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


def _left() -> list[str]:
    """Return the processes that still run after REAP seconds, and kill them."""
    deadline = time.monotonic() + REAP
    while (left := descendants(os.getpid())) and time.monotonic() < deadline:
        time.sleep(0.1)
    commands = []
    for pid in left:
        try:
            commands.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace"))
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    return commands


if __name__ == "__mp_main__":  # a worker, which imports this module with our arguments
    prepare(*sys.argv[1:3])
if __name__ == "__main__":
    main(*sys.argv[1:])
