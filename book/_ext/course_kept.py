"""The role `kept`: one number of the data that a page keeps of its figures.

    {kept}`far-token-trials gradients RNN * 30:.1e`

reads `book/executed/<this page>/far-token-trials.json`, goes into `gradients` and then `RNN`, and
gives the mean over all seeds of what is at place 30 of each. The format is Python's.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

EACH = "*"


def found_in(data: Any, steps: list[str]) -> float:
    """Follow `steps` into lists and dictionaries; `*` goes into all of a list, and takes the mean.

    Raises LookupError, TypeError or ValueError where there is no such number.
    """
    if not steps:
        return float(data)
    first, *rest = steps
    if first == EACH:
        return fmean(found_in(one, rest) for one in data)
    return found_in(data[int(first) if isinstance(data, list) else first], rest)


class KeptNumber(SphinxRole):
    """A number of the data of a figure, by its place in the file."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        place, _, form = self.text.partition(":")
        name, *steps = place.split()
        path = Path(self.env.srcdir, "executed", self.env.docname, f"{name}.json")
        self.env.note_dependency(str(path))
        try:
            number = found_in(json.loads(path.read_text(encoding="utf-8")), steps)
            return [nodes.Text(format(number, form))], []
        except (OSError, LookupError, TypeError, ValueError) as error:
            message = self.inliner.reporter.error(
                f"there is no number {self.text!r}: {type(error).__name__}, {error}. Write the "
                f"name of a file in {path.parent}, the way to the number in it, and its format.",
                line=self.lineno,
            )
            return [], [message]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("kept", KeptNumber())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
