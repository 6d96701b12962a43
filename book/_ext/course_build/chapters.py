"""The pages of the book that are executed: their order, and the results that each of them reads.

This module does not need Sphinx, so that pages can be executed where no site is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import yaml
from IPython.core.inputtransformer2 import TransformerManager
from myst_nb.core.read import (
    MystMetadataParsingError,
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from sphinx_external_toc.api import Document, SiteMap
from sphinx_external_toc.parsing import parse_toc_yaml

from solutions.running.reporting import MODEL

from .inputs import Cell, calls, made_from
from .outputs import effects
from .settings import FORMAT, PROFILE, THREADS, arithmetic

READS = {"read_figure_data": "{}.json", "read_model_data": f"{{}}-*{MODEL}"}
"""The functions that read results of another page -> the pattern of the files that they read."""


class BookError(Exception):
    """The book cannot be built; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Settings:
    """The settings in `_config.yml` for the execution of pages.

    root: the project's folder. own_instructions: names of pages; see `__init__`. budget: seconds
    that a page may take. timeout: seconds that a cell may take.
    """

    root: Path
    own_instructions: tuple[str, ...] = ()
    budget: int = 600
    timeout: int = 2400
    markdown: MdParserConfig = field(default_factory=MdParserConfig)

    @property
    def book(self) -> Path:
        """The folder of the pages."""
        return self.root / "book"

    @classmethod
    def of(cls, root: Path) -> Settings:
        """Read the settings of the project in the folder `root`."""
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        values = config["sphinx"]["config"]
        extensions = config["parse"]["myst_enable_extensions"]
        return cls(
            root,
            tuple(values.get("course_own_instructions") or ()),
            values.get("course_budget", cls.budget),
            config["execute"]["timeout"],
            MdParserConfig(enable_extensions=set(extensions)),
        )


@dataclass(frozen=True)
class Chapter:
    """A page with code cells.

    reads: for each page whose results it reads, patterns of the names of the files. measured: the
    files of `book/measured/` that it reads. own_instructions: whether it computes with the fastest
    instructions of this machine.
    """

    name: str
    path: Path
    notebook: NotebookNode
    cells: tuple[Cell, ...]
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measured: tuple[Path, ...] = ()
    own_instructions: bool = False

    def made_from(self, root: Path, executed: Path) -> dict[str, Any]:
        """Return the current digests of everything that the page is made from.

        executed: the folder of the executed pages.
        """
        read = {
            f"{page}/{path.name}": path
            for page, patterns in self.reads.items()
            for pattern in patterns
            for path in sorted((executed / page).glob(pattern)) or [executed / page / pattern]
        }
        read |= {f"measured/{path.name}": path for path in self.measured}
        settings = arithmetic(self.own_instructions) | {
            "threads": THREADS,
            "profile": PROFILE,
            "format": FORMAT,
        }
        return made_from(self.cells, read, settings, root)


def execution_order(chapters: Mapping[str, Chapter]) -> list[str]:
    """Return the names of the pages, each after the pages whose results it reads.

    Raises BookError if pages read each other's results.
    """
    needed = {name: chapter.reads.keys() & chapters.keys() for name, chapter in chapters.items()}
    places = list(chapters)
    order: list[str] = []
    sorter = TopologicalSorter(needed)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " <- ".join(error.args[1])
        raise BookError(
            f"chapters read each other's results: {cycle}. Remove one of these reads."
        ) from None
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=places.index)
        order.append(ready.pop(0))
        sorter.done(order[-1])
    return order


def find_chapters(settings: Settings) -> dict[str, Chapter]:
    """Return the pages with code cells, in the order of the table of contents.

    Raises BookError if a page is missing, or reads results of a page without code cells.
    """
    site = parse_toc_yaml(settings.book / "_toc.yml")
    pages = (read_chapter(name, settings) for name in in_order(site, site.root))
    chapters = {chapter.name: chapter for chapter in pages if chapter}
    for chapter in chapters.values():
        for missing in chapter.reads.keys() - chapters.keys():
            raise BookError(
                f"{chapter.path}: it reads results of {missing!r}, "
                "which is not a page with code cells. Correct the name, or remove the call."
            )
    return chapters


def in_order(site: SiteMap, document: Document) -> list[str]:
    """Return the names of `document` and of all pages below it, in the order of the contents."""
    children = [name for name in document.child_files() if name in site]
    return [document.docname, *(n for child in children for n in in_order(site, site[child]))]


def read_notebook(text: str, path: Path, markdown: MdParserConfig) -> NotebookNode:
    """Parse a page into cells, as MyST-NB does."""
    notebook: NotebookNode = read_myst_markdown_notebook(
        text, markdown, add_source_map=True, path=str(path)
    )
    return notebook


def read_chapter(name: str, settings: Settings) -> Chapter | None:
    """Return the page `name`; None if it has no code cells.

    Raises BookError if it is missing or malformed.
    """
    path = settings.book / f"{name}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        contents = path.with_name("_toc.yml")
        raise BookError(
            f"{contents} lists {name!r}, but there is no {path.name}. Create the page, or remove "
            "the entry."
        ) from None
    if not is_myst_markdown_notebook(text):
        return None
    try:
        notebook = read_notebook(text, path, settings.markdown)
    except MystMetadataParsingError as error:
        raise BookError(f"{path}: {error}") from None
    transform = TransformerManager().transform_cell  # turns magics into calls
    cells = tuple(
        Cell(transform(cell.source), "".join(f"\n{k}: {v}" for k, v in effects(cell).items()))
        for cell in notebook.cells
        if cell.cell_type == "code"
    )
    if not cells:
        return None
    sources = [cell.source for cell in cells]
    try:
        reads = results_read(sources)
        tables = calls(sources, "read_measured")
        measured = tuple(path.parent / "measured" / f"{table}.json" for (table,) in tables)
    except ValueError as error:
        raise BookError(f"{path}: {error}") from None
    own = name in settings.own_instructions
    return Chapter(name, path, notebook, cells, reads, measured, own)


def results_read(sources: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each page whose results `sources` read, patterns of the names of the files.

    Timings get no pattern, since they differ in every run and must not make a page out of date. So
    a page of which only timings are read has an empty tuple.
    """
    reads: dict[str, tuple[str, ...]] = {}
    for function, pattern in READS.items():
        for name, chapter in calls(sources, function):
            reads[chapter] = (*reads.get(chapter, ()), pattern.format(name))
    for _, chapter in calls(sources, "read_timing_data"):
        reads.setdefault(chapter, ())
    return reads
