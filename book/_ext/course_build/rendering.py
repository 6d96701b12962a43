"""The pages that MyST-NB renders: each with its stored outputs, and the facts of the run below."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from . import storage
from .chapters import read_notebook
from .outputs import from_files

COMPUTED = "computed"
"""The class of the lines at the foot of a page."""


def read_page(text: str, path: str, folder: str, markdown: MdParserConfig) -> NotebookNode:
    """Return the page `text` with the outputs that are stored in `folder`."""
    stored = storage.read(Path(folder))
    assert stored is not None, "the build has just checked that it exists"
    notebook = read_notebook(text, Path(path), markdown)
    from_files(notebook, stored.files)
    notebook.cells.append(new_markdown_cell(foot(Path(folder).name, stored)))
    source_map = notebook.metadata["source_map"]
    source_map.append(source_map[-1])
    return notebook


def foot(page: str, stored: storage.StoredRun) -> str:
    """Return the lines that say when and where a page was computed, and how long it took."""
    run = stored.run
    packages = "".join(f", {name} {pin}" for name, pin in stored.made_from["packages"].items())
    day = date.fromisoformat(run["date"])
    when = f"{day.day} {day:%B %Y}"
    cores = f"{run['cores']} core{'s' * (run['cores'] != 1)}"
    return (
        f"\n\n:::{{container}} {COMPUTED}\n"
        f"Computed on {when} in {span(run['seconds'])}, with at most {run['peak_mib']:,} MiB, on "
        f"{cores} of {run['system']} ({run['processor']}), with Python {run['python']}{packages}. "
        f"To compute it again, type `make fresh PAGES={page}`.\n:::\n"
    )


def span(seconds: float) -> str:
    """Return a time in seconds as text."""
    return "less than a second" if seconds < 1 else f"{seconds:.0f} s"


def seal(folder: Path) -> list[Any]:
    """Return the digests that differ between any two different runs of a page."""
    return [
        json.loads((folder / name).read_bytes())["seal"] for name in (storage.PAGE, storage.RUN)
    ]
