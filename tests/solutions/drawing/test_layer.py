"""Test that the drawing of a layer shows the layer's numbers, each matrix to scale."""

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


def test_every_matrix_has_a_square_for_each_number(drawing):
    counts = [len(matrix.get_facecolors()) for matrix in drawing.collections]
    assert counts == [15, 12, 12, 6, 9, 6]


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


def test_words_label_tokens_weights_and_keys(drawing):
    written = [text.get_text() for text in drawing.texts]
    assert [written.count(token) for token in "abc"] == [3, 3, 3]
    assert {"tokens $X$", "queries $Q$", "keys $K$", "values $V$", "output"} <= set(written)
