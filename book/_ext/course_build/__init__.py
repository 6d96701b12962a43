"""How the book is built: pages are executed once, and what that made is kept in the repository.

`python -m book._ext.course_build` executes what is out of date (`inputs`, `executing`, `kernels`),
keeps it (`kept`) and then lets Jupyter Book write the site. This extension gives MyST-NB
the kept outputs; Sphinx itself never executes a page, and needs no package that computes.

Two values in `_config.yml` say how: `course_own_instructions` names the pages that say how fast the
machine is, and compute as fast as it can; `course_budget` is how many seconds a page may take.
"""

import os
from dataclasses import replace
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from .book import Book
from .chapters import BookError
from .kept import PLACE
from .rendering import read_page, seal

LOOKED = "COURSE_PAGES_ARE_CURRENT"
"""The variable in which the build says that it has looked whether a page must be executed."""


def give_outputs(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Tell MyST-NB where the outputs of each page are; return the pages to be read again.

    Raises ExtensionError for a page that must be executed first, or whose outputs are damaged.
    """
    root = Path(app.srcdir).parent
    if LOOKED not in os.environ:
        refuse_what_is_stale(root)
    found = sorted((root / PLACE).glob("*"))
    folders = {one.name: one for one in found if one.name in env.found_docs}
    # MyST-NB compares the ends of paths, and a chapter has a page of exercises of the same name.
    readers = {
        str(env.doc2path(name)): reader(env, name, folder) for name, folder in folders.items()
    }
    env.mystnb_config = replace(env.mystnb_config, custom_formats=readers)
    before: dict[str, object] = getattr(env, "course_runs", {})
    env.course_runs = {name: seal(folder) for name, folder in folders.items()}
    return [name for name, run in env.course_runs.items() if before.get(name) != run]


def refuse_what_is_stale(root: Path) -> None:
    """Raise ExtensionError if a page must be executed first, or what is kept is damaged."""
    try:
        problems = Book(root).problems()
    except BookError as error:
        problems = [str(error)]
    if problems:
        raise ExtensionError("\n".join(problems))


def reader(env: BuildEnvironment, name: str, folder: Path) -> tuple[str, dict[str, object], bool]:
    """Return what MyST-NB needs to know to read the page `name` by `read_page`."""
    told = {"path": str(env.doc2path(name)), "folder": str(folder), "markdown": env.myst_config}
    return f"{read_page.__module__}.{read_page.__name__}", told, False


def titles_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to be written again: all, if a title that they show has changed."""
    titles = {name: title.astext() for name, title in env.titles.items()}
    numbers = {name: sections.get("") for name, sections in env.toc_secnumbers.items()}
    before = getattr(env, "course_titles", None)
    env.course_titles = (titles, numbers)
    return [] if before == env.course_titles else sorted(env.found_docs)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("course_own_instructions", (), "", list)
    app.add_config_value("course_budget", 600, "")
    app.connect("env-get-outdated", give_outputs)
    app.connect("env-get-updated", titles_changed, priority=900)  # Sphinx numbers chapters at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
