"""Compare a number that was measured: within the tolerance that the exercise states."""

from __future__ import annotations

from typing import Any

import numpy as np

from .agreement import NUMBERS
from .compare import Mismatch, compare
from .verdict import Verdict


def compare_measured(expected: float, actual: Any, tolerance: float) -> Mismatch | None:
    """What is wrong with a measured number, or None; its type must be that of a number."""
    mismatch = compare(expected, actual)
    if mismatch is None or mismatch.verdict is not Verdict.WRONG_VALUE:
        return mismatch
    if within(expected, actual, tolerance):
        return None
    right = f"should be within {100 * tolerance:g} % of {expected:.6g}"
    text = f"the result is {float(actual):.6g} and {right}"
    return Mismatch(Verdict.WRONG_VALUE, text, "the result is too far from the right number")


def within(one: Any, other: Any, tolerance: float) -> bool:
    """True if two numbers differ by no more than that share of the first."""
    if not all(isinstance(number, np.ndarray | NUMBERS) for number in (one, other)):
        return False  # a list, say: its items may have any types and lengths
    numbers = [np.asarray(number) for number in (one, other)]
    if any(number.shape != () or number.dtype.kind not in "iuf" for number in numbers):
        return False
    first, second = (float(number) for number in numbers)
    return abs(first - second) <= tolerance * abs(first)
