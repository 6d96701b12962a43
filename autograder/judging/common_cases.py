"""Say which cases a wrong answer fails, where they share what the others have not."""

from __future__ import annotations

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
"""From here on a score is large: its exponential has more than 43 digits before the point."""


def common_cases(trials: Sequence[Trial], kind: str) -> str:
    """What the cases that fail have in common, and some of the others have not."""
    failing = [trial.case for trial in trials if trial.mismatch]
    passing = [trial.case for trial in trials if not trial.mismatch]
    if len(failing) < 2 or not passing:
        return ""
    least = min(_axes(trial.case) for trial in trials)
    more = f"whose first array has more than {least} {'axis' if least == 1 else 'axes'}"
    kinds = {more: lambda case: _axes(case) > least, **_keywords(trials), **KINDS}
    for words, holds in kinds.items():
        if all(map(holds, failing)) and not any(map(holds, passing)):
            return f"The {kind}cases {words} fail, and no others."
    for words, holds in kinds.items():
        if words != more and all(map(holds, failing)) and not all(map(holds, passing)):
            return f"Only {kind}cases {words} fail, though not all of them."
    return f"It is right on {len(passing)} of the {len(trials)} {kind}cases."


def particulars(trials: Sequence[Trial], at: int, parameters: Sequence[str]) -> str:
    """What is particular about the shapes of one case: more axes than others; else all of them."""
    shapes = _shapes(trials[at].case, parameters)
    least = {
        name: min(len(_shapes(one.case, parameters).get(name, shape)) for one in trials)
        for name, shape in shapes.items()
    }
    batched = {name: shape for name, shape in shapes.items() if len(shape) > least[name]}
    shown = [f"`{name}` {shape}" for name, shape in (batched or shapes).items()]
    if not shown:
        return ""
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if shown[1:] else shown[0]
    return f"This case has {'more axes than others' if batched else 'the shapes'}: {listed}."


def _shapes(case: Case, parameters: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays among the arguments of a case, by parameter."""
    given = {**dict(zip(parameters, case.arguments, strict=False)), **case.keywords}
    arrays = {
        name: value.array if isinstance(value, Tensor) else value for name, value in given.items()
    }
    return {name: one.shape for name, one in arrays.items() if isinstance(one, np.ndarray)}


def _keywords(trials: Sequence[Trial]) -> dict[str, Kind]:
    """The keywords that a case may have, of its call or of the class that it makes."""
    kinds: dict[str, Kind] = {}
    for name in sorted({name for trial in trials for name in _given(trial.case)}):
        kinds[f"with `{name}=True`"] = partial(_is_given, name=name, only=True)
        kinds[f"with `{name}=False`"] = partial(_is_given, name=name, only=False)
        kinds[f"with `{name}`"] = partial(_is_given, name=name)
    return kinds


def _is_given(case: Case, name: str, only: bool | None = None) -> bool:
    value = _given(case).get(name)
    return value is not None if only is None else value is only


def _given(case: Case) -> dict[str, Any]:
    return case.keywords | (case.setup.keywords if case.setup else {})


def _leaves(case: Case) -> Iterator[np.ndarray]:
    """The arrays among the arguments of a case."""
    return leaves([*case.arguments, *case.keywords.values()])


def masks(case: Case) -> list[np.ndarray]:
    """The boolean arrays among the arguments of a case."""
    return [array for array in _leaves(case) if array.dtype == bool]


def _axes(case: Case) -> int:
    """The number of axes of the first array."""
    return next((array.ndim for array in _leaves(case)), 0)


KINDS: dict[str, Kind] = {
    "in float32": lambda case: any(one.dtype == np.float32 for one in _leaves(case)),
    "with a mask": lambda case: bool(masks(case)),
    "without a mask": lambda case: not masks(case),
    "with an axis of length 0": lambda case: any(0 in one.shape for one in _leaves(case)),
    "with an axis of length 1": lambda case: any(1 in one.shape for one in _leaves(case)),
    "with large numbers": lambda case: any(
        one.dtype.kind == "f" and bool((np.abs(one[np.isfinite(one)]) >= LARGE).any())
        for one in _leaves(case)
    ),
}
