"""Bind the numbers in the prose to the run that made them."""

import json
import os
from pathlib import Path

Number = float | int | str

RESULTS = "results.json"
_begun: set[str] = set()  # chapters that have reported in this process


def report(chapter: str, **values: Number) -> None:
    """Offer `values` to the prose of `chapter`, and keep them in the build's `results.json`.

    In the text, write {glue:text}`name:.2f`. The file's form is {"<chapter>": {"<name>": value}};
    it stands in the folder that the environment variable COURSE_BUILD names, `_build` by default.
    """
    from myst_nb import glue

    folder = Path(os.environ.get("COURSE_BUILD", "_build"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if chapter not in _begun:  # what an earlier run reported under other names is no result now
        results[chapter] = {}
        _begun.add(chapter)
    results[chapter].update(
        {name: value.item() if hasattr(value, "item") else value for name, value in values.items()}
    )
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    temporary.replace(path)
    for name in values:
        glue(name, results[chapter][name], display=False)
