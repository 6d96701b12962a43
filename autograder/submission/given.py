"""Given modules: files that come with an assignment, for its cells to import.

A page's cell with `:module: NAME` imports from `NAME.py`, which is in the assignment's folder. The
release puts the file beside the notebook, and its text into the metadata of that cell, so that a
submission is run with the module of its own release, whatever its student did to the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # its import is slow, and only the type is needed here
    import nbformat

_MODULE = "given_module"


def attach_module(cell: nbformat.NotebookNode, name: str, text: str) -> None:
    """Put the module `name` with its `text` into the metadata of the cell that imports it."""
    cell.metadata[_MODULE] = {"name": name, "text": text}


def given_files(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the name and the text of each file that belongs beside a released notebook."""
    modules = [cell.metadata[_MODULE] for cell in notebook.cells if _MODULE in cell.metadata]
    return {f"{module['name']}.py": module["text"] for module in modules}


def given_modules(released: nbformat.NotebookNode) -> list[str]:
    """Return the sources of the cells that write the given modules, which a program runs first.

    In a student's folder these files are there from the beginning, so every cell may import them.
    """
    return [f"%%writefile {name}\n{text}" for name, text in given_files(released).items()]
