"""Match the promises in an exercise's docstring with the cases that hold an answer to them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np

from .model import Case, Exercise, public_cases

__all__ = ["Promise", "docstrings", "promises"]


@dataclass(frozen=True)
class Promise:
    """A promise: `says` quotes the docstring, `cases` are the notes of the cases that check it."""

    says: str
    cases: tuple[str, ...]


def docstrings(exercise: Exercise) -> list[str]:
    """Return the docstrings that the stub shows, that of the exercise first, on one line each."""
    reference = exercise.reference
    documented = [reference]
    if inspect.isclass(reference):
        documented += [vars(reference)["__init__"], vars(reference)["forward"]]
    return [" ".join((inspect.getdoc(item) or "").split()) for item in documented]


def promises(exercise: Exercise) -> tuple[Promise, ...]:
    """Return the promises that the public cases and a draw of the hidden cases check.

    Raises ValueError for a quote that does not occur exactly once in the docstrings, and for first
    words, "beginning…", with which not exactly one promise begins.
    """
    cases = [*public_cases(exercise), *exercise.hidden(np.random.default_rng(0))]
    held: dict[str, list[str]] = {}
    for case in cases:
        for says in case.promises:
            if not says.endswith("…"):
                count = sum(text.count(says) for text in docstrings(exercise))
                if count != 1:
                    raise _error(
                        exercise, case, says, f"occurs in the docstring {count} times, not once"
                    )
                held.setdefault(says, [])
    for case in cases:
        for says in case.promises:
            whole = [quote for quote in held if quote.startswith(says.rstrip("…"))]
            whole = [says] if says in held else whole
            if len(whole) != 1:
                raise _error(exercise, case, says, f"begins {len(whole)} promises, not one")
            if case.note not in held[whole[0]]:
                held[whole[0]].append(case.note)
    return tuple(Promise(says, tuple(notes)) for says, notes in held.items())


def _error(exercise: Exercise, case: Case, says: str, fault: str) -> ValueError:
    return ValueError(f"{exercise.name}: the case {case.note!r} holds {says!r}, which {fault}")
