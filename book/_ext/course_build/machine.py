"""The machine on which a page is executed: its description, missing packages, and load."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil

CPUINFO = Path("/proc/cpuinfo")
INSTALL = "make course"
MINILM, SMOLLM2 = (f"solutions/published/{name}.py" for name in ("minilm", "smollm2_file"))
"""The modules that read a published model."""

ROUNDING = ("processor", "system", "python", "libc")
"""The keys of `description` that affect how numbers are rounded. No page uses a graphics card."""


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
    """Return the description of this machine, for the record of a run."""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.system(),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def rounds_alike(run: Mapping[str, Any]) -> bool:
    """Return whether this machine rounds like the machine of `run`, as far as the record tells."""
    here = description()
    return all(run[name] == here[name] for name in ROUNDING if name in run)


def missing_packages(packages: Mapping[str, str]) -> str | None:
    """Return, in words, which packages must be installed first to execute a page.

    packages: the pinned version of each package that the page needs. None if all are installed in
    these versions.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} must be installed for that. Type: {INSTALL}"
    for name, pin in packages.items():
        version = importlib.metadata.version(name).partition("+")[0]
        if pin not in ("any", version):
            return (
                f"{name} {version} is installed, but requirements.txt pins {pin}. "
                "Type: .ci/torch && pip install -r requirements.txt"
            )
    return None


def missing_weights(code: Iterable[str]) -> str | None:
    """Return, in words, which published model must be fetched first to execute a page.

    code: the files that the page's results depend on. None if the page reads no published model, or
    if its files are on this machine. A missing file of MiniLM is downloaded, as the page would do.
    """
    code = set(code)
    if not code & {MINILM, SMOLLM2}:
        return None
    # Imported here: the small projects that the tests build have no models.
    from solutions.published import files, smollm2_file

    try:
        if MINILM in code:
            for name in files.SHA256:
                files.find(name)
        if SMOLLM2 in code:
            smollm2_file.find()
    except files.PublishedFileError as error:
        return f"{error}, or: {INSTALL}"
    return None


class Load:
    """The load of the machine by other processes since this object was created."""

    def __init__(self) -> None:
        self.before = psutil.cpu_times()

    def others(self, own_seconds: float) -> float:
        """Return the share of all cores that other processes used.

        own_seconds: the processor time of our own processes, in seconds.
        """
        now = psutil.cpu_times()
        spent = {name: getattr(now, name) - getattr(self.before, name) for name in now._fields}
        for counted_twice in ("guest", "guest_nice"):
            spent.pop(counted_twice, None)
        idle = spent.get("idle", 0) + spent.get("iowait", 0)
        total = sum(spent.values())
        return max(0.0, (total - idle - own_seconds) / total) if total else 0.0
