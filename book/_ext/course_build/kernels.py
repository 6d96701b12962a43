"""Execute a page in a kernel of its own, and say in one line what went wrong in which cell.

What a page's code finds in its environment, besides the settings (`settings`):

COURSE_RUN names the folder of this run, COURSE_EXECUTED that of other pages' results, for
`solutions.running.reporting`. COURSE_TIME_CLAIMS says whether a claim about time is judged, for
`solutions.running.claims`.
COURSE_PROGRESS names a file, for `solutions.running.progress`. What arrives there is told at once
to whoever watches the build: a long training shows its progress there and never in the page.
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

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from solutions.running.arithmetic import SAME_EVERYWHERE
from solutions.running.claims import JUDGED, TimeClaimFailed
from solutions.running.reporting import EXECUTED, RUN

from .chapters import BookError, Chapter, Settings
from .kept import RECORDS
from .machine import Load
from .outputs import to_files
from .processes import core_seconds, kill, resident_bytes
from .settings import environment

LATE = 4
"""A page that takes so many times its budget has failed: no machine is that busy or slow."""

ATTEMPTS = 3
BUSY = 0.1
"""The share of the cores that others may have while a claim about time is judged."""

SECONDS_BETWEEN_LOOKS = 0.3
COLOUR = re.compile(r"\x1b\[[\d;]*m")
SENTENCE = re.compile(r".+?[.?!](?=\s|$)", re.DOTALL)


class ChapterError(BookError):
    """A page could not be executed: one line for people, and `detail` for whoever repairs it.

    of_time: whether it was a claim about time that did not hold.
    """

    def __init__(self, place: str, what: str, detail: str = "", of_time: bool = False) -> None:
        super().__init__(f"{place}: {COLOUR.sub('', what)}")
        self.detail = COLOUR.sub("", detail)
        self.of_time = of_time


class Stopped(Exception):
    """The build was interrupted while the page was executed."""


@dataclass(frozen=True)
class Execution:
    """What an execution made.

    files: by name. seconds: on the clock. peak_bytes: the most memory that its processes were seen
    to hold.
    """

    files: dict[str, bytes]
    seconds: float
    peak_bytes: int


class Kernels:
    """Executes pages, each in a kernel of its own.

    build: the folder of the build. kept: that of the executed pages. judged: whether claims about
    time are judged, as where pages are executed to be kept.
    """

    def __init__(self, build: Path, settings: Settings, kept: Path, judged: bool) -> None:
        self.settings = settings
        self.kept = kept.resolve()
        self.environment = {
            **environment(build, settings.root),
            JUDGED: "judged" if judged else "told",
        }
        self.running: set[int] = set()  # process groups: a kernel, and what it has started
        self.stopping = False

    def execute(self, chapter: Chapter, tell: Callable[[str], None]) -> Execution:
        """Execute the page and return what that made.

        It is executed up to three times where a claim about time fails on a busy machine. tell: is
        called with what the page is doing, one line at a time. Raises ChapterError, which names the
        cell; Stopped after `stop`.
        """
        for attempt in range(1, ATTEMPTS + 1):
            load, run = Load(), Run(chapter, tell, self)
            try:
                return self.once(run, tell)
            except ChapterError as error:
                busy = load.others(run.core_seconds)
                if not error.of_time or busy < BUSY or attempt == ATTEMPTS:
                    raise
                tell(f"others had {busy:.0%} of the machine, so once more: {error}")
        raise AssertionError  # the last attempt returned, or raised

    def once(self, run: Run, tell: Callable[[str], None]) -> Execution:
        """Execute a page once."""
        chapter, started = run.chapter, time.monotonic()
        with tempfile.TemporaryDirectory(prefix="course-") as home, relayed(tell) as progress:
            folder = Path(home, "run", chapter.name)
            folder.mkdir(parents=True)
            away = Path(home, "away")  # a page leaves no file behind
            away.mkdir()
            arithmetic = {} if chapter.own_instructions else SAME_EVERYWHERE
            read = Path(home, "read")  # the pages that it reads by its record, and no others
            read.mkdir()
            for name in chapter.reads:
                (read / name).symlink_to(self.kept / name)
            own = {RUN: str(folder), EXECUTED: str(read), "COURSE_PROGRESS": str(progress)}
            run.execute(str(away), self.environment | arithmetic | own)
            seconds = time.monotonic() - started
            refuse_stderr(run.notebook, chapter)
            reported = {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        budget = self.settings.budget
        if seconds > budget:
            took = f"the page took {seconds:.0f} s; on two idle cores, {budget} s are allowed"
            if seconds > LATE * budget:
                raise ChapterError(relative(chapter.path), took)
            tell(took)
        shown = to_files(run.notebook)
        if twice := sorted(reported.keys() & {*shown, *RECORDS}):
            what = f"it gives the name of a file of the build to data: {', '.join(twice)}"
            raise ChapterError(relative(chapter.path), what)
        return Execution(shown | reported, seconds, run.peak_bytes)

    def stop(self) -> None:
        """Kill what runs, and let nothing more begin."""
        self.stopping = True
        for group in tuple(self.running):
            kill(group)


class Run:
    """One execution of one page, which knows the cell that it has reached."""

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
        """Remember the kernel's process group, which is its own."""
        self.group = self.client.km.provisioner.pid
        self.kernels.running.add(self.group)

    def reach(self, cell: NotebookNode, cell_index: int) -> None:
        """Note which cell comes now."""
        if self.kernels.stopping:
            raise Stopped
        self.index = cell_index
        self.place = place(self.chapter, cell_index)
        self.tell("cell {} of {}".format(*number(self.notebook.cells, cell_index)))

    def leave(self, **_: object) -> None:
        """Note the processor time that the kernel has used so far."""
        self.core_seconds = core_seconds(self.group)

    def watch(self, done: threading.Event) -> None:
        """Note the memory that the kernel's processes hold, again and again."""
        while not done.wait(SECONDS_BETWEEN_LOOKS):
            if self.group:
                self.peak_bytes = max(self.peak_bytes, resident_bytes(self.group))

    def execute(self, folder: str, variables: dict[str, str]) -> None:
        """Execute all cells in `folder`. No process of the kernel's is left behind."""
        done = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(done,), daemon=True)
        watcher.start()
        try:
            self.client.execute(cwd=folder, env=variables)
        except CellExecutionError as error:
            what = f"{error.ename}: {error.evalue}".splitlines()[0].rstrip(": ")
            if error.ename in (AssertionError.__name__, TimeClaimFailed.__name__):
                what += said_after(self.notebook, self.index)
            of_time = error.ename == TimeClaimFailed.__name__
            raise ChapterError(self.place, what, str(error), of_time) from None
        except CellTimeoutError:
            what = f"the cell was not done after {self.limit} s"
            raise ChapterError(self.place, what) from None
        except DeadKernelError:
            what = "the kernel was killed (out of memory?)"
            raise ChapterError(self.place, what) from None
        except (RuntimeError, OSError, NoSuchKernel) as error:  # the kernel did not start
            raise ChapterError(self.place, f"{type(error).__name__}: {error}") from None
        finally:
            done.set()
            watcher.join()
            if self.group:
                self.kernels.running.discard(self.group)
                kill(self.group)


def said_after(notebook: NotebookNode, index: int) -> str:
    """Return the sentence that follows a cell on the page, for the message of a claim."""
    texts = (cell.source for cell in notebook.cells[index + 1 :] if cell.cell_type == "markdown")
    sentence = SENTENCE.match(next(texts, "").lstrip())
    words = " ".join(sentence[0].split()) if sentence else ""
    return f"  (The page goes on: {words[:200]})" if words[:1].isalpha() else ""


def number(cells: list[NotebookNode], index: int) -> tuple[int, int]:
    """Return which code cell `cells[index]` is, from 1, and how many there are."""
    code = [i for i, cell in enumerate(cells) if cell.cell_type == "code"]
    return code.index(index) + 1, len(code)


def place(chapter: Chapter, index: int) -> str:
    """Return where in which file the cell `index` stands, for a message."""
    line = chapter.notebook.metadata["source_map"][index] + 1
    count, _ = number(chapter.notebook.cells, index)
    return f"{relative(chapter.path)}:{line}, code cell {count}"


def relative(path: Path) -> str:
    """Return `path` as one would type it here."""
    return os.path.relpath(path)


def refuse_stderr(notebook: NotebookNode, chapter: Chapter) -> None:
    """Raise ChapterError for the first cell that wrote on standard error."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "stream" and output.name == "stderr":
                text = output.text.strip()
                what = f"the cell wrote on standard error: {text.splitlines()[0] if text else ''}"
                raise ChapterError(place(chapter, index), what, output.text)


@contextmanager
def relayed(tell: Callable[[str], None]) -> Iterator[Path]:
    """Give a file, and call `tell` with each line that is appended to it in the meantime."""
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
            stopped = stop.wait(SECONDS_BETWEEN_LOOKS)
            for line in source.read().splitlines():
                tell(line)
