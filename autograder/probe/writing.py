"""Parse a cell that begins with `%%writefile`, which writes a file and runs nothing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_MAGIC = re.compile(r"%%(?:writefile|file)\b(.*)")
_ARGUMENTS = re.compile(
    r"""\s*(?P<first>(?:-a|--append)\s+)?
    (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'-]\S*))
    (?P<last>\s+(?:-a|--append))?\s*""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class WrittenFile:
    """The file that such a cell writes; `name` is empty if the magic's line is not valid."""

    name: str
    append: bool
    text: str

    @property
    def refused(self) -> str | None:
        """Return why it cannot be written, and what to do, or None if it can be written."""
        if not self.name:
            return "%%writefile needs the name of a file. Write: %%writefile helpers.py"
        place = os.path.normpath(self.name)
        if place.startswith(("/", "~", "../")) or place in (".", ".."):
            return (
                f"%%writefile {self.name} would write outside the notebook's folder. Give only "
                "the name of the file, without a folder."
            )
        return None


def written_file(source: str) -> WrittenFile | None:
    """Return the file that a cell writes, or None if the cell does not begin with the magic."""
    first, _, text = source.lstrip().partition("\n")
    magic = _MAGIC.match(first)
    if magic is None:
        return None
    arguments = _ARGUMENTS.fullmatch(magic[1])
    if arguments is None:
        return WrittenFile("", False, text)
    if text and not text.endswith("\n"):
        text += "\n"
    name = next(filter(None, arguments.group("double", "single", "bare")), "")
    return WrittenFile(name, bool(arguments["first"] or arguments["last"]), text)
