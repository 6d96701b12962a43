"""How the book is built: which chapters are executed, in which order, and what goes wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest
import yaml
from course_build import inputs, schedule
from course_build.chapters import BookError, Chapter, Runs
from course_build.kernels import ChapterError, Execution
from site_tools import MAKE, NOTEBOOK, ROOT, Book, cell

from solutions.running.arithmetic import SAME_EVERYWHERE

KEEP = "from solutions.running.reporting import figure_data, read_figure_data"
PRETEND = "import os\n\nos.cpu_count = lambda: {}\n"
"""A `sitecustomize.py`, which Python runs first: the machine seems to have so many cores."""


class World:
    """What a `Schedule` needs of the chapters, the cache and the kernels, without any kernel."""

    def __init__(self, **reads: Iterable[str]) -> None:
        self.reads = reads
        self.stale: set[str] = set(reads)
        self.failing: set[str] = set()
        self.running: list[str] = []
        self.begun: list[str] = []
        self.most_at_once = 0
        self.alone: set[str] = set()
        self.beside: set[str] = set()
        self.met: dict[str, set[str]] = {}  # whom each found running when it began
        self.results = dict.fromkeys(reads, "old")  # what each chapter keeps for others
        self.seen: dict[str, list[str]] = {}  # what each read when it was executed

    def chapters(self) -> dict[str, Chapter]:
        return {
            name: Chapter(name, Path(name), None, (), dict.fromkeys(reads, ()), (), self.runs(name))
            for name, reads in self.reads.items()
        }

    def runs(self, name: str) -> Runs:
        if name in self.alone:
            return "alone"
        return "beside" if name in self.beside else "in turn"

    def reason(self, chapter: Chapter) -> str | None:
        seen = self.seen.get(chapter.name, ["old"] * len(chapter.reads))
        if chapter.name in self.stale:
            return "its code changed"
        return None if seen == [self.results[name] for name in chapter.reads] else "what it reads"

    def seconds(self, name: str) -> None:
        return None

    def keep(self, chapter: Chapter, execution: Execution) -> None:
        self.stale.discard(chapter.name)

    def update(self, event: str, **what: object) -> None:
        pass

    def stop(self) -> None:
        pass

    def execute(self, chapter: Chapter, tell: Callable[[str], None]) -> Execution:
        self.met[chapter.name] = set(self.running)
        self.running.append(chapter.name)
        self.begun.append(chapter.name)
        self.most_at_once = max(self.most_at_once, len(self.running))
        self.seen[chapter.name] = [self.results[name] for name in chapter.reads]
        time.sleep(0.05)
        self.running.remove(chapter.name)
        if chapter.name in self.failing:
            raise ChapterError(f"{chapter.name}.md:3", "no")
        return Execution({}, 0.05, 0)

    def build(self, monkeypatch: pytest.MonkeyPatch, cores: int) -> list[str]:
        """Return the names of the chapters that were executed."""
        monkeypatch.setattr(os, "cpu_count", lambda: cores)
        self.begun = []
        schedule.Schedule(self.chapters(), self, self, self).run()
        return self.begun


@pytest.mark.parametrize(("cores", "at_once"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4), (64, 5)])
def test_as_many_chapters_run_at_once_as_there_are_pairs_of_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, at_once: int
) -> None:
    world = World(a=(), b=(), c=(), d=(), e=())
    assert sorted(world.build(monkeypatch, cores)) == ["a", "b", "c", "d", "e"]
    assert world.most_at_once == at_once


def test_a_chapter_comes_after_those_that_it_reads_and_else_in_the_order_of_the_contents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(late=["z"], one=(), two=["late"], z=(), y=())
    assert world.build(monkeypatch, 2) == ["one", "z", "late", "two", "y"]


def test_one_page_at_a_time_is_executed_beside_the_chapters_before_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(a=(), b=(), c=(), x=["a"], y=(), z=())
    world.beside = {"x", "y", "z"}
    begun = world.build(monkeypatch, 2)
    assert sorted(begun) == ["a", "b", "c", "x", "y", "z"]
    assert set(begun[:2]) == {"a", "y"}, "x reads what a is to find"
    assert world.most_at_once == 2
    assert [name for name in begun if name in world.reads and name not in world.beside] == [*"abc"]
    assert all(len({one, *met} & world.beside) == 1 for one, met in world.met.items() if met)


def test_pages_that_run_beside_others_share_the_cores_when_nothing_else_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(x=(), y=())
    world.beside = {"x", "y"}
    world.build(monkeypatch, 2)
    assert world.most_at_once == 2


@pytest.mark.parametrize("cores", [2, 8])
def test_while_a_page_measures_time_nothing_else_runs(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    world = World(a=(), clock=(), b=(), watch=["b"], x=(), y=(), z=())
    world.alone, world.beside = {"clock", "watch"}, {"x", "y", "z"}
    begun = world.build(monkeypatch, cores)
    assert sorted(begun) == sorted(world.reads)
    assert begun.index("clock") < begun.index("b"), "it is not put off until the end"
    for name, met in world.met.items():
        assert not met & world.alone
        assert not (met and name in world.alone)


@pytest.mark.parametrize("cores", [2, 8])
def test_readers_are_executed_when_results_changed_and_else_nobody(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    world = World(a=(), b=["a"], c=["b"], d=())
    world.build(monkeypatch, cores)
    assert world.build(monkeypatch, cores) == []
    world.stale = {"a"}
    assert world.build(monkeypatch, cores) == ["a"], "its results are as they were"
    world.stale, world.results["a"] = {"a"}, "new"
    assert world.build(monkeypatch, cores) == ["a", "b"], "b keeps what c reads as it was"


@pytest.mark.parametrize("cores", [2, 8])
def test_a_failure_stops_its_readers_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    world = World(a=(), b=["a"], c=["b"], d=(), e=["d"])
    world.failing = {"a"}
    with pytest.raises(BookError, match=r"a\.md:3: no\n.*not executed.*: b, c$"):
        world.build(monkeypatch, cores)
    assert sorted(world.begun) == ["a", "d", "e"]
    world.failing = set()
    assert world.build(monkeypatch, cores) == ["a", "b", "c"]


def test_chapters_that_read_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(a=["b"], b=["a"])
    with pytest.raises(BookError, match="chapters read each other's results: "):
        world.build(monkeypatch, 2)
    assert world.begun == []


def test_what_a_chapter_reads_is_found_in_its_cells() -> None:
    sources = ["x = {'a': read_figure_data('f', 'one')}", "r.read_figure_data('g', 'two')", "(]"]
    assert list(inputs.calls(sources, "read_figure_data")) == [("f", "one"), ("g", "two")]
    with pytest.raises(ValueError, match=r"plain strings: read_figure_data\(name, 'two'\)"):
        list(inputs.calls(["read_figure_data(name, 'two')"], "read_figure_data"))


def executed(book: Book) -> set[str]:
    """Build the book; return the chapters that were executed."""
    result = book.make()
    assert result.returncode == 0, result.stdout
    found = re.findall(r"^chapter \d+ of \d+, (\w+): \d+ s$", result.stdout, re.MULTILINE)
    assert f"chapters executed: {len(found)}." in result.stdout.splitlines()[-1]
    return set(found)


def test_a_change_executes_the_chapter_and_those_that_read_its_results(
    make_book: Callable[..., Book],
) -> None:
    makes = NOTEBOOK + cell(KEEP, "figure_data('f', [VALUE])", "print('made by VALUE')")
    book = make_book(
        reads=NOTEBOOK + cell(KEEP, "print('read', read_figure_data('f', 'makes'))"),
        makes=makes.replace("VALUE", "1"),
        apart=NOTEBOOK + cell("print('apart')"),
    )
    assert executed(book) == {"reads", "makes", "apart"}, "though it stands after its reader"
    assert "read [1]" in book.page("reads.html")
    book.write("book/makes.md", makes.replace("VALUE", "2"))
    assert executed(book) == {"reads", "makes"}
    assert "read [2]" in book.page("reads.html")
    book.write("book/makes.md", makes.replace("VALUE", "1"))
    assert executed(book) == {"reads", "makes"}, "an old output would lie"
    assert "read [1]" in book.page("reads.html")
    shutil.rmtree(book.root / "_build" / "executed" / "makes")
    assert executed(book) == {"makes"}, "what it reads is there again, and has not changed"


MEET = """\
import os, pathlib, time
here, there = (pathlib.Path({!r}, name) for name in ({!r}, {!r}))
here.touch()
deadline = time.monotonic() + 30
while not there.exists() and time.monotonic() < deadline:
    time.sleep(0.1)
print("met:", there.exists())"""
COMPUTE = """\
import torch, numpy as np
torch.manual_seed(0)
X = torch.randn(700, 700)
print("threads", torch.get_num_threads(), "sum", (X @ X).sum().item(), X.exp().sum().item())"""


def test_side_by_side_gives_the_same_results(
    make_book: Callable[..., Book], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two chapters wait for each other: they meet exactly when they run at the same time."""
    meeting = str(tmp_path)
    pages = {
        "reads": NOTEBOOK
        + cell(KEEP, "print(read_figure_data('f', 'one') + read_figure_data('f', 'one'))"),
        "one": NOTEBOOK
        + cell(MEET.format(meeting, "one", "two"))
        + cell(COMPUTE)
        + cell(KEEP, "figure_data('f', [X.mean().item()])"),
        "two": NOTEBOOK + cell(MEET.format(meeting, "two", "one")) + cell(COMPUTE),
    }
    shown = []
    for cores in (2, 4):
        book = make_book(**pages)
        book.write("sitecustomize.py", PRETEND.format(cores))
        monkeypatch.setenv("OMP_NUM_THREADS", str(cores - 1))  # the machine's, not the chapters'
        for name in ("one", "two"):
            (tmp_path / name).unlink(missing_ok=True)
        if cores == 2:
            (tmp_path / "two").touch()  # nobody waits for half a minute
        assert executed(book) == {"reads", "one", "two"}
        assert "met: True" in book.page("one.html")
        assert "met: True" in book.page("two.html")
        shown.append([outputs(book.page(f"{name}.html")) for name in pages])
    assert shown[0] == shown[1]
    assert "threads 2 sum" in str(shown)


ASK = "import os, torch\nprint(os.environ.get('MKL_CBWR'), torch.backends.cpu.get_cpu_capability())"


@pytest.mark.skipif(not SAME_EVERYWHERE, reason="these settings are for other processors")
def test_a_page_computes_with_the_same_instructions_everywhere_but_where_speed_is_measured(
    make_book: Callable[..., Book], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SAME_EVERYWHERE:
        monkeypatch.delenv(name, raising=False)
    book = make_book(usual=NOTEBOOK + cell(ASK), clock=NOTEBOOK + cell(f"{ASK}  # of the clock"))
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    book.write("_config.yml", config.replace("_instructions:", "_instructions:\n    - clock"))
    assert executed(book) == {"usual", "clock"}
    assert "COMPATIBLE AVX2" in outputs(book.page("usual.html"))[0]
    assert "None " in outputs(book.page("clock.html"))[0]


def outputs(page: str) -> list[str]:
    """Return the printed outputs of a page."""
    found = re.findall(r'<div class="output stream.*?<pre>(.*?)</pre>', page, re.DOTALL)
    assert found
    return found


SPEND = """\
import os, time
begun = time.process_time()
while time.process_time() < begun + 0.5:
    pass
os.spawnlp(os.P_WAIT, "sleep", "sleep", "6")
print("niceness", os.nice(0))"""


def test_a_page_that_runs_beside_others_has_the_lowest_priority_and_its_own_seconds(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(chapter=NOTEBOOK + cell(SPEND), aside=NOTEBOOK + cell("1", SPEND))
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    book.write("_config.yml", config.replace("course_beside:", "course_beside:\n    - aside"))
    assert executed(book) == {"chapter", "aside"}
    assert "niceness 19" in book.page("aside.html")
    assert "niceness 19" not in book.page("chapter.html")
    run = book.root / "_build" / "executed"
    seconds = {
        name: json.loads((run / name / "timed" / "run.json").read_bytes())["seconds"]
        for name in ("chapter", "aside")
    }
    assert seconds["chapter"] > 6, "on the clock"
    assert 0.5 < seconds["aside"] < 6, "of a core: nobody knows how long it had to wait"


def test_what_runs_alone_or_beside_others_is_a_page_and_no_clock_runs_beside() -> None:
    values = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    alone, beside = values["course_alone"], values["course_beside"]
    assert not set(alone) & set(beside)
    assert set(values["course_own_instructions"]) <= set(alone)
    for name in [*alone, *beside]:
        text = (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
        assert "{code-cell}" in text
        if name in beside:
            assert not re.search(r"\b(perf_counter|monotonic|process_time|timeit)\b", text), name


FAULTS = {
    "raises": (["print('as it should')"], ["assert 1 + 1 == 3, 'the claim is false'"]),
    "speaks": (["import sys"], ["print('oh dear', file=sys.stderr)"]),
    "endless": (["import time"], ["time.sleep(600)"]),
    "killed": (["import os"], ["os.kill(os.getpid(), 9)"]),
}
MESSAGES = {
    "raises": "AssertionError: the claim is false",
    "speaks": "the cell wrote on standard error: oh dear",
    "endless": "the cell was not done after 4 s",
    "killed": "the kernel was killed (out of memory?)",
}


@pytest.fixture(scope="module")
def faulty(make_book: Callable[..., Book]) -> Book:
    """A book with a chapter for each fault, a sound one, and one that reads a faulty one."""
    book = make_book(
        **{name: NOTEBOOK + cell(*one) + cell(*two) for name, (one, two) in FAULTS.items()},
        reader=NOTEBOOK + cell(KEEP, "read_figure_data('f', 'raises')"),
        sound=NOTEBOOK + cell("print('sound')"),
    )
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    assert "timeout: 900" in config
    book.write("_config.yml", config.replace("timeout: 900", "timeout: 4"))
    book.write("sitecustomize.py", PRETEND.format(8))
    return book


@pytest.fixture(scope="module")
def told(faulty: Book) -> str:
    result = faulty.make()
    assert result.returncode != 0
    return result.stdout


@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_names_the_chapter_the_cell_and_the_reason(told: str, name: str) -> None:
    line = NOTEBOOK.count("\n") + 6  # the first of the second cell
    message = f"book/{name}.md:{line}, code cell 2: {MESSAGES[name]}"
    lines = told.splitlines()
    at = lines.index(message)
    assert re.fullmatch(rf"chapter \d of 6, {name}: failed", lines[at - 1])
    assert any(message in line for line in lines[-20:]), "once more at the end"


def test_a_failure_names_at_the_end_what_could_not_be_executed(told: str) -> None:
    assert told.splitlines()[-1] == "not executed, since they read its results: reader"
    assert "\x1b" not in told


def test_what_was_done_before_a_failure_is_kept(told: str, faulty: Book) -> None:
    assert re.search(r"chapter 6 of 6, sound: \d+ s", told)
    again = faulty.make()
    assert again.returncode != 0
    assert "sound" not in again.stdout


def test_a_warning_of_sphinx_is_shown_even_if_the_log_goes_on(
    make_book: Callable[..., Book],
) -> None:
    pages = {f"page_{i}": f"# Page {i}\n\nText.\n" for i in range(20)}
    book = make_book(wrong="# Wrong\n\n{doc}`nowhere`\n", **pages)
    result = book.make()
    assert result.returncode != 0
    assert re.search(r"wrong\.md.*WARNING: unknown document: 'nowhere'", result.stdout)
    assert len(result.stdout.splitlines()) < 40


IGNORE = """\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])"""
BEGET = "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_behind(make_book: Callable[..., Book], number: int) -> None:
    """Also where SIGINT is ignored from the beginning: so a shell starts what ends with `&`."""
    book = make_book(done=NOTEBOOK + cell("print('done')"), long=NOTEBOOK)
    pids = book.root / "pids"
    long = ["import os, subprocess, sys, time", BEGET]
    note = f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}} ')"
    book.write("book/long.md", NOTEBOOK + cell(*long, note, "time.sleep(600)"))
    ignoring = [sys.executable, "-c", IGNORE, *MAKE]
    with subprocess.Popen(ignoring, **book.surroundings()) as process:
        deadline = time.monotonic() + 60
        while not (pids.exists() and pids.read_text().endswith(" ")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        process.send_signal(number)
        shown, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "chapter 1 of 2, done: " in shown
    assert "Stopped. The pages that were done are kept" in shown
    for pid in map(int, pids.read_text().split()):
        # A container's first process may leave one that has ended in its table.
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
