"""What all submissions for an assignment share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..exercise.outline import Outline

if TYPE_CHECKING:  # its import takes long, and no worker reads a notebook
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Task:
    """An assignment: its outline, the release that was handed out, and what decides its verdicts.

    `fingerprint` is a digest of the latter; see grading.fingerprint. `notes` say in which exercises
    the release differs from the course package.
    """

    outline: Outline
    released: NotebookNode
    fingerprint: str
    notes: tuple[str, ...] = ()
