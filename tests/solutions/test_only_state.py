"""Test what is right with one state alone."""

import numpy as np

from solutions.only_state import words_kept


def test_the_example_of_the_assignment():
    H, W_out = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.eye(2)
    found = words_kept(np.array([[0.0, 3.0, 0.0]]), H, W_out, np.array([0]), np.array([1]))
    assert np.allclose(found, (1, 2 / 3))
