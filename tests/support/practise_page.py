"""A small site with the practise page of one released assignment, as the book's site has it."""

import hashlib
import html
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book._ext.course_site import PACKAGES, STYLES, WEB, bundle, font_files

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Practise</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="../_static/course.css">
<script>document.documentElement.classList.add("scripted")</script>
<script type="module" src="../_static/page.mjs"></script>
<script type="module" src="../_static/practise/practise.mjs"></script></head>
<body data-page="practise/{assignment}"><main><article class="text">
<script type="application/json" id="practise-data">{data}</script>
{cells}
</article></main></body></html>
"""
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
BAR = '<div class="practise-bar"><p>The exercises of this page need scripts.</p></div>'


def make(folder: Path, archive: Path, wheel: Path) -> None:
    """Write the site. archive: what `make releases` wrote. wheel: NumPy's, for Pyodide."""
    static, assignment = folder / "_static", archive.stem
    bundle(static)
    for file in WEB.glob("*.mjs"):
        shutil.copyfile(file, static / file.name)
    (static / "fonts").mkdir()
    for file in font_files():
        shutil.copyfile(file, static / "fonts" / file.name)
    sheets = [(WEB / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES]
    (static / "course.css").write_text("\n".join(sheets), encoding="utf-8")
    (static / "python").mkdir()
    for name in (*CORE, "pyodide-lock.json"):
        shutil.copyfile(PACKAGES / "pyodide" / name, static / "python" / name)
    shutil.copyfile(wheel, static / "python" / wheel.name)
    practise = static / "practise"
    shutil.copyfile(WEB / "practise" / "notebook.py", practise / "notebook.py")
    shutil.copyfile(archive, practise / archive.name)
    with zipfile.ZipFile(archive) as opened:
        text = opened.read(f"{assignment}/{assignment}.ipynb")
    (practise / f"{assignment}.ipynb").write_bytes(text)
    (folder / "practise").mkdir()
    page = folder / "practise" / f"{assignment}.html"
    page.write_text(_page(assignment, text), encoding="utf-8")


def _page(assignment: str, text: bytes) -> str:
    cells = json.loads(text)["cells"]
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    graded = [
        (cell["cell_type"], {"name": mark["grade_id"], "points": mark["points"]})
        for cell, mark in zip(cells, marks, strict=True)
        if mark.get("grade")
    ]
    data = {
        "assignment": assignment,
        "title": "".join(cells[0]["source"]).splitlines()[0].removeprefix("# "),
        "chapter": f"../{assignment}.html",
        "python": "../_static/python/",
        "files": "../_static/practise/",
        "edition": hashlib.sha256(text).hexdigest()[:12],
        "exercises": [{**one, "kind": "implement"} for kind, one in graded if kind == "code"],
        "written": [one for kind, one in graded if kind != "code"],
    }
    shown = [_cell(cell, mark) for cell, mark in zip(cells, marks, strict=True)]
    first, *others = filter(None, shown)
    return PAGE.format(
        assignment=assignment,
        data=json.dumps(data).replace("</", "<\\/"),
        cells="\n".join([first, BAR, *others]),
    )


def _cell(cell: dict[str, Any], mark: dict[str, Any]) -> str:
    name, source = cell["id"], "".join(cell["source"])
    if cell["cell_type"] == "code":
        if name.endswith("-check"):
            return ""
        code = highlight(source, PythonLexer(), HtmlFormatter())
        code = f'<div class="highlight-ipython3 notranslate">{code}</div>'
        if not mark["grade"]:
            return f'<div class="practise-cell practise-given" data-cell="{name}">{code}</div>'
        return (
            f'<div class="practise-cell practise-answer" id="{name}" data-cell="{name}" '
            f'data-exercise="{name}">{code}</div>'
        )
    if mark.get("grade"):
        return (
            f'<div class="practise-cell practise-written" id="{name}" data-cell="{name}">'
            f"<p>{html.escape(source.strip('*'))}</p></div>"
        )
    text = MarkdownIt().enable("table").render(source)
    scrolling = text.replace("<table>", '<div class="table-scroll"><table>')
    return scrolling.replace("</table>", "</table></div>")
