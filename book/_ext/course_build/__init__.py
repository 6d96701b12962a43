"""Build the book: each page is executed once, and its outputs are stored in the repository.

`python -m book._ext.course_build` executes the pages that are out of date (`inputs`, `executing`,
`kernels`), stores their outputs (`storage`), and runs Jupyter Book to write the site. This
extension gives MyST-NB the stored outputs. Sphinx itself never executes a page, so it needs none of
the packages that pages compute with.

`_config.yml` has two settings: `course_own_instructions` lists the pages that measure the speed of
the machine, and so use its fastest instructions; `course_budget` is the time in seconds that a page
should take on two idle cores; more is reported, and is no error.
"""

import os
from dataclasses import replace
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from .book import Book
from .chapters import BookError
from .rendering import read_page, seal
from .storage import PLACE

CURRENT = "COURSE_PAGES_ARE_CURRENT"
"""The environment variable that the build sets after it has checked that no page is out of date."""


def give_outputs(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Tell MyST-NB where the outputs of each page are; return the pages to be read again.

    Raises ExtensionError if a page must be executed first, or if its stored outputs are damaged.
    """
    root = Path(app.srcdir).parent
    if CURRENT not in os.environ:
        refuse_stale_pages(root)
    folders = {
        folder.name: folder
        for folder in sorted((root / PLACE).glob("*"))
        if folder.name in env.found_docs
    }
    # MyST-NB compares only the ends of paths, and a chapter's page of exercises has the same file
    # name. So the keys are full paths.
    readers = {
        str(env.doc2path(name)): reader(env, name, folder) for name, folder in folders.items()
    }
    stored = vars(env)
    stored["mystnb_config"] = replace(stored["mystnb_config"], custom_formats=readers)
    before: dict[str, object] = stored.get("course_runs", {})
    runs = stored["course_runs"] = {name: seal(folder) for name, folder in folders.items()}
    return [name for name, run in runs.items() if before.get(name) != run]


def refuse_stale_pages(root: Path) -> None:
    """Raise ExtensionError if a page must be executed first, or stored outputs are damaged."""
    try:
        problems = Book(root).problems()
    except BookError as error:
        problems = [str(error)]
    if problems:
        raise ExtensionError("\n".join(problems))


def reader(env: BuildEnvironment, name: str, folder: Path) -> tuple[str, dict[str, object], bool]:
    """Return the settings with which MyST-NB reads the page `name` through `read_page`."""
    path = str(env.doc2path(name))
    arguments = {"path": path, "folder": str(folder), "markdown": vars(env)["myst_config"]}
    return f"{read_page.__module__}.{read_page.__name__}", arguments, False


def titles_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to be written again: all, if a title or chapter number has changed."""
    titles = {name: title.astext() for name, title in env.titles.items()}
    numbers = {name: sections.get("") for name, sections in env.toc_secnumbers.items()}
    before = vars(env).get("course_titles")
    now = vars(env)["course_titles"] = (titles, numbers)
    return [] if before == now else sorted(env.found_docs)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_own_instructions", (), "", list)
    app.add_config_value("course_budget", 600, "")
    app.connect("env-get-outdated", give_outputs)
    app.connect("env-get-updated", titles_changed, priority=900)  # Sphinx numbers chapters at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
