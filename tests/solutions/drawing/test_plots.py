"""Test that the shared figures show their numbers with the right labels."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from solutions.drawing.plots import heatmap, quality_curve, token_view
from solutions.drawing.theme import COLOURS, HEAT, MUTED


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def colours(heatmap):
    """Return the colours of the cells, row by row."""
    return [tuple(colour) for colour in heatmap.collections[0].get_facecolors()]


def test_heatmap_puts_queries_down_the_side_and_keys_along_the_top():
    ax = heatmap(np.array([[0.1, 0.2, 0.7]]), ["query"], ["a", "b", "c"], title="one row")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["query"]
    assert texts(ax) == ["0.10", "0.20", "0.70"]
    assert ax.get_title() == "one row"


def test_heatmap_gives_the_same_weight_the_same_colour_in_every_figure():
    faint, strong = heatmap([[0.2, 0.1]], "q", "ab"), heatmap([[0.2, 0.8]], "q", "ab")
    assert colours(faint)[0] == colours(strong)[0]
    assert colours(faint)[0] != colours(strong)[1]


def test_heatmap_shows_masked_and_negative_scores():
    ax = heatmap([[-2.0, -np.inf], [1.0, 2.0]], "qr", "ab")
    assert texts(ax) == ["-2", r"$-\infty$", "1", "2"]
    low, masked, half, high = colours(ax)
    assert low == to_rgba(COLOURS[1], 1)
    assert masked == to_rgba(MUTED, 0.3)
    assert [half, high] == [to_rgba(HEAT, 0.5), to_rgba(HEAT, 1)]


def test_heatmap_without_numbers_draws_on_the_given_axes():
    _, axes = plt.subplots(1, 2)
    assert heatmap(np.eye(2), "ab", "ab", ax=axes[1], annotate=False) is axes[1]
    assert texts(axes[1]) == []
    assert not axes[0].collections
    assert len(colours(axes[1])) == 4


@pytest.mark.parametrize("draw", [heatmap, token_view])
def test_labels_that_do_not_fit_are_refused(draw):
    with pytest.raises(ValueError, match=r"shape \(2, 3\), the labels ask for \(3, 2\)"):
        draw(np.zeros((2, 3)), "abc", "de")


def test_token_view_draws_each_weight_above_zero_as_thick_as_it_is_large():
    ax = token_view(np.array([[0.9, 0.1, 0.0]]), ["q"], ["a", "b", "c"])
    strong, weak = ax.patches
    assert strong.get_linewidth() > weak.get_linewidth()
    assert {"q", "a", "b", "c"} <= set(texts(ax))


def test_token_view_leads_from_the_query_to_its_key():
    ax = token_view(np.array([[0.0, 0.0], [1.0, 0.0]]), ["q", "r"], ["a", "b"])
    (curve,) = ax.patches
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    vertices = curve.get_path().vertices
    assert (vertices[0][1], vertices[-1][1]) == (heights["r"], heights["a"])


def test_quality_curve_draws_mean_and_range_over_seeds():
    seeds = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.4]])
    ax = quality_curve([1, 2], {"one": seeds}, x_label="length", y_label="accuracy")
    assert np.allclose(ax.lines[0].get_ydata(), [0.5, 0.8])
    band = ax.collections[0].get_paths()[0].vertices
    assert {tuple(point) for point in band} >= {(1.0, 0.0), (1.0, 1.0), (2.0, 0.4), (2.0, 1.0)}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "accuracy")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one"]


def test_quality_curve_tells_series_apart_without_colour():
    values = np.zeros((3, 2))
    ax = quality_curve([1, 2], {"a": values, "b": values}, x_label="", y_label="")
    first, second = ax.lines
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()


def test_quality_curve_refuses_values_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"'one' has shape \(3, 4\), not \(seeds, 2\)"):
        quality_curve([1, 2], {"one": np.zeros((3, 4))}, x_label="", y_label="")
