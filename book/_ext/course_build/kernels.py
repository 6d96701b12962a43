"""Execute each page in a separate kernel, and report a failure in a line that names the cell.

The build starts a kernel per execution through nbclient. The kernel leads a process group, so that
`kill` can end it together with every process that it has started. In a thread, `Run.watch` measures
the memory of these processes; in another thread, `relay` passes the page's progress on.

Besides the settings of `settings`, the environment of a page's code has these variables:

COURSE_RUN: the folder of this run. COURSE_EXECUTED: the folder of other pages' results. Both are
for `solutions.running.reporting`. COURSE_TIME_CLAIMS: whether claims about time are judged, for
`solutions.running.claims`. COURSE_PROGRESS: a file for `solutions.running.progress`. The build
shows each line in it at once, so a long training reports its progress there and never in the page.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from solutions.running.arithmetic import SAME_EVERYWHERE
from solutions.running.claims import JUDGED, TimeClaimFailed
from solutions.running.reporting import EXECUTED, RUN

from .chapters import BookError, Chapter, Settings
from .machine import Load
from .outputs import to_files
from .processes import core_seconds, kill, resident_bytes
from .settings import environment
from .storage import RECORDS

ATTEMPTS = 3
BUSY = 0.1
"""The share of the cores that other processes may use while a claim about time is judged."""

POLL_SECONDS = 0.3
COLOUR = re.compile(r"\x1b\[[\d;]*m")
SENTENCE = re.compile(r".+?[.?!](?=\s|$)", re.DOTALL)


class ChapterError(BookError):
    """A page could not be executed. The message is a single line; `detail` has the output.

    of_time: whether the cause was a claim about time that did not hold.
    """

    def __init__(self, place: str, message: str, detail: str = "", of_time: bool = False) -> None:
        super().__init__(f"{place}: {COLOUR.sub('', message)}")
        self.detail = COLOUR.sub("", detail)
        self.of_time = of_time


class Stopped(Exception):
    """The build was interrupted while a page was being executed."""


@dataclass(frozen=True)
class Execution:
    """The result of an execution.

    files: by name. seconds: wall-clock time. peak_bytes: the largest measured memory of its
    processes together.
    """

    files: dict[str, bytes]
    seconds: float
    peak_bytes: int


class Kernels:
    """An executor of pages, with a separate kernel for each.

    build: the folder of the build. executed: the folder of the executed pages. judged: whether
    claims about time are judged, as they are when the results will be stored.
    """

    def __init__(self, build: Path, settings: Settings, executed: Path, judged: bool) -> None:
        self.settings = settings
        self.executed = executed.resolve()
        self.environment = {
            **environment(build, settings.root),
            JUDGED: "judged" if judged else "told",
        }
        self.running: set[int] = set()  # process groups: kernels and the processes they started
        self.stopping = False

    def execute(self, chapter: Chapter, tell: Callable[[str], None]) -> Execution:
        """Execute the page and return the result.

        If a claim about time fails while the machine is busy, the page is executed again, up to
        ATTEMPTS times. tell: called with lines about the progress. Raises ChapterError, which names
        the cell, and Stopped after `stop`.
        """
        for attempt in range(1, ATTEMPTS + 1):
            load, run = Load(), Run(chapter, tell, self)
            try:
                return self.execute_once(run, tell)
            except ChapterError as error:
                busy = load.others(run.core_seconds)
                if not error.of_time or busy < BUSY or attempt == ATTEMPTS:
                    raise
                tell(f"other processes used {busy:.0%} of the machine; trying again: {error}")
        raise AssertionError  # not reached: the last attempt has returned or raised

    def execute_once(self, run: Run, tell: Callable[[str], None]) -> Execution:
        """Execute a page a single time."""
        chapter, started = run.chapter, time.monotonic()
        with tempfile.TemporaryDirectory(prefix="course-") as home, progress_file(tell) as progress:
            folder = Path(home, "run", chapter.name)
            folder.mkdir(parents=True)
            scratch = Path(home, "away")  # files that a page writes here are deleted
            scratch.mkdir()
            arithmetic = {} if chapter.own_instructions else SAME_EVERYWHERE
            read = Path(home, "read")  # so that it finds only the pages that its record lists
            read.mkdir()
            for name in chapter.reads:
                (read / name).symlink_to(self.executed / name)
            variables = {RUN: str(folder), EXECUTED: str(read), "COURSE_PROGRESS": str(progress)}
            run.execute(str(scratch), self.environment | arithmetic | variables)
            seconds = time.monotonic() - started
            refuse_stderr(run.notebook, chapter)
            reported = {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        outputs = to_files(run.notebook)
        if clashes := sorted(reported.keys() & {*outputs, *RECORDS}):
            message = f"its data have the name of a file of the build: {', '.join(clashes)}"
            raise ChapterError(relative(chapter.path), message)
        return Execution(outputs | reported, seconds, run.peak_bytes)

    def stop(self) -> None:
        """Kill all kernels, and prevent further cells from starting."""
        self.stopping = True
        for group in tuple(self.running):
            kill(group)


class Run:
    """A single execution of a page, with the cell that it has reached."""

    def __init__(self, chapter: Chapter, tell: Callable[[str], None], kernels: Kernels) -> None:
        self.chapter, self.tell, self.kernels = chapter, tell, kernels
        self.notebook = deepcopy(chapter.notebook)
        self.place = relative(chapter.path)
        self.group, self.core_seconds, self.peak_bytes, self.index = 0, 0.0, 0, 0
        self.limit = kernels.settings.timeout
        self.client = NotebookClient(
            self.notebook,
            timeout=self.limit,
            record_timing=False,
            force_raise_errors=True,
            on_notebook_start=self.begin,
            on_cell_execute=self.reach,
            on_cell_executed=self.leave,
            on_cell_error=self.leave,
        )

    def begin(self, notebook: NotebookNode) -> None:
        """Remember the kernel's process group, which the kernel leads."""
        manager: Any = self.client.km
        self.group = manager.provisioner.pid
        self.kernels.running.add(self.group)

    def reach(self, cell: NotebookNode, cell_index: int) -> None:
        """Record and show which cell comes next. Raises Stopped if the build is being stopped."""
        if self.kernels.stopping:
            raise Stopped
        self.index = cell_index
        self.place = place(self.chapter, cell_index)
        self.tell("cell {} of {}".format(*number(self.notebook.cells, cell_index)))

    def leave(self, **_: object) -> None:
        """Note the processor time that the kernel has used so far."""
        self.core_seconds = core_seconds(self.group)

    def watch(self, done: threading.Event) -> None:
        """Measure the memory of the kernel's processes repeatedly, until `done` is set."""
        while not done.wait(POLL_SECONDS):
            if self.group:
                self.peak_bytes = max(self.peak_bytes, resident_bytes(self.group))

    def execute(self, folder: str, variables: dict[str, str]) -> None:
        """Execute all cells in `folder`; leave no process of the kernel's behind."""
        done = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(done,), daemon=True)
        watcher.start()
        try:
            self.client.execute(cwd=folder, env=variables)
        except CellExecutionError as error:
            message = f"{error.ename}: {error.evalue}".splitlines()[0].rstrip(": ")
            if error.ename in (AssertionError.__name__, TimeClaimFailed.__name__):
                message += next_sentence(self.notebook, self.index)
            of_time = error.ename == TimeClaimFailed.__name__
            raise ChapterError(self.place, message, str(error), of_time) from None
        except CellTimeoutError:
            message = f"the cell did not finish within {self.limit} s"
            raise ChapterError(self.place, message) from None
        except DeadKernelError:
            message = "the kernel was killed (out of memory?)"
            raise ChapterError(self.place, message) from None
        except (RuntimeError, OSError, NoSuchKernel) as error:  # the kernel did not start
            raise ChapterError(self.place, f"{type(error).__name__}: {error}") from None
        finally:
            done.set()
            watcher.join()
            if self.group:
                self.kernels.running.discard(self.group)
                kill(self.group)


def next_sentence(notebook: NotebookNode, index: int) -> str:
    """Return the sentence after a cell on the page, in brackets, for the message of a claim."""
    texts = (cell.source for cell in notebook.cells[index + 1 :] if cell.cell_type == "markdown")
    sentence = SENTENCE.match(next(texts, "").lstrip())
    words = " ".join(sentence[0].split()) if sentence else ""
    return f"  (The page continues: {words[:200]})" if words[:1].isalpha() else ""


def number(cells: list[NotebookNode], index: int) -> tuple[int, int]:
    """Return the number of the code cell `cells[index]`, from 1, and the number of code cells."""
    code = [i for i, cell in enumerate(cells) if cell.cell_type == "code"]
    return code.index(index) + 1, len(code)


def place(chapter: Chapter, index: int) -> str:
    """Return the file, line and number of the cell `index`, for a message."""
    line = chapter.notebook.metadata["source_map"][index] + 1
    count, _ = number(chapter.notebook.cells, index)
    return f"{relative(chapter.path)}:{line}, code cell {count}"


def relative(path: Path) -> str:
    """Return `path` relative to the current folder."""
    return os.path.relpath(path)


def refuse_stderr(notebook: NotebookNode, chapter: Chapter) -> None:
    """Raise ChapterError for the first cell that wrote to standard error."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "stream" and output.name == "stderr":
                text = output.text.strip()
                line = text.splitlines()[0] if text else ""
                message = f"the cell wrote to standard error: {line}"
                raise ChapterError(place(chapter, index), message, output.text)


@contextmanager
def progress_file(tell: Callable[[str], None]) -> Iterator[Path]:
    """Create a file and yield its path; meanwhile, call `tell` with each line appended to it."""
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="course-progress-") as folder:
        path = Path(folder, "progress")
        path.touch()
        thread = threading.Thread(target=relay, args=(path, tell, stop), daemon=True)
        thread.start()
        try:
            yield path
        finally:
            stop.set()
            thread.join()


def relay(path: Path, tell: Callable[[str], None], stop: threading.Event) -> None:
    """Call `tell` with each line that is appended to the file until `stop` is set."""
    stopped = False
    with path.open(encoding="utf-8") as source:
        while not stopped:
            stopped = stop.wait(POLL_SECONDS)
            for line in source.read().splitlines():
                tell(line)
