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
    figures = page.locator(".play").all()
    assert figures
    for figure in figures:
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


def test_the_dot_moves_with_model_context_and_batch(visit: Callable[[str], Page]) -> None:
    page = visit("cost.html")
    figure = page.locator(".writing-costs")
    description = figure.locator(".play-told")

    def across() -> float:
        return float(figure.locator("circle.dot").get_attribute("cx") or 0)

    assert "Memory sets the limit." in description.inner_text()
    start = across()
    page.get_by_role("slider", name="Texts at once").press("ArrowRight")
    assert across() > start, "the weights serve two texts"
    before = description.inner_text()
    page.get_by_role("slider", name="Tokens of each text").press("ArrowRight")
    assert description.inner_text() != before
    figure.get_by_role("radio", name="DeepSeek-V3 671B").check()
    assert "Memory sets the limit." in description.inner_text()
    assert "such processors" in description.inner_text()
    figure.get_by_role("radio", name="a core of ours").check()
    assert "measured with" in figure.locator(".play-note").inner_text()


def test_twenty_draws_are_counted_beside_the_bars(visit: Callable[[str], Page]) -> None:
    page = visit("gpt_and_bert.html")
    figure = page.locator(".writer")
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


def test_gaps_are_opened_and_filled_by_keyboard(visit: Callable[[str], Page]) -> None:
    page = visit("gpt_and_bert_gaps.html")
    figure = page.locator(".masks")
    marks = figure.locator(".play-mark")
    said = figure.locator(".play-told")
    assert [mark.get_attribute("aria-label") for mark in marks.all()] == ["to do", "to do"]
    assert "with 15 % of masks" in said.inner_text()
    words = figure.locator(".masks-row button")
    words.nth(5).press("Enter")
    figure.locator(".masks-table button").first.press("Enter")
    assert words.nth(5).inner_text() in ("queen", "aunt", "girl", "nun")
    words.nth(1).press("Enter")
    assert marks.nth(0).get_attribute("aria-label") == "solved"
    assert "“she”" in said.inner_text()
    figure.get_by_role("radio", name="under a causal mask").check()
    bars = figure.locator(".masks-table .measure").all_inner_texts()
    assert len(bars) == 6
    assert float(bars[0]) < 0.6
    figure.get_by_role("button", name="Hide everything").click()
    assert words.all_inner_texts() == ["▁▁▁"] * 8
    for _ in range(8):
        figure.get_by_role("button", name="Draw a word here").click()
    assert said.inner_text().startswith("This is")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
