"""Test that the figures that compare heads show what they are given."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from solutions.drawing import heads_compared


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_only_the_bent_line_is_highest_in_the_middle():
    ax = heads_compared.logit_against_share({"nobody": 0, "Susan": 0.28, "Mary": 0.66})
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [0.66, 0, 0.28]
    assert [text.get_text() for text in ax.texts] == ["nobody", "Susan", "Mary"]


def test_each_seed_has_its_panel_of_curves():
    heads_compared.three_curves([0, 10], [{"own": np.array([0, seed])} for seed in (0.1, 0.2)])
    last = [ax.lines[0].get_ydata()[-1] for ax in plt.gcf().axes]
    assert last == [0.1, 0.2]


def test_plane_has_a_point_for_each_head():
    heads = {"one head": np.array([[0.5, 0.4]]), "two heads": np.eye(2)}
    ax = heads_compared.weight_plane(heads, ("own", "partner"), equal=1 / 8)
    points = {line.get_label(): line.get_xydata().tolist() for line in ax.lines[1:]}
    assert points == {
        "equal weights": [[1 / 8, 1 / 8]],
        "one head": [[0.5, 0.4]],
        "two heads": [[1, 0], [0, 1]],
    }
    assert ax.get_xlabel() == "mean weight on own"


def test_maps_have_titles_and_empty_places_are_blank():
    heads_compared.small_maps(np.full((4, 2, 2), 0.5), ["A", "B"], ["a", "b", "c", "d"])
    axes = plt.gcf().axes
    assert [ax.get_title() for ax in axes if ax.axison] == ["a", "b", "c", "d"]


def test_each_layer_has_its_own_marker():
    ax = heads_compared.importance_and_damage(np.ones((6, 12)), np.full((6, 12), 0.1))
    assert len({line.get_marker() for line in ax.lines}) == 6
    assert all(len(line.get_xdata()) == 12 for line in ax.lines)
