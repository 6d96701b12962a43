"""What the docstring of an exercise promises, and which cases hold an answer to it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np

from .model import Case, Exercise, public_cases

__all__ = ["Promise", "docstrings", "promises"]


@dataclass(frozen=True)
class Promise:
    """A promise of a docstring: `says` quotes it, `cases` are the notes of those that hold it."""

    says: str
    cases: tuple[str, ...]


def docstrings(exercise: Exercise) -> list[str]:
    """The docstrings that the stub shows, their whitespace folded; the summary's comes first."""
    reference = exercise.reference
    documented = [reference]
    if inspect.isclass(reference):
        documented += [vars(reference)["__init__"], vars(reference)["forward"]]
    return [" ".join((inspect.getdoc(one) or "").split()) for one in documented]


def promises(exercise: Exercise) -> tuple[Promise, ...]:
    """The promises that the public cases and a draw of hidden ones hold.

    Raises ValueError for a quote that stands in no docstring, or in several places, and for first
    words, "beginning…", with which no promise begins, or several do.
    """
    cases = [*public_cases(exercise), *exercise.hidden(np.random.default_rng(0))]
    held: dict[str, list[str]] = {}
    for case in cases:
        for says in case.promises:
            if not says.endswith("…"):
                found = sum(text.count(says) for text in docstrings(exercise))
                if found != 1:
                    raise _error(
                        exercise, case, says, f"stands in the docstring {found} times, not once"
                    )
                held.setdefault(says, [])
    for case in cases:
        for says in case.promises:
            whole = [one for one in held if one == says or one.startswith(says.rstrip("…"))]
            whole = [says] if says in held else whole
            if len(whole) != 1:
                raise _error(exercise, case, says, f"begins {len(whole)} promises, not one")
            if case.note not in held[whole[0]]:
                held[whole[0]].append(case.note)
    return tuple(Promise(says, tuple(notes)) for says, notes in held.items())


def _error(exercise: Exercise, case: Case, says: str, what: str) -> ValueError:
    return ValueError(f"{exercise.name}: the case {case.note!r} holds {says!r}, which {what}")
