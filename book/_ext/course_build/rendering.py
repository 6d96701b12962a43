"""What MyST-NB renders: a page with the outputs of its run, and at its foot when that was."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from . import kept
from .chapters import read_notebook
from .outputs import from_files

COMPUTED = "computed"
"""The class of the lines at the foot of a page."""


def read_page(text: str, path: str, folder: str, markdown: MdParserConfig) -> NotebookNode:
    """Return the page `text` with the outputs that are kept in `folder`."""
    found = kept.read(Path(folder))
    assert found is not None, "the build looked at it a moment ago"
    notebook = read_notebook(text, Path(path), markdown)
    from_files(notebook, found.files)
    notebook.cells.append(new_markdown_cell(foot(Path(folder).name, found)))
    source_map = notebook.metadata["source_map"]
    source_map.append(source_map[-1])
    return notebook


def foot(page: str, found: kept.Kept) -> str:
    """Return the lines that say when, where and in how long a page was computed."""
    run = found.run
    packages = "".join(f", {name} {pin}" for name, pin in found.made_from["packages"].items())
    day = date.fromisoformat(run["date"])
    when = f"{day.day} {day:%B %Y}"
    cores = f"{run['cores']} core{'s' * (run['cores'] != 1)}"
    return (
        f"\n\n:::{{container}} {COMPUTED}\n"
        f"Computed on {when} in {span(run['seconds'])}, with at most {run['peak_mib']:,} MiB, on "
        f"{cores} of {run['system']} ({run['processor']}), with Python {run['python']}{packages}. "
        f"This computes it again: `make fresh PAGES={page}`.\n:::\n"
    )


def span(seconds: float) -> str:
    """Return seconds as text."""
    return "less than a second" if seconds < 1 else f"{seconds:.0f} s"


def seal(folder: Path) -> list[Any]:
    """Return what tells one run of a page from another."""
    return [json.loads((folder / name).read_bytes())["seal"] for name in (kept.PAGE, kept.RUN)]
