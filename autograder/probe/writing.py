"""A cell that begins with `%%writefile`: it writes a file, as in a notebook, and runs nothing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_BEGINNING = re.compile(r"%%(?:writefile|file)\b(.*)")
_ARGUMENTS = re.compile(
    r"""\s*(?P<first>(?:-a|--append)\s+)?
    (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'-]\S*))
    (?P<last>\s+(?:-a|--append))?\s*""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class WrittenFile:
    """What such a cell writes; `name` is empty if the magic cannot be understood."""

    name: str
    append: bool
    text: str

    @property
    def refused(self) -> str | None:
        """Why it cannot be written, and what to do; else None."""
        if not self.name:
            return "%%writefile names no file. Write: %%writefile helpers.py"
        place = os.path.normpath(self.name)
        if place.startswith(("/", "~", "../")) or place in (".", ".."):
            return (
                f"%%writefile {self.name} leads out of the folder of the notebook. Write the file "
                "there, under its name alone."
            )
        return None


def written_file(source: str) -> WrittenFile | None:
    """The file that a cell writes, or None if it does not begin so."""
    first, _, text = source.lstrip().partition("\n")
    begins = _BEGINNING.match(first)
    if begins is None:
        return None
    found = _ARGUMENTS.fullmatch(begins[1])
    if found is None:
        return WrittenFile("", False, text)
    if text and not text.endswith("\n"):
        text += "\n"
    name = next(filter(None, found.group("double", "single", "bare")), "")
    return WrittenFile(name, bool(found["first"] or found["last"]), text)
