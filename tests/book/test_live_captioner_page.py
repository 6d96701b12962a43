"""Test the figure of the captioners in a browser: editing, forced looks, failures, on a phone.

It is served in a small site, with untrained captioners.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import captioner_page
import pytest
from captioner_in_torch import untaught
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader, serving

from book._ext.course_captioner import MACHINES


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a site whose page has two figures."""
    folder: Path = tmp_path_factory.mktemp("captioners")
    weights = {name: untaught(seed)[0] for seed, name in enumerate(MACHINES, start=2)}
    captioner_page.make(folder, weights, figures=2)
    with serving(folder) as address:
        yield address


Visit = Callable[..., Any]


@pytest.fixture
def visit(reader: Callable[..., Reader]) -> Visit:
    def open_page(mode: str = "light") -> Page:
        person = reader(**MODES[mode])
        page: Any = person.open("index.html")
        page.person = person
        return page

    return open_page


def begin(page: Page, number: int = 0) -> Locator:
    place = page.locator(".captioner").nth(number)
    place.get_by_role("button", name="Run the captioners").click()
    expect(place.locator(".look-said").last).to_be_attached()
    return place


def soft(place: Locator) -> Locator:
    return place.locator(".look-machine").first


def right(place: Locator) -> str:
    return place.locator(".live-right .live-words").inner_text()


def words(machine: Locator, legend: str) -> list[str]:
    return machine.get_by_role("group", name=legend).locator("label").all_inner_texts()


def shares(machine: Locator) -> list[float]:
    return machine.locator("rect").evaluate_all(
        "(all) => all.map((node) => Number(node.style.getPropertyValue('--share')))"
    )


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_before_and_after_use(visit: Visit, mode: str) -> None:
    page = visit(mode)
    assert page.person.violations(page, ".captioner") == []
    place = begin(page)
    soft(place).get_by_role("radio", name="the blue square").check()
    expect(soft(place).get_by_role("group", name="What it says then")).to_be_visible()
    assert page.person.violations(page, ".captioner") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.person.foreign == page.person.errors == []


def test_only_the_script_is_fetched_at_first_and_each_model_once(visit: Visit) -> None:
    page = visit()
    fetched = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    before = [url.rsplit("/", 1)[1] for url in page.evaluate(fetched)]
    assert [url for url in before if url.endswith((".model", ".wasm"))] == []
    begin(page)
    begin(page, 1)
    after = [url.rsplit("/", 1)[1] for url in page.evaluate(fetched)]
    for name in (*(f"{name}.model" for name in MACHINES), "product.wasm"):
        assert after.count(name) == 1


def test_figure_works_by_keyboard_alone(visit: Visit) -> None:
    page = visit()
    place = page.locator(".captioner").first
    place.get_by_role("button", name="Run the captioners").focus()
    page.keyboard.press("Enter")
    machine = soft(place)
    expect(machine.locator("label").first).to_be_visible()
    assert right(place) == "a red circle above a blue square left of a green triangle"

    place.get_by_label("How they stand").select_option("1 left of 2")
    assert right(place) == "a red circle left of a blue square"
    place.get_by_label("Kind of shape 1").select_option("cross")
    assert right(place) == "a red cross left of a blue square"
    assert place.get_by_label("Colour of shape 1").locator("option:disabled").all_inner_texts() == [
        "blue"
    ]
    place.get_by_role("button", name="Move the red cross").focus()
    before = machine.locator("canvas").evaluate("(node) => node.toDataURL()")
    page.keyboard.press("ArrowDown")
    assert machine.locator("canvas").evaluate("(node) => node.toDataURL()") != before
    expect(place.get_by_role("button", name="Move the red cross")).to_be_focused()

    machine.get_by_role("radio").nth(2).focus()
    page.keyboard.press("ArrowRight")
    chosen = words(machine, "What it says: choose a word")[3]
    expect(machine.locator(".live-told.look-said")).to_contain_text(f"For “{chosen}”")
    machine.locator("rect[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    row = machine.locator(".look-place").inner_text().partition(",")[0]
    assert machine.locator(".look-place").inner_text().startswith(f"{row}, column 2")
    page.keyboard.press("Enter")
    expect(machine.get_by_role("status")).to_contain_text("column 2 alone it")
    assert sum(shares(machine)) == 1
    assert page.person.errors == []


def test_another_picture_has_another_caption(visit: Visit) -> None:
    place = begin(visit())
    captions = set()
    for _ in range(6):
        place.get_by_role("button", name="Another picture").click()
        captions.add(right(place))
    assert len(captions) > 3


def test_a_shape_can_be_dragged_within_the_range_of_captions(visit: Visit) -> None:
    page = visit()
    place = begin(page)
    place.get_by_label("How they stand").select_option("1 above 2")
    handle = place.get_by_role("button", name="Move the red circle")
    box, canvas = handle.bounding_box(), place.locator("canvas").first.bounding_box()
    assert box
    assert canvas
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.5, 0.7, 0.9):
        page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + share * canvas["height"])
    expect(place.locator(".look-controls .live-said")).to_contain_text("too close")
    assert right(place) == "a red circle above a blue square"
    page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"])
    page.mouse.up()
    moved = handle.bounding_box()
    assert moved
    assert moved["y"] < box["y"]
    page.keyboard.press("ArrowUp")
    expect(place.locator(".look-controls .live-said")).to_contain_text("ends here")


def test_a_misaligned_shape_is_reported(visit: Visit) -> None:
    page = visit()
    place = begin(page)
    place.get_by_label("How they stand").select_option("1 above 2")
    place.get_by_role("button", name="Move the red circle").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(place.locator(".look-controls .live-said")).to_contain_text("more in line")
    page.keyboard.press("ArrowRight")
    expect(place.locator(".look-controls .live-said")).to_be_empty()


def test_a_forced_look_keeps_its_place_and_the_earlier_words(visit: Visit) -> None:
    place = begin(visit())
    changed = []
    for machine in place.locator(".look-machine").all():
        own = words(machine, "What it says: choose a word")
        for at in range(len(own)):
            machine.locator(".look-words").first.locator("label").nth(at).click()
            free = shares(machine)
            machine.locator("rect").nth(9).click()
            assert shares(machine) == [float(place == 9) for place in range(64)]
            then = words(machine, "What it says then")
            assert then[:at] == own[:at]
            changed.append(then != own)
            machine.get_by_role("radio", name="wherever it looks itself").check()
            assert shares(machine) == free
    assert any(changed)


def test_the_hard_look_sees_one_place_and_the_soft_one_many(visit: Visit) -> None:
    place = begin(visit())
    soft, _, hard = (shares(machine) for machine in place.locator(".look-machine").all())
    assert sum(share > 0 for share in soft) > 3
    assert sorted(hard)[-2:] == [0, 1]


def test_a_wrong_word_is_marked_by_a_line_under_it(visit: Visit) -> None:
    place = begin(visit())
    style = "(node) => getComputedStyle(node).textDecorationStyle"
    assert place.locator(".live-wrong").first.evaluate(style) == "wavy"


def test_two_figures_do_not_disturb_each_other(visit: Visit) -> None:
    page = visit()
    first, second = begin(page), begin(page, 1)
    soft(second).get_by_role("radio", name="the blue square").check()
    expect(soft(first).get_by_role("radio", name="wherever it looks itself")).to_be_checked()
    before = words(soft(first), "What it says: choose a word")
    second.get_by_role("button", name="Another picture").click()
    assert words(soft(first), "What it says: choose a word") == before


@pytest.mark.parametrize("body", [None, b"\x1f\x8b cut off"])
def test_failed_captioner_download_is_reported_and_can_be_retried(
    visit: Visit, body: bytes | None
) -> None:
    page = visit()
    if body is None:
        page.route("**/*.model", lambda route: route.abort())
    else:
        page.route("**/*.model", lambda route: route.fulfill(body=body))
    place = page.locator(".captioner").first
    start = place.get_by_role("button", name="Run the captioners")
    start.click()
    expect(place.get_by_role("status").first).to_contain_text("did not arrive")
    expect(start).to_be_enabled()
    page.unroute("**/*.model")
    begin(page)
    assert right(place).startswith("a red circle")
