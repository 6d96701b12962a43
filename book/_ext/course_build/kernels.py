"""Execute a chapter in a kernel of its own, and say in one line what went wrong in which cell.

What a chapter's code finds in its environment:

COURSE_BUILD names the build's folder, for `solutions.running.reporting`.
COURSE_PROGRESS names a file, for `solutions.running.progress`. What arrives there is told at once
to whoever watches the build: a long training shows its progress there and never in the page.
IPYTHONDIR names a profile of the book's own, so that nobody's personal one changes a page. In it,
figures are SVG: sharp at every size.
OMP_NUM_THREADS holds the threads that a chapter may use. It is the same on every machine, however
many chapters are executed side by side: a sum over more threads rounds in another order.
SAME_EVERYWHERE is there for the same reason. A chapter that says how fast the machine is does
without it, since it makes the libraries slower. What a machine sets itself is kept.

A chapter that is executed beside others has the lowest priority, so that it takes no time of theirs
away. How long it takes says nothing about it, then: its seconds are those of a core.
"""

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from myst_nb.core.config import NbParserConfig
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from solutions.running.arithmetic import SAME_EVERYWHERE

from .chapters import Chapter
from .processes import core_seconds, kill, step_aside

THREADS = 2
PATIENCE = 4
"""A cell of a chapter that is executed beside others may take so many times the usual limit."""

PROFILE = """\
c.InlineBackend.figure_formats = {"svg"}
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = "ERROR"
"""

SECONDS_BETWEEN_LOOKS = 0.3
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class ChapterError(Exception):
    """A chapter could not be executed: one line for people, and `detail` for the log."""

    def __init__(self, place: str, what: str, detail: str = "") -> None:
        super().__init__(f"{place}: {COLOUR.sub('', what)}")
        self.detail = COLOUR.sub("", detail)


class Stopped(Exception):
    """The build was interrupted while the chapter was executed."""


def environment(build: Path) -> dict[str, str]:
    """Return the variables for the kernels of a build, whose profile is written into `build`."""
    profile = build / ".ipython" / "profile_default" / "ipython_kernel_config.py"
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text(PROFILE, encoding="utf-8")
    return os.environ | {
        "COURSE_BUILD": str(build),
        "IPYTHONDIR": str(build / ".ipython"),
        "OMP_NUM_THREADS": str(THREADS),
    }


class Kernels:
    """The kernels that run now. Several threads may execute chapters at once."""

    def __init__(self, build: Path, config: NbParserConfig) -> None:
        self.config = config
        self.environment = environment(build)
        self.running: set[int] = set()  # process groups: a kernel, and what it has started
        self.stopping = False

    def execute(self, chapter: Chapter, tell: Callable[[str], None]) -> float:
        """Execute the notebook of `chapter` in place, and return the seconds that it took.

        They are seconds of a core for one that is executed beside others, else those on the clock.
        tell: is called with what the chapter is doing, one line at a time.
        Raises ChapterError, which names the cell; Stopped after `stop`.
        """
        started = time.monotonic()
        run = Run(chapter, tell, self)
        temporary = self.config.execution_in_temp
        home = tempfile.TemporaryDirectory() if temporary else nullcontext(chapter.path.parent)
        with home as folder, relayed(tell) as progress:
            arithmetic = {} if chapter.own_instructions else SAME_EVERYWHERE
            variables = arithmetic | self.environment
            run.execute(str(folder), variables | {"COURSE_PROGRESS": str(progress)})
        if self.config.output_stderr == "error":
            refuse_stderr(chapter)
        return run.core_seconds if chapter.runs == "beside" else time.monotonic() - started

    def stop(self) -> None:
        """Kill what runs, and let nothing more begin."""
        self.stopping = True
        for group in tuple(self.running):
            kill(group)


class Run:
    """One execution of one chapter, which knows the cell that it has reached."""

    def __init__(self, chapter: Chapter, tell: Callable[[str], None], kernels: Kernels) -> None:
        self.chapter, self.tell, self.kernels = chapter, tell, kernels
        self.place = relative(chapter.path)
        self.core_seconds = 0.0
        self.limit = kernels.config.execution_timeout
        if chapter.runs == "beside" and self.limit > 0:  # else there is none
            self.limit *= PATIENCE
        self.client = NotebookClient(
            chapter.notebook,
            timeout=self.limit,
            allow_errors=kernels.config.execution_allow_errors,
            record_timing=False,  # it would be part of the cache's key
            on_notebook_start=self.begin,
            on_cell_execute=self.reach,
            on_cell_executed=self.leave,
        )

    def begin(self, notebook: NotebookNode) -> None:
        """Remember the kernel's process group, which is its own."""
        self.group = self.client.km.provisioner.pid
        self.kernels.running.add(self.group)
        if self.chapter.runs == "beside":
            step_aside(self.group)

    def reach(self, cell: NotebookNode, cell_index: int) -> None:
        """Note which cell comes now."""
        if self.kernels.stopping:
            raise Stopped
        self.place = place(self.chapter, cell_index)
        cells = self.chapter.notebook.cells
        self.tell("cell {} of {}".format(*number(cells, cell_index)))

    def leave(self, **_: object) -> None:
        """Note the processor time that the kernel has used so far."""
        self.core_seconds = core_seconds(self.group)

    def execute(self, folder: str, variables: dict[str, str]) -> None:
        """Execute all cells in `folder`. No process of the kernel's is left behind."""
        self.group = 0
        try:
            self.client.execute(cwd=folder, env=variables)
        except CellExecutionError as error:
            what = f"{error.ename}: {error.evalue}".splitlines()[0].rstrip(": ")
            raise ChapterError(self.place, what, str(error)) from None
        except CellTimeoutError:
            what = f"the cell was not done after {self.limit} s"
            raise ChapterError(self.place, what) from None
        except DeadKernelError:
            what = "the kernel was killed (out of memory?)"
            raise ChapterError(self.place, what) from None
        except (RuntimeError, OSError) as error:  # the kernel did not start
            raise ChapterError(self.place, f"{type(error).__name__}: {error}") from None
        finally:
            if self.group:
                self.kernels.running.discard(self.group)
                kill(self.group)


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


def refuse_stderr(chapter: Chapter) -> None:
    """Raise ChapterError for the first cell that wrote on standard error."""
    for index, cell in enumerate(chapter.notebook.cells):
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
