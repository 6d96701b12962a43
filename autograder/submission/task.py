"""The description of an assignment that all its submissions share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..exercise.guides import Guide
from ..exercise.outline import Outline

if TYPE_CHECKING:  # its import is slow, and workers read no notebooks
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Task:
    """An assignment: its outline, the released notebook, and a digest of what decides its verdicts.

    For the `fingerprint`, see grading.fingerprint. The `notes` say in which exercises the release
    differs from the course package. The `title`, and the `guides` by exercise, are for people: no
    verdict depends on them.
    """

    outline: Outline
    released: NotebookNode
    fingerprint: str
    notes: tuple[str, ...] = ()
    title: str = ""
    guides: Mapping[str, Guide] = field(default_factory=dict)
