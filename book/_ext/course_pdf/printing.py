"""One browser that opens the site from its folder, puts the book together and prints it."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright
from pypdf import PdfReader

STYLE = Path(__file__).parents[2] / "_web" / "styles" / "paper.css"
ADDRESS = "http://book.invalid/"  # answered from the site's folder: no host is asked
START = "index.html"
MOST_PRINTS = 4
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")

ASSEMBLE = "async (book) => (await import('/_static/paper.mjs')).assemble(book)"
NUMBER = "async (numbers) => (await import('/_static/paper.mjs')).numberContents(numbers)"


def print_book(site: Path, book: dict[str, Any], target: Path) -> int:
    """Write the book as a PDF; return how many pages it has.

    It is printed twice: the first time tells where each page of the site begins, for the contents.
    Each time the book is put together anew, since a browser that has printed a page once may break
    it otherwise the next time.
    """
    told: dict[str, int] = {}
    for _ in range(MOST_PRINTS):
        with opened(site) as page:
            page.evaluate(ASSEMBLE, book)
            if told:
                page.evaluate(NUMBER, told)
            print_page(page, target)
        found = places(PdfReader(target))
        if found == told:
            return len(PdfReader(target).pages)
        told = found
    sys.exit(f"The pages were printed {MOST_PRINTS} times, and each time they began elsewhere.")


@contextmanager
def opened(site: Path) -> Iterator[Page]:
    """Open a page of the site, in light, in a browser that reaches no host."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is missing. On Debian: sudo apt-get install chromium")

    def answer(route: Route) -> None:
        path = site / route.request.url.removeprefix(ADDRESS).partition("?")[0]
        if path.is_file():
            route.fulfill(path=path)
        else:
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(0)  # however slow the machine is
        page.route("**/*", answer)
        page.goto(ADDRESS + START)
        page.add_style_tag(path=STYLE)
        yield page
        browser.close()


def places(pdf: PdfReader) -> dict[str, int]:
    """Return the page, counted from 1, of each place that a link within the PDF leads to."""
    return {
        name.removeprefix("/"): pdf.get_destination_page_number(place) + 1
        for name, place in pdf.named_destinations.items()
    }


def print_page(page: Page, target: Path) -> None:
    """Write what the page shows as a PDF with the tags of its HTML and an outline of its titles."""
    paper = {"prefer_css_page_size": True, "print_background": True}
    page.pdf(path=target, tagged=True, outline=True, **paper)
