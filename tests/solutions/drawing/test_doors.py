"""Test the drawing of the three doors."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from solutions.drawing.doors import SCHEMES, STEPS, three_doors


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_schemes_are_placed_at_doors():
    assert list(SCHEMES) == [row for _, row, door in STEPS if door]


def test_no_text_is_cut_off_or_lies_on_another():
    axes = three_doors()
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    for number, box in enumerate(boxes):
        assert box.x0 >= axes.bbox.x0 - 1
        assert box.x1 <= axes.bbox.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[:number])
