"""The exercises of the course, a package a chapter; the engine finds them here."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

from ..exercise.model import Assignment


class _Assignments(Mapping[str, Assignment]):
    """Imports a chapter's exercises when they are asked for: some need torch, and most do not."""

    def __init__(self) -> None:
        self._names = sorted(module.name for module in pkgutil.iter_modules(__path__))

    def __getitem__(self, name: str) -> Assignment:
        if name not in self._names:
            raise KeyError(name)
        assignment: Assignment = importlib.import_module(f"{__name__}.{name}").ASSIGNMENT
        return assignment

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def assignments() -> Mapping[str, Assignment]:
    """Every assignment of the course, by name."""
    return _Assignments()
