"""Test that the site is complete, readable and without errors under hard conditions.

These are forbidden or full storage, no scripts, no fonts, a page opened as a file, a width of 320
pixels, text of twice the size, forced colours, reduced motion, and a keyboard without a pointer.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route
from site_tools import MODES, Reader

FORBIDDEN = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } });"""
FULL = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError"); };"""
LARGE = """addEventListener("DOMContentLoaded", () => {
    document.documentElement.style.fontSize = "200%"; });"""

HIDDEN = """() => [...document.querySelectorAll("article :is(h1, h2, h3, p, li, pre, table, svg)")]
    .filter((node) => node.textContent.trim()
        && !node.closest("details:not([open]), .predict-guess, .predict-points"))
    .filter((node) => !node.checkVisibility({ visibilityProperty: true }))
    .map((node) => node.outerHTML.slice(0, 200))"""

SCROLLERS = "pre, .table-scroll, .figure-scroll, mjx-container[display]"
CUT_OFF = """(scrollers) => [...document.querySelectorAll("body :is(h1, h2, h3, p, li, pre, table,"
        + "svg, fieldset, label, button, input, textarea, summary, a, mjx-container)")]
    .filter((node) => node.checkVisibility() && !node.parentElement.closest(scrollers))
    .filter((node) => !node.closest(".unseen, .skip, mjx-assistive-mml, :empty[role=status]"))
    .filter((node) => {
        const { left, right, width } = node.getBoundingClientRect();
        return width > 0 && (left < -1 || right > innerWidth + 1); })
    .map((node) => node.outerHTML.slice(0, 200))"""

UNANNOUNCED = """(scrollers) => [...document.querySelectorAll(scrollers)]
    .filter((node) => node.scrollWidth > node.clientWidth + 1)
    .filter((node) => getComputedStyle(node).getPropertyValue("--fade") === "0px"
        || node.tabIndex !== 0)
    .map((node) => node.outerHTML.slice(0, 200))"""

FONTS = """() => [...document.fonts].some((font) =>
    font.family.includes("Source") && font.status === "loaded")"""

MOVING = """() => [...document.querySelectorAll("*")].filter((node) => {
        const style = getComputedStyle(node);
        return style.transitionDuration !== "0s" || style.scrollBehavior === "smooth"; })
    .map((node) => node.outerHTML.slice(0, 200))"""

ON_FOCUS = """(node) => {
    const shown = node.matches("[type=radio]") ? node.closest("label") ?? node : node;
    const { top, bottom } = shown.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(shown);
    return { seen: bottom > 0 && top < innerHeight,
        outlined: outlineStyle !== "none" && outlineWidth !== "0px" };
}"""


@pytest.fixture
def person(reader: Callable[..., Reader], request: pytest.FixtureRequest) -> Reader:
    """Return a reader; the parameter holds browser options and a script that runs first."""
    options, script = request.param
    person = reader(**{**MODES["light"], **options})
    if script:
        person.context.add_init_script(script)
    return person


@pytest.mark.parametrize("person", [({}, FORBIDDEN), ({}, FULL)], indirect=True)
def test_page_works_without_storage(person: Reader) -> None:
    page = person.open("cost.html")
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    guess = page.locator(".predict").first
    guess.get_by_role("button", name="Show without a guess").click()
    assert guess.get_attribute("data-state") == "open"
    quiz = page.locator("fieldset.quiz").first
    quiz.locator("input").first.check()
    quiz.get_by_role("button", name="Check my answer").click()
    assert quiz.locator(".quiz-feedback").inner_text()
    person.open("index.html")
    assert person.errors == []


@pytest.mark.parametrize("name", ["index.html", "self_attention.html", "cost.html"])
@pytest.mark.parametrize("person", [({"java_script_enabled": False}, "")], indirect=True)
def test_without_scripts_nothing_is_hidden(person: Reader, name: str) -> None:
    page = person.open(name)
    assert page.evaluate(HIDDEN) == []
    assert page.locator("article :is(svg, table)").count() > 0
    assert page.locator("article .math").count() == page.locator("article mjx-container").count()
    assert person.errors == []


@pytest.mark.parametrize("name", ["index.html", "self_attention.html", "cost.html"])
def test_a_page_opened_as_a_file_is_complete(browser: Browser, site: Path, name: str) -> None:
    """Test without scripts, since a browser does not load modules from a file."""
    with browser.new_context(**MODES["light"]) as context:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((site / name).as_uri(), wait_until="load")
        assert page.evaluate(HIDDEN) == []
        assert faults == []


@pytest.mark.parametrize("person", [({}, "")], indirect=True)
def test_text_is_visible_without_fonts(person: Reader) -> None:
    requested: list[str] = []

    def refuse(route: Route) -> None:
        requested.append(route.request.url)
        route.abort()

    person.page.route("**/*.woff2", refuse)
    page = person.open("howto_student.html")
    assert requested
    assert not page.evaluate(FONTS)
    assert page.evaluate(CUT_OFF, SCROLLERS) == []
    assert page.locator("h1").is_visible()


NARROW = (
    ({"viewport": {"width": 320, "height": 640}}, ""),
    ({"viewport": {"width": 640, "height": 720}, "device_scale_factor": 2}, LARGE),
)


@pytest.mark.parametrize(
    "name", ["index.html", "self_attention.html", "cost.html", "howto_student.html"]
)
@pytest.mark.parametrize("person", NARROW, indirect=True)
def test_narrow_page_cuts_nothing_off(person: Reader, name: str) -> None:
    page = person.open(name)
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(CUT_OFF, SCROLLERS) == []
    assert page.evaluate(UNANNOUNCED, SCROLLERS) == []
    assert person.errors == []


@pytest.mark.parametrize("person", [({"forced_colors": "active"}, "")], indirect=True)
def test_curves_and_choices_are_distinguishable_in_forced_colours(person: Reader) -> None:
    page = person.open("cost.html")
    colours = "(marks) => marks.map((node) => getComputedStyle(node).color)"
    calculator = page.locator(".cost-calculator")
    marks = calculator.locator(".play-legend [aria-hidden]").evaluate_all(colours)
    assert len(set(marks[1:])) == 2, "two kinds of points"
    curve = calculator.locator("polyline")
    assert curve.evaluate("(node) => getComputedStyle(node).stroke") == marks[0]
    page = person.open("index.html")
    arc = "(node) => getComputedStyle(node).stroke"
    looks = page.locator(".six-words path.looks").first.evaluate(arc)
    assert page.locator(".six-words path:not(.looks)").first.evaluate(arc) != looks
    assert is_seen(page, page.locator(".six-words input:checked"))


@pytest.mark.parametrize("person", [({"reduced_motion": "reduce"}, "")], indirect=True)
def test_reduced_motion_is_respected(person: Reader) -> None:
    assert person.open("index.html").evaluate(MOVING) == []


def is_seen(page: Page, element: Locator) -> bool:
    """Return True if an element with keyboard focus is in the window and outlined."""
    element.focus()
    page.keyboard.press("Shift")  # makes the browser treat the focus as a keyboard focus
    focus = element.evaluate(ON_FOCUS)
    return focus["seen"] and focus["outlined"]


# Keyboard only


def stop(page: Page) -> Locator:
    """Press Tab and check that the focused element is outlined and in the window."""
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    focus = focused.evaluate(ON_FOCUS)
    assert focus == {"seen": True, "outlined": True}, focused.evaluate("(node) => node.outerHTML")
    return focused


def go_to(page: Page, selector: str) -> Locator:
    """Press Tab until the element is focused."""
    for _ in range(20):
        focused = stop(page)
        if focused.and_(page.locator(selector)).count():
            return focused
    raise AssertionError(f"Tab does not lead to {selector}")


@pytest.mark.parametrize("person", [({}, "")], indirect=True)
def test_the_front_page_from_its_top_to_chapter_1(person: Reader) -> None:
    page = person.open("index.html")
    assert stop(page).inner_text() == "Skip to the text"
    button = go_to(page, ".contents-button")
    page.keyboard.press("Enter")
    assert page.locator(".contents").is_visible()
    assert stop(page).locator("xpath=ancestor::nav").get_attribute("id") == "contents"
    page.keyboard.press("Escape")
    assert not page.locator(".contents").is_visible()
    assert button.and_(page.locator(":focus")).count() == 1

    go_to(page, ".begin .button:not(.quiet)")
    page.keyboard.press("Enter")
    page.wait_for_url("**/context_bottleneck.html")


@pytest.mark.parametrize("person", [({}, "")], indirect=True)
def test_the_six_words_work_by_keyboard(person: Reader) -> None:
    page = person.open("index.html")
    page.locator(".parts a").last.focus()
    go_to(page, ".six-words [type=radio]")
    shares = page.locator(".six-words output").all_inner_texts()
    page.keyboard.press("ArrowRight")
    assert page.locator(".six-words output").all_inner_texts() != shares
    status = page.locator(".six-words [role=status]")
    before = status.inner_text()
    go_to(page, ".six-words [type=range]")
    page.keyboard.press("End")
    assert status.inner_text() != before


@pytest.mark.parametrize("person", [(MODES["phone"], "")], indirect=True)
def test_on_a_phone_the_contents_open_and_close(person: Reader) -> None:
    page = person.open("self_attention.html")
    contents = page.locator(".contents")
    assert not contents.is_visible()
    go_to(page, ".contents-button")
    page.keyboard.press("Enter")
    assert contents.is_visible()
    assert stop(page).locator("xpath=ancestor::nav").get_attribute("id") == "contents"
    page.keyboard.press("Escape")
    assert not contents.is_visible()
    assert page.locator(".contents-button:focus").count() == 1
    page.keyboard.press("Enter")
    page.mouse.click(380, 600)  # outside the contents
    assert not contents.is_visible()
