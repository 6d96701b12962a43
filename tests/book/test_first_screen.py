"""Test the first screen of the front page: the entry, and two machines that wait for a guess."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from site_tools import MODES, ROOT, Reader

SCREENS = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})
SEEN = (
    "h1",
    ".begin .button",
    "section:has(> .live) > h2",
    ".live-source",
    ".live-begin",
    ".live-first",
)
MOVED = """window.moved = 0;
new PerformanceObserver((list) => { for (const shift of list.getEntries()) moved += shift.value; })
    .observe({ type: "layout-shift", buffered: true });"""
PATIENCE = 60_000

Open = Callable[..., Reader]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen["width"])
def test_first_screen_shows_the_question_and_its_button(
    reader: Open, screen: dict[str, Any]
) -> None:
    person = reader(**{**MODES["light"], "viewport": screen})
    person.context.add_init_script(MOVED)
    page = person.open("index.html")
    for part in SEEN:
        box = page.locator(part).first.bounding_box()
        assert box, part
        assert box["y"] + box["height"] <= screen["height"], part
    assert page.evaluate("window.moved") < 0.01
    assert person.errors == []


@pytest.mark.parametrize("mode", MODES)
def test_the_machines_appear_after_the_guess(reader: Open, mode: str) -> None:
    person = reader(**MODES[mode])
    page = person.open("index.html")
    place = page.locator(".live")
    lines, guess = place.locator(".live-lines"), place.locator(".predict")
    expect(lines).to_be_hidden()
    place.get_by_role("button", name="Run the machines").click()
    assert guess.locator("input:focus").count() == 1
    status = place.locator(".live-go [role=status]")
    expect(status).to_contain_text("Say first what you expect", timeout=PATIENCE)
    assert place.locator(".live-machine").count() == 0
    page.keyboard.press("Space")
    guess.get_by_role("button", name="See the answer").click()
    expect(place.locator(".live-told")).to_have_text(["Right, every word."] * 2, timeout=PATIENCE)
    expect(lines).to_be_visible()
    first = place.locator(".live-machine").first.bounding_box()
    assert first
    assert 0 < first["y"] < page.viewport_size["height"] / 2, (
        "the machines appear in the upper half"
    )
    assert person.violations(page, ".live") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert person.foreign == person.errors == []


def test_without_scripts_the_picture_shows_the_measurement(reader: Open) -> None:
    page = reader(**{**MODES["light"], "java_script_enabled": False}).open("index.html")
    place = page.locator(".live")
    expect(place.locator(".live-source")).to_be_visible()
    sentences = ["Le médecin achète une voiture rouge."] * 2
    expect(place.locator(".live-first [lang=fr]")).to_have_text(sentences)
    assert place.get_by_role("button", name="Run the machines").count() == 0
    stored = ROOT / "book" / "executed" / "transformer" / "transformer_by_length.json"
    columns = zip(*json.loads(stored.read_text(encoding="utf-8"))["token_accuracy"], strict=True)
    description = place.locator(".live-lines").get_attribute("aria-label") or ""
    assert (
        "Transformer: " + ", ".join(f"{sum(column) / len(column):.0%}" for column in columns)
        in description
    )
    expect(place.locator(".live-lines")).to_be_visible()
