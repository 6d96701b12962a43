"""Test the translators of a page in a browser: keyboard, hidden words, failures, on a phone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader

PAGES = ("index", "context_bottleneck", "alignment", "transformer")
"""The pages that have translators."""

PATIENCE = 60_000
"""Milliseconds that fetching and writing may take on a busy machine; usually a second or two."""

Visit = Callable[..., Any]


@pytest.fixture
def visit(reader: Callable[..., Reader]) -> Visit:
    def open_page(name: str, **options: Any) -> Page:
        person = reader(**{**MODES["light"], **options})
        page: Any = person.open(f"{name}.html")
        page.person = person
        return page

    return open_page


def figure(page: Page, at: int = 0) -> Locator:
    return page.locator(".live").nth(at)


def open_answers(page: Page) -> None:
    """Return a reader whose guess opens the figure."""
    for element in page.locator(".predict-skip").all():
        element.click()


def begin(page: Page, at: int = 0) -> Locator:
    open_answers(page)
    place = figure(page, at)
    place.get_by_role("button", name="Run the machine").click()
    expect(place.locator(".live-machine .live-told").last).not_to_be_empty(timeout=PATIENCE)
    return place


def source(place: Locator) -> str:
    return place.locator(".live-source").inner_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fetches_nothing_until_used_and_then_little(visit: Visit, name: str) -> None:
    page = visit(name)
    fetched = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    before = [path for path in page.evaluate(fetched) if "/live/" in path]
    assert [path.rsplit("/", 1)[1].partition("?")[0] for path in before] == ["live.mjs"]
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    place = begin(page)
    models = [path for path in requested if path.endswith(".model")]
    machines = place.locator(".live-machine:not(.live-right)").count()
    assert len(models) == len(set(models)) == machines
    expect(place.locator(".live-words").first).not_to_be_empty()
    assert page.person.foreign == page.person.errors == []


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_before_and_after_use(
    reader: Callable[..., Reader], mode: str
) -> None:
    person = reader(**MODES[mode])
    page = person.open("alignment.html")
    assert person.violations(page, ".live") == []
    place = begin(page)
    expect(place.locator(".live-looks")).to_contain_text("Point at a French word")
    place.locator(".live-word").nth(2).focus()
    expect(place.locator(".live-looks")).to_contain_text("it looked at")
    place.locator(".live-seen").evaluate_all(
        "(all) => all.map((node) => node.style.setProperty('--share', 1))"
    )
    assert person.violations(page, ".live") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert person.foreign == person.errors == []


def test_a_sentence_is_composed_by_keyboard_alone(visit: Visit) -> None:
    page = visit("context_bottleneck")
    open_answers(page)
    place = figure(page)
    place.get_by_role("button", name="Run the machine").focus()
    page.keyboard.press("Enter")
    back = place.get_by_role("button", name="Take back a word")
    expect(back).to_be_visible(timeout=PATIENCE)
    back.focus()
    for _ in range(len(source(place).replace(".", " .").split())):
        page.keyboard.press("Enter")
    expect(place.locator(".live-source")).to_have_text("Begin a sentence.")
    place.get_by_label("can come next").focus()
    for word in ("the", "cat", "sleeps"):
        page.keyboard.type(word)
        page.keyboard.press("Enter")
    expect(place.locator(".live-told").last).to_have_text("It waits for a whole sentence.")
    page.keyboard.type(".")
    page.keyboard.press("Enter")
    expect(place.locator(".live-source")).to_have_text("The cat sleeps.")
    expect(place.locator(".live-right .live-words")).to_have_text("Le chat dort.")
    place.get_by_role("button", name="Longer").focus()
    page.keyboard.press("Enter")
    assert len(source(place)) > len("The cat sleeps.")


def test_an_impossible_word_is_reported_and_nothing_is_lost(visit: Visit) -> None:
    page = visit("context_bottleneck")
    place = begin(page)
    back = place.get_by_role("button", name="Take back a word")
    back.click()
    back.click()
    before = source(place)
    field = place.get_by_label("can come next")
    for word, message in (("quark", "quark"), ("the the", "comes")):
        field.fill(word)
        field.press("Enter")
        expect(place.locator(".live-said")).to_contain_text(message)
    assert source(place) == before
    field.fill("cat " * 200)
    field.press("Enter")
    expect(place.locator(".live-said")).not_to_be_empty()
    assert page.person.errors == []


def test_a_sentence_grows_to_the_maximum_length(visit: Visit) -> None:
    place = begin(visit("context_bottleneck"))
    longer = place.get_by_role("button", name="Longer")
    for _ in range(12):
        longer.click()
    expect(place.locator(".live-said")).to_contain_text("as long as it can be")
    assert len(source(place).split()) <= 60


def test_a_hidden_word_gets_no_weight_and_changes_the_output(visit: Visit) -> None:
    place = begin(visit("alignment"))
    written = place.locator(".live-machine .live-words").last
    before = written.inner_text()
    hides = place.locator(".live-hide button")
    changed = []
    for at in range(hides.count()):
        hides.nth(at).click()
        expect(place.locator(".live-machine .live-told").last).not_to_be_empty(timeout=PATIENCE)
        changed.append(written.inner_text() != before)
        hides.nth(at).click()
    assert any(changed)


def test_moved_positions_change_what_the_transformer_writes(visit: Visit) -> None:
    place = begin(visit("transformer"))
    written = place.locator(".live-machine .live-words").last
    verdict = place.locator(".live-machine .live-told").last
    before = written.inner_text()
    first = place.get_by_label("The first position is")
    first.focus()
    first.press("End")
    expect(place.locator("output")).to_have_text("30")
    expect(verdict).to_contain_text("right and in their place", timeout=PATIENCE)
    assert written.inner_text() != before
    first.press("Home")
    expect(verdict).to_have_text("Right, every word.", timeout=PATIENCE)
    assert written.inner_text() == before


def test_positions_are_moved_by_touch_on_a_phone(visit: Visit) -> None:
    place = begin(visit("transformer", **MODES["phone"], has_touch=True))
    first = place.get_by_label("The first position is")
    box = first.bounding_box()
    assert box
    assert box["width"] > 100
    first.tap(position={"x": box["width"] - 2, "y": box["height"] / 2})
    expect(place.locator("output")).to_have_text("30")


def test_three_machines_answer_in_one_figure(visit: Visit) -> None:
    place = begin(visit("transformer"), at=1)
    rows = place.locator(".live-machine:not(.live-right)")
    messages = ["Right, every word."] * 3
    expect(rows.locator(".live-told")).to_have_text(messages, timeout=PATIENCE)
    here = place.locator(".live-strip g[role=img]").last
    for name in ("One vector", "Looks back", "Transformer"):
        expect(here).to_have_attribute("aria-label", re.compile(f"{name}: 100 %"))
    before = source(place)
    place.get_by_role("button", name="Longer").click()
    assert len(source(place)) > len(before)
    expect(place.locator(".live-here[visibility=visible]")).to_have_count(3, timeout=PATIENCE)


def test_failed_machine_download_is_reported_and_can_be_retried(visit: Visit) -> None:
    page = visit("alignment")
    page.route("**/*.model", lambda route: route.abort())
    place = figure(page)
    start = place.get_by_role("button", name="Run the machine")
    start.click()
    expect(place.get_by_role("status").first).to_contain_text("did not arrive", timeout=PATIENCE)
    page.unroute("**/*.model")
    page.route("**/*.model", lambda route: route.fulfill(body=b"\x1f\x8b cut off"))
    start.click()
    expect(start).to_be_enabled(timeout=PATIENCE)
    page.unroute("**/*.model")
    begin(page)
