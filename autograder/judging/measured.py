"""Compare a measured number with its expected value, within the tolerance of the exercise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .agreement import NUMBERS
from .compare import Mismatch, compare
from .verdict import Verdict


def compare_measured(expected: float, actual: Any, tolerance: float) -> Mismatch | None:
    """Return what is wrong with a measured number, or None; its type must be that of a number."""
    mismatch = compare(expected, actual)
    if mismatch is None or mismatch.verdict is not Verdict.WRONG_VALUE:
        return mismatch
    if within(expected, actual, tolerance):
        return None
    expectation = f"should be within {100 * tolerance:g} % of {expected:.6g}"
    text = f"the result is {float(actual):.6g} and {expectation}"
    return Mismatch(Verdict.WRONG_VALUE, text, "the result is too far from the right number")


def within(expected: Any, actual: Any, tolerance: float) -> bool:
    """Return True if two numbers differ by at most `tolerance` times the first."""
    if not all(isinstance(number, np.ndarray | NUMBERS) for number in (expected, actual)):
        return False  # for example a list, whose items may have any types and lengths
    numbers = [np.asarray(number) for number in (expected, actual)]
    if any(number.shape != () or number.dtype.kind not in "iuf" for number in numbers):
        return False
    first, second = (float(number) for number in numbers)
    return abs(first - second) <= tolerance * abs(first)
