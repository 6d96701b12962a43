"""Say what the differences of a wrong answer have in common, if no known mistake explains them.

Each pattern is a small function, and claims only what is true of every number that it describes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..probe.values import Tensor, output
from .agreement import close, family
from .common_cases import common_cases, masks
from .differences import Difference, differences
from .naming import Trial
from .relations import (
    along_another_axis,
    factor_of_single_numbers,
    function_of_the_right_one,
    no_longer_one,
    off_by_an_argument,
)
from .verdict import Verdict
from .words import Names, numbers


@dataclass(frozen=True)
class Pattern:
    """A claim about every wrong array, as text; `in_general` says the same without numbers."""

    text: str
    in_general: str = ""


Differences = Sequence[Difference]


def patterns(trials: Sequence[Trial], names: Names, *, hidden: bool) -> str:
    """Return what the differences have in common, in at most three sentences, or an empty text.

    The text contains no numbers if `hidden`.
    """
    failing = [trial for trial in trials if trial.mismatch]
    numeric = [t for t in failing if t.mismatch and t.mismatch.verdict in _NUMERIC]
    wrong = [diff for trial in numeric for diff in differences(trial, names)]
    all_numeric = numeric[:1] == failing[:1] and len({id(diff.trial) for diff in wrong}) == len(
        numeric
    )
    shared = (_first(wrong, names), _alone(wrong)) if all_numeric else ()
    where = f"In each of the {len(numeric)} cases with wrong numbers" if numeric[1:] else "There"
    claims = [_sentence(where, pattern, hidden) for pattern in shared if pattern]
    kind = "" if hidden else "public "
    sentences = (*claims, _right_numbers(failing), common_cases(trials, kind))
    return " ".join(sentence for sentence in sentences if sentence)


_NUMERIC = (Verdict.WRONG_VALUE, Verdict.NONFINITE)


def _sentence(where: str, pattern: Pattern, hidden: bool) -> str:
    return f"{where}, {pattern.in_general or pattern.text if hidden else pattern.text}."


def _first(wrong: Differences, names: Names) -> Pattern | None:
    for look in NUMBER_PATTERNS if _all_floats(wrong) else ():
        pattern = look(wrong)
        if pattern:
            return pattern
    if _all_floats(wrong):
        claim = off_by_an_argument(wrong, names.parameters) or no_longer_one(wrong)
        if claim:
            return Pattern(claim)
    for place, holds in PLACES.items():
        if all(diff.wrong.size > 1 and holds(diff) for diff in wrong):
            return Pattern(f"numbers are wrong only {place}")
    return None


def _all_floats(wrong: Differences) -> bool:
    """Return True if every number is a float, and finite wherever the expected number is."""
    return all(
        diff.expected.dtype.kind == "f"
        and bool(np.isfinite(diff.actual[np.isfinite(diff.expected)]).all())
        for diff in wrong
    )


# Patterns that describe all the numbers.


def _sign(wrong: Differences) -> Pattern | None:
    if all(_many(diff) and close(-diff.expected, diff.actual).all() for diff in wrong):
        return Pattern("every number has the opposite sign")
    return None


def _factor(wrong: Differences) -> Pattern | None:
    factors = [factor for diff in wrong if (factor := _factor_of(diff)) is not None]
    if len(factors) < len(wrong) or not all(map(_many, wrong)):
        return None
    if np.allclose(factors, factors[0], rtol=1e-5):
        text = f"every number is {numbers(factors[0], 1.0)[0]} times what it should be"
        return Pattern(text, "every number is off by the same factor")
    listed = list(dict.fromkeys(numbers(factor, 1.0)[0] for factor in factors))
    general = "all numbers are off by the same factor, which depends on the case"
    return Pattern(f"{general} ({', '.join(listed[:4])})", general)


def _factor_of(diff: Difference) -> float | None:
    """Return the factor between the expected array and the actual one, or None if it varies."""
    at = np.unravel_index(np.argmax(np.abs(diff.expected)), diff.expected.shape)
    if not np.isfinite(diff.expected).all() or diff.expected[at] == 0:
        return None
    factor = float(diff.actual[at]) / float(diff.expected[at])
    return factor if factor and close(diff.expected * factor, diff.actual).all() else None


def _many(diff: Difference) -> bool:
    """Return True if the expected array holds several different nonzero numbers.

    With fewer, a single factor could fit by chance.
    """
    return len(np.unique(diff.expected[diff.expected != 0])) > 1


def _offset(wrong: Differences) -> Pattern | None:
    offsets = [
        float(np.ravel(diff.actual)[0]) - float(np.ravel(diff.expected)[0]) for diff in wrong
    ]
    for diff, offset in zip(wrong, offsets, strict=True):
        finite = np.isfinite(diff.expected).all() and np.isfinite(offset)
        if not (finite and offset and _many(diff) and diff.wrong.all()):
            return None
        if not close(diff.expected + offset, diff.actual).all():
            return None
    if np.allclose(offsets, offsets[0], rtol=1e-5):
        more = "more" if offsets[0] > 0 else "less"
        text = f"every number is {abs(offsets[0]):.4g} {more} than it should be"
        return Pattern(text, f"every number is {more} than it should be, by the same amount")
    return Pattern("all numbers are off by the same amount, which depends on the case")


def _other_order(wrong: Differences) -> Pattern | None:
    for words, move in MOVES.items():
        if all(_is_moved(diff, move) for diff in wrong):
            return Pattern(f"the numbers are right but {words}")
    return None


def _is_moved(diff: Difference, move: Callable[[np.ndarray], np.ndarray]) -> bool:
    if diff.expected.ndim < 2:
        return False
    moved = move(diff.expected)
    return moved.shape == diff.actual.shape and bool(close(moved, diff.actual).all())


MOVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "are transposed: the last two axes are swapped": lambda a: np.swapaxes(a, -1, -2),
    "are reversed along the last axis": lambda a: a[..., ::-1],
    "are reversed along the second-to-last axis": lambda a: a[..., ::-1, :],
    "are shifted by one place along the last axis": lambda a: np.roll(a, 1, axis=-1),
    "are shifted back by one place along the last axis": lambda a: np.roll(a, -1, axis=-1),
    "are shifted by one place along the second-to-last axis": lambda a: np.roll(a, 1, axis=-2),
    "are shifted back by one place along the second-to-last axis": (
        lambda a: np.roll(a, -1, axis=-2)
    ),
}


def _row_factors(wrong: Differences) -> Pattern | None:
    for axis, line, count in ((-1, "row", "rows"), (-2, "column", "columns")):
        if all(diff.expected.ndim >= 2 and _scaled_along(diff, axis) for diff in wrong):
            return Pattern(
                f"each {line} is the right {line} times a factor, which differs between the "
                f"{count}: look at what the {count} are multiplied or divided by"
            )
    return None


def _scaled_along(diff: Difference, axis: int) -> bool:
    """Return True if each line along `axis` is off by a factor, and has at least 3 numbers."""
    if not np.isfinite(diff.expected).all():
        return False
    top = np.argmax(np.abs(diff.expected), axis=axis, keepdims=True)
    largest_expected, largest_actual = (
        np.take_along_axis(a, top, axis) for a in (diff.expected, diff.actual)
    )
    filled = np.sum(diff.expected != 0, axis=axis) >= 3
    if not filled.all() or not largest_actual.all():
        return False
    return bool(close(diff.expected * (largest_actual / largest_expected), diff.actual).all())


def _some_signs(wrong: Differences) -> Pattern | None:
    if all(
        _many(diff) and close(np.abs(diff.expected), np.abs(diff.actual)).all() for diff in wrong
    ):
        return Pattern("every number has the right size, but the signs are wrong in some places")
    return None


def _float32(wrong: Differences) -> Pattern | None:
    for diff in wrong:
        if diff.expected.dtype != np.float64 or not np.isfinite(diff.expected).all():
            return None
        scale = float(np.max(np.abs(diff.expected)))
        if (
            float(np.max(np.abs(diff.actual - diff.expected)))
            > 8 * np.finfo(np.float32).eps * scale
        ):
            return None
    return Pattern(
        "the numbers are off by no more than the rounding of float32, although the input is "
        "float64: does the computation go through float32 somewhere? Compute in the dtype of the "
        "input"
    )


def _claim(relation: Callable[[Differences], str]) -> Callable[[Differences], Pattern | None]:
    """Return a look for a relation whose text has no numbers."""

    def look(wrong: Differences) -> Pattern | None:
        text = relation(wrong)
        return Pattern(text) if text else None

    return look


def _single_numbers(wrong: Differences) -> Pattern | None:
    text, general = factor_of_single_numbers(wrong)
    return Pattern(text, general) if text else None


NUMBER_PATTERNS: tuple[Callable[[Differences], Pattern | None], ...] = (
    _float32,
    _sign,
    _factor,
    _single_numbers,
    _claim(function_of_the_right_one),
    _offset,
    _other_order,
    _claim(along_another_axis),
    _row_factors,
    _some_signs,
)


# Patterns that describe the places of the wrong numbers.


def _only(axis: int, index: int) -> Callable[[Difference], bool]:
    """Return a test for wrong numbers at this index alone of an axis with several indices."""

    def holds(diff: Difference) -> bool:
        if diff.wrong.ndim < -axis or diff.wrong.shape[axis] < 2:
            return False
        return not np.delete(diff.wrong, index, axis=axis).any()

    return holds


def _on_diagonal(diff: Difference) -> bool:
    if diff.wrong.ndim < 2:
        return False
    rows, columns = diff.wrong.shape[-2:]
    return not diff.wrong[..., np.eye(rows, columns) == 0].any()


def _above_diagonal(diff: Difference) -> bool:
    return diff.wrong.ndim >= 2 and not np.tril(diff.wrong).any()


def _below_diagonal(diff: Difference) -> bool:
    return diff.wrong.ndim >= 2 and not np.triu(diff.wrong).any()


def _where_zero(diff: Difference) -> bool:
    return not diff.wrong[diff.expected != 0].any()


def _where_mask_is(value: bool) -> Callable[[Difference], bool]:
    def holds(diff: Difference) -> bool:
        fitting = [mask for mask in masks(diff.trial.case) if _fits(mask, diff.wrong.shape)]
        return any(
            not diff.wrong[np.broadcast_to(m, diff.wrong.shape) != value].any() for m in fitting
        )

    return holds


def _fits(mask: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Return True if `mask` broadcasts to this shape, and contains both True and False."""
    if not shape or mask.ndim > len(shape) or mask.all() or not mask.any():
        return False
    return all(n in (1, length) for n, length in zip(mask.shape[::-1], shape[::-1], strict=False))


def _one_line(axis: int) -> Callable[[Difference], bool]:
    """Return a test for wrong numbers at a single index of an axis with several indices."""

    def holds(diff: Difference) -> bool:
        if diff.wrong.ndim < -axis or diff.wrong.shape[axis] < 2:
            return False
        others = tuple(a for a in range(diff.wrong.ndim) if a != diff.wrong.ndim + axis)
        return int(diff.wrong.any(axis=others).sum()) == 1

    return holds


def _matrix(holds: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    return lambda diff: diff.wrong.ndim >= 2 and holds(diff)


PLACES: dict[str, Callable[[Difference], bool]] = {
    "where the mask is False": _where_mask_is(False),
    "where the mask is True": _where_mask_is(True),
    "on the diagonal": _on_diagonal,
    "in the last row": _matrix(_only(-2, -1)),
    "in the first row": _matrix(_only(-2, 0)),
    "in the last column": _matrix(_only(-1, -1)),
    "in the first column": _matrix(_only(-1, 0)),
    "where the right result is exactly 0": _where_zero,
    "above the diagonal": _above_diagonal,
    "below the diagonal": _below_diagonal,
    "in one row": _matrix(_one_line(-2)),
    "in one column": _matrix(_one_line(-1)),
    "in the last place": lambda diff: diff.wrong.ndim == 1 and _only(-1, -1)(diff),
    "in the first place": lambda diff: diff.wrong.ndim == 1 and _only(-1, 0)(diff),
    "in one entry of the first axis (for example, one sequence of a batch)": (
        lambda diff: diff.wrong.ndim > 2 and _one_line(-diff.wrong.ndim)(diff)
    ),
}


def _alone(wrong: Differences) -> Pattern | None:
    """Return a pattern if the same single array out of several is wrong in each case."""
    places = {diff.place for diff in wrong}
    if len(places) == 1 and all(diff.alone for diff in wrong):
        return Pattern(f"only {places.pop()} is wrong", "only one part of the result is wrong")
    return None


def _right_numbers(failing: Sequence[Trial]) -> str:
    """Return a sentence if the numbers are right and only their shape is wrong, otherwise ""."""
    pairs = []
    for trial in failing:
        if not trial.mismatch or trial.mismatch.verdict is not Verdict.WRONG_SHAPE:
            return ""
        pairs.append((_array(trial.expected), _array(trial.observation.value)))
    if all(_equal(a, b) for a, b in pairs):
        return "The numbers are right, and in the right order: only the shape differs."
    if all(a is not None and a.ndim > 1 and _equal(np.swapaxes(a, -1, -2), b) for a, b in pairs):
        return "The numbers are right, but the last two axes are swapped."
    return ""


def _array(value: Any) -> np.ndarray | None:
    value = output(value)
    array = value.array if isinstance(value, Tensor) else value
    return array if isinstance(array, np.ndarray) else None


def _equal(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    if first is None or second is None or first.size != second.size or first.size == 0:
        return False
    if family(first) != family(second):
        return False
    return bool(close(first.ravel(), second.ravel()).all())
