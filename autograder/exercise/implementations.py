"""What a test that a student writes is given: implementations, right and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .answers import Answer, source_as
from .model import Case, Raises, SourceFunction

REJECTS = Raises("AssertionError")
"""What a test does with a wrong one."""


@dataclass(frozen=True)
class Implementation:
    """What a test is given: a `style` of right ones or a `kind` of wrong ones, and one of it."""

    note: str
    answer: Answer
    holds: tuple[str, ...]
    shown: bool
    raises: Raises | None = None

    def case(self, imports: tuple[str, ...]) -> Case:
        """The case that gives it to a test: its source, by a name that says nothing."""
        text = source_as(self.answer.function, "implementation") + "\n"
        code = SourceFunction("implementation", "\n".join([*imports, text]))
        return Case(self.note, (code,), raises=self.raises, promises=self.holds)


def shuffled(
    rng: np.random.Generator, styles: Sequence[Case], mutants: Sequence[Case]
) -> Iterator[Case]:
    """All of both, with up to two of the right ones a second time, in an order that is drawn."""
    twice = rng.permutation(len(styles))[: rng.integers(3)]
    drawn = [*styles, *(styles[at] for at in twice), *mutants]
    yield from (drawn[at] for at in rng.permutation(len(drawn)))
