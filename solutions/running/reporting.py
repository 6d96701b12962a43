"""Bind the numbers in the prose, and the data of the figures, to the run that made them.

While the book's build executes a page, what the page reports is written into the folder of that
run, and kept with its outputs in `book/executed/<page>/`. A reader's own copy of a notebook writes
nothing: there, a number only gets its name.

What a clock or the machine decides (seconds, memory of a process) differs from run to run. It is
reported apart from the rest, so that the rest can be compared to the last byte.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .readable import readable

Number = float | int | str

RUN = "COURSE_RUN"
"""The variable that names the folder of the run, whose name is the page's."""

EXECUTED = "COURSE_EXECUTED"
"""The variable that names the folder in which other pages' results are."""

NUMBERS = "numbers.json"
TIMED = "timed"
"""The folder, in that of a page, of all that a clock or the machine decides."""

MODEL = ".safetensors"
MEASURED = Path(__file__).parents[2] / "book" / "measured"
KEPT = Path(__file__).parents[2] / "book" / "executed"


def report(chapter: str, **values: Number) -> None:
    """Offer `values` to the prose of `chapter`, and keep them with what its page printed.

    In the text, write {glue:text}`name:.2f`. Raises ValueError if the page that is executed is
    another one.
    """
    _report(chapter, Path(NUMBERS), values)


def report_timings(chapter: str, **values: Number) -> None:
    """The same for numbers that a clock or the machine decides; see `report`."""
    _report(chapter, Path(TIMED, NUMBERS), values)


def _report(chapter: str, file: Path, values: dict[str, Number]) -> None:
    from myst_nb import glue

    plain = {name: getattr(value, "item", lambda v=value: v)() for name, value in values.items()}
    folder = _run()
    if folder:
        if folder.name != chapter:
            raise ValueError(f"the page {folder.name} reports as {chapter!r}")
        path = folder / file
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        _write(path, dict(sorted((known | plain).items())))
    for name, value in plain.items():
        glue(name, value, display=False)


def figure_data(name: str, data: Any) -> None:
    """Keep what the figure `name` shows, or what later chapters need of it.

    data: lists, dictionaries, text and finite numbers. What it holds is said where it is made.
    Raises ValueError for a number that is not finite: JSON has none.
    """
    _keep(Path(f"{name}.json"), data)


def timing_data(name: str, data: Any) -> None:
    """The same for data that a clock or the machine decides; see `figure_data`."""
    _keep(Path(TIMED, f"{name}.json"), data)


def _keep(file: Path, data: Any) -> None:
    json.dumps(data, allow_nan=False)  # refused before anything is written
    folder = _run()
    if folder:
        _write(folder / file, data)


def model_data(name: str, models: Sequence[bytes]) -> None:
    """Keep trained models, one a seed, for later chapters; each is the content of a file."""
    folder = _run()
    for seed, content in enumerate(models if folder else ()):
        (folder / f"{name}-{seed}{MODEL}").write_bytes(content)  # type: ignore[operator]


def read_measured(name: str) -> dict[str, Any]:
    """Return what a command measured that no page runs, from `book/measured/<name>.json`."""
    data: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    return data


def read_figure_data(name: str, chapter: str) -> Any:
    """Return the data of figure `name`, which the page of `chapter` kept when it was executed.

    Raises FileNotFoundError, which says so, if nothing of that name is kept.
    """
    return _read(Path(chapter, f"{name}.json"), chapter)


def read_timing_data(name: str, chapter: str) -> Any:
    """The same for data that a clock or the machine decided; see `read_figure_data`."""
    return _read(Path(chapter, TIMED, f"{name}.json"), chapter)


def read_model_data(name: str, chapter: str) -> list[bytes]:
    """Return the trained models `name`, one a seed; see `read_figure_data`."""
    first = _find(Path(chapter, f"{name}-0{MODEL}"), chapter)
    return [path.read_bytes() for path in sorted(first.parent.glob(f"{name}-*{MODEL}"))]


def _read(file: Path, chapter: str) -> Any:
    return json.loads(_find(file, chapter).read_text(encoding="utf-8"))


def _find(file: Path, chapter: str) -> Path:
    folders = os.environ.get(EXECUTED, str(KEPT)).split(os.pathsep)
    found = [Path(folder, file) for folder in folders if Path(folder, file).exists()]
    if not found:
        raise FileNotFoundError(
            f"{file} is in none of {', '.join(folders)}. Type: make fresh PAGES={chapter}"
        )
    return found[0]


def _run() -> Path | None:
    folder = os.environ.get(RUN)
    return Path(folder) if folder else None


def _write(path: Path, data: Any) -> None:
    """Write `data` so that nobody ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(readable(data), encoding="utf-8")
    temporary.replace(path)
