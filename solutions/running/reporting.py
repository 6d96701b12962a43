"""Bind the numbers in the prose, and the data of the figures, to the run that made them."""

import json
import os
from pathlib import Path
from typing import Any

from filelock import FileLock

Number = float | int | str

RESULTS = "results.json"
FIGURES = "figures"
MEASURED = Path(__file__).parents[2] / "book" / "measured"
_begun: set[str] = set()  # chapters that have reported in this process


def report(chapter: str, **values: Number) -> None:
    """Offer `values` to the prose of `chapter`, and keep them in the build's `results.json`.

    In the text, write {glue:text}`name:.2f`. The file's form is {"<chapter>": {"<name>": value}};
    it stands in the folder that the environment variable COURSE_BUILD names, `_build` by default.
    Several chapters that run side by side may report at once.
    """
    from myst_nb import glue

    path = _build() / RESULTS
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if chapter not in _begun:  # what an earlier run reported under other names is no result now
            results[chapter] = {}
            _begun.add(chapter)
        mine = results[chapter]
        for name, value in values.items():
            mine[name] = value.item() if hasattr(value, "item") else value
        _write(path, json.dumps(results, indent=2, sort_keys=True))
    for name in values:
        glue(name, mine[name], display=False)


def figure_data(name: str, data: Any) -> None:
    """Keep what the interactive figure `name` shows, in the build's `figures/<name>.json`.

    data: lists, dictionaries, text and finite numbers. What it holds is said where it is made.
    Raises ValueError for a number that is not finite: JSON has none.
    """
    _write(_build() / FIGURES / f"{name}.json", json.dumps(data, allow_nan=False))


def read_measured(name: str) -> dict[str, Any]:
    """Return what a command measured that no page runs, from `book/measured/<name>.json`."""
    data: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    return data


def read_figure_data(name: str, chapter: str) -> Any:
    """Return the data of figure `name`, which the notebook of `chapter` keeps when it is run.

    Raises FileNotFoundError, which says so, where that notebook has not been run yet.
    """
    path = _build() / FIGURES / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run the notebook {chapter}.md first")
    return json.loads(path.read_text(encoding="utf-8"))


def _build() -> Path:
    return Path(os.environ.get("COURSE_BUILD", "_build"))


def _write(path: Path, text: str) -> None:
    """Write `text` so that nobody ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(path)
