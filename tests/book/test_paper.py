"""Test the book on paper: all of it as one PDF, and a page as its reader prints it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from course_pdf.outline import book
from course_pdf.printing import places, print_book
from nightly import NIGHTLY
from playwright.sync_api import Page
from pypdf import PdfReader
from pypdf.generic import Destination
from site_tools import ROOT, Reader

BETWEEN_THE_MARGINS = {"width": 627, "height": 960}  # of A4, in pixels
CLOSED = """() => [...document.querySelectorAll("article details > :not(summary)")]
    .filter((node) => !node.checkVisibility({ contentVisibilityAuto: true }))
    .map((node) => node.outerHTML.slice(0, 200))"""
WIDE = """() => [...document.querySelectorAll(
        "pre, .table-scroll, .figure-scroll, mjx-container[display]")]
    .filter((node) => node.scrollWidth > node.clientWidth + 1
        || getComputedStyle(node).overflowX !== "visible")
    .map((node) => node.outerHTML.slice(0, 200))"""
OF_THE_SCREEN = ".bar, .contents, .onward, .foot, .copy, .headerlink, button, input"


@pytest.fixture(scope="module")
def pdf(site: Path, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    if not NIGHTLY:
        pytest.skip("the whole book is printed by night")
    target = tmp_path_factory.mktemp("paper") / "book.pdf"
    print_book(site, book(ROOT), target)
    return PdfReader(target)


@pytest.fixture(scope="module")
def titles(pdf: PdfReader) -> dict[str, int]:
    """Return the page numbers of the titles in the outline."""
    top = [entry for entry in pdf.outline if isinstance(entry, Destination)]
    return {
        " ".join(entry.title.split()): pdf.get_destination_page_number(entry) + 1 for entry in top
    }


def text(pdf: PdfReader, *numbers: int) -> str:
    """Return the words of some pages, with one glyph for an apostrophe and similar letters."""
    text = " ".join(pdf.pages[number - 1].extract_text() for number in numbers)
    return re.sub(r"\s+", " ", text).replace("\N{MODIFIER LETTER APOSTROPHE}", "\u2019")


def test_pdf_is_tagged_and_has_language_and_title(pdf):
    root = pdf.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/StructTreeRoot"]["/K"]
    assert root["/Lang"] == "en"
    assert pdf.metadata.title == "Attention, from the Bottleneck Up"


def test_pdf_outline_lists_the_numbered_chapters_in_order(titles):
    numbered = [title for title in titles if re.match(r"\d+\. \w", title)]
    assert [int(title.partition(".")[0]) for title in numbered] == list(range(1, 14))
    assert next(iter(titles)) == "Contents"
    assert list(titles.values()) == sorted(titles.values())


def test_pdf_contents_give_the_page_of_each_title(pdf, titles):
    (_, begin), *pages = titles.items()
    contents = text(pdf, *range(begin, pages[0][1]))
    for title, number in pages:
        assert f"{title.replace('. ', ' ', 1)} {number}" in contents
        assert title in text(pdf, number)


def test_pdf_has_about_thirty_pages_per_chapter_with_appendix(pdf):
    assert 12 * 20 < len(pdf.pages) < 12 * 50


def test_first_chapter_of_the_pdf_is_readable_with_formulas(pdf, titles):
    first, second = sorted(titles.values())[1:3]
    page = (ROOT / "book" / "context_bottleneck.md").read_text(encoding="utf-8")
    sentence = re.search(r"^# .*\n+(\w[^.]*\.)", page, re.MULTILINE)[1]
    chapter = text(pdf, *range(first, second))
    assert sentence in chapter
    assert "\\(" not in chapter
    assert "\\frac" not in chapter


def test_pdf_links_lead_inside_it_or_to_the_web(pdf):
    destinations, inside = places(pdf), 0
    for page in pdf.pages:
        for link in (annotation.get_object() for annotation in page.get("/Annots", ())):
            action = link["/A"].get_object() if "/A" in link else {}
            if "/URI" in action:
                assert action["/URI"].startswith(("http://", "https://", "mailto:"))
                assert ".invalid" not in action["/URI"]
            else:
                target = str(link.get("/Dest", action.get("/D"))).removeprefix("/")
                assert target in destinations
                inside += 1
    assert inside > 100


@pytest.fixture
def printed(reader: Callable[..., Reader]) -> Page:
    """Return a page with folds, quizzes and an interactive figure, printed in the dark theme."""
    page = reader(color_scheme="dark", viewport=BETWEEN_THE_MARGINS).open("cost.html")
    page.emulate_media(media="print")
    return page


def test_on_paper_all_folds_and_answers_are_open(printed):
    assert printed.locator("article details:not([open])").count() > 10
    assert printed.evaluate(CLOSED) == []


def test_on_paper_nothing_scrolls(printed):
    assert printed.locator("pre").count() > 10
    assert printed.evaluate(WIDE) == []


def test_on_paper_there_are_no_controls(printed):
    visible = [element for element in printed.locator(OF_THE_SCREEN).all() if element.is_visible()]
    assert [control.evaluate("(node) => node.outerHTML") for control in visible] == []


def test_on_paper_the_title_has_its_number_and_the_paper_is_white(printed):
    assert printed.locator("h1").inner_text().startswith("11. ")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    assert printed.evaluate(paper) == "rgb(255, 255, 255)"
