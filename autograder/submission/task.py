"""The description of an assignment that all its submissions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exercise.outline import Outline

if TYPE_CHECKING:  # its import is slow, and workers read no notebooks
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Task:
    """An assignment: its outline, the released notebook, and a digest of what decides its verdicts.

    For the `fingerprint`, see grading.fingerprint. The `notes` say in which exercises the release
    differs from the course package.
    """

    outline: Outline
    released: NotebookNode
    fingerprint: str
    notes: tuple[str, ...] = ()
