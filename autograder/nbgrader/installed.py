"""Which nbgrader is installed: what leans on how nbgrader is built asks here first."""

from __future__ import annotations

from importlib import metadata

SERIES = "0.9"
"""The versions that this package was made for: its gradebook, pages and settings differ by them."""


class NbgraderMissing(Exception):
    """No nbgrader of the right series is installed; the message says what to install."""


def require() -> None:
    """Raise NbgraderMissing unless an nbgrader of the series is installed."""
    try:
        version = metadata.version("nbgrader")
    except metadata.PackageNotFoundError:
        found = "nbgrader is not installed"
    else:
        if version.split(".")[:2] == SERIES.split("."):
            return
        found = f"nbgrader {version} is installed"
    raise NbgraderMissing(
        f"{found}, and this grader works with nbgrader {SERIES}. Nothing was changed. "
        f"Install that: pip install 'nbgrader=={SERIES}.*'"
    )
