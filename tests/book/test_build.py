"""Test the build of the book: which chapters are executed, in which order, and its failures."""

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
from course_build import inputs
from course_build.chapters import BookError, Chapter, execution_order
from site_tools import MAKE, NOTEBOOK, ROOT, Book, cell

from solutions.running.arithmetic import SAME_EVERYWHERE

KEEP = "from solutions.running.reporting import figure_data, read_figure_data"


def chapters(**reads: Iterable[str]) -> dict[str, Chapter]:
    return {
        name: Chapter(name, Path(name), None, (), dict.fromkeys(read, ()))
        for name, read in reads.items()
    }


def test_chapters_run_after_their_inputs_and_otherwise_in_order_of_contents() -> None:
    order = execution_order(chapters(late=["z"], one=(), two=["late"], z=(), y=()))
    assert order == ["one", "z", "late", "two", "y"]


def test_chapters_that_read_each_other_are_refused() -> None:
    with pytest.raises(BookError, match="chapters read each other's results: "):
        execution_order(chapters(a=["b"], b=["a"], c=()))


def test_listed_but_removed_page_is_named(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(here="# Here\n", gone="# Gone\n")
    (book.root / "book" / "gone.md").unlink()
    result = book.make()
    assert result.returncode == 1
    assert "book/_toc.yml lists 'gone', but there is no gone.md. Create the page" in result.stdout


def test_inputs_of_a_chapter_are_found_in_its_cells() -> None:
    sources = ["x = {'a': read_figure_data('f', 'one')}", "r.read_figure_data('g', 'two')", "(]"]
    assert list(inputs.calls(sources, "read_figure_data")) == [("f", "one"), ("g", "two")]
    with pytest.raises(ValueError, match=r"plain strings: read_figure_data\(name, 'two'\)"):
        list(inputs.calls(["read_figure_data(name, 'two')"], "read_figure_data"))


def executed(book: Book) -> set[str]:
    """Build the book; return the chapters that were executed."""
    result = book.make()
    assert result.returncode == 0, result.stdout
    executed = re.findall(r"^chapter \d+ of \d+, (\w+): \d+ s$", result.stdout, re.MULTILINE)
    assert f"chapters executed: {len(executed)}." in result.stdout.splitlines()[-1]
    return set(executed)


def test_a_change_executes_the_chapter_and_its_dependants(
    make_book: Callable[..., Book],
) -> None:
    makes = NOTEBOOK + cell(KEEP, "figure_data('f', [VALUE])", "print('made by VALUE')")
    book = make_book(
        reads=NOTEBOOK + cell(KEEP, "print('read', read_figure_data('f', 'makes'))"),
        makes=makes.replace("VALUE", "1"),
        apart=NOTEBOOK + cell("print('apart')"),
    )
    assert executed(book) == {"reads", "makes", "apart"}
    assert "read [1]" in book.page("reads.html")
    book.write("book/makes.md", makes.replace("VALUE", "2"))
    assert executed(book) == {"reads", "makes"}
    assert "read [2]" in book.page("reads.html")
    book.write("book/makes.md", makes.replace("VALUE", "1"))
    assert executed(book) == {"reads", "makes"}, "the reader kept an outdated output"
    assert "read [1]" in book.page("reads.html")
    shutil.rmtree(book.root / "book" / "executed" / "makes")
    assert executed(book) == {"makes"}, "the reader ran again, although its input is unchanged"


ASK = "import os, torch\nprint(os.environ.get('MKL_CBWR'), torch.backends.cpu.get_cpu_capability())"


@pytest.mark.skipif(not SAME_EVERYWHERE, reason="these settings are for other processors")
def test_pages_fix_the_cpu_instructions_unless_they_measure_speed(
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
    outputs = re.findall(r'<div class="output stream.*?<pre>(.*?)</pre>', page, re.DOTALL)
    assert outputs
    return outputs


def test_pages_with_special_cpu_instructions_exist() -> None:
    values = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    for name in values["course_own_instructions"]:
        assert "{code-cell}" in (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


FAULTS = {
    "raises": (["print('as it should')"], ["assert 1 + 1 == 3, 'the claim is false'"]),
    "speaks": (["import sys"], ["print('oh dear', file=sys.stderr)"]),
    "endless": (["import time"], ["time.sleep(600)"]),
    "killed": (["import os"], ["os.kill(os.getpid(), 9)"]),
}
MESSAGES = {
    "raises": "AssertionError: the claim is false",
    "speaks": "the cell wrote to standard error: oh dear",
    "endless": "the cell did not finish within 4 s",
    "killed": "the kernel was killed (out of memory?)",
}


@pytest.fixture(scope="module")
def faulty(make_book: Callable[..., Book]) -> Book:
    """Make a book with a chapter for each fault, a sound one, and a reader of a faulty one."""
    book = make_book(
        **{
            name: NOTEBOOK + cell(*first) + cell(*second)
            for name, (first, second) in FAULTS.items()
        },
        reader=NOTEBOOK + cell(KEEP, "read_figure_data('f', 'raises')"),
        sound=NOTEBOOK + cell("print('sound')"),
    )
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    assert "timeout: 2400" in config
    book.write("_config.yml", config.replace("timeout: 2400", "timeout: 4"))
    return book


@pytest.fixture(scope="module")
def output(faulty: Book) -> str:
    result = faulty.make()
    assert result.returncode != 0
    return result.stdout


@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_names_the_chapter_the_cell_and_the_reason(output: str, name: str) -> None:
    line = NOTEBOOK.count("\n") + 6  # the first line of the second cell
    message = f"book/{name}.md:{line}, code cell 2: {MESSAGES[name]}"
    lines = output.splitlines()
    at = lines.index(message)
    assert re.fullmatch(rf"chapter \d of 6, {name}: failed", lines[at - 1])
    assert any(message in line for line in lines[-20:]), "not repeated at the end"


def test_a_failure_ends_with_the_pages_that_were_not_executed(output: str) -> None:
    assert (
        "book/reader.md: not executed, since it reads results of raises" in output.splitlines()[-5:]
    )
    assert "\x1b" not in output


def test_results_from_before_a_failure_are_kept(output: str, faulty: Book) -> None:
    assert re.search(r"chapter 6 of 6, sound: \d+ s", output)
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


def test_the_next_build_completes_a_stopped_build(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(page="# A page\n\nIts text.\n")
    assert book.make().returncode == 0
    html = book.root / "_build" / "html" / "page.html"
    html.write_text("as it was before")
    assert book.make().returncode == 0
    assert html.read_text() == "as it was before", "Sphinx wrote an unchanged page again"
    (book.root / "_build" / "book.writing").touch()  # a killed build leaves this file
    assert book.make().returncode == 0
    assert "Its text." in book.page("page.html")


ODD_PAGES = {
    "an alias of what is read": (
        cell("from solutions.running.reporting import read_figure_data as r", "r('f', 'other')"),
        "FileNotFoundError: ",
    ),
    "data with a name of the build's": (
        cell(KEEP, "figure_data('outputs', [1])", "print('shown')"),
        "its data have the name of a file of the build: outputs.json",
    ),
    "options that are no YAML": (cell("1", header="---\na: [\n---"), "bad YAML"),
    "an error that a tag allows": (cell("1 / 0", header=":tags: [raises-exception]"), "ZeroDivisi"),
}


@pytest.mark.parametrize(("text", "message"), ODD_PAGES.values(), ids=ODD_PAGES.keys())
def test_an_invalid_page_is_refused_by_name_in_one_line(
    make_book: Callable[..., Book], text: str, message: str
) -> None:
    other = NOTEBOOK + cell(KEEP, "figure_data('f', [1])")
    book = make_book(other=other, odd=NOTEBOOK + text)
    result = book.make()
    assert result.returncode == 1
    (line,) = {line for line in result.stdout.splitlines() if "odd.md" in line}
    assert message in line
    assert not (book.root / "book" / "executed" / "odd").exists()


IGNORE = """\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])"""
BEGET = "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_no_process_behind(make_book: Callable[..., Book], number: int) -> None:
    """Interrupt also where SIGINT is ignored from the start, as for a shell's `&` jobs."""
    book = make_book(done=NOTEBOOK + cell("print('done')"), long=NOTEBOOK)
    pids = book.root / "pids"
    long = ["import os, subprocess, sys, time", BEGET]
    note = f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}} ')"
    book.write("book/long.md", NOTEBOOK + cell(*long, note, "time.sleep(600)"))
    ignoring = [sys.executable, "-c", IGNORE, *MAKE]
    with subprocess.Popen(ignoring, **book.surroundings()) as process:
        while not (pids.exists() and pids.read_text().endswith(" ")):
            assert process.poll() is None  # the build is still running
            time.sleep(0.2)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "chapter 1 of 2, done: " in output
    assert "Stopped. The finished pages are stored" in output
    for pid in map(int, pids.read_text().split()):
        # A container's first process may not have reaped one that has ended.
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
