"""Say what the differences of a wrong answer have in common, where no known mistake explains them.

Each pattern is a small function, and claims only what is true of every number that it speaks of.
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
from .verdict import Verdict
from .words import Names, numbers


@dataclass(frozen=True)
class Pattern:
    """A claim about every wrong array, in words; `in_general` says it without numbers."""

    text: str
    in_general: str = ""


Differences = Sequence[Difference]


def patterns(trials: Sequence[Trial], names: Names, *, hidden: bool) -> str:
    """What the differences have in common, in at most three sentences, or an empty text.

    Without numbers if `hidden`.
    """
    failing = [trial for trial in trials if trial.mismatch]
    numbers = [t for t in failing if t.mismatch and t.mismatch.verdict in _OF_NUMBERS]
    wrong = [difference for trial in numbers for difference in differences(trial, names)]
    every = numbers[:1] == failing[:1] and len({id(one.trial) for one in wrong}) == len(numbers)
    found = [pattern for pattern in (_first(wrong), _alone(wrong)) if pattern] if every else []
    where = f"In each of the {len(numbers)} cases with wrong numbers" if numbers[1:] else "There"
    claims = [_sentence(where, one, hidden) for one in found]
    kind = "" if hidden else "public "
    return " ".join(
        one for one in (*claims, _right_numbers(failing), common_cases(trials, kind)) if one
    )


_OF_NUMBERS = (Verdict.WRONG_VALUE, Verdict.NONFINITE)


def _sentence(where: str, pattern: Pattern, hidden: bool) -> str:
    return f"{where}, {pattern.in_general or pattern.text if hidden else pattern.text}."


def _first(wrong: Differences) -> Pattern | None:
    for look in NUMBER_PATTERNS if _all_floats(wrong) else ():
        pattern = look(wrong)
        if pattern:
            return pattern
    for place, holds in PLACES.items():
        if all(one.wrong.size > 1 and holds(one) for one in wrong):
            return Pattern(f"numbers are wrong only {place}")
    return None


def _all_floats(wrong: Differences) -> bool:
    """True if every number is a float, and finite where it should be."""
    return all(
        one.wanted.dtype.kind == "f" and bool(np.isfinite(one.given[np.isfinite(one.wanted)]).all())
        for one in wrong
    )


# What all the numbers have in common.


def _sign(wrong: Differences) -> Pattern | None:
    if all(_many(one) and close(-one.wanted, one.given).all() for one in wrong):
        return Pattern("every number has the opposite sign")
    return None


def _factor(wrong: Differences) -> Pattern | None:
    factors = [factor for one in wrong if (factor := _factor_of(one)) is not None]
    if len(factors) < len(wrong) or not all(map(_many, wrong)):
        return None
    if np.allclose(factors, factors[0], rtol=1e-5):
        text = f"every number is {numbers(factors[0], 1.0)[0]} times what it should be"
        return Pattern(text, "every number is off by one and the same factor")
    listed = list(dict.fromkeys(numbers(factor, 1.0)[0] for factor in factors))
    general = "all numbers are off by one factor, which depends on the case"
    return Pattern(f"{general} ({', '.join(listed[:4])})", general)


def _factor_of(one: Difference) -> float | None:
    """The factor between the right array and the wrong one, or None if there is none."""
    at = np.unravel_index(np.argmax(np.abs(one.wanted)), one.wanted.shape)
    if not np.isfinite(one.wanted).all() or one.wanted[at] == 0:
        return None
    factor = float(one.given[at]) / float(one.wanted[at])
    return factor if factor and close(one.wanted * factor, one.given).all() else None


def _many(one: Difference) -> bool:
    """True if one factor could not fit by chance: there are several numbers, and not all alike."""
    return len(np.unique(one.wanted[one.wanted != 0])) > 1


def _offset(wrong: Differences) -> Pattern | None:
    offsets = [float(np.ravel(one.given)[0]) - float(np.ravel(one.wanted)[0]) for one in wrong]
    for one, offset in zip(wrong, offsets, strict=True):
        finite = np.isfinite(one.wanted).all() and np.isfinite(offset)
        if not (finite and offset and _many(one) and one.wrong.all()):
            return None
        if not close(one.wanted + offset, one.given).all():
            return None
    if np.allclose(offsets, offsets[0], rtol=1e-5):
        more = "more" if offsets[0] > 0 else "less"
        text = f"every number is {abs(offsets[0]):.4g} {more} than it should be"
        return Pattern(
            text, f"every number is {more} than it should be, by one and the same amount"
        )
    return Pattern("all numbers are off by one amount, which depends on the case")


def _other_order(wrong: Differences) -> Pattern | None:
    for words, move in MOVES.items():
        if all(_moved(one, move) for one in wrong):
            return Pattern(f"the numbers are right and {words}")
    return None


def _moved(one: Difference, move: Callable[[np.ndarray], np.ndarray]) -> bool:
    if one.wanted.ndim < 2:
        return False
    moved = move(one.wanted)
    return moved.shape == one.given.shape and bool(close(moved, one.given).all())


MOVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "stand transposed: the last two axes are swapped": lambda a: np.swapaxes(a, -1, -2),
    "the last axis runs backwards": lambda a: a[..., ::-1],
    "the last axis but one runs backwards": lambda a: a[..., ::-1, :],
    "all stand one place further along the last axis": lambda a: np.roll(a, 1, axis=-1),
    "all stand one place too early along the last axis": lambda a: np.roll(a, -1, axis=-1),
    "all stand one place further along the last axis but one": lambda a: np.roll(a, 1, axis=-2),
    "all stand one place too early along the last axis but one": lambda a: np.roll(a, -1, axis=-2),
}


def _row_factors(wrong: Differences) -> Pattern | None:
    for axis, line, count in ((-1, "row", "rows"), (-2, "column", "columns")):
        if all(one.wanted.ndim >= 2 and _scaled_along(one, axis) for one in wrong):
            return Pattern(
                f"each {line} is the right one times a number of its own: look at what the {count} "
                "are multiplied or divided by"
            )
    return None


def _scaled_along(one: Difference, axis: int) -> bool:
    """True if each line along `axis` is off by one factor, and has several numbers."""
    if not np.isfinite(one.wanted).all():
        return False
    top = np.argmax(np.abs(one.wanted), axis=axis, keepdims=True)
    right, mine = (np.take_along_axis(a, top, axis) for a in (one.wanted, one.given))
    filled = np.sum(one.wanted != 0, axis=axis) >= 3
    if not filled.all() or not mine.all():
        return False
    return bool(close(one.wanted * (mine / right), one.given).all())


def _some_signs(wrong: Differences) -> Pattern | None:
    if all(_many(one) and close(np.abs(one.wanted), np.abs(one.given)).all() for one in wrong):
        return Pattern("every number is right but for its sign, which is wrong in some places")
    return None


def _float32(wrong: Differences) -> Pattern | None:
    for one in wrong:
        if one.wanted.dtype != np.float64 or not np.isfinite(one.wanted).all():
            return None
        scale = float(np.max(np.abs(one.wanted)))
        if float(np.max(np.abs(one.given - one.wanted))) > 8 * np.finfo(np.float32).eps * scale:
            return None
    return Pattern(
        "the numbers are off by no more than the rounding of float32, although the input is "
        "float64: does the computation go through float32 somewhere? Compute in the dtype of the "
        "input"
    )


NUMBER_PATTERNS: tuple[Callable[[Differences], Pattern | None], ...] = (
    _float32,
    _sign,
    _factor,
    _offset,
    _other_order,
    _row_factors,
    _some_signs,
)


# Where the wrong numbers are.


def _only(axis: int, index: int) -> Callable[[Difference], bool]:
    """True if all that is wrong has this index on this axis, and the axis has others."""

    def holds(one: Difference) -> bool:
        if one.wrong.ndim < -axis or one.wrong.shape[axis] < 2:
            return False
        return not np.delete(one.wrong, index, axis=axis).any()

    return holds


def _on_diagonal(one: Difference) -> bool:
    if one.wrong.ndim < 2:
        return False
    rows, columns = one.wrong.shape[-2:]
    return not one.wrong[..., np.eye(rows, columns) == 0].any()


def _above_diagonal(one: Difference) -> bool:
    return one.wrong.ndim >= 2 and not np.tril(one.wrong).any()


def _below_diagonal(one: Difference) -> bool:
    return one.wrong.ndim >= 2 and not np.triu(one.wrong).any()


def _where_zero(one: Difference) -> bool:
    return not one.wrong[one.wanted != 0].any()


def _where_mask_is(value: bool) -> Callable[[Difference], bool]:
    def holds(one: Difference) -> bool:
        fitting = [mask for mask in masks(one.trial.case) if _fits(mask, one.wrong.shape)]
        return any(
            not one.wrong[np.broadcast_to(m, one.wrong.shape) != value].any() for m in fitting
        )

    return holds


def _fits(mask: np.ndarray, shape: tuple[int, ...]) -> bool:
    """True if `mask` has a place for each number of an array of this shape, and is no constant."""
    if not shape or mask.ndim > len(shape) or mask.all() or not mask.any():
        return False
    return all(one in (1, other) for one, other in zip(mask.shape[::-1], shape[::-1], strict=False))


def _one_line(axis: int) -> Callable[[Difference], bool]:
    """True if all that is wrong has one index on this axis, and the axis has others."""

    def holds(one: Difference) -> bool:
        if one.wrong.ndim < -axis or one.wrong.shape[axis] < 2:
            return False
        others = tuple(a for a in range(one.wrong.ndim) if a != one.wrong.ndim + axis)
        return int(one.wrong.any(axis=others).sum()) == 1

    return holds


def _matrix(holds: Callable[[Difference], bool]) -> Callable[[Difference], bool]:
    return lambda one: one.wrong.ndim >= 2 and holds(one)


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
    "in the last place": lambda one: one.wrong.ndim == 1 and _only(-1, -1)(one),
    "in the first place": lambda one: one.wrong.ndim == 1 and _only(-1, 0)(one),
    "in one entry of the first axis (one sequence of a batch, say)": (
        lambda one: one.wrong.ndim > 2 and _one_line(-one.wrong.ndim)(one)
    ),
}


def _alone(wrong: Differences) -> Pattern | None:
    """One array of several is wrong, and always the same one."""
    places = {one.place for one in wrong}
    if len(places) == 1 and all(one.alone for one in wrong):
        return Pattern(
            f"nothing but {places.pop()} is wrong", "nothing but one part of it is wrong"
        )
    return None


def _right_numbers(failing: Sequence[Trial]) -> str:
    """The right numbers in another shape."""
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
