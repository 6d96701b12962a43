"""Test re-executed pages against the records, and builds that cannot execute any page."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from site_tools import MAKE, NOTEBOOK, Book, cell

FRESH = (sys.executable, "-m", "book._ext.course_build.fresh")
REPORT = "from solutions.running.reporting import report"
DATA = "from solutions.running.reporting import figure_data, read_figure_data"
LOOK = "value = int(open({!r}).read())"
IDENTITY = ("-c", "user.name=A reader", "-c", "user.email=reader@example.org")


def git(book: Book, *arguments: str) -> str:
    command = ["git", "-C", str(book.root), *IDENTITY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(book: Book) -> None:
    git(book, "add", "--all")
    git(book, "commit", "--quiet", "--message", "Change the book")


def fresh(book: Book, *pages: str) -> tuple[int, str]:
    """Re-execute pages; return the exit code and the output."""
    result = subprocess.run([*FRESH, *pages], **book.surroundings(), timeout=240)
    return result.returncode, result.stdout


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that no page's record covers, like a clock or another library."""
    path = tmp_path_factory.mktemp("outside") / "value"
    path.write_text("40")
    return path


@pytest.fixture(scope="module")
def recorded(make_book: Callable[..., Book], outside: Path) -> Book:
    """Make a book under version control with records: one page is stable, one reads `outside`."""
    shaky = cell(REPORT, LOOK.format(str(outside)), "report('shaky', found=value)")
    claim = cell("assert value > 20, 'the text says: more than 20'")
    book = make_book(
        sure=NOTEBOOK + cell(REPORT, "report('sure', half=1 / 2)", "print('a line')"),
        shaky=NOTEBOOK + shaky + claim,
    )
    book.write(".gitignore", "_build/\n__pycache__/\n")
    git(book, "init", "--quiet")
    commit(book)
    assert book.make().returncode == 0
    assert git(book, "status", "--short").split() == ["??", "book/executed/"]
    commit(book)
    return book


def changed(book: Book) -> list[str]:
    """Return the files that differ from the last commit, except timings."""
    names = [line[3:] for line in git(book, "status", "--short").splitlines()]
    return [name for name in names if "/timed/" not in name]


def test_unchanged_pages_keep_their_results(recorded: Book) -> None:
    for _ in range(2):
        code, output = fresh(recorded)
        assert code == 0, output
        assert "sure: none of 1 numbers changed, and everything else is the same" in output
        assert "Its claims hold." in output
        assert not changed(recorded)


def test_a_changed_number_is_reported_and_the_record_stays(recorded: Book, outside: Path) -> None:
    outside.write_text("50")
    code, output = fresh(recorded, "shaky")
    outside.write_text("40")
    assert code == 1
    assert "shaky: changed: 1 of 1 numbers (by at most 20.0%)" in output
    assert "found: 40 to 50 (20.0%)" in output
    assert "ERROR: the same code gave different results, on a machine that rounds alike" in output
    assert "sure" not in output
    assert not changed(recorded)


def test_a_failed_claim_is_reported_and_the_record_stays(recorded: Book, outside: Path) -> None:
    outside.write_text("10")
    code, output = fresh(recorded, "shaky")
    outside.write_text("40")
    assert code == 1
    assert "book/shaky.md:" in output
    assert "AssertionError: the text says: more than 20" in output
    assert "Its stored results stay as they were." in output
    assert not changed(recorded)


def test_on_another_machine_numbers_may_drift_while_the_claims_hold(
    recorded: Book, outside: Path
) -> None:
    outside.write_text("41")
    imagined = (
        "from book._ext.course_build import machine\n\nmachine.processor = lambda: 'aarch64'\n"
    )
    recorded.write("sitecustomize.py", imagined)
    try:
        code, output = fresh(recorded, "shaky")
    finally:
        (recorded.root / "sitecustomize.py").unlink()
        outside.write_text("40")
    assert code == 0, output
    assert "The stored results are from a machine that rounds differently" in output
    assert not changed(recorded)


def test_a_page_that_does_not_exist_is_one_clear_line(recorded: Book) -> None:
    code, output = fresh(recorded, "nowhere")
    assert code == 1
    assert output.splitlines() == ["nowhere: not a page with code cells. These are: sure, shaky."]


def test_help_and_an_unknown_option_build_nothing(recorded: Book) -> None:
    for option, code in (("--help", 0), ("--chekc", 2)):
        done = subprocess.run((*MAKE, option), **recorded.surroundings(), timeout=60)
        assert done.returncode == code
        assert "[--check]" in done.stdout
    assert not changed(recorded)


def test_the_command_named_by_the_check_repairs_damage(recorded: Book) -> None:
    check = (sys.executable, "-m", "book._ext.course_build", "--check")
    page = recorded.root / "book" / "executed" / "sure"

    def checked() -> list[str]:
        return subprocess.run(check, **recorded.surroundings(), timeout=60).stdout.splitlines()

    def repair(message: str) -> None:
        (line,) = checked()
        assert message in line
        command = line.partition("Type: ")[2].partition("   (or")[0]
        subprocess.run(command, shell=True, cwd=recorded.root, check=True, capture_output=True)
        assert checked() == ["All 2 pages are up to date."]
        assert not changed(recorded)

    (page / "timed" / "run.json").write_text('{"seconds')
    repair("run.json is cut off or is not a record")
    shutil.rmtree(page)
    repair("book/executed/sure is missing")
    (page / ".DS_Store").write_text("")
    repair(".DS_Store was not written by a run")
    shutil.copytree(page, page.with_name("gone"))
    repair("book/executed/gone does not belong to a page with code cells")
    (page / "numbers.json").write_bytes(b"<<<<<<< HEAD\r\n")
    git(recorded, "add", "--all")  # as after an unfinished merge or commit
    repair("numbers.json differs from what the run wrote")


def test_a_truncated_record_is_rebuilt(recorded: Book) -> None:
    (recorded.root / "book" / "executed" / "sure" / "timed" / "run.json").write_text("{")
    code, output = fresh(recorded, "sure")
    assert code == 0, output
    assert "it had no undamaged results to compare with" in output
    assert not changed(recorded)


def test_all_damaged_pages_are_named_before_anything_is_executed(recorded: Book) -> None:
    for name in ("sure", "shaky"):
        (recorded.root / "book" / "executed" / name / "more").write_text("")
    output = recorded.make().stdout
    git(recorded, "clean", "--quiet", "-d", "--force")
    assert [line.split("/")[2] for line in output.splitlines()] == ["sure", "shaky"]


def test_a_page_never_reads_outdated_or_discarded_results(
    make_book: Callable[..., Book], outside: Path
) -> None:
    look = LOOK.format(str(outside))
    makes = NOTEBOOK + cell(DATA, look, "figure_data('f', [value])")
    reads = NOTEBOOK + cell(DATA, "print('read', read_figure_data('f', 'makes'))")
    book = make_book(makes=makes, reads=reads)
    assert book.make().returncode == 0
    book.write("book/reads.md", reads.replace("'read'", "'READ'"))
    outside.write_text("41")
    code, output = fresh(book, "makes", "reads")
    assert code == 1
    assert "makes: changed: 0 of 0 numbers, 1 data files" in output
    assert "READ [40]" in (book.root / "book/executed/reads/outputs.json").read_text()
    outside.write_text("40")
    book.write("book/makes.md", makes.replace("value]", "value + 1]"))
    code, output = fresh(book, "reads")
    assert code == 1
    assert "reads: it reads results of makes, which is out of date: code cell 1 changed" in output


def test_a_copy_of_the_course_executes_its_own_code_without_user_settings(
    make_book: Callable[..., Book], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed" / "lib.py"
    installed.parent.mkdir()
    installed.write_text("value = 'of another copy'\n")
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9.5\n")
    show = "print(lib.value, matplotlib.rcParams['lines.linewidth'], __debug__)"
    ask = ["import lib, matplotlib, os", show]
    figure = "---\nmystnb: {image: {alt: A line.}}\n---"
    plot = cell("import matplotlib.pyplot as plt", "plt.plot([1, 2]);", header=figure)
    probe = cell(*ask, "print(repr(os.environ['CUDA_VISIBLE_DEVICES']))")
    book = make_book(page=NOTEBOOK + probe + plot)
    book.write("lib.py", "value = 'its own'\n")
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    surroundings = book.surroundings()
    paths = os.pathsep.join([str(installed.parent), surroundings["env"]["PYTHONPATH"]])
    surroundings["env"]["PYTHONPATH"] = paths
    assert subprocess.run(MAKE, **surroundings, timeout=240).returncode == 0
    text = (book.root / "book/executed/page/outputs.json").read_text()
    assert "its own 1.5 True" in text, "it ran other code, user settings, or no assertions"
    assert (book.root / "book/executed/page/cell-02.svg").exists(), "no figure was drawn"
    assert "''" in text


def test_a_second_build_waits_for_the_first_and_executes_nothing(
    make_book: Callable[..., Book], tmp_path: Path
) -> None:
    started = tmp_path / "begun"
    slow = cell("import pathlib, time", f"pathlib.Path({str(started)!r}).touch()", "time.sleep(4)")
    book = make_book(slow=NOTEBOOK + slow)
    with subprocess.Popen(MAKE, **book.surroundings()) as first:
        deadline = time.monotonic() + 60
        while not started.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        second = book.make()
        output, _ = first.communicate(timeout=120)
    assert (first.returncode, second.returncode) == (0, 0), output + second.stdout
    assert "chapters executed: 1." in output
    assert "Another build is running in this folder; waiting until it is done." in second.stdout
    assert "chapters executed: 0." in second.stdout


def test_an_interrupted_build_keeps_the_records(recorded: Book, tmp_path: Path) -> None:
    started = tmp_path / "begun"
    before = (recorded.root / "book" / "shaky.md").read_text()
    waits = cell(
        "import pathlib, time", f"pathlib.Path({str(started)!r}).touch()", "time.sleep(600)"
    )
    recorded.write("book/shaky.md", before + waits)
    try:
        with subprocess.Popen(FRESH, **recorded.surroundings()) as process:
            deadline = time.monotonic() + 60
            while not started.exists():
                assert time.monotonic() < deadline
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=60)
    finally:
        recorded.write("book/shaky.md", before)
    assert process.returncode == 130
    assert "Stopped. The stored results of unfinished pages stay as they were." in output
    assert not changed(recorded)


WITHOUT = """\
from importlib.machinery import PathFinder

find = PathFinder.find_spec


def find_spec(name, path=None, target=None):
    return None if name in ("torch", "matplotlib") else find(name, path, target)


PathFinder.find_spec = find_spec
"""


def test_the_site_needs_no_torch_and_no_matplotlib_until_a_page_is_out_of_date(
    make_book: Callable[..., Book],
) -> None:
    page = NOTEBOOK + cell("import torch", "import matplotlib", "print(torch.ones(3).sum().item())")
    book = make_book(page=page)
    assert book.make().returncode == 0
    book.write("sitecustomize.py", WITHOUT)
    lacking = subprocess.run(
        [sys.executable, "-c", "import torch"], **book.surroundings(), check=False
    )
    assert "No module named 'torch'" in lacking.stdout, "torch can still be imported"
    book.write("book/page.md", page + "One sentence more.\n")
    result = book.make()
    assert result.returncode == 0, result.stdout
    assert "3.0" in book.page("page.html")
    assert "One sentence more." in book.page("page.html")
    book.write("book/page.md", page.replace("ones(3)", "ones(4)"))
    result = book.make()
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    assert line == (
        "page: code cell 1 changed; it must be executed. "
        "matplotlib and torch must be installed for that. Type: make course"
    )
