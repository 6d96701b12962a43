"""What a sandbox shows of this machine: the programs that submissions need, and nothing else."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .untrusted.namespaces import DESK

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


def prefixes() -> list[str]:
    """The folders of this Python environment that no folder of the system holds."""
    both = dict.fromkeys((sys.base_prefix, sys.prefix))
    return [prefix for prefix in both if not prefix.startswith("/usr/") and prefix != "/usr"]


def hidden() -> list[str]:
    """Where the judge and the reference stand inside of what is shown: empty folders there."""
    return [folder for package in ("autograder", "solutions") for folder in _installed(package)]


def _installed(package: str) -> Sequence[str]:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    shown = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    return [folder for folder in folders if any(Path(folder).is_relative_to(p) for p in shown)]
