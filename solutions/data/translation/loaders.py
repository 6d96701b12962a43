"""Pairs of sentences from a file: Tatoeba's tab-separated export, or your own file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .pairs import tokenise

_SHAPE = "each line must be: source, a tab, target, and if you like a tab and the attribution"


class PairsFileError(ValueError):
    """A file of pairs cannot be used; the message names the fault, its place and the remedy."""


class TokenPair(NamedTuple):
    """A source sentence and its translation, as tokens. A file has no gold alignment."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def load_tatoeba(path: str | Path) -> list[TokenPair]:
    """Return the pairs of a tab-separated UTF-8 file, in order, without blank lines.

    A line has a source, a target and an optional attribution, which is ignored. Tatoeba's export
    has this format, and your own file may have it too. Sentences are split by `tokenise`. Raises
    PairsFileError for a file that is missing, damaged, empty or of another format.
    """
    text = _read(Path(path))
    pairs = [
        _pair(line.rstrip("\r"), f"{path}, line {number}")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not pairs:
        raise PairsFileError(f"{path}: the file holds no pairs. Download it again; {_SHAPE}.")
    return pairs


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise PairsFileError(f"{path}: cannot be read ({reason}). Check the path.") from error
    if content.startswith((b"PK\x03\x04", b"\x1f\x8b", b"BZh")):
        raise PairsFileError(f"{path}: this is an archive. Unpack it, and name the file inside.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PairsFileError(f"{path}, line 1: this is UTF-16. Save the file as UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PairsFileError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8. "
            "Save the file as UTF-8, or download it again."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise PairsFileError(f"{path}, line {line}: a zero byte; the file is damaged. Get it anew.")
    return text


def _pair(line: str, where: str) -> TokenPair:
    columns = line.split("\t")
    if len(columns) not in {2, 3}:
        count = "one column" if len(columns) == 1 else f"{len(columns)} columns"
        raise PairsFileError(f"{where}: {count}. Separate by tabs; {_SHAPE}.")
    source, target = tokenise(columns[0]), tokenise(columns[1])
    if not source or not target:
        empty = "target" if source else "source"
        raise PairsFileError(f"{where}: the {empty} is empty. Fill it in, or remove the line.")
    return TokenPair(source, target)
