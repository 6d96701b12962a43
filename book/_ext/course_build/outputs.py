"""Conversion of a page's outputs to files that a person can compare, and back.

outputs.json lists the cells with outputs, by their number among the code cells, from 1. Text is
split into lines. A figure is a separate file with the name that the page gives it. For the numbers
that a cell offers to the prose, outputs.json has their names, and numbers.json their values.

The outputs of a cell with the tag `timed` are in the folder `timed`, in the same form.
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
TAGS = {TIMED, "skip-execution"}
"""The tags that decide whether a cell is executed, and where its outputs are written."""

GLUED = "application/papermill.record/"
"""The prefix of the type of an output that offers a number to the prose."""


def code_cells(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, str]]:
    """Yield each code cell as (number, cell, folder of its outputs)."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, start=1):
        yield number, cell, TIMED if TIMED in cell.metadata.get("tags", ()) else ""


def effects(cell: NotebookNode) -> dict[str, str]:
    """Return the tags and the figure's name that decide what is written of a cell, and where."""
    tags = TAGS.intersection(cell.metadata.get("tags", ()))
    name = _figure_name(cell)
    return ({"tags": " ".join(sorted(tags))} if tags else {}) | ({"figure": name} if name else {})


def to_files(notebook: NotebookNode) -> dict[str, bytes]:
    """Return the outputs of an executed notebook as files, by name: `outputs.json` and figures."""
    files: dict[str, bytes] = {}
    lists: dict[str, list[dict[str, Any]]] = {"": [], TIMED: []}
    for number, cell, folder in code_cells(notebook):
        pictures: dict[str, bytes] = {}
        outputs = list(_entries(cell, number, pictures))
        files |= {str(PurePosixPath(folder, name)): data for name, data in pictures.items()}
        if outputs:
            lists[folder].append({"cell": number, "shows": outputs})
    for folder, entries in lists.items():
        if entries:
            files[str(PurePosixPath(folder, OUTPUTS))] = readable(entries).encode()
    return files


def _entries(
    cell: NotebookNode, number: int, pictures: dict[str, bytes]
) -> Iterator[dict[str, Any]]:
    """Yield an entry for each output of a cell; put its figures into `pictures`."""
    names: list[str] = []
    for output in _join_streams(cell.outputs):
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


def _join_streams(outputs: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the outputs, with consecutive parts of the same stream joined.

    A kernel sends printed text whenever it has time to, so the parts differ between runs.
    """
    for kind, group in groupby(outputs, lambda output: output.get("name")):
        if kind is None:
            yield from group
        else:
            yield new_output("stream", name=kind, text="".join(output.text for output in group))


def _figure_name(cell: NotebookNode) -> str:
    name: str = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
    return name


def _picture_name(cell: NotebookNode, number: int, before: int, suffix: str) -> str:
    name = _figure_name(cell) or f"cell-{number:02}"
    return f"{name}{f'-{before + 1}' if before else ''}.{suffix}"


def from_files(notebook: NotebookNode, files: Mapping[str, bytes]) -> None:
    """Put the outputs that `to_files` returned back into the cells of their page.

    files: the result of `to_files` and the page's numbers. Raises KeyError if a file is missing.
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
