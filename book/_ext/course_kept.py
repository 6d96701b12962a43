"""The role `kept`: a number from the stored data of a figure.

    {kept}`far-token-trials gradients RNN * 30:.1e`

reads `book/executed/<this page>/far-token-trials.json`, looks up `gradients` and then `RNN`, and
shows the mean over all seeds of the value at index 30. The format is one of Python's.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

EACH = "*"


def number_at(data: Any, steps: list[str]) -> float:
    """Return the number that `steps` lead to, through lists and dictionaries.

    The step `*` follows the other steps in every item of a list and takes the mean.
    Raises LookupError, TypeError or ValueError if there is no number at the end of `steps`.
    """
    if not steps:
        return float(data)
    first, *rest = steps
    if first == EACH:
        return fmean(number_at(item, rest) for item in data)
    return number_at(data[int(first) if isinstance(data, list) else first], rest)


class KeptNumber(SphinxRole):
    """A number from the data of a figure, named by its file and its position in the file."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        place, _, form = self.text.partition(":")
        name, *steps = place.split()
        path = Path(self.env.srcdir, "executed", self.env.docname, f"{name}.json")
        self.env.note_dependency(str(path))
        try:
            number = number_at(json.loads(path.read_text(encoding="utf-8")), steps)
            return [nodes.Text(format(number, form))], []
        except (OSError, LookupError, TypeError, ValueError) as error:
            message = self.inliner.reporter.error(
                f"there is no number {self.text!r}: {type(error).__name__}, {error}. Write the "
                f"name of a file in {path.parent}, the keys and indices that lead to the number "
                "in it, and its format.",
                line=self.lineno,
            )
            return [], [message]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("kept", KeptNumber())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
