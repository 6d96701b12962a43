"""Print the book: a browser opens the site from its folder, joins its pages and prints them."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright
from pypdf import PdfReader

STYLE = Path(__file__).parents[2] / "_web" / "styles" / "paper.css"
ADDRESS = "http://book.invalid/"  # requests are answered from the site's folder, not by a host
START = "index.html"
MOST_PRINTS = 4
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")

ASSEMBLE = "async (book) => (await import('/_static/paper.mjs')).assemble(book)"
NUMBER = "async (numbers) => (await import('/_static/paper.mjs')).numberContents(numbers)"


def print_book(site: Path, book: dict[str, Any], target: Path) -> int:
    """Write the book as a PDF and return its number of pages.

    The book is printed at least twice: the first time shows at which page each section begins, for
    the contents. Each time it is assembled again, since a browser that has printed a page may break
    its lines differently the next time.
    """
    numbers: dict[str, int] = {}
    for _ in range(MOST_PRINTS):
        with open_site(site) as page:
            page.evaluate(ASSEMBLE, book)
            if numbers:
                page.evaluate(NUMBER, numbers)
            print_page(page, target)
        new_numbers = places(PdfReader(target))
        if new_numbers == numbers:
            return len(PdfReader(target).pages)
        numbers = new_numbers
    sys.exit(
        f"The book was printed {MOST_PRINTS} times, and its page numbers changed each time. "
        "The PDF's table of contents may be wrong."
    )


@contextmanager
def open_site(site: Path) -> Iterator[Page]:
    """Open the front page, with the light theme, in a browser that cannot reach any host."""
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
        page.set_default_timeout(0)  # no timeout: the machine may be slow
        page.route("**/*", answer)
        page.goto(ADDRESS + START)
        page.add_style_tag(path=STYLE)
        yield page
        browser.close()


def places(pdf: PdfReader) -> dict[str, int]:
    """Return the page number, from 1, of each destination of a link within the PDF."""
    pages = {
        name.removeprefix("/"): pdf.get_destination_page_number(place)
        for name, place in pdf.named_destinations.items()
    }
    return {name: page + 1 for name, page in pages.items() if page is not None}


def print_page(page: Page, target: Path) -> None:
    """Write the page as a PDF that is tagged like its HTML and has an outline of its titles."""
    page.pdf(
        path=target, tagged=True, outline=True, prefer_css_page_size=True, print_background=True
    )
