"""The pages on which readers do an assignment: `practise/<chapter>.md` holds a single directive.

    ```{practise} alignment
    ```

Before the page is parsed, the directive is replaced by the text of the assignment as students get
it: the cells of the notebook that `make releases` has written. So headings, formulas and tables
look as on every other page, and the search finds them. Code is in a `practise-cell`, which a script
turns into an editor (`practise/practise.mjs`). Without scripts and in print the page shows the
released code.

Not every copy of the site has the editors: see `has_editors`. Without released assignments, a page
lists the exercises and says what to type. Without Python for the browser, and for an assignment
that needs PyTorch, the page shows the text and says where to do the exercises instead.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import browser_python
from assignment_facts import stored_facts
from course_reading import assignment_minutes, in_fives
from course_site import copy
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

BUILD = Path(__file__).parents[2] / "_build"
RELEASES = BUILD / "course" / "release"
FOLDER = "practise"
PROGRAM = Path(__file__).parents[1] / "_web" / FOLDER / "notebook.py"
"""The program that runs in the worker together with the student's code."""
DIRECTIVE = re.compile(r"^```\{practise\} (\w+)\n```$", re.MULTILINE)
TITLE = re.compile(r"\A# (.*)\n+")
UNSEEN = ("progress-task", "progress-check")
"""Cells of a notebook that the page leaves out, since its bar does what they do."""

NO_RELEASE = """\
This copy of the site was built without the text of the exercises.

```{{assignment}} {name}
```
"""

NO_EDITORS = """\
{reason} You can read the exercises here. The box says how to download and do them.

```{{assignment}} {name}
```
"""
DONE = """\
## When you are done

*Download as notebook*, at the top of this page, gives you the assignment with your answers in it.
Hand it in if you are in a class, or go on with it in JupyterLab: {doc}`/howto_student`.
"""
TORCH = "These exercises need PyTorch, which does not run in a browser."
NOT_FETCHED = "This copy of the site was built without Python for the browser."


class practise_start(nodes.General, nodes.Element):
    """The page's bar, before the text of an assignment. Attributes: data, for the script."""


class practise_cell(nodes.container):
    """A cell. Attributes: kind (given, answer or written) and cell, its id in the notebook."""


class Start(SphinxDirective):
    """The page's bar; the body is JSON for the script."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        return [practise_start(data=json.loads("\n".join(self.content)))]


class Cell(SphinxDirective):
    """A cell of the notebook. The argument is its kind, the body its source."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"cell": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        kind, name, source = self.arguments[0], self.options["cell"], "\n".join(self.content)
        node = practise_cell(kind=kind, cell=name)
        if kind == "written":
            self.state.nested_parse(self.content, self.content_offset, node)
        else:
            node += nodes.literal_block(source, source, language="python")
        self.set_source_info(node)
        return [node]


def expand(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the directive in a page's source by the text of the assignment."""
    match = DIRECTIVE.search(source[0])
    if match:
        name = match[1]
        note_dependencies(app, name)
        source[0] = source[0].replace(match[0], text_of(app, name))


def note_dependencies(app: Sphinx, name: str) -> None:
    """Make the page that is being read depend on the files that it is built from.

    They include the code that writes its data: the site always serves the newest scripts, and
    Python would not start on a page whose data are older than its scripts expect.
    """
    code = (__file__, browser_python.__file__, *scripts())
    for path in (notebook_of(name), browser_python.wheel(), *code):
        app.env.note_dependency(str(path))


def scripts() -> list[Path]:
    """Return the scripts that these pages load."""
    return sorted(path for path in PROGRAM.parent.iterdir() if path.is_file())


def version() -> str:
    """Return a digest of `scripts`, so that no browser uses an old worker from its cache."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in scripts())).hexdigest()[:8]


def has_release(app: Sphinx, name: str) -> bool:
    """Return whether the assignment has been released and the site offers its archive."""
    return app.config.course_archives == "linked" and notebook_of(name).is_file()


def notebook_of(name: str) -> Path:
    """Return the path of the released notebook of an assignment."""
    return RELEASES / name / f"{name}.ipynb"


def has_editors(app: Sphinx, name: str) -> bool:
    """Return whether readers can do the exercises on their page."""
    return has_release(app, name) and browser_python.is_there() and not needs_torch(cells_of(name))


def text_of(app: Sphinx, name: str) -> str:
    """Return the text of the page as MyST."""
    minutes = in_fives(assignment_minutes(name))
    chapter = f"{{doc}}`{title_of(Path(app.srcdir, f'{name}.md'))} </{name}>`"
    begin = f"The exercises for {chapter}, about {minutes} minutes in all."
    if not has_release(app, name):
        return f"{begin}\n\n{NO_RELEASE.format(name=name)}"
    cells = cells_of(name)
    end = ""
    if has_editors(app, name):
        start, end = directive("practise-start", json.dumps(data_of(name))), DONE
    else:
        reason = TORCH if needs_torch(cells) else NOT_FETCHED
        start = NO_EDITORS.format(reason=reason, name=name)
    return "\n\n".join([begin, start, *parts(cells), end])


def title_of(page: Path) -> str:
    """Return the title of a chapter."""
    title = re.search("^# (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert title, f"{page} has no title"
    return title[1]


def cells_of(name: str) -> list[dict[str, Any]]:
    """Return the cells of the released notebook."""
    cells: list[dict[str, Any]] = json.loads(notebook_of(name).read_text(encoding="utf-8"))["cells"]
    return cells


def needs_torch(cells: list[dict[str, Any]]) -> bool:
    """Return whether a given cell imports PyTorch."""
    sources = (source_of(cell) for cell in cells if kind_of(cell) == "given")
    return any(re.search(r"^(import|from) torch\b", source, re.MULTILINE) for source in sources)


def data_of(name: str) -> dict[str, Any]:
    """Return the data for the page's script."""
    facts, title = stored_facts()[name], TITLE.match(source_of(cells_of(name)[0]))
    assert title, f"the notebook of {name} has no title"
    return {
        "assignment": name,
        "title": title[1],
        "chapter": f"../{name}.html",
        "python": "../_static/python/",
        "files": "../_static/practise/",
        "archive": f"../assignments/{name}.zip",
        "sizes": browser_python.sizes(),
        "version": version(),
        "edition": hashlib.sha256(notebook_of(name).read_bytes()).hexdigest()[:12],
        "exercises": [
            {key: exercise[key] for key in ("name", "points", "kind")}
            for exercise in facts["exercises"]
        ],
        "written": [
            {key: question[key] for key in ("name", "points")} for question in facts["written"]
        ],
    }


def parts(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the text of each cell."""
    for cell in cells:
        source, kind, id = source_of(cell), kind_of(cell), cell["id"]
        if id in UNSEEN or kind == "check":
            continue
        if kind == "text":
            yield TITLE.sub("", source)
        else:
            yield directive("practise-cell", source, kind, cell=id)
        if kind == "answer":
            yield directive("practise-back", "", id)


def directive(name: str, body: str, argument: str = "", **options: str) -> str:
    """Return a directive as MyST, with a longer fence than any in its body."""
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(longest + 1, 3)
    settings = (f":{key}: {value}" for key, value in options.items())
    lines = [f"{fence}{{{name}}} {argument}", *settings]
    return "\n".join([*lines, *(["", body] if body else []), fence])


def kind_of(cell: dict[str, Any]) -> str:
    """Return the kind of a released cell: text, given, answer, written or check."""
    code, answer = cell["cell_type"] == "code", cell["metadata"]["nbgrader"]["solution"]
    if answer:
        return "answer" if code else "written"
    if not code:
        return "text"
    return "check" if cell["id"].endswith("-check") else "given"


def source_of(cell: dict[str, Any]) -> str:
    """Return the source of a cell, which a notebook stores as a string or a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def mark_exercises(app: Sphinx, document: nodes.document) -> None:
    """Give each exercise and question the anchor to which other pages link.

    The anchor goes to the section that explains the exercise, unless that section has the anchor
    of an earlier exercise.
    """
    explained: set[int] = set()
    for cell in document.findall(practise_cell):
        section = cell.parent
        if cell["kind"] == "given" or not isinstance(section, nodes.section):
            continue
        around = section.parent
        first = id(around) not in explained
        explained.add(id(around))
        has_title_above = isinstance(around.parent, nodes.section)
        target = around if first and has_title_above else section
        target["ids"].append(anchor(cell["cell"]))


def anchor(exercise: str) -> str:
    """Return the anchor of an exercise on its page."""
    return f"exercise-{exercise}"


def visit_start(self: HTML5Translator, node: practise_start) -> None:
    data = node["data"]
    written = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    self.body.append(
        f'<script type="application/json" id="practise-data">{written}</script>\n'
        '<div class="practise-bar"><p>To write and check answers on this page, allow its '
        "scripts, or load it again if they did not arrive. "
        f'Or <a href="{data["archive"]}">download the assignment</a> and open it in '
        "JupyterLab.</p></div>\n"
    )
    raise nodes.SkipNode


def visit_cell(self: HTML5Translator, node: practise_cell) -> None:
    classes = f"practise-cell practise-{node['kind']}"
    names = {"data-cell": node["cell"]}
    if node["kind"] == "answer":
        names["data-exercise"] = node["cell"]
    self.body.append(self.starttag(node, "div", CLASS=classes, **names))


def depart_cell(self: HTML5Translator, node: practise_cell) -> None:
    self.body.append("</div>\n")


def add_files(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the editors on the pages that have them, and copy the files that they fetch."""
    start = next(doctree.findall(practise_start), None) if doctree is not None else None
    if start is None:
        return
    app.add_js_file("practise/practise.mjs", type="module")
    name = start["data"]["assignment"]
    static = Path(app.outdir, "_static")
    copy(notebook_of(name), static / FOLDER / f"{name}.ipynb")
    copy(PROGRAM, static / FOLDER / PROGRAM.name)
    for file in browser_python.files():
        copy(file, static / "python" / file.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("practise-start", Start)
    app.add_directive("practise-cell", Cell)
    app.add_node(practise_start, html=(visit_start, None))
    app.add_node(practise_cell, html=(visit_cell, depart_cell))
    app.connect("source-read", expand)
    app.connect("doctree-read", mark_exercises)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
