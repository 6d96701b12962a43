"""Test the playground in a browser: training, stopping, editing, comparing, and every mistake."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader

from tests.benchmarks.site.shift import layout_shift, observe_shifts

CHAPTERS = {
    "self_attention": 1,
    "queries_keys_values_appendix": 2,
    "multi_head": 1,
    "positions": 1,
    "transformer_block": 1,
    "transformer": 1,
    "gpt_and_bert": 1,
}
"""The number of playgrounds in each chapter."""

QUICK = "task=own&steps=60"
PATIENCE = 60_000
"""Milliseconds that a run may take on a busy machine; usually less than one second."""


@pytest.fixture
def visit(reader: Callable[..., Reader]) -> Callable[..., Any]:
    """Open the playground with an address."""

    def open_with(address: str = "", **options: object) -> Page:
        person = reader(**{**MODES["light"], **options})
        page: Any = person.open(f"playground.html?{address}" if address else "playground.html")
        page.person = person
        return page

    return open_with


def figure(page: Page) -> Locator:
    return page.locator(".playground")


def said(page: Page) -> Locator:
    return page.locator(".pg-said")


def train(page: Page) -> None:
    page.get_by_role("slider", name="Pace").press("End")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(figure(page)).to_have_attribute("data-state", "after", timeout=PATIENCE)


def test_on_a_phone_the_curves_are_on_the_screen_while_they_are_drawn(
    visit: Callable[..., Page],
) -> None:
    page = visit(QUICK, viewport={"width": 390, "height": 844})
    train(page)
    box = page.locator(".pg-seen svg").first.bounding_box()
    assert box
    assert 0 < box["y"] < box["y"] + box["height"] < 844


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_before_during_and_after_training(
    reader: Callable[..., Reader], mode: str
) -> None:
    person = reader(**MODES[mode])
    page = person.open(f"playground.html?{QUICK}&steps=5000&vs.heads=2")
    assert person.violations(page, ".playground") == []
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".pg-step")).to_contain_text("Step 1")
    page.get_by_role("button", name="Stop").click()
    expect(figure(page)).to_have_attribute("data-state", "stopped")
    for fold in page.locator(".playground summary").all():
        fold.click()
    cells = page.locator(".pg-strip td[style]")  # the deepest colour that a run can reach
    assert cells.evaluate_all("(all) => all.map((node) => node.style.setProperty('--weight', 1))")
    assert person.violations(page, ".playground") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert person.foreign == person.errors == []


def test_a_run_ends_with_a_sentence_and_its_pictures_have_labels(
    visit: Callable[..., Page],
) -> None:
    page = visit(f"{QUICK}&vs.body=mean")
    train(page)
    expect(said(page)).to_contain_text("After 60 steps: attention with Q, K, V,")
    expect(said(page)).to_contain_text("A guess would be right in 6.3 %.")
    labels = page.locator(".pg-chart svg").evaluate_all(
        "(all) => all.map((node) => node.ariaLabel)"
    )
    assert labels[0].startswith("Accuracy against the step, up to step 60: attention with")
    weights = page.locator(".pg-heads canvas").first.get_attribute("aria-label")
    assert weights.startswith("Place 9 (")
    assert page.inner_text(".pg-panels").count("Its answer at the end: ") == 2
    assert page.inner_text(".pg-panels").count(" parameters.") == 2
    assert "The mean has no map" in page.inner_text(".pg-panels")


@pytest.mark.parametrize("mode", ["light", "phone"])
def test_nothing_moves_while_machines_learn(reader: Callable[..., Reader], mode: str) -> None:
    person = reader(**MODES[mode])
    observe_shifts(person.page)
    page = person.open(f"playground.html?{QUICK}&vs.heads=2")
    before = layout_shift(page)
    page.evaluate("document.querySelector('.pg-panels').scrollIntoView({behavior: 'instant'})")
    page.wait_for_timeout(600)  # shifts within half a second of input are not counted
    page.evaluate("document.querySelector('.pg-train').click()")
    expect(figure(page)).to_have_attribute("data-state", "after", timeout=PATIENCE)
    expect(page.locator(".pg-answering").first).to_contain_text("parameters")
    assert layout_shift(page) - before < 0.001


def test_training_starts_stops_and_resumes_by_keyboard(visit: Callable[..., Page]) -> None:
    page = visit("task=own&steps=5000")
    button = page.locator(".pg-train")
    button.focus()
    for state, words in (("running", "Stop"), ("stopped", "Go on"), ("running", "Stop")):
        page.keyboard.press("Enter")
        expect(figure(page)).to_have_attribute("data-state", state)
        expect(button).to_have_text(words)
        expect(page.locator(".pg-step")).to_contain_text("Step")
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Stopped at step")


def test_the_map_describes_the_cell_selected_by_keyboard(visit: Callable[..., Page]) -> None:
    page = visit(QUICK)
    train(page)
    page.locator(".pg-heads canvas").first.press("ArrowRight")
    expect(page.locator(".pg-pointed")).to_contain_text("Place 9")
    expect(page.locator(".pg-pointed")).to_contain_text("looks at place 2")


def test_a_reader_writes_the_sequence(visit: Callable[..., Page]) -> None:
    page = visit(QUICK)
    train(page)
    field = page.get_by_label("The sequence of the maps; write another")
    field.fill("A:1 B:2 C:3 D:4 E:5 F:6 G:7 H:8 C:?")
    field.press("Enter")
    expect(page.locator(".pg-strip thead")).to_contain_text("C:?")
    expect(page.locator(".pg-panels")).to_contain_text("Right: 3.")
    field.fill("A:1 B:2 Z9 D:4 E:5 F:6 G:7 H:8 C:?")
    field.press("Enter")
    expect(said(page)).to_contain_text("Place 3, “Z9”: a place has two, such as A:7.")
    expect(page.locator(".pg-strip thead")).to_contain_text("C:?")


def test_a_switch_without_effect_is_disabled_with_a_reason(visit: Callable[..., Page]) -> None:
    page = visit(QUICK)
    mask = page.get_by_role("checkbox", name="Causal mask")
    expect(mask).to_be_disabled()
    reason = page.locator(f"#{mask.get_attribute('aria-describedby')}")
    expect(reason).to_contain_text("read at the last place")
    page.get_by_role("combobox", name="Blocks").select_option("2")
    expect(mask).to_be_enabled()


def test_the_address_stores_and_restores_the_settings(visit: Callable[..., Page]) -> None:
    page = visit(QUICK)
    page.get_by_role("combobox", name="Heads").select_option("4")
    page.get_by_role("button", name="Train a second one beside it").click()
    page.get_by_role("combobox", name="Heads, second machine").select_option("8")
    again = visit(page.url.partition("?")[2])
    assert again.get_by_role("combobox", name="Heads, first machine").input_value() == "4"
    assert again.get_by_role("combobox", name="Heads, second machine").input_value() == "8"


WRONG = {
    "task=nonsense&colour=red&heads=2": ('“task” is "nonsense"', "“colour”, which is not a"),
    "width=abc": ('“width” is "abc"',),
    "heads=3": ("32 features cannot be shared out equally to 3 heads",),
    "body=convolution&length=4&window=8": ("A window of 8 places is longer",),
    "vs.task=own": ("“vs.task”, which is not a setting",),
    "%E0%A4%A": ("which is not a setting",),
}


@pytest.mark.parametrize("expected", WRONG)
def test_invalid_parts_of_an_address_are_reported_and_the_rest_is_used(
    visit: Callable[..., Any], expected: str
) -> None:
    page = visit(f"{expected}&steps=60")
    for part in WRONG[expected]:
        expect(said(page)).to_contain_text(part)
    assert page.get_by_role("combobox", name="Steps").input_value() == "60"
    assert page.person.errors == []
    page.get_by_role("combobox", name="Heads").select_option("4")
    page.get_by_role("combobox", name="Places in a sequence").select_option("16")
    train(page)


def test_incompatible_settings_are_reported_until_fixed(visit: Callable[..., Page]) -> None:
    page = visit(QUICK)
    page.get_by_role("combobox", name="Heads").select_option("3")
    expect(said(page)).to_contain_text("cannot be shared out equally to 3 heads")
    expect(page.locator(".pg-train")).to_be_disabled()
    page.get_by_role("combobox", name="Heads").select_option("4")
    expect(said(page)).to_be_empty()
    train(page)


def test_divergence_is_reported_and_the_page_stays_usable(visit: Callable[..., Page]) -> None:
    page = visit("task=copying&layers=3&residual=true&feedForward=true&rate=1&steps=200")
    train(page)
    expect(said(page)).to_contain_text("Take a smaller rate.")
    page.get_by_role("combobox", name="Task").select_option("own")
    page.get_by_role("combobox", name="Learning rate").select_option("0.01")
    train(page)
    expect(said(page)).to_contain_text("After 200 steps")


def test_longer_sequences_are_tried_after_training(reader: Callable[..., Reader]) -> None:
    page = reader(**MODES["light"]).open("positions.html#predict-before-without-positions")
    page.locator("#predict-before-without-positions .predict-skip").click()
    train(page)
    page.get_by_role("button", name="Try it at 64 places").click()
    expect(said(page)).to_contain_text("On sequences of 64 places: no positions,", timeout=PATIENCE)


def test_surprise_me_shows_a_puzzle_and_reports_its_solution(visit: Callable[..., Page]) -> None:
    page = visit()
    solved = page.locator(".pg-puzzles [role=status]")
    for _ in range(10):
        page.get_by_role("button", name="Surprise me").click()
        if "which-came-later" in page.url or "task=later" in page.url:
            break
    train(page)
    expect(solved).to_contain_text("Now change one switch")
    page.get_by_role("combobox", name="Positions").select_option("rotary")
    train(page)
    expect(solved).to_contain_text("Solved, by one switch: Positions, rotary.")
    page.locator(".pg-answer summary").click()
    href = page.locator(".pg-answer a").get_attribute("href")
    page.goto(f"{page.url.partition('playground')[0]}{href}")
    assert page.locator(f"#{href.partition('#')[2]}").count() == 1


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_without_scripts_a_stored_run_is_shown(reader: Callable[..., Reader], chapter: str) -> None:
    page = reader(**MODES["phone"], java_script_enabled=False).open(f"{chapter}.html")
    assert page.locator(".playground").count() == CHAPTERS[chapter]
    for element in page.locator(".playground").all():
        picture = element.locator(".pg-kept svg")
        assert picture.is_visible()
        assert "a stored run with seed" in picture.get_attribute("aria-label")
        assert element.locator(".pg-caption").inner_text()
        assert element.locator("button").count() == 0


def test_forbidden_workers_are_reported(visit: Callable[..., Page]) -> None:
    page = visit()
    page.route("**/worker.mjs", lambda route: route.abort())
    page.get_by_role("button", name="Train", exact=True).click()
    expect(said(page)).to_contain_text("could not be started in this browser")
    expect(page.locator(".pg-train")).to_have_text("Train")


def test_the_stored_run_is_shown_if_the_module_fails_to_load(
    reader: Callable[..., Reader],
) -> None:
    person = reader(**MODES["light"])
    person.page.route("**/playground.mjs*", lambda route: route.abort())
    page = person.open("playground.html")
    expect(page.locator(".pg-kept svg")).to_be_visible()
    expect(page.locator(".pg-caption")).to_be_visible()
