"""What we lean on in other packages without a promise of theirs: one small test for each.

A name with an underscore, an attribute that we replace, words of theirs that we read, the shape of
what they write. An upgrade that changes it fails here, and the message says which file of ours
leaned on it, and on what.
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


def leans(where, word, on):
    """Mark the canary of a file of ours, `where`, in which `word` shows that it leans on it."""

    def mark(test):
        @functools.wraps(test)
        def run(*arguments, **fixtures):
            text = (ROOT / where).read_text(encoding="utf-8")
            assert word in text, f"{where} no longer says {word!r}: take this canary away"
            try:
                test(*arguments, **fixtures)
            except (Exception, pytest.fail.Exception) as error:
                found = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
                pytest.fail(f"{where} leans on it that {on}. It is so no longer: {found}")

        return run

    return mark


# nbgrader


@leans(
    f"{NBGRADER}/preset.py",
    "module.glob = ",
    "three modules of nbgrader look for files by `glob.glob` alone",
)
def test_nbgrader_looks_for_files_by_glob():
    import nbgrader

    folder = Path(nbgrader.__file__).parent
    theirs = {}
    for part in ("*.py", "apps/*.py", "converters/*.py", "preprocessors/*.py"):
        for path in folder.glob(part):
            text = path.read_text(encoding="utf-8")
            if re.search(r"^(import glob|from glob)", text, re.MULTILINE):
                theirs[path.relative_to(folder).as_posix()] = set(
                    re.findall(r"\bglob\.(\w+)", text)
                )
    validating = theirs.pop("apps/validateapp.py", None)  # the command `nbgrader validate`
    assert validating == {"glob"}
    assert set(theirs) == {"apps/api.py", "converters/base.py", "utils.py"}
    assert set().union(*theirs.values()) == {"glob"}


@leans(
    f"{NBGRADER}/preset.py",
    "NbGraderAPI.get_submitted_timestamp = ",
    "nbgrader asks for the time of submission by two methods, which are replaced",
)
def test_nbgrader_asks_two_methods_for_the_time_of_submission():
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    # Bound as methods are, with these numbers of arguments, whoever has replaced them by now.
    assert len(inspect.signature(NbGraderAPI.get_submitted_timestamp).parameters) == 3
    assert len(inspect.signature(CourseDirectory.get_existing_timestamp).parameters) == 2
    assert "self.get_submitted_timestamp(" in inspect.getsource(NbGraderAPI)
    from nbgrader.converters import base

    assert "coursedir.get_existing_timestamp(" in inspect.getsource(base)


@leans(
    f"{NBGRADER}/feedback.py",
    "def _get_comment",
    "GetGrades asks `_get_comment` for the comment of an answer and `_get_score` for its points",
)
def test_nbgrader_asks_two_private_methods_for_comments_and_points():
    from nbgrader.preprocessors import GetGrades

    asked = []

    class Noting(GetGrades):
        def _get_comment(self, cell, resources):
            asked.append("comment")

        def _get_score(self, cell, resources):
            asked.append("score")

    marks = {"grade": True, "solution": True, "grade_id": "x", "schema_version": 3}
    cell = new_code_cell(metadata={"nbgrader": marks | {"locked": False, "task": False}})
    Noting().preprocess_cell(cell, {}, 0)
    assert asked == ["comment", "score"]


@leans(
    f"{NBGRADER}/feedback.py",
    "def init_destination",
    "GenerateFeedback goes through three methods for each submission, which are overridden",
)
def test_nbgrader_goes_through_the_methods_that_the_feedback_overrides():
    from nbgrader.converters.base import BaseConverter

    whole = inspect.getsource(BaseConverter)
    taken = {
        "init_single_notebook_resources": ["self", "notebook_filename"],
        "init_destination": ["self", "assignment_id", "student_id"],
        "write_single_notebook": ["self", "output", "resources"],
    }
    for name, parameters in taken.items():
        assert list(inspect.signature(getattr(BaseConverter, name)).parameters) == parameters
        assert f"self.{name}(" in whole, name
    assert "self.notebooks" in whole


@leans(f"{NBGRADER}/entries.py", "No response.", "nbgrader calls an empty answer “No response.”")
def test_nbgraders_words_for_an_empty_answer():
    from nbgrader.preprocessors import SaveAutoGrades

    assert '"No response."' in inspect.getsource(SaveAutoGrades)


@leans(
    f"{NBGRADER}/entries.py",
    "api.Grade.__table__",
    "these columns are all that nbgrader's tables need for a row of a submission",
)
def test_the_columns_of_nbgraders_tables():
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
        asked = {one.name for one in columns if not one.nullable and one.default is None}
        assert asked - {"id"} <= names, f"{model.__name__} asks for more"
        assert names | written.get(model, set()) <= set(columns.keys()), model.__name__


@leans(
    f"{NBGRADER}/gradebook.py",
    "dbutil.ALEMBIC_DIR",
    "the migrations of nbgrader's tables are in ALEMBIC_DIR, their head in alembic_version",
)
def test_where_nbgraders_migrations_are():
    from nbgrader import api, dbutil

    assert Path(dbutil.ALEMBIC_DIR, "env.py").is_file()
    assert len(list(Path(dbutil.ALEMBIC_DIR, "versions").glob("*.py"))) > 0
    assert "alembic_version" in inspect.getsource(api.Gradebook)


@leans(
    "autograder/plugin.py",
    '(resources or {})["nbgrader"]',
    "autograde gives its exporter the student and the assignment, and itself as parent",
)
def test_what_nbgrader_gives_the_exporter_of_autograde():
    from nbgrader.converters.base import BaseConverter

    told = inspect.getsource(BaseConverter.init_single_notebook_resources)
    assert "resources['nbgrader']['student']" in told
    assert "resources['nbgrader']['assignment']" in told
    assert "self.exporter_class(parent=self" in inspect.getsource(BaseConverter)
    converted = inspect.getsource(BaseConverter.convert_single_notebook)
    assert "self.exporter.from_filename(" in converted


# nbconvert


@leans(
    f"{NBGRADER}/preset.py",
    '"strip_files_prefix"',
    "the pages of a submission go through these three filters of nbconvert's alone",
)
def test_the_filters_that_make_html_of_a_students_text():
    from nbconvert.exporters.templateexporter import default_filters
    from nbgrader.server_extensions.formgrader import handlers

    assert {"markdown2html", "strip_files_prefix"} <= set(default_filters)
    page = Path(handlers.template_path, "formgrade", "index.html.j2").read_text(encoding="utf-8")
    shown = set(re.findall(r"\{\{\s*cell\.source\s*(\|[^}]*)\}\}", page))
    assert {one.replace(" ", "") for one in shown} == {
        "|markdown2html|strip_files_prefix",
        "|highlight_code(metadata=cell.metadata)",
    }


@leans(
    f"{NBGRADER}/markup.py",
    "IPythonRenderer, MarkdownWithMath",
    "nbconvert's Markdown is a parser that takes a renderer, whose `image` makes the pictures",
)
def test_nbconverts_renderer_of_markdown():
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Noting(IPythonRenderer):
        def image(self, text, url, title=None):
            return f"[{text}, {url}, {title}]"

    renderer = Noting(escape=False, exclude_anchor_links=True)
    shown = MarkdownWithMath(renderer=renderer).render("# T\n\n![a](b 'c') <i>d</i>")
    assert shown == "<h1>T</h1>\n<p>[a, b, c] <i>d</i></p>\n"


@leans(
    f"{NBGRADER}/pages/marking/mathjax.html.j2",
    "macro mathjax",
    "nbgrader's page takes what draws formulas from the macro `mathjax` of its folders",
)
def test_nbgraders_page_for_marking_calls_a_macro():
    from nbgrader.server_extensions.formgrader import handlers

    page = Path(handlers.template_path, "formgrade", "index.html.j2").read_text(encoding="utf-8")
    assert page.count("mathjax(") == 1
    assert "panel-body" in page
    assert "block markdowncell scoped" in page


@leans(
    f"{NBGRADER}/pages/marking/marking.js",
    "CommentUI.prototype.initialize",
    "nbgrader's page makes a CommentUI for each answer, and calls MathJax at one place",
)
def test_nbgraders_scripts_of_the_page_for_marking():
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


@leans(
    f"{NBGRADER}/formulas.py",
    "latex2mathml import tex2mathml",
    "docutils makes MathML of LaTeX, and a MathError of what it does not know",
)
def test_docutils_makes_mathml():
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    assert "<mi>x</mi>" in tex2mathml("x", as_block=True)
    with pytest.raises(MathError):
        tex2mathml(r"\nosuch")


# Databases


@leans(
    f"{NBGRADER}/database.py",
    '"readonly database"',
    "SQLite says “locked” and “readonly database” where it may not write",
)
def test_what_sqlite_says(tmp_path):
    path = tmp_path / "a.db"
    one = sqlite3.connect(path, isolation_level=None)
    one.execute("CREATE TABLE t (x)")
    one.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        sqlite3.connect(path, timeout=0).execute("INSERT INTO t VALUES (1)")
    one.rollback()
    reading = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly database"):
        reading.execute("INSERT INTO t VALUES (1)")


# rich, dask


@leans(
    "autograder/course/lines.py",
    "from rich.cells",
    "rich.cells measures, cuts and pads text by the places that it takes on a terminal",
)
def test_the_cells_of_rich():
    from rich.cells import cell_len, chop_cells, set_cell_size

    assert cell_len("日本") == 4
    assert chop_cells("日本語", 4) == ["日本", "語"]
    assert set_cell_size("ab", 3) == "ab "


@leans(
    "autograder/grading/cluster.py",
    "get_address_host_port",
    "dask tells by a ValueError that an address is none, and names a worker's resources",
)
def test_what_dask_says_of_addresses_and_workers():
    from distributed import Client, Worker
    from distributed.comm.addressing import get_address_host_port
    from distributed.scheduler import WorkerState

    with pytest.raises(ValueError, match="address"):
        get_address_host_port("tcp://nowhere")
    assert "on_error" in inspect.signature(Client.run).parameters
    assert callable(Worker.set_resources)
    assert '"resources": self.resources' in inspect.getsource(WorkerState.identity)


# PyTorch, which is asked in a process of its own: what it loads, and when, is part of it


def torch_says(code):
    """What the code prints in a Python in which `torch` is imported."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, torch\n{code}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr.strip().splitlines()[-1:]
    return done.stdout.split()


@leans(
    "autograder/probe/operators.py",
    "_enable_profiler_legacy",
    "torch's own recorder can be switched on and off for a thread; without it, nobody sees what an "
    "answer runs that is forbidden",
)
def test_torchs_recorder():
    said = torch_says(
        "inside = torch._C\n"
        "autograd, profiler = inside._autograd, inside._profiler\n"
        "config = profiler.ProfilerConfig(profiler.ProfilerState.CPU, False, False, False, False,\n"
        "    False, profiler._ExperimentalConfig())\n"
        "autograd._enable_profiler_legacy(config)\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "torch.softmax(x, -1).sum().backward()\n"
        "for part in autograd._disable_profiler_legacy():\n"
        "    for one in part:\n"
        "        print(autograd.ProfilerEvent.name(one).split(':')[0] + '::' * (\n"
        "            autograd.ProfilerEvent.name(one).startswith('autograd::engine::')))\n"
        "try:\n"
        "    autograd._disable_profiler_legacy()\n"
        "except RuntimeError:\n"
        "    print('refused')\n"
    )
    assert "aten" in said
    assert "autograd::" in said, "the engine has another name"
    assert said[-1] == "refused", "a recorder that was ended can be ended again"


@leans(
    "autograder/probe/operators.py",
    '"_enable_record_function"',
    "these four switch torch's recorder, and no others",
)
def test_the_switches_of_torchs_recorder():
    said = torch_says("print(*(n for n in dir(torch._C._autograd) if 'able_' in n))")
    known = {"_enable_profiler_legacy", "_disable_profiler_legacy"}
    known |= {"_disable_profiler", "_enable_record_function"}
    assert known <= set(said)
    assert {name for name in said if "record_function" in name} <= known
    assert {name for name in said if name.startswith("_disable_profiler")} <= known


@leans(
    "autograder/probe/ready_made.py",
    '"torch._decomp.decompositions"',
    "torch's operators in Python are functions of these modules",
)
def test_torchs_operators_in_python():
    said = torch_says(
        "import torch._refs.nn.functional, torch._decomp.decompositions\n"
        "print(torch._refs.softmax.__name__, torch._refs.nn.functional.softmax.__name__,\n"
        "      torch._decomp.decompositions._softmax.__name__)"
    )
    assert said == ["softmax", "softmax", "_softmax"]


@leans(
    "autograder/probe/torch_probe.py",
    "_execution_engine.run_backward",
    "gradients, arrays and their switch can be had from torch's C++, whatever Python has patched",
)
def test_torchs_own_engine():
    said = torch_says(
        "x = torch.ones(2, requires_grad=True)\n"
        "run = torch.autograd.Variable._execution_engine.run_backward\n"
        "total = (x * x).sum()\n"
        "(found,) = run((total,), (torch.ones_like(total),), False, False, (x,),\n"
        "    allow_unreachable=True, accumulate_grad=False)\n"
        "print(torch._C.TensorBase.numpy(found, force=True).tolist())\n"
        "torch._C._set_grad_enabled(False)\n"
        "print(torch.is_grad_enabled())"
    )
    assert said == ["[2.0,", "2.0]", "False"]


@leans(
    "autograder/probe/calling.py",
    '"DefaultCPUAllocator"',
    "torch names its DefaultCPUAllocator where memory is out",
)
def test_what_torch_says_where_memory_is_out():
    said = torch_says(
        "try:\n    torch.empty(2**60)\nexcept RuntimeError as error:\n    print(error)\n"
    )
    assert any("DefaultCPUAllocator" in word for word in said)


@leans(
    "autograder/sandbox/backends.py",
    '"torch._dynamo"',
    "torch loads `torch._dynamo` with the first optimiser, and no sooner",
)
def test_what_torch_loads_with_an_optimiser():
    said = torch_says(
        "print('torch._dynamo' in sys.modules)\n"
        "torch.optim.SGD([torch.zeros(1, requires_grad=True)])\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert said == ["False", "True"]


@leans(
    "solutions/experiments/cost/measuring.py",
    "torch.utils._python_dispatch",
    "a TorchDispatchMode sees every operator",
)
def test_torchs_dispatch_mode():
    said = torch_says(
        "from torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Mode(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
        "        print(func)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "x = torch.ones(2, 2)\n"
        "with Mode():\n    x @ x\n"
    )
    assert said == ["aten.mm.default"]


# Python


@leans(
    "autograder/probe/ready_made.py",
    '"_posixsubprocess.fork_exec"',
    "Python begins processes by these functions, and threads by `_thread.start_new_thread`",
)
def test_what_begins_processes_and_threads():
    import _posixsubprocess
    import _thread

    assert callable(_posixsubprocess.fork_exec)
    assert "_fork_exec(" in inspect.getsource(subprocess.Popen)
    begins = threading.Thread.start.__code__.co_names
    assert {"_start_new_thread", "_start_joinable_thread"} & set(begins)
    assert callable(_thread.start_new_thread)


# The kernel of a page


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that nbclient has executed, and what its hooks were told."""
    from nbclient import NotebookClient

    told = []
    sources = ["import os", "os.environ['CANARY']", "os.getpgid(0) == os.getpid()"]
    sources += ["from myst_nb import glue", "glue('share', 0.5, display=False)"]
    notebook = new_notebook(cells=[new_code_cell(one) for one in sources])
    client = NotebookClient(
        notebook,
        on_notebook_start=lambda notebook: told.append(client.km.provisioner.pid),
        on_cell_execute=lambda cell, cell_index: told.append(cell_index),
    )
    environment = dict(os.environ, CANARY="sings")
    client.execute(cwd=str(tmp_path_factory.mktemp("desk")), env=environment)
    return notebook, told


@leans(
    "book/_ext/course_build/kernels.py",
    "km.provisioner.pid",
    "nbclient's kernel leads a process group of its own, and begins with the given environment",
)
def test_a_kernel_leads_its_own_group(executed):
    notebook, (pid, *cells) = executed
    shown = [one.outputs[0].data["text/plain"] for one in notebook.cells[1:3]]
    assert shown == ["'sings'", "True"]
    assert isinstance(pid, int)
    assert cells == [0, 1, 2, 3, 4]


@leans(
    "book/_ext/course_build/outputs.py",
    '"application/papermill.record/"',
    "MyST-NB's glue is an output of this type, with its name in the metadata `scrapbook`",
)
def test_what_glue_displays(executed):
    notebook, _ = executed
    (output,) = notebook.cells[-1].outputs
    assert list(output.data) == ["application/papermill.record/text/plain"]
    assert output.metadata["scrapbook"]["name"] == "share"


# MyST-NB, MyST, Sphinx, docutils


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of two pages that Sphinx has written with what the book uses of it."""
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
    told = "# One\n\n## Two\n\n$x$\n\n```{figure} a.png\nA figure.\n```\n"
    notebook = new_notebook(cells=[nbformat.v4.new_markdown_cell(told), cell])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, source / "one.ipynb")
    picture = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
    (source / "a.png").write_bytes(picture)
    (folder / "build.py").write_text(BUILD)
    done = subprocess.run(
        [sys.executable, "build.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (
        f"Sphinx has no longer what BUILD, and book/_ext, read: {done.stderr}"
    )
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    return told | {"page": (folder / "html" / "one.html").read_text(encoding="utf-8")}


BUILD = """\
import json
from docutils import nodes
from sphinx.application import Sphinx

told = {}

def before(app, page, template, context, doctree):
    if page == 'one':
        told['scripts'] = [str(script.filename) for script in context['script_files']]

app = Sphinx('source', 'source', 'html', 'doctrees', 'html', status=None, parallel=0)
app.connect('html-page-context', before, priority=900)
app.build()
env = app.env
told['figures'] = env.toc_fignumbers['one']
told['sections'] = env.toc_secnumbers['one']
told['title'] = env.titles['one'].astext()
told['contents'] = env.tocs['one'].pformat()
site = env.config.external_site_map
tree, = site.root.subtrees
told['site'] = [tree.caption, bool(tree.numbered), [str(one) for one in tree.items]]
told['settings'] = sorted(vars(env.mystnb_config)) + [type(env.myst_config).__name__]
document = env.get_doctree('one')
told['cells'] = [dict(cell.attributes) for cell in document.findall(nodes.container)]
told['listeners'] = {
    name: [[one.priority, one.handler.__qualname__] for one in app.events.listeners.get(name, [])]
    for name in ('env-get-updated',)
}
told['rendered'] = callable(app.builder.templates.render)
json.dump(told, open('told.json', 'w'), default=str)
"""


@leans(
    "book/_ext/course_folds.py",
    'cell["prompt_show"]',
    "MyST-NB marks a cell whose code is to be hidden by `hide_mode` and `prompt_show`",
)
def test_how_mystnb_marks_a_cell_with_hidden_code(site):
    marked = [cell for cell in site["cells"] if cell.get("hide_mode")]
    assert [(one["hide_mode"], one["prompt_show"]) for one in marked] == [
        ("input", "Show code cell {type}")
    ]


@leans(
    "book/_web/styles/code.css",
    ".cell_input",
    "MyST-NB writes a cell as `cell`, with `cell_input` and `cell_output` in it",
)
def test_the_classes_of_a_cell(site):
    classes = [name for cell in site["cells"] for name in cell["classes"]]
    assert {"cell", "cell_input", "cell_output"} <= set(classes)


@leans(
    "book/_ext/course_build/__init__.py",
    "env.mystnb_config = replace(",
    "MyST-NB takes its settings, readers of pages among them, from `env.mystnb_config`",
)
def test_where_mystnb_keeps_its_settings(site):
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    assert {"custom_formats", "MdParserConfig"} <= set(site["settings"])
    own = NbParserConfig(custom_formats={"/a.md": ("builtins.dict", {"told": 1}, False)})
    reader = create_nb_reader("/book/a.md", MdParserConfig(), own, [("text", "x")])
    assert reader.read([("text", "x")]) == {"text": "x", "told": 1}


@leans(
    "book/_ext/course_build/chapters.py",
    "read_myst_markdown_notebook(",
    "MyST-NB's reader of pages tells the line of each cell in `source_map`",
)
def test_mystnbs_reader_of_pages():
    from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
    from myst_parser.config.main import MdParserConfig

    head = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"
    text = f"{head}# T\n\n```{{code-cell}}\n1\n```\n"
    assert is_myst_markdown_notebook(text)
    read = read_myst_markdown_notebook(text, MdParserConfig(), add_source_map=True, path="a.md")
    assert [one.cell_type for one in read.cells] == ["markdown", "code"]
    assert read.metadata["source_map"] == [5, 8]


@leans(
    "book/_ext/course_reading.py",
    '"myst_role"',
    "MyST's tokens of formulas, boxes and roles have these names",
)
def test_the_names_of_mysts_tokens():
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    extensions = {"amsmath", "colon_fence", "dollarmath"}
    parser = create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)
    text = (
        "$$x$$\n\n$$y$$ (a)\n\n:::{note}\nx\n:::\n\n\\begin{align}a\\end{align}\n\n{doc}`x` $a$ `c`"
    )
    tokens = parser.parse(text)
    found = {token.type for token in tokens}
    assert {"math_block", "math_block_label", "colon_fence", "amsmath"} <= found
    inline = {child.type for token in tokens for child in token.children or ()}
    assert {"myst_role", "math_inline", "code_inline"} <= inline


@leans(
    "book/_ext/course_numbers.py",
    "env.toc_fignumbers = ",
    "Sphinx numbers figures and chapters in `env-get-updated` at 500, in these attributes",
)
def test_where_sphinx_keeps_its_numbers(site):
    assert site["sections"] == {"": [1], "#two": [1, 1]}
    ((kind, numbers),) = site["figures"].items()
    assert (kind, list(numbers.values())) == ("figure", [[1, 1]])
    numbering = [at for at, name in site["listeners"]["env-get-updated"] if name.startswith("Env")]
    assert set(numbering) == {500}


@leans(
    "book/_ext/course_contents.py",
    "env.config.external_site_map",
    "sphinx-external-toc keeps the contents in the configuration, and Sphinx a page's in `tocs`",
)
def test_where_the_contents_are_kept(site):
    assert site["site"] == ["Part", True, ["one"]]
    assert site["title"] == "One"
    assert 'anchorname="#two"' in site["contents"]


@leans(
    "book/_ext/course_site.py",
    "str(script.filename)",
    "a script of a page has a file's name",
)
def test_the_scripts_of_a_page(site):
    assert any(name.endswith(".js") for name in site["scripts"])


@leans(
    "book/_ext/course_search.py",
    "app.builder.search = False",
    "Sphinx writes no index of its own where its builder's `search` is false",
)
def test_sphinx_can_leave_its_index_out(site):
    from sphinx.builders.html import StandaloneHTMLBuilder

    assert StandaloneHTMLBuilder.search is True
    assert "searchindex.js" not in site["page"]


@leans(
    "book/_web/styles/text.css",
    ".headerlink",
    "Sphinx links a heading by `headerlink`, and writes its number as `section-number`",
)
def test_the_classes_of_a_heading(site):
    assert 'class="headerlink"' in site["page"]
    assert 'class="section-number"' in site["page"]


@leans(
    "book/_ext/course_front.py",
    "builder.templates.render(",
    "Sphinx's builder for HTML renders templates by `templates.render`",
)
def test_sphinx_renders_templates(site):
    assert site["rendered"] is True


@leans(
    "book/_ext/course_html.py",
    "node.parent.column += 1",
    "docutils counts the columns of a row in `column`, and gives a reference this role",
)
def test_docutils_counts_columns_and_names_roles():
    from docutils.writers import _html_base
    from sphinx.writers.html5 import HTML5Translator

    assert "node.parent.column += 1" in inspect.getsource(_html_base.HTMLTranslator.visit_entry)
    assert "doc-biblioentry" in inspect.getsource(_html_base.HTMLTranslator.visit_citation)
    assert issubclass(HTML5Translator, _html_base.HTMLTranslator)


@leans(
    "book/_ext/course_build/__main__.py",
    '"jupyter_book" in consequence',
    "Jupyter Book says that Sphinx failed by an exception of its own, behind Sphinx's",
)
def test_jupyter_book_says_last_that_sphinx_failed():
    from jupyter_book.cli import main

    assert re.search(r"raise RuntimeError\(.*\) from result", inspect.getsource(main))


# matplotlib


@leans(
    "book/_ext/figure_text.py",
    "UNITS = 64",
    "matplotlib writes a text as outlines, 64 units each, below a comment that holds its words",
)
def test_how_matplotlib_writes_text_into_a_picture():
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.id": "canary", "svg.fonttype": "path"}):
        figure = Figure(figsize=(2, 2))
        axes = figure.subplots()
        axes.set_ylabel("words")
        written = io.StringIO()
        FigureCanvasSVG(figure).print_svg(written)
    text = written.getvalue()
    assert re.search(r'<svg[^>]* id="canary"', text)
    drawn = re.search(r"<!-- words -->\s*<g [^>]*transform=\"([^\"]*)\">(.*?)</g>", text, re.DOTALL)
    number = r"-?[\d.]+"
    place = rf"translate\({number} {number}\) rotate\(-90\) scale\(0\.1 -0\.1\)"
    assert re.fullmatch(place, drawn[1]), drawn[1]
    assert '<use xlink:href="#DejaVuSans-' in drawn[2]
    assert 'id="matplotlib.axis_2"' in text
    tall = re.search(r'<path id="DejaVuSans-6c" d="([^"]*)"', text)  # an l, as tall as 76 of 100
    if tall:
        assert max(map(float, re.findall(r"-?\d+\.?\d*", tall[1]))) == pytest.approx(
            64 * 76, rel=0.01
        )


# pytest-xdist


@leans(
    "tests/support/longest_first.py",
    "def _split_scope",
    "pytest-xdist asks `_split_scope` which tests stay together, and a hook for its scheduler",
)
def test_how_xdist_shares_out_tests():
    from xdist import newhooks
    from xdist.scheduler import LoadFileScheduling

    assert callable(newhooks.pytest_xdist_make_scheduler)
    assert "self._split_scope(" in inspect.getsource(LoadFileScheduling.__mro__[1])
    assert "option.loadscopereorder" in inspect.getsource(LoadFileScheduling.__mro__[1])
