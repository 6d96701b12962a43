"""Test the notebook of a practise page on bad input, in Pyodide and in this Python."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
import toy
from practising import ROOT, Step, in_node, in_python, needs_pyodide

from autograder.nbgrader.release import self_check_files
from autograder.notebook.check import write_cases

RIGHT = "def row_mean(X):\n    return X.mean(axis=-1)"
GIVEN = "from autograder import check\nimport numpy as np"

CELLS = {
    "given": GIVEN,
    "last expression": "print('first'); [np.eye(1), 2]",
    "silent": "3;",
    "nothing": "# a comment",
    "displayed": "display(1, 'two')",
    "html": "class Page:\n    def _repr_html_(self): return '<b>bold</b>'\nPage()",
    "svg": "class Picture:\n    def _repr_svg_(self): return '<svg/>'\nPicture()",
    "both streams": "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('again')",
    "not flushed": "print('no newline', end='')",
    "syntax error": "x = 1\ny = (",
    "command": "%timeit 1",
    "shell": "x = 1\n!pip install torch",
    "help": "np.eye?",
    "await": "await something",
    "null": "x = '\0'",
    "surrogate": "x = '\ud800'",
    "no message": "raise SyntaxError(None, ('own', 1, 1, ''))",
    "missing": "import tensorflow",
    "missing submodule": "import matplotlibrary.pyplot",
    "missing in numpy": "import numpy.nothing",
    "input": "name = input('who? ')",
    "exit": "exit()",
    "sys.exit": "import sys; sys.exit(3)",
    "interrupt": "raise KeyboardInterrupt",
    "recursion": "def f(x): return f(x)\nf(1)",
    "recursion in C": "def f(x): return sorted([x, x], key=f)\nf(1)",
    "recursion in reduce": (
        "from functools import reduce\ndef f(a, b=0): return reduce(f, [1, 2])\nf(1)"
    ),
    "wordless": "class Odd(ValueError):\n    def __str__(self): raise ValueError\nraise Odd",
    "repr fails": "class Odd:\n    def __repr__(self): return 1 / 0\nOdd()",
    "many lines": "for i in range(10**6): print(i)",
    "after many lines": "print('still here')",
    "long value": "'x' * 10**7",
    "traceback": "def g():\n    return 1 / 0\n\ng()",
    "getsource": "import inspect\nprint(inspect.getsource(g), end='')",
    "warning": "import warnings\nwarnings.warn('careful')",
    "stale stream": "import sys\nold = sys.stdout",
    "through a stale stream": "print('through', file=old)",
    "replacing": (
        "import builtins, sys\nnp.exp = np.linalg.norm = None\nbuiltins.print = builtins.len = 4\n"
        "sys.stdout = sys.stderr = None\ncheck = print = 5"
    ),
    "after replacing": "del print\nprint(np.exp(0.0), np.linalg.norm([3, 4]), len('four'))",
    "elsewhere": "import os\nos.makedirs('sub', exist_ok=True)\nos.chdir('sub')",
}
CHECKS = {
    "not run": "",
    "right": RIGHT,
    "wrong": "def row_mean(X):\n    print('called')\n    return X.sum(axis=-1)",
    "stub": "def row_mean(X):\n    raise NotImplementedError",
    "raising": "def row_mean(X):\n    return X.nothing",
    "leaving": "def row_mean(X):\n    raise SystemExit",
    "endless": "def row_mean(X):\n    return row_mean(X)",
    "replacing while checked": (
        "def row_mean(X):\n    np.zeros = np.ones\n    import sys\n    sys.stdout = None\n"
        "    return X.mean(axis=-1)"
    ),
    "a lambda": "row_mean = lambda X: X.mean(axis=-1)",
    "no function": "row_mean = 3",
    "chatty": "def row_mean(X):\n    print('x' * 10**6)\n    return X.mean(axis=-1)",
    "interrupting": "def row_mean(X):\n    raise KeyboardInterrupt",
    "right again": RIGHT,
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of the toy assignment, as students get it."""
    folder = tmp_path_factory.mktemp("toy")
    write_cases(toy.TOY, folder / "toy.cases")
    with zipfile.ZipFile(folder / "toy.zip", "w") as archive:
        archive.write(folder / "toy.cases", "toy/toy.cases")
        for file in self_check_files():
            archive.write(ROOT / file, f"toy/{file}")
    return folder / "toy.zip"


@pytest.fixture(scope="module", params=["here", pytest.param("page", marks=needs_pyodide)])
def session(request: pytest.FixtureRequest, packed: Path) -> dict[str, dict[str, Any]]:
    """Return the result of each cell and each check, by its name."""
    steps: dict[str, Step] = {}
    for name, source in CELLS.items():
        steps[name] = {"run": source, "cell": name}
    for name, source in CHECKS.items():
        steps[f"cell: {name}"] = {"run": source, "cell": "row_mean"}
        steps[name] = {"check": "row_mean"}
    run = in_node if request.param == "page" else in_python
    return dict(zip(steps, run(packed, [*steps.values()])["steps"], strict=True))


def texts(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return everything that was shown: each kind, or stream, with its text."""
    return [
        (output.get("stream", output["kind"]), output.get("text", output.get("html")))
        for output in result["shown"]
    ]


def error(result: dict[str, Any]) -> dict[str, str]:
    """Return the error with which a failed cell ended."""
    assert not result["ok"]
    last: dict[str, str] = result["shown"][-1]
    assert last["kind"] == "error"
    assert "notebook.py" not in last["text"]
    return last


def test_a_cell_shows_what_a_kernel_shows(session):
    assert texts(session["given"]) == []
    assert texts(session["last expression"]) == [
        ("stdout", "first\n"),
        ("value", "[array([[1.]]), 2]"),
    ]
    assert texts(session["silent"]) == texts(session["nothing"]) == []
    assert texts(session["displayed"]) == [("value", "1"), ("value", "'two'")]
    assert texts(session["html"]) == [("html", "<b>bold</b>")]
    assert texts(session["svg"]) == [("html", "<svg/>")]
    assert texts(session["both streams"]) == [
        ("stdout", "out\n"),
        ("stderr", "err\n"),
        ("stdout", "again\n"),
    ]
    assert texts(session["not flushed"]) == [("stdout", "no newline")]
    assert texts(session["through a stale stream"]) == [("stdout", "through\n")]
    ((stream, text),) = texts(session["warning"])
    assert stream == "stderr"
    assert "UserWarning: careful" in text
    assert "warnings.warn('careful')" in text


@pytest.mark.parametrize(
    ("cell", "name", "says"),
    [
        ("syntax error", "SyntaxError", "'(' was never closed"),
        ("command", "SyntaxError", "this command of Jupyter is for a notebook"),
        ("shell", "SyntaxError", "this command of Jupyter is for a notebook"),
        ("help", "SyntaxError", "this command of Jupyter is for a notebook"),
        ("await", "SyntaxError", "A cell cannot wait in this page. Leave `await` out."),
        ("null", "SyntaxError", "null bytes"),
        ("surrogate", "UnicodeEncodeError", "surrogates not allowed"),
        ("missing", "ModuleNotFoundError", "tensorflow is not in this page"),
        ("missing submodule", "ModuleNotFoundError", "matplotlibrary is not in this page"),
        ("missing in numpy", "ModuleNotFoundError", "No module named 'numpy.nothing'"),
        ("input", "EOFError", "Nobody can answer input() in this page."),
        ("no message", "SyntaxError", "None"),
        ("exit", "SystemExit", "exit() ends nothing in this page."),
        ("sys.exit", "SystemExit", "exit() ends nothing in this page."),
        ("interrupt", "KeyboardInterrupt", ""),
        ("recursion", "RecursionError", "A function calls itself without end"),
        ("recursion in C", "RecursionError", "A function calls itself without end"),
        ("recursion in reduce", "RecursionError", "A function calls itself without end"),
        ("wordless", "Odd", "str() failed"),
        ("repr fails", "ZeroDivisionError", "division by zero"),
        ("traceback", "ZeroDivisionError", "division by zero"),
    ],
)
def test_an_error_is_shown_with_advice(session, cell, name, says):
    message = error(session[cell])
    assert message["name"] == name
    assert says in message["message"]
    assert f"{name}" in message["text"]
    assert len(message["text"]) < 21_000


def test_rebinding_a_name_of_a_cell_is_reported(session):
    before = list(CELLS)[: list(CELLS).index("replacing")]
    assert [name for name in before if "given" in session[name]["spoilt"]] == []
    assert "given" in session["replacing"]["spoilt"]  # `check = 5`


def test_an_error_shows_the_lines_of_the_cell(session):
    text = error(session["traceback"])["text"]
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:2] == [
        "Traceback (most recent call last):",
        'File "<cell traceback>", line 4, in <module>',
    ]
    assert "return 1 / 0" in lines
    assert 'File "<cell syntax error>", line 2' in error(session["syntax error"])["text"]
    assert texts(session["getsource"]) == [("stdout", "def g():\n    return 1 / 0\n")]


def test_endless_text_is_cut_and_later_output_is_shown(session):
    texts_shown = texts(session["many lines"])
    text = "".join(part for _, part in texts_shown)
    assert text.startswith("0\n1\n2\n")
    assert len(text) < 100_200
    assert text.endswith(
        "[The page shows the first 100,000 characters of a run. The rest is left out.]\n"
    )
    assert len(texts_shown) < 600
    assert texts(session["after many lines"]) == [("stdout", "still here\n")]
    ((_, value),) = texts(session["long value"])
    assert 100_000 < len(value) < 100_200


def test_replaced_functions_are_restored_and_reported(session):
    ((stream, text),) = texts(session["replacing"])
    assert stream == "stderr"
    for name in ("builtins.len", "builtins.print", "numpy.exp", "numpy.linalg.norm"):
        assert name in text
    assert texts(session["after replacing"]) == [("stdout", "1.0 5.0 4\n")]


@pytest.mark.parametrize(
    ("answer", "passed", "verdict", "says"),
    [
        ("not run", None, None, "`row_mean` is not defined."),
        ("right", True, "PASS", "Right on both cases."),
        ("stub", False, "MISSING", "This is the stub"),
        ("raising", False, "EXCEPTION", "(line 2 of its cell: `return X.nothing`)"),
        ("leaving", False, "EXCEPTION", "it raises SystemExit"),
        ("endless", False, "EXCEPTION", "it raises RecursionError"),
        ("replacing while checked", None, None, "The answer replaces numpy.zeros"),
        ("a lambda", None, None, "Write `def row_mean(...):` instead."),
        ("no function", None, None, "`row_mean` is not a function, but of type int."),
        ("chatty", True, "PASS", "Right on both cases."),
        ("interrupting", None, None, "KeyboardInterrupt"),
        ("right again", True, "PASS", "Right on both cases."),
    ],
)
def test_a_check_reports_its_result(session, answer, passed, verdict, says):
    result = session[answer]
    assert result["ok"] is (passed is not None)
    assert (result["passed"], result["verdict"]) == (passed, verdict)
    assert says in result["message"]
    reports = [text for kind, text in texts(result) if kind == "html"]
    assert len(reports) == (passed is not None)
    assert all(says.split(":")[0] in report for report in reports)


def test_a_mistake_is_named_with_its_pictures_and_what_the_answer_prints(session):
    result = session["wrong"]
    assert (result["passed"], result["verdict"]) == (False, "WRONG_VALUE")
    assert result["misconception"] == "sum for mean"
    *printed, (kind, report) = texts(result)
    assert {*printed} == {("stdout", "called\n")}
    assert kind == "html"
    assert 'aria-label="your result' in report


@needs_pyodide
def test_in_the_page_a_huge_array_is_reported_and_the_notebook_stays_usable(packed):
    large = ("np.zeros(10**10)", "np.zeros(10**10 // 8)", "[0] * 10**9")
    full = "while True: kept.append(np.empty(2**25))"  # np.empty touches no page of memory
    cells = [*large, "kept = []", full, RIGHT]
    steps: list[Step] = [{"run": source, "cell": "own"} for source in (GIVEN, *cells)]
    _, *results, checked = in_node(packed, [*steps, {"check": "row_mean"}])["steps"]
    for source, result in zip(cells, results, strict=True):
        assert result["ok"] is (source not in (*large, full)), result
        if not result["ok"]:
            assert "make arrays smaller, or fewer" in error(result)["message"]
    assert checked["passed"]


@needs_pyodide
def test_in_the_page_64_bit_indices_get_advice(packed):
    source = "np.take(np.eye(3), np.array([1], dtype=np.int64))"
    steps: list[Step] = [{"run": source_, "cell": "own"} for source_ in (GIVEN, source)]
    message = error(in_node(packed, steps)["steps"][-1])
    assert ".astype(np.intp)" in message["message"]
