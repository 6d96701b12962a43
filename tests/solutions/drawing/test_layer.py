"""Test that the drawing of a layer shows its weights and marks the row of one token."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from solutions.drawing.layer import attention_layer


@pytest.fixture
def drawing():
    rng = np.random.default_rng(0)
    X, weights = rng.random((3, 5)), np.eye(3)[[1, 0, 2]]
    roles = rng.random((3, 4)), rng.random((3, 4)), rng.random((3, 2))
    yield attention_layer("abc", X, roles, weights, weights @ roles[2], row=1)
    plt.close("all")


def test_the_larger_a_weight_the_stronger_its_square(drawing):
    weights = drawing.collections[4].get_facecolors()[:, 3].reshape(3, 3)
    assert np.array_equal(weights.argmax(axis=1), [1, 0, 2])
    assert weights.min() > 0


def test_the_row_of_one_token_is_marked_in_queries_weights_and_output(drawing):
    boxes = [box for box in drawing.patches if isinstance(box, plt.Rectangle)]
    matrices = [drawing.collections[i] for i in (1, 4, 5)]
    assert len(boxes) == 3
    for box, matrix in zip(boxes, matrices, strict=True):
        tops = sorted({path.vertices[:, 1].min() for path in matrix.get_paths()})
        assert box.get_y() == pytest.approx(tops[1], abs=0.1)
