"""What the site serves and what it leaves out, so that every page can be read without a network.

MathJax and Mermaid come from the site itself, as do the project's own style and scripts. Thebe,
which would start a kernel on another host and declares its settings twice, is left out; so is the
script of Font Awesome (1.5 MB), since its font draws every icon. A few attributes that the theme
and docutils write are put right, so that axe-core has nothing to report.
"""

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

WEB = Path(__file__).parents[1] / "_web"
MERMAID = WEB / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
MATHJAX = ("tex-mml-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")
INSTALL = "make site"

CORRECTIONS = (
    # The visible text of a control must be part of its name.
    (' aria-label="Toggle hidden content"', ""),
    ('search-button-field search-button__button pst-js-only" title="Search" aria-label="Search"',
     'search-button-field search-button__button pst-js-only" title="Search"'),
    ('<i class="theme-switch ', '<i aria-hidden="true" class="theme-switch '),
    # The site's title must stand in a landmark.
    ('<div id="pst-primary-sidebar" class=',
     '<div id="pst-primary-sidebar" role="navigation" aria-label="Site" class='),
    # The empty corner of a table heads nothing.
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
    # A role that ARIA 1.2 allows in a list.
    ('role="doc-biblioentry"', 'role="listitem"'),
)  # fmt: skip


def add_assets(app: Sphinx) -> None:
    """Put MathJax, Mermaid, the style and the scripts under `_static`.

    This is done after Jupyter Book has made a tag of each file that it found in a static folder.
    """
    if app.builder.format != "html":
        return
    mathjax = WEB / "node_modules" / "mathjax" / "es5"
    if not mathjax.is_dir():
        raise ExtensionError(
            f"MathJax is not in book/_web/node_modules. Type `{INSTALL}`, which fetches it."
        )
    for name in MATHJAX:
        source, target = mathjax / name, Path(app.outdir, "_static", "mathjax", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)
    own = [*sorted(WEB.glob("*.css")), *sorted(WEB.glob("*.mjs")), MERMAID]
    app.config.html_static_path += [str(file) for file in own]
    app.add_css_file("course.css")
    app.add_js_file("page.mjs", type="module")


def drop_thebe(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Leave Thebe's scripts and style out of a page."""
    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context[kind] if not is_thebe(asset)]


def is_thebe(asset: object) -> bool:
    """Tell whether a script or style tag is one of Thebe's."""
    body = getattr(asset, "attributes", {}).get("body", "")
    name = str(getattr(asset, "filename", asset))
    return "thebe" in name or "THEBE_JS_URL" in (body or "")


def correct_pages(app: Sphinx, exception: Exception | None) -> None:
    """Put right in each written page what no setting of the theme reaches."""
    if exception is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).glob("*.html"):
        page = path.read_text(encoding="utf-8")
        lines = page.splitlines(keepends=True)
        corrected = "".join(line for line in lines if "_static/scripts/fontawesome.js" not in line)
        for wrong, right in CORRECTIONS:
            corrected = corrected.replace(wrong, right)
        if corrected != page:
            path.write_text(corrected, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", add_assets)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", correct_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
