"""Test the figure of scores by distance as readers without scripts see it."""

import json
import re

import numpy as np
import pytest

from solutions.drawing import distance_curves as drawing
from solutions.drawing.distance_curves import distance_curves
from solutions.positions import frequencies, rotary

RATES, ASKED = 8, 3
SIZES = [20, 3, 0.5, 0.3, 0.1, 0.2, 0.1, 0.5]
PHASES = (-ASKED * frequencies(2 * RATES)).tolist()  # all pairs agree at the distance asked for
DATA = {
    "heads": [
        {"name": "head 1", "amplitudes": SIZES, "phases": PHASES},
        {"name": "head <2>", "amplitudes": SIZES, "phases": [0.0] * RATES},
    ],
    "base": 10000,
    "rates": RATES,
    "trained_length": 16,
}


def scores(distances):
    """Return the scores of the first head, from queries and keys that are turned."""
    roots = np.sqrt(SIZES)
    q = np.stack([roots * np.cos(PHASES), roots * np.sin(PHASES)], axis=-1).reshape(1, -1)
    k = np.stack([roots, np.zeros(RATES)], axis=-1).reshape(1, -1)
    at = max(distances)
    keys = [rotary(k, np.array([at - d])) for d in distances]
    return np.array([(rotary(q, np.array([at])) @ key.T).item() for key in keys])


def table(kind):
    """Return the rows of a table: the number in each heading, and those in the cells."""
    html = re.search(rf'<table class="{kind}">.*?</table>', distance_curves(DATA))[0]
    rows = re.findall(r"<tr[^>]*><th scope=\"row\">(.*?)</tr>", html)
    return [
        [number(text) for text in re.split("<[^>]*>", row.replace("</th>", "")) if text]
        for row in rows
    ]


def number(text):
    return float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def test_the_peaks_are_those_of_turned_queries_and_keys():
    values = scores(range(1, 65))
    weights = np.exp(values - values.max())
    weights /= weights.sum()
    rows = np.array(table("peaks"))
    assert rows[:, 0].tolist() == [3, 22, 41]
    assert np.allclose(rows[:, 1], values[rows[:, 0].astype(int) - 1], atol=0.051)
    assert np.allclose(rows[:, 2], weights[rows[:, 0].astype(int) - 1], atol=0.0051)


def test_the_pairs_add_up_to_the_score_of_the_first_false_peak():
    _, period, turns, adds, sizes = np.array(table("pairs")).T
    assert np.allclose(period, 2 * np.pi / frequencies(2 * RATES), rtol=0.005)
    assert np.allclose(turns, 19 / (2 * np.pi) * frequencies(2 * RATES), atol=0.0051)
    assert adds.sum() == pytest.approx(scores([22])[0], abs=0.05 * RATES)
    assert np.allclose(sizes, SIZES, atol=0.051)


def test_the_curve_touches_its_upper_edge_where_all_pairs_agree():
    line = re.search(r'class="curve" points="([^"]*)"', distance_curves(DATA))[1]
    points = np.array([pair.split(",") for pair in line.split()], dtype=float)
    assert points.shape == (4 * 64 + 1, 2)
    assert points[:, 1].argmin() == 4 * ASKED
    assert points[:, 1].min() == drawing.TOP
    assert points[-1, 0] == drawing.LEFT + drawing.WIDTH


def test_bars_of_false_peaks_are_apart():
    html = distance_curves(DATA)
    paths = [re.search(rf'class="{kind}" d="([^"]*)"', html)[1] for kind in ("bars", "wrong-bars")]
    assert [path.count("M") for path in paths] == [62, 2]


def test_a_head_without_false_peaks_compares_the_asked_distance_with_itself():
    html = distance_curves({**DATA, "trained_length": 4})
    assert "turned at 3, against 3 in training" in html
    assert "False peaks: none." in html


def test_the_picture_is_described_and_the_script_gets_the_data():
    html = distance_curves(DATA)
    assert "Asked for 3, it looks most at 3. False peaks: 22, 41." in html
    found = re.search(r'<script type="application/json">(.*?)</script>', html)[1]
    assert "<" not in found
    assert json.loads(found) == DATA
