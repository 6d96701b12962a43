"""Provide readers of the built site, for whom other hosts are blocked, and small books."""

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request

ROOT = Path(__file__).parents[2]
AXE = ROOT / "book" / "_web" / "node_modules" / "axe-core" / "axe.min.js"
SITE = ROOT / "_build" / "html"
BUILD = (
    str(Path(sys.executable).with_name("jupyter-book")),
    *("build", "book", "--config", "_config.yml", "-W", "-n", "--keep-going"),
)
MAKE = (sys.executable, "-m", "book._ext.course_build")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # block every other host
)
MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}

NOTEBOOK = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
# A notebook

"""

STROKES = "defs, clipPath, g, image, path, rect, use"
"""Elements that axe-core does not check, since figures have thousands of them without text."""

TAKE_STROKES_AWAY = """(strokes) => {
    for (const figure of document.querySelectorAll("svg.course-figure"))
        if (!figure.querySelector(`:not(${strokes}), [tabindex], [role]`))
            figure.replaceChildren(); }"""

RUN_AXE = """async (part) => (await axe.run(part, { resultTypes: ["violations"] }))
    .violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html}`))"""


def pages_of(site: Path) -> list[str]:
    """Return the addresses of all pages below the site's address."""
    paths = [*site.glob("*.html"), *site.glob("practise/*.html")]
    return sorted(path.relative_to(site).as_posix() for path in paths)


def cell(*lines: str, header: str = "") -> str:
    return "\n".join(["```{code-cell} ipython3", *([header] if header else []), *lines, "```\n\n"])


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """Serve a folder on a free port of this machine, and yield the address."""
    of_the_folder = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), of_the_folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Reader:
    """A reader of the site with a fresh profile that can reach no other host."""

    context: BrowserContext
    address: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page, self.name = self.context.new_page(), ""
        self.context.on("request", self._note_a_foreign_host)
        self.page.on("pageerror", lambda error: self.errors.append(f"{self.name}: {error}"))
        self.page.on("console", lambda message: self._listen(message.type, message.text))

    def _note_a_foreign_host(self, request: Request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:")):
            self.foreign.append(request.url)

    def open(self, name: str) -> Page:
        """Go to the page `name` and return when its scripts have run.

        All pages use one tab, so that shared files are fetched and compiled once.
        """
        self.name = name
        self.page.goto(f"{self.address}/{name}", wait_until="load")
        self.page.wait_for_load_state("networkidle")
        return self.page

    def violations(self, page: Page, part: str = "html") -> list[str]:
        """Return what axe-core reports on a part of a page, and empty the page's figures.

        No rule applies to their strokes, which would take half of axe-core's time.
        """
        page.evaluate(TAKE_STROKES_AWAY, STROKES)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        return page.evaluate(RUN_AXE, part)

    def _listen(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(f"{self.name}: {text}")


@dataclass(frozen=True)
class Book:
    """A small book in a separate folder, built with the project's configuration."""

    root: Path

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def build(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Build with warnings as errors; return the exit code and the terminal output."""
        result = subprocess.run([*BUILD, *options], **self.surroundings(), timeout=120)
        result.stdout = COLOUR.sub("", result.stdout)
        assert "Executing notebook" not in result.stdout, "MyST-NB executed a page"
        return result

    def make(self) -> subprocess.CompletedProcess[str]:
        """Build as `make site` does; return the exit code and the output."""
        return subprocess.run(MAKE, **self.surroundings(), timeout=240)

    def surroundings(self) -> dict[str, Any]:
        """Return the working folder and environment of a command for this book."""
        path = os.pathsep.join([str(self.root), str(ROOT)])
        return {
            "cwd": self.root,
            "env": os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
            "text": True,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
        }

    def page(self, name: str) -> str:
        return (self.root / "_build" / "html" / name).read_text(encoding="utf-8")
