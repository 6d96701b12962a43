"""The implementations, right and wrong, that a student's test is called with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .answers import Answer, source_as
from .model import Case, Raises, SourceFunction

REJECTS = Raises("AssertionError")
"""What a test must do when it is given a wrong implementation."""


@dataclass(frozen=True)
class Implementation:
    """An implementation for a test; `note` is its style if it is right, or its kind if wrong."""

    note: str
    answer: Answer
    holds: tuple[str, ...]
    shown: bool
    raises: Raises | None = None

    def case(self, imports: tuple[str, ...]) -> Case:
        """Return the case that passes its source to a test, under a name that reveals nothing."""
        text = source_as(self.answer.function, "implementation") + "\n"
        code = SourceFunction("implementation", "\n".join([*imports, text]))
        return Case(self.note, (code,), raises=self.raises, promises=self.holds)


def shuffle(
    rng: np.random.Generator, styles: Sequence[Case], mutants: Sequence[Case]
) -> Iterator[Case]:
    """Yield all styles and mutants in random order, and up to two of the styles a second time."""
    repeated = rng.permutation(len(styles))[: rng.integers(3)]
    cases = [*styles, *(styles[at] for at in repeated), *mutants]
    yield from (cases[at] for at in rng.permutation(len(cases)))
