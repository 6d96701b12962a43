"""Test the frame around a shape, and the drawing of one step of the captioner."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from solutions.data.pictures import SIDE
from solutions.drawing.captioner import LOOK, captioner_loop, frame
from solutions.drawing.theme import HEAT


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_a_frame_lies_on_the_pixel_edges():
    ax = plt.subplot()
    frame(ax, (2, 3, 10, 14))
    (one,) = ax.patches
    assert (one.get_x(), one.get_y(), one.get_width(), one.get_height()) == (2.5, 1.5, 11, 8)
    assert max(one.get_bbox().max) < SIDE


def test_the_strongest_annotation_has_the_widest_line_into_the_context():
    ax = captioner_loop()
    widths = [line.get_linewidth() for line in ax.lines]
    assert np.argsort(widths).tolist() == np.argsort(LOOK).tolist()
    squares = [
        patch.get_facecolor()[3]
        for patch in ax.patches
        if isinstance(patch, Rectangle) and patch.get_facecolor()[:3] == to_rgba(HEAT)[:3]
    ]
    assert np.argmax(squares) == np.argmax(LOOK)


def test_the_grid_lies_inside_the_drawing():
    ax = captioner_loop()
    squares = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert max(square.get_y() + square.get_height() for square in squares) < ax.get_ylim()[1]
