"""Test undocumented behaviour of other packages whose change would otherwise go unnoticed.

Examples are a function that the project replaces for safety, or the name under which a forbidden
call is recognised: if an upgrade changes it, a check no longer checks, and no other test fails.
Each test here names the file of the project that relies on the behaviour.
"""

import functools
import inspect
import io
import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[1]
NBGRADER = "autograder/nbgrader"


def relies(where, word, on):
    """Mark the test of a behaviour `on` which the file `where` relies in the code `word`."""

    def mark(test):
        @functools.wraps(test)
        def run(*arguments, **fixtures):
            text = (ROOT / where).read_text(encoding="utf-8")
            assert word in text, f"{where} no longer contains {word!r}: delete this test"
            try:
                test(*arguments, **fixtures)
            except (Exception, pytest.fail.Exception) as error:
                problem = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
                pytest.fail(f"{where} relies on this: {on}. It no longer holds: {problem}")

        return run

    return mark


# nbgrader


@relies(
    f"{NBGRADER}/preset.py",
    "NbGraderAPI.get_submitted_timestamp = ",
    "nbgrader reads the submission time with two methods, which are replaced",
)
def test_nbgrader_reads_the_submission_time_with_two_methods():
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    # They may be replaced by now, but must take these numbers of arguments.
    assert len(inspect.signature(NbGraderAPI.get_submitted_timestamp).parameters) == 3
    assert len(inspect.signature(CourseDirectory.get_existing_timestamp).parameters) == 2
    assert "self.get_submitted_timestamp(" in inspect.getsource(NbGraderAPI)
    from nbgrader.converters import base

    assert "coursedir.get_existing_timestamp(" in inspect.getsource(base)


# nbconvert


@relies(
    f"{NBGRADER}/preset.py",
    '"strip_files_prefix"',
    "nbconvert renders the pages of a submission with only these three filters",
)
def test_nbconvert_filters_that_render_student_text():
    from nbconvert.exporters.templateexporter import default_filters
    from nbgrader.server_extensions.formgrader import handlers

    assert {"markdown2html", "strip_files_prefix"} <= set(default_filters)
    page = Path(handlers.template_path, "formgrade", "index.html.j2").read_text(encoding="utf-8")
    filters = set(re.findall(r"\{\{\s*cell\.source\s*(\|[^}]*)\}\}", page))
    assert {chain.replace(" ", "") for chain in filters} == {
        "|markdown2html|strip_files_prefix",
        "|highlight_code(metadata=cell.metadata)",
    }


# Databases


@relies(
    f"{NBGRADER}/database.py",
    '"readonly database"',
    "SQLite's error contains “readonly database” if it may not write",
)
def test_sqlite_names_a_readonly_database(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE t (x)")
    reading = sqlite3.connect(f"file:{tmp_path / 'a.db'}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly database"):
        reading.execute("INSERT INTO t VALUES (1)")


# PyTorch, tested in a separate process because its imports are part of the behaviour


def run_with_torch(code):
    """Run code in a new Python after `import torch`; return the printed words."""
    process = subprocess.run(
        [sys.executable, "-c", f"import sys, torch\n{code}"], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr.strip().splitlines()[-1:]
    return process.stdout.split()


@relies(
    "autograder/probe/operators.py",
    '"_enable_record_function"',
    "only these four functions switch torch's profiler",
)
def test_torch_profiler_has_only_known_switches():
    words = run_with_torch("print(*(n for n in dir(torch._C._autograd) if 'able_' in n))")
    known = {"_enable_profiler_legacy", "_disable_profiler_legacy"}
    known |= {"_disable_profiler", "_enable_record_function"}
    assert known <= set(words)
    assert {name for name in words if "record_function" in name} <= known
    assert {name for name in words if name.startswith("_disable_profiler")} <= known


@relies(
    "autograder/probe/ready_made.py",
    '"torch._decomp.decompositions"',
    "torch's operators written in Python are functions of these modules",
)
def test_torch_python_operators_have_their_names():
    words = run_with_torch(
        "import torch._refs.nn.functional, torch._decomp.decompositions\n"
        "print(torch._refs.softmax.__name__, torch._refs.nn.functional.softmax.__name__,\n"
        "      torch._decomp.decompositions._softmax.__name__)"
    )
    assert words == ["softmax", "softmax", "_softmax"]


# Python


@relies(
    "autograder/probe/ready_made.py",
    '"_posixsubprocess.fork_exec"',
    "Python starts processes with these functions, and threads with `_thread.start_new_thread`",
)
def test_python_functions_that_start_processes_and_threads():
    import _posixsubprocess
    import _thread

    assert callable(_posixsubprocess.fork_exec)
    assert "_fork_exec(" in inspect.getsource(subprocess.Popen)
    names = threading.Thread.start.__code__.co_names
    assert {"_start_new_thread", "_start_joinable_thread"} & set(names)
    assert callable(_thread.start_new_thread)


# The kernel of a page


@relies(
    "book/_ext/course_build/kernels.py",
    "manager.provisioner.pid",
    "nbclient's kernel leads its own process group and starts with the given environment",
)
def test_kernel_leads_its_process_group(tmp_path):
    from nbclient import NotebookClient

    events = []
    sources = ["import os", "os.environ['CANARY']", "os.getpgid(0) == os.getpid()"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook,
        on_notebook_start=lambda notebook: events.append(client.km.provisioner.pid),
        on_cell_execute=lambda cell, cell_index: events.append(cell_index),
    )
    client.execute(cwd=str(tmp_path), env=dict(os.environ, CANARY="sings"))
    values = [cell.outputs[0].data["text/plain"] for cell in notebook.cells[1:]]
    assert values == ["'sings'", "True"]
    pid, *cells = events
    assert isinstance(pid, int)
    assert cells == [0, 1, 2]


# MyST-NB, MyST, Sphinx, docutils


@relies(
    "book/_ext/course_build/chapters.py",
    "read_myst_markdown_notebook(",
    "MyST-NB's reader of pages stores the line of each cell in `source_map`",
)
def test_mystnb_reader_records_the_source_map():
    from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
    from myst_parser.config.main import MdParserConfig

    head = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"
    text = f"{head}# T\n\n```{{code-cell}}\n1\n```\n"
    assert is_myst_markdown_notebook(text)
    read = read_myst_markdown_notebook(text, MdParserConfig(), add_source_map=True, path="a.md")
    assert [cell.cell_type for cell in read.cells] == ["markdown", "code"]
    assert read.metadata["source_map"] == [5, 8]


@relies(
    "book/_ext/course_html.py",
    "node.parent.column += 1",
    "docutils counts the columns of a row in `column` and gives a citation this role",
)
def test_docutils_counts_columns_and_names_roles():
    from docutils.writers import _html_base
    from sphinx.writers.html5 import HTML5Translator

    assert "node.parent.column += 1" in inspect.getsource(_html_base.HTMLTranslator.visit_entry)
    assert "doc-biblioentry" in inspect.getsource(_html_base.HTMLTranslator.visit_citation)
    assert issubclass(HTML5Translator, _html_base.HTMLTranslator)


@relies(
    "book/_ext/course_build/__main__.py",
    '"jupyter_book" in consequence',
    "Jupyter Book reports a failure of Sphinx by its own exception, chained to that of Sphinx",
)
def test_jupyter_book_chains_its_error_to_that_of_sphinx():
    from jupyter_book.cli import main

    assert re.search(r"raise RuntimeError\(.*\) from result", inspect.getsource(main))


# matplotlib


@relies(
    "book/_ext/figure_text.py",
    "UNITS = 64",
    "matplotlib writes text as outlines of 64 units, after a comment that holds the words",
)
def test_matplotlib_writes_svg_text_as_outlines():
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.id": "canary", "svg.fonttype": "path"}):
        figure = Figure(figsize=(2, 2))
        axes = figure.subplots()
        axes.set_ylabel("words")
        stream = io.StringIO()
        FigureCanvasSVG(figure).print_svg(stream)
    text = stream.getvalue()
    assert re.search(r'<svg[^>]* id="canary"', text)
    match = re.search(r"<!-- words -->\s*<g [^>]*transform=\"([^\"]*)\">(.*?)</g>", text, re.DOTALL)
    number = r"-?[\d.]+"
    place = rf"translate\({number} {number}\) rotate\(-90\) scale\(0\.1 -0\.1\)"
    assert re.fullmatch(place, match[1]), match[1]
    assert '<use xlink:href="#DejaVuSans-' in match[2]
    assert 'id="matplotlib.axis_2"' in text
    tall = re.search(r'<path id="DejaVuSans-6c" d="([^"]*)"', text)  # l, as tall as 76 of 100
    if tall:
        assert max(map(float, re.findall(r"-?\d+\.?\d*", tall[1]))) == pytest.approx(
            64 * 76, rel=0.01
        )
