"""What a sandbox shows of this machine: the programs that submissions need, and nothing else."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .untrusted.namespaces import DESK, JUDGE, PRIVATE

UNTRUSTED = Path(__file__).parent / "untrusted"
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
    # In large pages a process forks in half the time, and threads share these.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
}


def prefixes() -> dict[str, str]:
    """The folders of this Python environment that no folder of the system holds, and their places.

    Each keeps its own place, but for one in a private folder: that must be empty in there.
    """
    both = dict.fromkeys((sys.base_prefix, sys.prefix))
    outside = [one for one in both if not one.startswith("/usr/") and one != "/usr"]
    moved = [any(Path(one).is_relative_to(folder) for folder in PRIVATE) for one in outside]
    return {
        one: f"{JUDGE}/python-{number}" if moved[number] else one
        for number, one in enumerate(outside)
    }


def inside(path: str) -> str:
    """The place of something in this Python environment."""
    for folder, place in sorted(prefixes().items(), reverse=True):  # the innermost first
        if Path(path).is_relative_to(folder):
            return str(Path(place) / Path(path).relative_to(folder))
    return path


def python() -> str:
    """The place of this Python. Of an environment that was moved, it is that which it links to."""
    return sys.executable if _stays() else inside(os.path.realpath(sys.executable))


def environment() -> dict[str, str]:
    """The environment of a supervisor: ENVIRONMENT, and where Python finds what it imports."""
    paths = sysconfig.get_paths()
    packages = dict.fromkeys((inside(paths["purelib"]), inside(paths["platlib"])))
    found = [JUDGE, *(() if _stays() else packages)]
    return ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(found)}


def _stays() -> bool:
    return all(folder == place for folder, place in prefixes().items())


def hidden() -> list[str]:
    """Where the judge and the reference stand inside of what is shown: empty folders there."""
    packages = ("autograder", "solutions")
    return [inside(folder) for package in packages for folder in _installed(package)]


def _installed(package: str) -> Sequence[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    shown = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    return [folder for folder in folders if any(Path(folder).is_relative_to(p) for p in shown)]
