"""The parts of this machine that a sandbox can read: only the programs that submissions need."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from ..probe.namespaces import DESK, JUDGE

PROBE = Path(__file__).parents[1] / "probe"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
LIBRARIES = "/etc/ld.so.cache"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": DESK,
    "TMPDIR": DESK,
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": DESK,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Huge pages halve the time of a fork; a single arena makes threads share them.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
}

_EDITABLE = (
    "__editable__*",
    "__pycache__/__editable__*",
    "*.egg-link",
    "*.dist-info/direct_url.json",
)


def prefixes() -> dict[str, str]:
    """Return the folders of this Python environment outside of SYSTEM, with their sandbox paths.

    These are the folders of the interpreter and of its packages. Their paths in the sandbox are
    fixed, so that no answer sees the real paths, which may contain the names of a user and a
    course.
    """
    shown: dict[str, str] = {}
    places = {
        sys.base_prefix: "python",
        sysconfig.get_path("purelib"): "site-packages",
        sysconfig.get_path("platlib"): "platform/site-packages",
    }
    for folder, place in places.items():
        real = os.path.realpath(folder)
        if not any(Path(real).is_relative_to(parent) for parent in (*SYSTEM, *shown)):
            shown[real] = f"{JUDGE}/{place}"
    return shown


def path_inside(path: str) -> str:
    """Return the sandbox path of a file or folder of this Python environment."""
    real = Path(os.path.realpath(path))
    for folder, place in sorted(prefixes().items(), reverse=True):  # the innermost first
        if real.is_relative_to(folder):
            return str(place / real.relative_to(folder))
    return path


def python() -> str:
    """Return the sandbox path of this Python; links of a virtual environment are resolved."""
    return path_inside(os.path.realpath(sys.executable))


def environment() -> dict[str, str]:
    """Return the environment of a supervisor: ENVIRONMENT plus Python's search paths."""
    packages = dict.fromkeys(
        path_inside(sysconfig.get_path(name)) for name in ("purelib", "platlib")
    )
    variables = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join((JUDGE, *packages))}
    if os.path.realpath(sys.base_prefix) in prefixes():  # a shared build has libpython there
        variables["LD_LIBRARY_PATH"] = path_inside(f"{sys.base_prefix}/lib")
    return variables


def hidden_folders(packages: Sequence[str]) -> list[str]:
    """Return the sandbox paths of the judge and these packages, which must be empty there."""
    judge = __name__.partition(".")[0]
    return [
        path_inside(folder) for package in (judge, *packages) for folder in _shown_folders(package)
    ]


def revealing_files() -> list[str]:
    """Return the sandbox paths of files that contain the real path of an editable installation.

    They are hidden in the sandbox. A real path may still occur in compiled Python files.
    """
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    files = (file for folder in folders for name in _EDITABLE for file in Path(folder).glob(name))
    return sorted(path_inside(str(file)) for file in files)


def _shown_folders(package: str) -> Sequence[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    real = map(os.path.realpath, folders)
    shown = (*SYSTEM, *prefixes())
    return [path for path in real if any(Path(path).is_relative_to(p) for p in shown)]
