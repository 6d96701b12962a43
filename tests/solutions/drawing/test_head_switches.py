"""Test the figure of eight switches as readers without scripts see it."""

import json
import re

import numpy as np
import pytest

from solutions.drawing.head_switches import head_switches

N_HEADS = 3
RNG = np.random.default_rng(0)
DATA = {
    "accuracies": ["both", "own", "partner"],
    "accuracy": RNG.uniform(size=(2**N_HEADS, 3)).round(3).tolist(),
    "importance": [0.2, 0.4, 0.1],
    "prefers": ["own", "partner", "own"],
    "letters": ["A", "B"],
    "maps": [[[0.25, 0.75], [0.9, 0.1]], [[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]],
}


def cells_in(kind: str) -> list[list[str]]:
    """Return the texts of the cells of a table, without its headings."""
    table = re.search(rf'<table class="{kind}">.*?</table>', head_switches(DATA))[0]
    rows = re.findall(r"<tr.*?</tr>", re.search(r"<tbody>.*?</tbody>", table)[0])
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows]


def test_each_head_has_its_record_its_importance_and_what_is_right_without_it():
    rows = cells_in("of-heads")
    assert [record for record, _, _ in rows] == DATA["prefers"]
    without = [DATA["accuracy"][subset][0] for subset in (0b110, 0b101, 0b011)]
    for (_, importance, both), of_head, expected in zip(
        rows, DATA["importance"], without, strict=True
    ):
        assert float(importance) == of_head
        assert float(both) == pytest.approx(expected, abs=0.0051)


def test_all_heads_are_on():
    shown = np.float64(cells_in("accuracies"))[:, 0]
    assert shown == pytest.approx(DATA["accuracy"][-1], abs=0.0051)
    assert "3 of 3 heads on" in head_switches(DATA)


def test_bars_are_as_long_as_their_numbers():
    parts = np.float64(re.findall(r"--part: ([\d.]+)", head_switches(DATA)))
    assert parts[:N_HEADS] == pytest.approx([0.5, 1, 0.25])
    assert parts[N_HEADS:] == pytest.approx(DATA["accuracy"][-1])


def test_the_map_of_the_first_head_is_drawn_and_described():
    html = head_switches(DATA)
    weights = np.float64(re.findall(r"--weight: ([\d.]+)", html))
    assert weights.tolist() == [0.25, 0.75, 0.9, 0.1]
    assert "A at B (0.75), B at A (0.90)." in html


def test_the_script_gets_the_data():
    found = re.search(r'<script type="application/json">(.*?)</script>', head_switches(DATA))[1]
    assert json.loads(found) == DATA


def test_texts_are_escaped():
    html = head_switches({**DATA, "letters": ["<b>", "B"], "prefers": ["<i>", "own", "own"]})
    assert "<b>" not in html
    assert "<i>" not in html
