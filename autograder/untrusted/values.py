"""The kinds of value that may cross the trust boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SourceFunction:
    """A function given to the student's code as an argument, sent as its source text.

    `source` defines a function called `name`; NumPy stands ready as `np`.
    """

    name: str
    source: str

    def load(self) -> Any:
        """Execute the source and return the function that it defines."""
        namespace: dict[str, Any] = {"np": np}
        exec(compile(self.source, f"<{self.name}>", "exec"), namespace)
        return namespace[self.name]


@dataclass(frozen=True)
class Foreign:
    """Stands for a value of a type that is no legitimate answer; only the type's name is kept."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """Stands for the value of a call that raised an exception instead."""

    type_name: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Observation:
    """What one case showed: the value (or `Raised`), the arguments after it, a second value."""

    value: Any
    arguments_after: tuple[Any, ...]
    again: Any
