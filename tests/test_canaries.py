"""Test each undocumented behaviour of other packages that the project relies on.

Examples are a name with an underscore, an attribute that the project replaces, a message that it
parses, or the form of an output. If an upgrade changes one, its test fails and names the file of
the project that relies on it.
"""

import functools
import inspect
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

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
    "module.glob = ",
    "three modules of nbgrader find files only with `glob.glob`",
)
def test_nbgrader_finds_files_with_glob():
    import nbgrader

    folder = Path(nbgrader.__file__).parent
    functions_by_file = {}
    for part in ("*.py", "apps/*.py", "converters/*.py", "preprocessors/*.py"):
        for path in folder.glob(part):
            text = path.read_text(encoding="utf-8")
            if re.search(r"^(import glob|from glob)", text, re.MULTILINE):
                functions_by_file[path.relative_to(folder).as_posix()] = set(
                    re.findall(r"\bglob\.(\w+)", text)
                )
    # This file belongs to the command `nbgrader validate`.
    validating = functions_by_file.pop("apps/validateapp.py", None)
    assert validating == {"glob"}
    assert set(functions_by_file) == {"apps/api.py", "converters/base.py", "utils.py"}
    assert set().union(*functions_by_file.values()) == {"glob"}


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


@relies(
    f"{NBGRADER}/feedback.py",
    "def _get_comment",
    "GetGrades gets the comment of an answer from `_get_comment` and its points from `_get_score`",
)
def test_nbgrader_gets_comments_and_points_from_two_private_methods():
    from nbgrader.preprocessors import GetGrades

    calls = []

    class Recording(GetGrades):
        def _get_comment(self, cell, resources):
            calls.append("comment")

        def _get_score(self, cell, resources):
            calls.append("score")

    marks = {"grade": True, "solution": True, "grade_id": "x", "schema_version": 3}
    cell = new_code_cell(metadata={"nbgrader": marks | {"locked": False, "task": False}})
    Recording().preprocess_cell(cell, {}, 0)
    assert calls == ["comment", "score"]


@relies(
    f"{NBGRADER}/feedback.py",
    "def init_destination",
    "GenerateFeedback calls three methods for each submission, which are overridden",
)
def test_nbgrader_calls_the_methods_that_the_feedback_overrides():
    from nbgrader.converters.base import BaseConverter

    whole = inspect.getsource(BaseConverter)
    parameters_by_method = {
        "init_single_notebook_resources": ["self", "notebook_filename"],
        "init_destination": ["self", "assignment_id", "student_id"],
        "write_single_notebook": ["self", "output", "resources"],
    }
    for name, parameters in parameters_by_method.items():
        assert list(inspect.signature(getattr(BaseConverter, name)).parameters) == parameters
        assert f"self.{name}(" in whole, name
    assert "self.notebooks" in whole


@relies(f"{NBGRADER}/entries.py", "No response.", "nbgrader calls an empty answer “No response.”")
def test_nbgrader_calls_an_empty_answer_no_response():
    from nbgrader.preprocessors import SaveAutoGrades

    assert '"No response."' in inspect.getsource(SaveAutoGrades)


@relies(
    f"{NBGRADER}/entries.py",
    "api.Grade.__table__",
    "nbgrader's tables require only these columns for a row of a submission",
)
def test_nbgrader_tables_require_only_known_columns():
    from nbgrader import api

    needed = {
        api.Student: {"id"},
        api.SubmittedAssignment: {"student_id", "assignment_id"},
        api.SubmittedNotebook: {"assignment_id", "notebook_id"},
        api.Grade: {"notebook_id", "cell_id", "needs_manual_grade"},
        api.Comment: {"notebook_id", "cell_id"},
    }
    written = {
        api.SubmittedAssignment: {"timestamp"},
        api.Grade: {"auto_score", "manual_score"},
        api.Comment: {"auto_comment"},
    }
    for model, names in needed.items():
        columns = model.__table__.columns
        required = {
            column.name for column in columns if not column.nullable and column.default is None
        }
        assert required - {"id"} <= names, f"{model.__name__} requires more columns"
        assert names | written.get(model, set()) <= set(columns.keys()), model.__name__


@relies(
    f"{NBGRADER}/gradebook.py",
    "dbutil.ALEMBIC_DIR",
    "the migrations of nbgrader's tables are in ALEMBIC_DIR, and alembic_version holds the head",
)
def test_nbgrader_migrations_are_in_alembic_dir():
    from nbgrader import api, dbutil

    assert Path(dbutil.ALEMBIC_DIR, "env.py").is_file()
    assert len(list(Path(dbutil.ALEMBIC_DIR, "versions").glob("*.py"))) > 0
    assert "alembic_version" in inspect.getsource(api.Gradebook)


@relies(
    "autograder/plugin.py",
    '(resources or {})["nbgrader"]',
    "autograde passes the student, the assignment and itself as parent to its exporter",
)
def test_nbgrader_passes_student_and_assignment_to_the_exporter():
    from nbgrader.converters.base import BaseConverter

    source = inspect.getsource(BaseConverter.init_single_notebook_resources)
    assert "resources['nbgrader']['student']" in source
    assert "resources['nbgrader']['assignment']" in source
    assert "self.exporter_class(parent=self" in inspect.getsource(BaseConverter)
    converted = inspect.getsource(BaseConverter.convert_single_notebook)
    assert "self.exporter.from_filename(" in converted


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


@relies(
    f"{NBGRADER}/markup.py",
    "IPythonRenderer, MarkdownWithMath",
    "nbconvert's Markdown parser takes a renderer, whose `image` renders pictures",
)
def test_nbconvert_markdown_renderer_can_be_subclassed():
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Showing(IPythonRenderer):
        def image(self, text, url, title=None):
            return f"[{text}, {url}, {title}]"

    renderer = Showing(escape=False, exclude_anchor_links=True)
    html = MarkdownWithMath(renderer=renderer).render("# T\n\n![a](b 'c') <i>d</i>")
    assert html == "<h1>T</h1>\n<p>[a, b, c] <i>d</i></p>\n"


@relies(
    f"{NBGRADER}/pages/marking/mathjax.html.j2",
    "macro mathjax",
    "nbgrader's page loads MathJax through the macro `mathjax` of its template folders",
)
def test_nbgrader_marking_page_calls_the_mathjax_macro():
    from nbgrader.server_extensions.formgrader import handlers

    page = Path(handlers.template_path, "formgrade", "index.html.j2").read_text(encoding="utf-8")
    assert page.count("mathjax(") == 1
    assert "panel-body" in page
    assert "block markdowncell scoped" in page


@relies(
    f"{NBGRADER}/pages/marking/marking.js",
    "CommentUI.prototype.initialize",
    "nbgrader's page creates a CommentUI for each answer and calls MathJax in one place",
)
def test_nbgrader_marking_scripts_use_comment_ui():
    from nbgrader.server_extensions.formgrader import handlers

    folder = Path(handlers.static_path, "js")
    assert "new CommentUI({" in (folder / "formgrade.js").read_text(encoding="utf-8")
    calls = re.findall(
        r"MathJax\.(\w[\w.]*)", (folder / "formgrade.js").read_text(encoding="utf-8")
    )
    assert set(calls) == {"loaded", "Hub.Startup.signal.Interest"}
    models = (folder / "formgrade_models.js").read_text(encoding="utf-8")
    assert 'this.$comment.attr("placeholder"' in models
    assert 'get("auto_comment")' in models


@relies(
    f"{NBGRADER}/formulas.py",
    "latex2mathml import tex2mathml",
    "docutils converts LaTeX to MathML and raises MathError for unknown commands",
)
def test_docutils_converts_latex_to_mathml():
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    assert "<mi>x</mi>" in tex2mathml("x", as_block=True)
    with pytest.raises(MathError):
        tex2mathml(r"\nosuch")


# Databases


@relies(
    f"{NBGRADER}/database.py",
    '"readonly database"',
    "SQLite errors contain “locked” or “readonly database” if it cannot write",
)
def test_sqlite_error_messages(tmp_path):
    path = tmp_path / "a.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE t (x)")
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        sqlite3.connect(path, timeout=0).execute("INSERT INTO t VALUES (1)")
    writer.rollback()
    reading = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly database"):
        reading.execute("INSERT INTO t VALUES (1)")


# rich, dask


@relies(
    "autograder/course/lines.py",
    "from rich.cells",
    "rich.cells measures, cuts and pads text by its width on a terminal",
)
def test_rich_measures_text_in_cells():
    from rich.cells import cell_len, chop_cells, set_cell_size

    assert cell_len("日本") == 4
    assert chop_cells("日本語", 4) == ["日本", "語"]
    assert set_cell_size("ab", 3) == "ab "


@relies(
    "autograder/grading/cluster.py",
    "get_address_host_port",
    "dask raises ValueError for an invalid address and reports a worker's resources",
)
def test_dask_validates_addresses_and_reports_resources():
    from distributed import Client, Worker
    from distributed.comm.addressing import get_address_host_port
    from distributed.scheduler import WorkerState

    with pytest.raises(ValueError, match="address"):
        get_address_host_port("tcp://nowhere")
    assert "on_error" in inspect.signature(Client.run).parameters
    assert callable(Worker.set_resources)
    assert '"resources": self.resources' in inspect.getsource(WorkerState.identity)


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
    "_enable_profiler_legacy",
    "torch's legacy profiler can be switched on and off for a thread; without it, forbidden "
    "operators of an answer are not detected",
)
def test_torch_profiler_can_be_switched_on_and_off():
    words = run_with_torch(
        "inside = torch._C\n"
        "autograd, profiler = inside._autograd, inside._profiler\n"
        "config = profiler.ProfilerConfig(profiler.ProfilerState.CPU, False, False, False, False,\n"
        "    False, profiler._ExperimentalConfig())\n"
        "autograd._enable_profiler_legacy(config)\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "torch.softmax(x, -1).sum().backward()\n"
        "for part in autograd._disable_profiler_legacy():\n"
        "    for event in part:\n"
        "        print(autograd.ProfilerEvent.name(event).split(':')[0] + '::' * (\n"
        "            autograd.ProfilerEvent.name(event).startswith('autograd::engine::')))\n"
        "try:\n"
        "    autograd._disable_profiler_legacy()\n"
        "except RuntimeError:\n"
        "    print('refused')\n"
    )
    assert "aten" in words
    assert "autograd::" in words, "the engine has a different name"
    assert words[-1] == "refused", "disabling an inactive profiler must be an error"


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


@relies(
    "autograder/probe/torch_probe.py",
    "_execution_engine.run_backward",
    "torch's C++ layer provides gradients and arrays independently of patches in Python",
)
def test_torch_engine_is_reachable_below_python():
    words = run_with_torch(
        "x = torch.ones(2, requires_grad=True)\n"
        "run = torch.autograd.Variable._execution_engine.run_backward\n"
        "total = (x * x).sum()\n"
        "(gradient,) = run((total,), (torch.ones_like(total),), False, False, (x,),\n"
        "    allow_unreachable=True, accumulate_grad=False)\n"
        "print(torch._C.TensorBase.numpy(gradient, force=True).tolist())\n"
        "torch._C._set_grad_enabled(False)\n"
        "print(torch.is_grad_enabled())"
    )
    assert words == ["[2.0,", "2.0]", "False"]


@relies(
    "autograder/probe/calling.py",
    '"DefaultCPUAllocator"',
    "torch names its DefaultCPUAllocator when memory runs out",
)
def test_torch_out_of_memory_message():
    words = run_with_torch(
        "try:\n    torch.empty(2**60)\nexcept RuntimeError as error:\n    print(error)\n"
    )
    assert any("DefaultCPUAllocator" in word for word in words)


@relies(
    "autograder/sandbox/backends.py",
    '"torch._dynamo"',
    "torch imports `torch._dynamo` with the first optimiser and not before",
)
def test_torch_imports_dynamo_with_the_first_optimiser():
    words = run_with_torch(
        "print('torch._dynamo' in sys.modules)\n"
        "torch.optim.SGD([torch.zeros(1, requires_grad=True)])\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert words == ["False", "True"]


@relies(
    "solutions/experiments/cost/measuring.py",
    "torch.utils._python_dispatch",
    "a TorchDispatchMode sees every operator",
)
def test_torch_dispatch_mode_sees_every_operator():
    words = run_with_torch(
        "from torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Mode(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
        "        print(func)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "x = torch.ones(2, 2)\n"
        "with Mode():\n    x @ x\n"
    )
    assert words == ["aten.mm.default"]


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


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Return a notebook executed by nbclient and the arguments of its hooks."""
    from nbclient import NotebookClient

    events = []
    sources = ["import os", "os.environ['CANARY']", "os.getpgid(0) == os.getpid()"]
    sources += ["from myst_nb import glue", "glue('share', 0.5, display=False)"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(
        notebook,
        on_notebook_start=lambda notebook: events.append(client.km.provisioner.pid),
        on_cell_execute=lambda cell, cell_index: events.append(cell_index),
    )
    environment = dict(os.environ, CANARY="sings")
    client.execute(cwd=str(tmp_path_factory.mktemp("desk")), env=environment)
    return notebook, events


@relies(
    "book/_ext/course_build/kernels.py",
    "manager.provisioner.pid",
    "nbclient's kernel leads its own process group and starts with the given environment",
)
def test_kernel_leads_its_process_group(executed):
    notebook, (pid, *cells) = executed
    values = [cell.outputs[0].data["text/plain"] for cell in notebook.cells[1:3]]
    assert values == ["'sings'", "True"]
    assert isinstance(pid, int)
    assert cells == [0, 1, 2, 3, 4]


@relies(
    "book/_ext/course_build/outputs.py",
    '"application/papermill.record/"',
    "MyST-NB's glue creates an output of this type, with its name in the metadata `scrapbook`",
)
def test_glue_output_type(executed):
    notebook, _ = executed
    (output,) = notebook.cells[-1].outputs
    assert list(output.data) == ["application/papermill.record/text/plain"]
    assert output.metadata["scrapbook"]["name"] == "share"


# MyST-NB, MyST, Sphinx, docutils


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return facts about a site of two pages built by Sphinx with the book's extensions."""
    folder = tmp_path_factory.mktemp("site")
    source = folder / "source"
    source.mkdir()
    (source / "conf.py").write_text(
        "extensions = ['myst_nb', 'sphinx_external_toc']\n"
        "nb_execution_mode = 'off'\n"
        "myst_enable_extensions = ['dollarmath']\n"
        "numfig = True\n"
        "def skip_the_index(app):\n"
        "    app.builder.search = False\n"
        "def setup(app):\n"
        "    app.connect('builder-inited', skip_the_index)\n"
    )
    (source / "_toc.yml").write_text(
        "root: index\nsubtrees:\n- caption: Part\n  numbered: true\n  entries:\n  - file: one\n"
    )
    (source / "index.md").write_text("# The book\n")
    cell = new_code_cell("assert True", metadata={"tags": ["hide-input"]})
    cell.outputs = [new_output("stream", text="said")]
    text = "# One\n\n## Two\n\n$x$\n\n```{figure} a.png\nA figure.\n```\n"
    notebook = new_notebook(cells=[nbformat.v4.new_markdown_cell(text), cell])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, source / "one.ipynb")
    picture = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
    (source / "a.png").write_bytes(picture)
    (folder / "build.py").write_text(BUILD)
    process = subprocess.run(
        [sys.executable, "build.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, (
        f"Sphinx lacks an attribute that BUILD and book/_ext read: {process.stderr}"
    )
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return facts | {"page": (folder / "html" / "one.html").read_text(encoding="utf-8")}


BUILD = """\
import json
from docutils import nodes
from sphinx.application import Sphinx

facts = {}

def before(app, page, template, context, doctree):
    if page == 'one':
        facts['scripts'] = [str(script.filename) for script in context['script_files']]

app = Sphinx('source', 'source', 'html', 'doctrees', 'html', status=None, parallel=0)
app.connect('html-page-context', before, priority=900)
app.build()
env = app.env
facts['figures'] = env.toc_fignumbers['one']
facts['sections'] = env.toc_secnumbers['one']
facts['title'] = env.titles['one'].astext()
facts['contents'] = env.tocs['one'].pformat()
site = env.config.external_site_map
tree, = site.root.subtrees
facts['site'] = [tree.caption, bool(tree.numbered), [str(item) for item in tree.items]]
facts['settings'] = sorted(vars(env.mystnb_config)) + [type(env.myst_config).__name__]
document = env.get_doctree('one')
facts['cells'] = [dict(cell.attributes) for cell in document.findall(nodes.container)]
facts['listeners'] = {
    name: [[it.priority, it.handler.__qualname__] for it in app.events.listeners.get(name, [])]
    for name in ('env-get-updated',)
}
facts['rendered'] = callable(app.builder.templates.render)
json.dump(facts, open('facts.json', 'w'), default=str)
"""


@relies(
    "book/_ext/course_folds.py",
    'cell["prompt_show"]',
    "MyST-NB marks a cell with hidden code by `hide_mode` and `prompt_show`",
)
def test_mystnb_attributes_of_hidden_code(site):
    marked = [cell for cell in site["cells"] if cell.get("hide_mode")]
    assert [(container["hide_mode"], container["prompt_show"]) for container in marked] == [
        ("input", "Show code cell {type}")
    ]


@relies(
    "book/_web/styles/code.css",
    ".cell_input",
    "MyST-NB gives a cell the class `cell`, with `cell_input` and `cell_output` inside",
)
def test_mystnb_classes_of_a_cell(site):
    classes = [name for cell in site["cells"] for name in cell["classes"]]
    assert {"cell", "cell_input", "cell_output"} <= set(classes)


@relies(
    "book/_ext/course_build/__init__.py",
    'stored["mystnb_config"] = replace(',
    "MyST-NB reads its settings, including readers of pages, from `env.mystnb_config`",
)
def test_mystnb_reads_its_settings_from_the_environment(site):
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    assert {"custom_formats", "MdParserConfig"} <= set(site["settings"])
    own = NbParserConfig(custom_formats={"/a.md": ("builtins.dict", {"extra": 1}, False)})
    reader = create_nb_reader("/book/a.md", MdParserConfig(), own, [("text", "x")])
    assert reader.read([("text", "x")]) == {"text": "x", "extra": 1}


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
    "book/_ext/course_reading.py",
    '"myst_role"',
    "MyST's tokens for formulas, boxes and roles have these names",
)
def test_names_of_myst_tokens():
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    extensions = {"amsmath", "colon_fence", "dollarmath"}
    parser = create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)
    text = (
        "$$x$$\n\n$$y$$ (a)\n\n:::{note}\nx\n:::\n\n\\begin{align}a\\end{align}\n\n{doc}`x` $a$ `c`"
    )
    tokens = parser.parse(text)
    types = {token.type for token in tokens}
    assert {"math_block", "math_block_label", "colon_fence", "amsmath"} <= types
    inline = {child.type for token in tokens for child in token.children or ()}
    assert {"myst_role", "math_inline", "code_inline"} <= inline


@relies(
    "book/_ext/course_numbers.py",
    "env.toc_fignumbers = ",
    "Sphinx numbers figures and chapters in `env-get-updated` at priority 500, in these attributes",
)
def test_sphinx_attributes_of_figure_and_section_numbers(site):
    assert site["sections"] == {"": [1], "#two": [1, 1]}
    ((kind, numbers),) = site["figures"].items()
    assert (kind, list(numbers.values())) == ("figure", [[1, 1]])
    numbering = [at for at, name in site["listeners"]["env-get-updated"] if name.startswith("Env")]
    assert set(numbering) == {500}


@relies(
    "book/_ext/course_contents.py",
    "env.config.external_site_map",
    "sphinx-external-toc stores the contents in the configuration, and Sphinx those of a page in "
    "`tocs`",
)
def test_sphinx_attributes_of_the_contents(site):
    assert site["site"] == ["Part", True, ["one"]]
    assert site["title"] == "One"
    assert 'anchorname="#two"' in site["contents"]


@relies(
    "book/_ext/course_site.py",
    "str(script.filename)",
    "a script of a page has a file name",
)
def test_sphinx_scripts_have_file_names(site):
    assert any(name.endswith(".js") for name in site["scripts"])


@relies(
    "book/_ext/course_search.py",
    'vars(app.builder)["search"] = False',
    "Sphinx writes no search index if its builder's `search` is false",
)
def test_sphinx_can_omit_its_search_index(site):
    from sphinx.builders.html import StandaloneHTMLBuilder

    assert StandaloneHTMLBuilder.search is True
    assert "searchindex.js" not in site["page"]


@relies(
    "book/_web/styles/text.css",
    ".headerlink",
    "Sphinx links a heading with class `headerlink` and marks its number as `section-number`",
)
def test_sphinx_classes_of_a_heading(site):
    assert 'class="headerlink"' in site["page"]
    assert 'class="section-number"' in site["page"]


@relies(
    "book/_ext/course_front.py",
    "builder.templates.render(",
    "Sphinx's HTML builder renders templates with `templates.render`",
)
def test_sphinx_renders_templates(site):
    assert site["rendered"] is True


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
