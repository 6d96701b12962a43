"""What a sandbox shows of this machine: the programs that submissions need, and nothing else."""

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
    # In large pages a process forks in half the time, and threads share these.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
}

_EDITABLE = (
    "__editable__*",
    "__pycache__/__editable__*",
    "*.egg-link",
    "*.dist-info/direct_url.json",
)


def prefixes() -> dict[str, str]:
    """The folders of this Python environment that no folder of the system holds, and their places.

    These are the interpreter's and those of the packages. They stand at the same places wherever
    they lie, so that no answer sees the folders on the way, which bear a user's and a course's
    name.
    """
    found: dict[str, str] = {}
    places = {
        sys.base_prefix: "python",
        sysconfig.get_path("purelib"): "site-packages",
        sysconfig.get_path("platlib"): "platform/site-packages",
    }
    for folder, place in places.items():
        real = os.path.realpath(folder)
        if not any(Path(real).is_relative_to(shown) for shown in (*SYSTEM, *found)):
            found[real] = f"{JUDGE}/{place}"
    return found


def inside(path: str) -> str:
    """The place of something in this Python environment."""
    real = Path(os.path.realpath(path))
    for folder, place in sorted(prefixes().items(), reverse=True):  # the innermost first
        if real.is_relative_to(folder):
            return str(place / real.relative_to(folder))
    return path


def python() -> str:
    """The place of this Python: of a virtual environment's, that which it links to."""
    return inside(os.path.realpath(sys.executable))


def environment() -> dict[str, str]:
    """The environment of a supervisor: ENVIRONMENT, and where Python finds what it loads."""
    packages = dict.fromkeys(inside(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
    found = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join((JUDGE, *packages))}
    if os.path.realpath(sys.base_prefix) in prefixes():  # a shared build has libpython there
        found["LD_LIBRARY_PATH"] = inside(f"{sys.base_prefix}/lib")
    return found


def hidden(packages: Sequence[str]) -> list[str]:
    """Where the judge and these packages stand inside of what is shown: empty folders there."""
    judge = __name__.partition(".")[0]
    return [inside(folder) for package in (judge, *packages) for folder in _installed(package)]


def revealing() -> list[str]:
    """The places of files that say where a package stands outside: of those installed editable.

    They cannot be read in the sandbox. A path may still stand in what Python has compiled.
    """
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    files = (file for folder in folders for name in _EDITABLE for file in Path(folder).glob(name))
    return sorted(inside(str(file)) for file in files)


def _installed(package: str) -> Sequence[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    real = map(os.path.realpath, folders)
    return [one for one in real if any(Path(one).is_relative_to(p) for p in (*SYSTEM, *prefixes()))]
