"""The exercises of the course, a module a chapter; the engine finds them here."""

from __future__ import annotations

import importlib
import pkgutil

from ..exercise import Assignment


def assignments() -> dict[str, Assignment]:
    """Every assignment of the course, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").ASSIGNMENT for name in names}
