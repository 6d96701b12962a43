"""The machine that a page is executed on: what it is, what it lacks, and how busy it is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

CPUINFO = Path("/proc/cpuinfo")
INSTALL = "make course"

ROUNDING = ("processor", "system", "python", "libc")
"""What `description` says that decides how numbers are rounded; no page uses a graphics card."""


def processor() -> str:
    """Return the make, family and model of the processor."""
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.exists() else []
    pairs = (line.partition(":") for line in lines if ":" in line)
    known = {name.strip(): value.strip() for name, _, value in reversed([*pairs])}
    kind = platform.machine()
    if "vendor_id" in known:
        family, model = known.get("cpu family"), known.get("model")
        return f"{kind} {known['vendor_id']} family {family} model {model}"
    if "CPU part" in known:
        return f"{kind} implementer {known.get('CPU implementer')} part {known['CPU part']}"
    return f"{kind} {platform.processor()}".strip()


def description() -> dict[str, Any]:
    """Return what the record of a run says of the machine."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.system(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def rounds_alike(run: Mapping[str, Any]) -> bool:
    """Tell whether this machine computes as that of the record `run` did, as far as that says."""
    here = description()
    return all(run[name] == here[name] for name in ROUNDING if name in run)


def lacking(packages: Mapping[str, str]) -> str | None:
    """Return what is missing to execute a page that computes with these packages, in words.

    packages: the pinned version of each. None if all are installed in these versions.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} must be installed for that. Type: {INSTALL}"
    for name, pin in packages.items():
        version = importlib.metadata.version(name).partition("+")[0]
        if pin not in ("any", version):
            return (
                f"{name} {version} is installed, and requirements.txt pins {pin}. "
                "Type: .ci/torch && pip install -r requirements.txt"
            )
    return None


class Load:
    """How much of the machine others have used since this was made."""

    def __init__(self) -> None:
        self.before = psutil.cpu_times()

    def others(self, own_seconds: float) -> float:
        """Return the share of all cores that others had, `own_seconds` of a core being ours."""
        now = psutil.cpu_times()
        spent = {name: getattr(now, name) - getattr(self.before, name) for name in now._fields}
        for counted_twice in ("guest", "guest_nice"):
            spent.pop(counted_twice, None)
        idle = spent.get("idle", 0) + spent.get("iowait", 0)
        total = sum(spent.values())
        return max(0.0, (total - idle - own_seconds) / total) if total else 0.0
