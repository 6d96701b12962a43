"""How the book is built: pages are executed once, and what that made is kept in the repository.

`python -m book._ext.course_build` executes what is out of date (`inputs`, `schedule`, `kernels`),
keeps it (`kept`, `bench`) and then lets Jupyter Book write the site. This extension gives MyST-NB
the kept outputs; Sphinx itself never executes a page, and needs no package that computes.

Three lists in `_config.yml` say which pages differ. Those of `course_alone` make claims about
time: nothing else runs meanwhile. Those of `course_own_instructions` say how fast the machine is,
and compute as fast as it can. Those of `course_beside` make no such claims and name no time: one of
them at a time is executed on what the chapters leave of the cores.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from .bench import Book
from .chapters import BookError
from .rendering import read_page, seal

FOLDERS = "COURSE_FOLDERS"
"""The variable in which the build says where the outputs of each page are."""


def give_outputs(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Tell MyST-NB where the outputs of each page are; return the pages to be read again.

    Raises ExtensionError for a page that must be executed first, or whose outputs are damaged.
    """
    folders = json.loads(os.environ.get(FOLDERS, "null"))
    if folders is None:  # nobody has looked yet
        folders = find_outputs(Path(app.srcdir).parent)
    readers = {f"/{name}.md": reader(env, name, folder) for name, folder in folders.items()}
    env.mystnb_config = replace(env.mystnb_config, custom_formats=readers)
    before: dict[str, object] = getattr(env, "course_runs", {})
    env.course_runs = {name: seal(Path(folder)) for name, folder in folders.items()}
    return [name for name, run in env.course_runs.items() if before.get(name) != run]


def find_outputs(root: Path) -> dict[str, str]:
    """Return the folder with the outputs of each executed page of the project in `root`.

    Raises ExtensionError for a page that must be executed first, or whose outputs are damaged.
    """
    try:
        book = Book(root)
        current = book.current()
        stale = [one for name, one in book.chapters.items() if name not in current]
        reasons = [f"{chapter.name}: {book.store.reason(chapter, root)}" for chapter in stale]
    except BookError as error:
        raise ExtensionError(str(error)) from None
    if reasons:
        raise ExtensionError("\n".join([*reasons, "They must be executed. Type: make site"]))
    return {name: str(one.folder) for name, one in current.items()}


def reader(env: BuildEnvironment, name: str, folder: str) -> tuple[str, dict[str, object], bool]:
    """Return what MyST-NB needs to know to read the page `name` by `read_page`."""
    told = {"path": str(env.doc2path(name)), "folder": folder, "markdown": env.myst_config}
    return f"{read_page.__module__}.{read_page.__name__}", told, False


def titles_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to be written again: all, if a title that they show has changed."""
    titles = {name: title.astext() for name, title in env.titles.items()}
    numbers = {name: sections.get("") for name, sections in env.toc_secnumbers.items()}
    before = getattr(env, "course_titles", None)
    env.course_titles = (titles, numbers)
    return [] if before == env.course_titles else sorted(env.found_docs)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_alone", (), "", list)
    app.add_config_value("course_beside", (), "", list)
    app.add_config_value("course_own_instructions", (), "", list)
    app.add_config_value("course_budget", 600, "")
    app.connect("env-get-outdated", give_outputs)
    app.connect("env-updated", titles_changed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
