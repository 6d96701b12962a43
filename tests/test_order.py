"""The tests are given out so that the workers end together; support/longest_first.py says how."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from longest_first import APART, LONG, longest_first, piece

ROOT = Path(__file__).parents[1]
PAGES, CORPUS = "tests/book/test_pages.py", "test_corpus.py"


@pytest.mark.parametrize("file", [*LONG, *APART])
def test_what_is_listed_is_there(file):
    assert (ROOT / file).is_file()


def test_what_a_piece_shares_stays_together():
    assert piece(f"{PAGES}::test_axe[dark]") == piece(f"{PAGES}::test_errors[dark]")
    assert piece(f"{PAGES}::test_axe[dark]") != piece(f"{PAGES}::test_axe[phone]")
    assert piece(f"{PAGES}::test_tables_are_drawn") == PAGES
    corpus = f"tests/hostile/{CORPUS}::test_a_submission"
    assert piece(f"{corpus}[aborts-warm]") == piece(f"{corpus}[fork_bomb-warm]")
    assert piece(f"{corpus}[aborts-warm]") != piece(f"{corpus}[aborts-cold]")
    assert piece("tests/test_x.py::test_a[dark]") == "tests/test_x.py"


def test_the_longest_come_first_then_the_files_with_the_most_tests():
    tests = ["tests/test_a.py::test_1", "tests/test_b.py::test_1", "tests/test_b.py::test_2"]
    tests += [f"{LONG[1]}::test_1", f"{LONG[0]}::test_1", f"{LONG[0]}::test_2"]
    assert longest_first(tests) == [4, 5, 3, 1, 2, 0]


def test_workers_get_a_piece_at_a_time_in_that_order(tmp_path):
    """In a run of their own, of small files with the names of others."""
    test = "import time\n\n\n@pytest.mark.parametrize('who', {})\n"
    test = "import pytest\n" + test + "def test_it(who):\n    time.sleep(0.2)\n"
    many, few = "tests/test_many.py", PAGES
    for file, who in ((many, "abcd"), (few, ["dark", "phone"])):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(test.format(list(who)))
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tests' / 'support'}\n")
    options = ["-v", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.findall(r"^\[(gw\d)\].*PASSED (\S+)", done.stdout, re.MULTILINE)
    assert {test for _, test in ran[:2]} == {f"{few}::test_it[dark]", f"{few}::test_it[phone]"}
    assert {worker for worker, _ in ran[:2]} == {"gw0", "gw1"}
    assert len({worker for worker, test in ran if test.startswith(many)}) == 1
