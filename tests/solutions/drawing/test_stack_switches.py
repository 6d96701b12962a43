"""Test the figure of stacks as readers without scripts see it."""

import json
import re

import numpy as np
import pytest

from solutions.drawing import stack_switches as drawing
from solutions.drawing.stack_switches import stack_switches


def measured(depth, largest):
    return {
        "size": np.geomspace(1, largest, depth + 1).tolist(),
        "gradient": np.geomspace(largest, 1, depth + 1).tolist(),
        "unlike": [0.5] * (depth + 1),
        "right": [0.1, 0.25, 0.875],
    }


DATA = {
    "depths": [2, 4],
    "rates": [3e-4, 1e-3, 3e-3],
    "stacks": [
        {**switches, "2": measured(2, 10), "4": measured(4, 10**at)}
        for at, switches in enumerate(
            [
                {"residual": False, "norm": "none", "smaller": False},
                drawing.SHOWN,
                {"residual": True, "norm": "pre", "smaller": True},
            ],
            start=1,
        )
    ],
}


def points(kind, name):
    """Return the points of the lines of a class in a chart: (lines, points, 2)."""
    svg = re.search(rf'<svg class="stacks-{kind}".*?</svg>', stack_switches(DATA))[0]
    lines = re.findall(rf'class="{name}" points="([^"]*)"', svg)
    return np.array([[pair.split(",") for pair in line.split()] for line in lines], dtype=float)


def test_the_stack_shown_is_the_deepest_with_the_first_switches():
    chosen, others = points("size", "chosen"), points("size", "other")
    assert chosen.shape == (1, 5, 2)
    assert others.shape == (3, 5, 2)
    assert (chosen[0] == others[1]).all()


def test_the_axis_is_logarithmic_and_ends_at_its_edges():
    _, low, high = drawing.CHARTS["size"]
    (line,) = points("size", "chosen")
    tenfold = drawing.HEIGHT / (high - low)
    assert np.diff(line[:, 1]) == pytest.approx(-tenfold / 2, abs=0.11)  # 1 to 100 in 4 steps
    assert np.diff(line[:, 0]) == pytest.approx(drawing.WIDTH / 4)
    assert drawing._points([1e-30, 1e30], low, high).split()[0].endswith(f",{118.0:.1f}")
    assert drawing._points([1e-30, 1e30], low, high).split()[1].endswith(f",{8.0:.1f}")


def test_the_table_has_an_accuracy_for_each_rate():
    cells = re.findall(r'<th scope="row">([^<]*)</th><td[^>]*>([^<]*)<', stack_switches(DATA))
    assert cells == [("0.0003", "0.10"), ("0.001", "0.25"), ("0.003", "0.88")]


def test_the_script_gets_the_data():
    html = stack_switches(DATA)
    found = re.search(r'<script type="application/json">(.*?)</script>', html)[1]
    assert json.loads(found) == DATA
