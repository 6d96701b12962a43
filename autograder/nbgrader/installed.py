"""Check the version of nbgrader, because this package depends on its internals."""

from __future__ import annotations

from importlib import metadata

SERIES = "0.9"
"""The supported series. nbgrader's gradebook, pages and settings differ between series."""


class NbgraderMissing(Exception):
    """Raised if no supported nbgrader is installed; the message says what to install."""


def require() -> None:
    """Raise NbgraderMissing unless a version of nbgrader in the supported series is installed."""
    try:
        version = metadata.version("nbgrader")
    except metadata.PackageNotFoundError:
        state = "nbgrader is not installed"
    else:
        if version.split(".")[:2] == SERIES.split("."):
            return
        state = f"nbgrader {version} is installed"
    raise NbgraderMissing(
        f"{state}, but this grader needs nbgrader {SERIES}. Nothing was changed. "
        f"Install it: pip install 'nbgrader=={SERIES}.*'"
    )
