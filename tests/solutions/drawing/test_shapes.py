"""Test the shapes of the drawings: matrices to scale, and their rows."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from solutions.drawing.shapes import Table, mark_row, matrix, name_rows
from solutions.drawing.theme import COLOURS


@pytest.fixture
def ax():
    yield plt.subplot()
    plt.close("all")


def test_matrix_columns_cycle_through_its_colours(ax):
    matrix(ax, Table("name", COLOURS[:2], 1, 5, np.array([[0, -2, 1, 0]])))
    colours = ax.collections[0].get_facecolors()
    assert [tuple(colour) for colour in colours[:, :3]] == [
        to_rgb(COLOURS[i]) for i in (0, 1, 0, 1)
    ]
    np.testing.assert_allclose(colours[:, 3], [0.08, 1, 0.54, 0.08])


def test_a_row_is_labelled_and_marked_at_its_position(ax):
    table = Table("name", COLOURS[:1], 1, 5, np.eye(3))
    assert (table.right, table.bottom, table.centre) == (4, 8, 2.5)
    name_rows(ax, table, "abc")
    mark_row(ax, table, 1)
    assert [text.get_position()[0] < table.left for text in ax.texts] == [True] * 3
    box = ax.patches[0].get_bbox()
    assert box.x0 < table.left < table.right < box.x1
    assert box.y0 < 6 < 7 < box.y1
