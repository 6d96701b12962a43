"""What the docstring of an exercise promises, and which cases hold an answer to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import Exercise, public_cases

__all__ = ["Promise", "promises"]


@dataclass(frozen=True)
class Promise:
    """A promise of a docstring: `says` quotes it, `cases` are the notes of those that hold it."""

    says: str
    cases: tuple[str, ...]


def promises(exercise: Exercise) -> tuple[Promise, ...]:
    """The promises that the public cases and a draw of hidden ones hold.

    Raises ValueError for first words, "beginning…", with which no promise begins, or several do.
    """
    cases = [*public_cases(exercise), *exercise.hidden(np.random.default_rng(0))]
    held: dict[str, list[str]] = {
        says: [] for case in cases for says in case.promises if not says.endswith("…")
    }
    for case in cases:
        for says in case.promises:
            whole = [one for one in held if says == one] or [
                one for one in held if says.endswith("…") and one.startswith(says[:-1])
            ]
            if len(whole) != 1:
                raise ValueError(
                    f"{exercise.name}: the case {case.note!r} holds {says!r}, and {len(whole)} "
                    "promises begin so"
                )
            if case.note not in held[whole[0]]:
                held[whole[0]].append(case.note)
    return tuple(Promise(says, tuple(notes)) for says, notes in held.items())
