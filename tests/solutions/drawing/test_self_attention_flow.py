"""Test that the drawing of self-attention shows the matrices' numbers, and one row's path."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from solutions.drawing.self_attention import self_attention_flow


@pytest.fixture
def drawing():
    X, weights = np.eye(3, 4), np.eye(3)[[1, 0, 2]]
    yield self_attention_flow("abc", X, weights, weights @ X, row=1)
    plt.close("all")


def test_tokens_are_drawn_three_times_and_lead_to_weights_and_outputs(drawing):
    shares = [matrix.get_facecolors()[:, 3] for matrix in drawing.collections]
    assert [len(share) for share in shares] == [12, 12, 12, 9, 12]
    tokens, asked, blended, weights, output = shares
    assert np.array_equal(tokens, asked)
    assert np.array_equal(tokens, blended)
    assert np.array_equal(tokens.reshape(3, 4).argmax(axis=1), [0, 1, 2])
    assert np.array_equal(weights.reshape(3, 3).argmax(axis=1), [1, 0, 2])
    assert np.array_equal(output.reshape(3, 4).argmax(axis=1), [1, 0, 2])


def test_the_row_of_one_token_is_marked_in_query_weights_and_output(drawing):
    boxes = [box for box in drawing.patches if isinstance(box, plt.Rectangle)]
    matrices = [drawing.collections[i] for i in (0, 3, 4)]
    for box, matrix in zip(boxes, matrices, strict=True):
        tops = sorted({path.vertices[:, 1].min() for path in matrix.get_paths()})
        assert box.get_y() == pytest.approx(tops[1], abs=0.11)


def test_words_label_queries_and_weights(drawing):
    written = [text.get_text() for text in drawing.texts]
    assert [written.count(token) for token in "abc"] == [2, 2, 2]
