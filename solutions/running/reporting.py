"""Save the numbers in the prose and the data of the figures with the run that computed them.

While the book's build executes a page, the numbers and data that the page reports are written to
the folder of that run, and kept with its outputs in `book/executed/<page>/`. A reader's own copy of
a notebook writes no files: there, a number only gets its name.

Values that depend on the clock or the machine (seconds, memory of a process) differ between runs.
They are reported separately, so that all other values can be compared byte by byte.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .readable import readable

Number = float | int | str

RUN = "COURSE_RUN"
"""The variable that names the folder of the run; the folder has the name of the page."""

EXECUTED = "COURSE_EXECUTED"
"""The variable that names the folder with the results of other pages."""

NUMBERS = "numbers.json"
TIMED = "timed"
"""The subfolder of a page's folder for all values that depend on the clock or the machine."""

MODEL = ".safetensors"
MEASURED = Path(__file__).parents[2] / "book" / "measured"
KEPT = Path(__file__).parents[2] / "book" / "executed"


def report(chapter: str, **values: Number) -> None:
    """Make `values` available to the prose of `chapter`, and keep them with the page's outputs.

    In the text, write {glue:text}`name:.2f`. Raises ValueError if another page is being executed.
    """
    _report(chapter, Path(NUMBERS), values)


def report_timings(chapter: str, **values: Number) -> None:
    """Do the same as `report` for numbers that depend on the clock or the machine."""
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
    """Keep the data of the figure `name`, or the part of it that later chapters need.

    data: lists, dictionaries, text and finite numbers; the function that computes it documents its
    content. Raises ValueError for a number that is not finite, because JSON cannot represent it.
    """
    _keep(Path(f"{name}.json"), data)


def timing_data(name: str, data: Any) -> None:
    """Do the same as `figure_data` for data that depends on the clock or the machine."""
    _keep(Path(TIMED, f"{name}.json"), data)


def _keep(file: Path, data: Any) -> None:
    json.dumps(data, allow_nan=False)  # raises before the file is opened
    folder = _run()
    if folder:
        _write(folder / file, data)


def model_data(name: str, models: Sequence[bytes]) -> None:
    """Keep trained models for later chapters, one for each seed; each is the content of a file."""
    folder = _run()
    for seed, content in enumerate(models if folder else ()):
        (folder / f"{name}-{seed}{MODEL}").write_bytes(content)  # type: ignore[operator]


def read_measured(name: str) -> dict[str, Any]:
    """Return the measurements in `book/measured/<name>.json`, which no page computes."""
    data: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    return data


def read_figure_data(name: str, chapter: str) -> Any:
    """Return the data of figure `name` that the page of `chapter` kept when it was executed.

    Raises FileNotFoundError, with the missing file in its message, if there is no such data.
    """
    return _read(Path(chapter, f"{name}.json"), chapter)


def read_timing_data(name: str, chapter: str) -> Any:
    """Do the same as `read_figure_data` for data that depends on the clock or the machine."""
    return _read(Path(chapter, TIMED, f"{name}.json"), chapter)


def read_model_data(name: str, chapter: str) -> list[bytes]:
    """Return the trained models `name`, one for each seed. Raises as `read_figure_data` does."""
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
    """Write `data` atomically, so that no reader sees an incomplete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(readable(data), encoding="utf-8")
    temporary.replace(path)
