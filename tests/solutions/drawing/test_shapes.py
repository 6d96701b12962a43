"""Test the shapes of the drawings: what covers what, and matrices to scale."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba

from solutions.drawing.shapes import Table, arrow, box, mark_row, matrix, name_rows, plus
from solutions.drawing.theme import COLOURS, INK, PAPER


@pytest.fixture
def ax():
    yield plt.subplot()
    plt.close("all")


def test_a_box_covers_the_lines_behind_it_and_its_text_is_above_all(ax):
    edge = box(ax, (1, 2), "word", COLOURS[0], 2, 1)
    (patch,), (text,) = ax.patches, ax.texts
    assert edge == 2.5
    assert patch.get_facecolor() == to_rgba(PAPER)
    assert 2 < patch.get_zorder() < text.get_zorder()
    assert text.get_color() == COLOURS[0]


def test_a_box_that_covers_nothing_is_empty(ax):
    box(ax, (1, 2), "word", COLOURS[0], 2, 1, covers=False, ink=INK)
    assert ax.patches[0].get_facecolor()[3] == 0
    assert ax.texts[0].get_color() == INK


def test_an_arrow_leaves_the_same_gap_at_both_ends(ax):
    arrow(ax, (0, 0), (1, 1), gap=3)
    assert (ax.patches[0].shrinkA, ax.patches[0].shrinkB) == (3, 3)


def test_a_plus_is_two_lines_in_a_circle(ax):
    plus(ax, (1, 2), 0.2, 0.1, 1)
    assert [line.get_xydata().mean(axis=0).tolist() for line in ax.lines] == [[1, 2], [1, 2]]
    assert ax.patches[0].center == (1, 2)


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
