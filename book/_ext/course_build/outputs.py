"""The outputs of a page as files that a person can compare, and back again.

outputs.json lists the cells that show something, by number among the code cells, from 1. A text
stands there line by line. A figure is a file of its own, by the name that the page gives it. The
numbers that a cell offers to the prose stand there by name, their values in numbers.json.

What a cell with the tag `timed` shows is in the folder of that name, in the same form.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from solutions.running.readable import readable
from solutions.running.reporting import NUMBERS, TIMED

OUTPUTS = "outputs.json"
PICTURES = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg"}
TAGS = {TIMED, "raises-exception", "skip-execution"}
"""The tags of a cell that decide what is executed of it, and where its outputs are written."""

GLUED = "application/papermill.record/"
"""How the type of an output begins that offers a number to the prose."""


def code_cells(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, str]]:
    """Yield each code cell: its number, the cell, and the folder that its outputs are in."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, start=1):
        yield number, cell, TIMED if TIMED in cell.metadata.get("tags", ()) else ""


def effects(cell: NotebookNode) -> dict[str, str]:
    """Return what a cell has besides its code that decides what is written of it, and where."""
    tags = TAGS.intersection(cell.metadata.get("tags", ()))
    name = _figure_name(cell)
    return ({"tags": " ".join(sorted(tags))} if tags else {}) | ({"figure": name} if name else {})


def to_files(notebook: NotebookNode) -> dict[str, bytes]:
    """Return the outputs of an executed notebook as files, by name: those of `outputs.json`."""
    files: dict[str, bytes] = {}
    lists: dict[str, list[dict[str, Any]]] = {"": [], TIMED: []}
    for number, cell, folder in code_cells(notebook):
        pictures: dict[str, bytes] = {}
        shown = list(_entries(cell, number, pictures))
        files |= {str(PurePosixPath(folder, name)): data for name, data in pictures.items()}
        if shown:
            lists[folder].append({"cell": number, "shows": shown})
    for folder, entries in lists.items():
        if entries:
            files[str(PurePosixPath(folder, OUTPUTS))] = readable(entries).encode()
    return files


def _entries(
    cell: NotebookNode, number: int, pictures: dict[str, bytes]
) -> Iterator[dict[str, Any]]:
    """Yield what a cell shows, one output after the other; put its figures into `pictures`."""
    names: list[str] = []
    for output in _streams_joined(cell.outputs):
        if output.output_type == "stream":
            yield {"stream": output.name, "text": output.text.splitlines(keepends=True)}
            continue
        if any(kind.startswith(GLUED) for kind in output.data):
            names.append(output.metadata["scrapbook"]["name"])
            continue
        entry: dict[str, Any] = {"result": True} if output.output_type == "execute_result" else {}
        for kind, content in output.data.items():
            if kind in PICTURES:
                name = _picture_name(cell, number, len(pictures), PICTURES[kind])
                as_text = kind == "image/svg+xml"
                pictures[name] = content.encode() if as_text else base64.b64decode(content)
                entry["figure"] = name
            elif isinstance(content, str):
                entry[kind] = content.splitlines(keepends=True)
            else:
                entry[kind] = content
        yield entry
    if names:
        yield {"numbers": names}


def _streams_joined(outputs: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the outputs; what is printed without a break is one, in how many parts it ever came.

    A kernel sends what is printed whenever it has time to, so the parts differ between two runs.
    """
    for kind, group in groupby(outputs, lambda one: one.get("name")):
        if kind is None:
            yield from group
        else:
            yield new_output("stream", name=kind, text="".join(one.text for one in group))


def _figure_name(cell: NotebookNode) -> str:
    name: str = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
    return name


def _picture_name(cell: NotebookNode, number: int, before: int, suffix: str) -> str:
    name = _figure_name(cell) or f"cell-{number:02}"
    return f"{name}{f'-{before + 1}' if before else ''}.{suffix}"


def from_files(notebook: NotebookNode, files: Mapping[str, bytes]) -> None:
    """Put the outputs that `to_files` returned into the cells of the page they are of.

    files: besides, the numbers of the page. Raises KeyError for a file that is not there.
    """
    lists: dict[str, dict[int, Any]] = {}
    numbers: dict[str, Any] = {}
    for folder in ("", TIMED):
        entries = json.loads(files.get(str(PurePosixPath(folder, OUTPUTS)), b"[]"))
        lists[folder] = {entry["cell"]: entry["shows"] for entry in entries}
        numbers |= json.loads(files.get(str(PurePosixPath(folder, NUMBERS)), b"{}"))
    for number, cell, folder in code_cells(notebook):
        cell.execution_count = number
        for entry in lists[folder].get(number, ()):
            cell.outputs += _outputs(entry, number, folder, files, numbers)


def _outputs(
    entry: dict[str, Any],
    number: int,
    folder: str,
    files: Mapping[str, bytes],
    numbers: Mapping[str, Any],
) -> Iterator[NotebookNode]:
    if "stream" in entry:
        yield new_output("stream", name=entry["stream"], text="".join(entry["text"]))
    elif "numbers" in entry:
        for name in entry["numbers"]:
            data = {f"{GLUED}text/plain": repr(numbers[name])}
            scrap = {"name": name, "mime_prefix": GLUED}
            yield new_output("display_data", data=data, metadata={"scrapbook": scrap})
    else:
        result = entry.get("result")
        data = {
            kind: "".join(content) if isinstance(content, list) else content
            for kind, content in entry.items()
            if "/" in kind
        }
        if "figure" in entry:
            content = files[str(PurePosixPath(folder, entry["figure"]))]
            kind = next(k for k, end in PICTURES.items() if entry["figure"].endswith(f".{end}"))
            as_text = kind == "image/svg+xml"
            data[kind] = content.decode() if as_text else base64.b64encode(content).decode()
        kind = "execute_result" if result else "display_data"
        count = {"execution_count": number} if result else {}
        yield new_output(kind, data=data, **count)
