"""Say what the cases that a wrong answer fails have in common and the others do not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..exercise.model import Case
from ..probe.values import Tensor
from .agreement import leaves
from .naming import Trial

Kind = Callable[[Case], bool]

LARGE = 100.0
"""A score of this size is large: its exponential has more than 43 digits before the point."""


RARE = 0.05
"""How likely it may be, at most, that all failing cases are of a kind by chance."""


def common_cases(trials: Sequence[Trial], kind: str) -> str:
    """Say what all failing cases have in common and the others do not, if that is supported.

    `kind` ("public " or "") goes before the word "cases". Empty if fewer than two cases fail, or
    all do. A kind of which all cases fail, and no others, needs two cases on either side, and the
    number of axes is named only if nothing else separates the two sides. A kind of which only some
    cases fail is named if it is unlikely that cases drawn at random would all be of it.
    """
    failing = [trial.case for trial in trials if trial.mismatch]
    passing = [trial.case for trial in trials if not trial.mismatch]
    if len(failing) < 2 or not passing:
        return ""
    kinds = {**_keywords(trials, with_text=bool(kind)), **KINDS}
    fitting = {words: holds for words, holds in kinds.items() if all(map(holds, failing))}
    exact = [words for words, holds in fitting.items() if not any(map(holds, passing))]
    min_axes = min(_axes(trial.case) for trial in trials)
    more_axes = [_axes(trial.case) > min_axes for trial in trials]
    if not exact and more_axes == [trial.mismatch is not None for trial in trials]:
        axes = "axis" if min_axes == 1 else "axes"
        exact = [f"whose first array has more than {min_axes} {axes}"]
    if exact and len(passing) > 1:
        return f"The {kind}cases {exact[0]} fail, and no others."
    chances = {
        words: _chance(sum(map(holds, passing)), len(failing), len(trials))
        for words, holds in fitting.items()
        if words not in exact
    }
    likely = min(chances, key=lambda words: chances[words], default="")
    if likely and chances[likely] <= RARE:
        return f"Only {kind}cases {likely} fail, though not all of them."
    return f"It is right on {len(passing)} of the {len(trials)} {kind}cases."


def _chance(others: int, failing: int, cases: int) -> float:
    """Return the chance that all of `failing` cases, drawn from `cases`, are of a kind.

    The kind has `others` cases besides those that fail.
    """
    return math.comb(failing + others, failing) / math.comb(cases, failing)


def particulars(trials: Sequence[Trial], at: int, parameters: Sequence[str]) -> str:
    """Say which arrays of case `at` have more axes than in other cases, or else all its shapes."""
    shapes = _shapes(trials[at].case, parameters)
    min_axes = {
        name: min(len(_shapes(trial.case, parameters).get(name, shape)) for trial in trials)
        for name, shape in shapes.items()
    }
    batched = {name: shape for name, shape in shapes.items() if len(shape) > min_axes[name]}
    shown = [f"`{name}` {shape}" for name, shape in (batched or shapes).items()]
    if not shown:
        return ""
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if shown[1:] else shown[0]
    return f"This case has {'more axes than others' if batched else 'the shapes'}: {listed}."


def _shapes(case: Case, parameters: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays among the arguments of a case, by parameter."""
    arguments = {**dict(zip(parameters, case.arguments, strict=False)), **case.keywords}
    values = {
        name: argument.array if isinstance(argument, Tensor) else argument
        for name, argument in arguments.items()
    }
    return {name: value.shape for name, value in values.items() if isinstance(value, np.ndarray)}


def _keywords(trials: Sequence[Trial], *, with_text: bool) -> dict[str, Kind]:
    """Return a kind of case for each keyword that a call, or the class in a setup, may take.

    Only `with_text` has a kind for each text that is the value of a keyword.
    """
    kinds: dict[str, Kind] = {}
    for name in sorted({name for trial in trials for name in _all_keywords(trial.case)}):
        kinds[f"with `{name}=True`"] = partial(_has_keyword, name=name, only=True)
        kinds[f"with `{name}=False`"] = partial(_has_keyword, name=name, only=False)
        values = [_all_keywords(trial.case).get(name) for trial in trials] if with_text else []
        for text in sorted({value for value in values if isinstance(value, str)}):
            kinds[f'with `{name}="{text}"`'] = partial(_has_keyword, name=name, only=text)
        kinds[f"with `{name}`"] = partial(_has_keyword, name=name)
    return kinds


def _has_keyword(case: Case, name: str, only: bool | str | None = None) -> bool:
    value = _all_keywords(case).get(name)
    if only is None:
        return value is not None
    return type(value) is type(only) and value == only


def _all_keywords(case: Case) -> dict[str, Any]:
    return case.keywords | (case.setup.keywords if case.setup else {})


def _leaves(case: Case) -> Iterator[np.ndarray]:
    """Return the arrays among the arguments of a case."""
    return leaves([*case.arguments, *case.keywords.values()])


def masks(case: Case) -> list[np.ndarray]:
    """Return the boolean arrays among the arguments of a case."""
    return [array for array in _leaves(case) if array.dtype == bool]


def _axes(case: Case) -> int:
    """Return the number of axes of the first array, or 0 if there is none."""
    return next((array.ndim for array in _leaves(case)), 0)


KINDS: dict[str, Kind] = {
    "in float32": lambda case: any(array.dtype == np.float32 for array in _leaves(case)),
    "with a mask": lambda case: bool(masks(case)),
    "without a mask": lambda case: not masks(case),
    "with an axis of length 0": lambda case: any(0 in array.shape for array in _leaves(case)),
    "with an axis of length 1": lambda case: any(1 in array.shape for array in _leaves(case)),
    "with large numbers": lambda case: any(
        array.dtype.kind == "f" and bool((np.abs(array[np.isfinite(array)]) >= LARGE).any())
        for array in _leaves(case)
    ),
}
