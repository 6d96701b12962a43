"""Test that the drawing of many heads gives each head its colour."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from solutions.drawing.heads import features_by_head, many_heads
from solutions.drawing.theme import COLOURS


@pytest.fixture
def drawing():
    rng = np.random.default_rng(0)
    X, weights = rng.random((3, 5)), np.stack([np.eye(3)[[1, 0, 2]], np.eye(3)])
    roles = tuple(rng.random((3, 4)) for _ in range(3))
    yield many_heads("abc", X, roles, weights, rng.random((3, 4)), rng.random((3, 2)), row=1)
    plt.close("all")


def test_the_first_half_of_the_features_belongs_to_head_0_and_the_other_to_head_1(drawing):
    for number in (1, 2, 3, 6):  # queries, keys, values, merged
        colours = drawing.collections[number].get_facecolors().reshape(3, 4, 4)
        np.testing.assert_allclose(
            colours[:, :2, :3], np.broadcast_to(to_rgb(COLOURS[0]), (3, 2, 3))
        )
        np.testing.assert_allclose(
            colours[:, 2:, :3], np.broadcast_to(to_rgb(COLOURS[1]), (3, 2, 3))
        )


def test_a_table_of_labels_has_a_cell_for_each():
    _, ax = plt.subplots()
    labels, owners = np.array([["00", "01"], ["10", "11"]]), np.array([[0, 1]] * 2)
    features_by_head(ax, labels, owners, (1, 2), "title")
    assert [text.get_text() for text in ax.texts] == ["00", "01", "10", "11", "title"]
    assert [cell.get_xy() for cell in ax.patches] == [(1, 2), (2, 2), (1, 3), (2, 3)]
    first, second = (cell.get_facecolor()[:3] for cell in ax.patches[:2])
    assert (first, second) == (to_rgb(COLOURS[0]), to_rgb(COLOURS[1]))
    plt.close("all")
