"""The chapters of the book: in which order they stand, and which one reads what of which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from IPython.core.inputtransformer2 import TransformerManager
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx_external_toc.api import Document, SiteMap

from .imports import calls, digest

FIGURES = "figures"
"""The folder in the build in which `read_figure_data` finds what another chapter has kept."""


Runs = Literal["in turn", "alone", "beside"]


@dataclass(frozen=True)
class Chapter:
    """A page with code cells.

    sources: its code cells as plain Python. reads: for each chapter whose results it reads, the
    files that hold them. measured: the files of `book/measured/` that it reads. runs: "alone" for
    one whose claims are about time, "beside" for one that is executed on what others leave of the
    cores. own_instructions: whether it computes with the best instructions of this machine.
    """

    name: str
    path: Path
    notebook: NotebookNode
    sources: tuple[str, ...]
    reads: Mapping[str, tuple[Path, ...]]
    measured: tuple[Path, ...]
    runs: Runs = "in turn"
    own_instructions: bool = False

    def digest(self, root: Path) -> str:
        """Return one hash of all that it depends on besides its own cells, as that is now."""
        results = [path for paths in self.reads.values() for path in paths]
        return digest(self.sources, [*results, *self.measured], root)


def find_chapters(env: BuildEnvironment, build: Path) -> dict[str, Chapter]:
    """Return the chapters of the book in the order of its table of contents.

    Raises ExtensionError for one that reads the results of a page that is no chapter.
    """
    site = env.config.external_site_map
    names = [name for name in in_order(site, site.root) if name in env.found_docs]
    found = (read_chapter(name, env, build) for name in names)
    chapters = {chapter.name: chapter for chapter in found if chapter}
    for chapter in chapters.values():
        for missing in chapter.reads.keys() - chapters.keys():
            raise ExtensionError(f"{chapter.path}: it reads of {missing!r}, which is no chapter")
    return chapters


def in_order(site: SiteMap, document: Document) -> list[str]:
    """Return the names of `document` and of all below it, as they stand in the contents."""
    children = [name for name in document.child_files() if name in site]
    return [document.docname, *(n for child in children for n in in_order(site, site[child]))]


def read_chapter(name: str, env: BuildEnvironment, build: Path) -> Chapter | None:
    """Return the chapter `name`, read as MyST-NB reads it; None for a page without code cells."""
    path = Path(env.doc2path(name))
    text = path.read_text(encoding="utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    if reader is None:
        return None
    notebook = reader.read(text)
    transform = TransformerManager().transform_cell  # magics become calls
    sources = tuple(transform(cell.source) for cell in notebook.cells if cell.cell_type == "code")
    if not sources:
        return None
    try:
        reads = results_read(sources, name, build)
        tables = calls(sources, "read_measured")
        measured = tuple(path.parent / "measured" / f"{table}.json" for (table,) in tables)
    except ValueError as error:
        raise ExtensionError(f"{path}: {error}") from None
    own = name in env.config.course_own_instructions
    return Chapter(name, path, notebook, sources, reads, measured, runs(name, env), own)


def runs(name: str, env: BuildEnvironment) -> Runs:
    """Return how the chapter `name` is executed, as `_config.yml` has it."""
    if name in env.config.course_alone:
        return "alone"
    return "beside" if name in env.config.course_beside else "in turn"


def results_read(sources: Sequence[str], name: str, build: Path) -> dict[str, tuple[Path, ...]]:
    """Return, for each other chapter whose results `sources` read, the files that hold them."""
    reads: dict[str, tuple[Path, ...]] = {}
    for figure, chapter in calls(sources, "read_figure_data"):
        if chapter != name:
            path = build / FIGURES / f"{figure}.json"
            reads[chapter] = (*reads.get(chapter, ()), path)
    return reads
