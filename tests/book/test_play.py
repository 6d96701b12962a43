"""Test the interactive figures on a phone, by touch and by keyboard."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from site_tools import MODES, Reader

PAGES = ("cost.html", "gpt_and_bert.html", "gpt_and_bert_appendix.html")
TWENTY = "Draw the next token 20 times"


@pytest.fixture(scope="module")
def visit(reader: Callable[..., Reader]) -> Callable[[str], Page]:
    """Open a page on a phone."""
    person = reader(**MODES["phone"])
    return person.open


@pytest.mark.parametrize("name", PAGES)
def test_every_slider_is_visible_with_its_result(visit: Callable[[str], Page], name: str) -> None:
    page = visit(name)
    figure = page.locator(".play")
    drawing = figure.locator("svg").bounding_box()
    sliders = [element.bounding_box() for element in figure.locator("input[type=range]").all()]
    assert sliders
    assert min(box["height"] for box in sliders) >= 24
    tops = [box["y"] for box in (drawing, *sliders)]
    ends = [box["y"] + box["height"] for box in (drawing, *sliders)]
    assert max(ends) - min(tops) < MODES["phone"]["viewport"]["height"]


@pytest.mark.parametrize("name", PAGES)
def test_numbers_of_the_fallback_table_are_right_aligned(
    reader: Callable[..., Reader], name: str
) -> None:
    page = reader(**MODES["phone"], java_script_enabled=False).open(name)
    sides = page.locator(".play :is(th, td)").evaluate_all(
        "(all) => all.map((node) => [node.innerText, getComputedStyle(node).textAlign])"
    )
    numbers = {side for text, side in sides if text[:1].isdigit()}
    assert numbers == {"right"}


def test_the_calculator_describes_its_sliders_in_sentences(
    visit: Callable[[str], Page],
) -> None:
    page = visit("cost.html")
    description = page.locator(".cost-calculator .play-told")
    before = description.inner_text()
    assert before.startswith("Such a model does ")
    curve = page.locator(".cost-calculator polyline").get_attribute("points")
    page.get_by_role("slider", name="Features").press("ArrowRight")
    assert description.inner_text() != before
    assert page.locator(".cost-calculator polyline").get_attribute("points") != curve
    assert "heads" not in page.locator(".play-legend").inner_text(), "a GRU has no heads"


def test_twenty_draws_are_counted_beside_the_bars(visit: Callable[[str], Page]) -> None:
    page = visit("gpt_and_bert.html")
    figure = page.locator(".sampler")
    assert "drawn" not in figure.locator("svg").inner_html()
    figure.get_by_role("button", name=TWENTY).click()
    texts = figure.locator("svg text").all_text_contents()
    counts = [int(text.split()[0]) for text in texts if text.endswith(" \N{MULTIPLICATION SIGN}")]
    assert sum(counts) == 20
    assert "20 draws, all for the same place" in figure.inner_text()
    page.get_by_role("slider", name="Top-k").press("ArrowLeft")
    assert "20 draws" not in figure.inner_text(), "the draws are of another distribution"


def test_head_cells_show_their_weight_by_touch_and_keyboard(
    visit: Callable[[str], Page],
) -> None:
    page = visit("gpt_and_bert_appendix.html")
    description = page.locator(".heads .play-told")
    cells = page.locator(".heads svg").get_by_role("row").nth(2).get_by_role("gridcell")
    cells.nth(0).click()
    assert description.inner_text() == cells.nth(0).get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    assert description.inner_text() == cells.nth(1).get_attribute("aria-label")
    assert " with a weight of " in description.inner_text()
    page.get_by_role("slider", name="Layer").press("ArrowRight")
    assert description.inner_text() == cells.nth(1).get_attribute("aria-label"), (
        "the description is that of the former layer"
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("aria-label") == description.inner_text()
