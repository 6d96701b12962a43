"""Tests of implementations that can only be called: each raises AssertionError for a wrong one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def test_masked_blend(
    implementation: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Test a function that blends values with the softmax of masked scores.

    It is called `implementation(scores, values, mask)`. scores: (n_q, n_k), floats, a query a row;
    they may be large. values: (n_k, d_v), one for each key. mask: boolean, (n_q, n_k), True where a
    query may attend. It should return an array of shape (n_q, d_v): for each query the values of
    the keys that it may attend to, weighted by the softmax of their scores. A hidden key changes
    nothing, however large its score. A query that may attend to nothing gets 0.
    Raises AssertionError if the implementation is wrong. What is right to seven digits is right.
    """
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    right = np.array([[2, 8], [10.5, 6], [0, 0]])  # shares 1/3 and 2/3; 3/4 and 1/4; none
    loud = np.where(mask, scores, 1e6)
    assert np.allclose(implementation(loud, values, mask), right)
    assert np.allclose(implementation(scores + 800, values, mask), right)
