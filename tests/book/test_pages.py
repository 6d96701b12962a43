"""Test the built site as readers see it: in light on a phone, and by night dark. It is offline."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from answering import Answer, answer_all, open_predictions
from line_breaks import parted
from nightly import some
from playwright.sync_api import expect
from site_tools import MODES, ROOT, Reader, pages_of

UNDRAWN = """() => [...document.querySelectorAll("article .math")]
    .filter((math) => !math.querySelector("mjx-container")
        || math.querySelector("mjx-merror"))
    .map((math) => math.textContent)"""

FADED = """() => [...document.querySelectorAll(".table-scroll")]
    .filter((box) => getComputedStyle(box).getPropertyValue("--fade") !== "0px"
        && box.querySelector("table").offsetWidth <= box.clientWidth)
    .map((box) => box.textContent.slice(0, 200))"""

HOLES = """() => [...document.querySelectorAll("article :is(section, .seen) > *")]
    .filter((node) => node.checkVisibility() && getComputedStyle(node).clear === "right")
    .filter((node) => {
        const before = node.previousElementSibling;
        const between = before?.checkVisibility() && node.getBoundingClientRect().top
            - before.getBoundingClientRect().bottom;
        return between > 60; })
    .map((node) => node.outerHTML.slice(0, 200))"""

PICTURES = "article :is(img, svg.course-figure)"
WITHOUT_ALTERNATIVE = """(pictures) => [...document.querySelectorAll(pictures)]
    .map((picture) => [picture, (picture.alt ?? picture.ariaLabel ?? "").trim()])
    .filter(([, alternative]) => !alternative || /^\\S+\\.\\w{3,4}$/.test(alternative))
    .map(([picture]) => picture.outerHTML.slice(0, 200))"""


@dataclass(frozen=True)
class Visit:
    """The state of one page."""

    name: str
    formulas: int
    undrawn: list[str]
    faded: list[str]
    parted: list[str]
    holes: list[str]
    figures: int
    without_alternative: list[str]
    answers: list[Answer]
    width: int  # with all predictions open and quizzes answered
    window: int
    violations: list[str]


@dataclass(frozen=True)
class Tour:
    """All pages, visited by one reader in one mode."""

    visits: list[Visit]
    reader: Reader


@pytest.fixture(scope="module", params=some(("phone", "dark")))  # the phone reads in light
def tour(request: pytest.FixtureRequest, site: Path, reader: Callable[..., Reader]) -> Tour:
    person = reader(**MODES[request.param])
    visits = []
    for name in pages_of(site):
        page = person.open(name)
        open_predictions(page)
        visits.append(
            Visit(
                name=name,
                formulas=page.locator("article .math").count(),
                undrawn=page.evaluate(UNDRAWN),
                faded=page.evaluate(FADED),
                parted=parted(page),
                holes=page.evaluate(HOLES),
                figures=page.locator(PICTURES).count(),
                without_alternative=page.evaluate(WITHOUT_ALTERNATIVE, PICTURES),
                answers=answer_all(page),
                width=page.evaluate("() => document.documentElement.scrollWidth"),
                window=page.evaluate("() => window.innerWidth"),
                violations=person.violations(page),
            )
        )
    return Tour(visits, person)


def test_formulas_are_drawn(tour: Tour) -> None:
    assert sum(visit.formulas for visit in tour.visits) > 0
    assert {visit.name: visit.undrawn for visit in tour.visits if visit.undrawn} == {}


def test_line_breaks_keep_units_together(tour: Tour) -> None:
    assert {visit.name: visit.parted for visit in tour.visits if visit.parted} == {}


def test_tables_that_fit_have_no_fade(tour: Tour) -> None:
    assert {visit.name: visit.faded for visit in tour.visits if visit.faded} == {}


def test_side_notes_leave_no_gap_in_the_text(tour: Tour) -> None:
    assert {visit.name: visit.holes for visit in tour.visits if visit.holes} == {}


def test_tables_are_drawn(site: Path) -> None:
    texts = {name: (site / name).read_text(encoding="utf-8") for name in pages_of(site)}
    displayed = (ROOT / "book" / "howto_trust.md").read_text(encoding="utf-8").count("\ntable(")
    assert texts["howto_trust.html"].count("<table") == displayed > 0
    unrendered = re.compile(r"\|\s*(?:-{3,}|—)\s*\|")  # the source line below a table's head
    assert {
        name: unrendered.findall(page) for name, page in texts.items() if unrendered.search(page)
    } == {}


def test_figures_have_alternative_text(tour: Tour) -> None:
    assert sum(visit.figures for visit in tour.visits) > 0
    wrong = {visit.name: visit.without_alternative for visit in tour.visits}
    assert {name: images for name, images in wrong.items() if images} == {}


def test_each_choice_of_a_quiz_gets_its_reason_by_mouse(tour: Tour, quiz_pages: list[str]) -> None:
    assert [visit.name for visit in tour.visits if visit.answers] == quiz_pages
    wrong = {
        visit.name: [answer for answer in visit.answers if answer.wrong] for visit in tour.visits
    }
    assert {name: answers for name, answers in wrong.items() if answers} == {}


def test_axe_finds_no_violation(tour: Tour) -> None:
    assert {visit.name: visit.violations for visit in tour.visits if visit.violations} == {}


def test_no_page_scrolls_sideways(tour: Tour) -> None:
    too_wide = {visit.name: visit.width for visit in tour.visits if visit.width > visit.window}
    assert too_wide == {}


def test_a_command_can_be_copied(reader: Callable[..., Reader]) -> None:
    person = reader(permissions=["clipboard-read", "clipboard-write"], **MODES["light"])
    page = person.open("howto_instructor.html")
    assert page.locator("article pre").count() == page.locator("article .copy").count() > 0
    command = page.locator(".highlight", has_text="autograder init")
    command.hover()
    command.get_by_role("button", name="Copy").click()
    expect(command.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("autograder init my-course")
    assert person.errors == []


def test_no_other_host_is_requested(tour: Tour) -> None:
    assert tour.reader.foreign == []


def test_no_error_in_the_console(tour: Tour) -> None:
    assert tour.reader.errors == []
