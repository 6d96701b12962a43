"""Test the drawing of a query and a key that turn."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from solutions.drawing.turned import turned_arrows


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_scores_are_sums_of_cosines_and_the_distance_is_marked():
    turned_arrows(((3, 1), (13, 11)), speeds=(1, 0.1))
    axes = next(ax for ax in plt.gcf().axes if ax.get_xlabel() == "distance")
    fast, slow, together, mark = axes.lines
    distances = fast.get_xdata()
    np.testing.assert_allclose(fast.get_ydata(), np.cos(distances))
    np.testing.assert_allclose(slow.get_ydata(), np.cos(distances / 10))
    np.testing.assert_allclose(together.get_ydata(), fast.get_ydata() + slow.get_ydata())
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (2, np.cos(2))


def test_arrows_point_at_the_angles_of_their_positions():
    turned_arrows(((3, 1), (13, 11)), speeds=(1,))
    tips = [text.xy for ax in plt.gcf().axes for text in ax.texts if hasattr(text, "xy")]
    expected = [(np.cos(position), np.sin(position)) for position in (3, 1, 13, 11)]
    np.testing.assert_allclose(tips, expected)
