"""Test unknown addresses at any depth: with the site at its host's root, and in a folder."""

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from site_tools import MODES, Book, QuietHandler, serving

PATH = "/course"


class Host(QuietHandler):
    """Serve the folder under `path`, and its page for unknown addresses, as static hosts do."""

    path_of_the_site = ""

    def translate_path(self, path: str) -> str:
        inside = path.startswith(f"{self.path_of_the_site}/")
        return super().translate_path(
            path.removeprefix(self.path_of_the_site) if inside else "/nothing is here"
        )

    def send_error(self, code: int, *_: object) -> None:
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page)


class HostUnderPath(Host):
    path_of_the_site = PATH


@pytest.fixture(scope="module")
def under_path(site: Path) -> Iterator[str]:
    with serving(site, HostUnderPath) as address:
        yield f"{address}{PATH}"


@pytest.fixture(scope="module")
def at_root(site: Path) -> Iterator[str]:
    with serving(site, Host) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(**MODES["light"])
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("wrong", ["nowhere.html", "a/b/c/nowhere.html"])
@pytest.mark.parametrize("place", ["under_path", "at_root"])
def test_unknown_address_offers_links(
    request: pytest.FixtureRequest, page: Page, place: str, wrong: str
) -> None:
    address = request.getfixturevalue(place)
    answer = page.goto(f"{address}/{wrong}", wait_until="networkidle")
    assert answer.status == HTTPStatus.NOT_FOUND
    expect(page.locator("h1")).to_have_text("This page does not exist")
    expect(page.locator("h1")).to_have_css("font-family", re.compile("Source Serif 4"))
    expect(page.get_by_role("button", name="Dark")).to_be_visible()  # its script has run
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # to the text, on this page
    expect(page.locator("h1")).to_have_text("This page does not exist")
    page.get_by_role("searchbox", name="what you wanted").fill("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}/search.html?q=softmax")
    page.goto(f"{address}/{wrong}")
    page.get_by_role("main").get_by_role("link", name="Chapter 4").click()
    page.wait_for_url(f"{address}/self_attention.html")


def test_an_address_with_another_host_sends_it_no_request(at_root: str, page: Page) -> None:
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(f"{at_root}//other.invalid/nowhere.html", wait_until="networkidle")
    expect(page.locator("h1")).to_have_text("This page does not exist")
    assert [url for url in requested if not url.startswith(f"{at_root}/")] == []


def test_missing_page_offers_links_without_scripts_at_the_root(
    at_root: str, browser: Browser
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{at_root}/a/b/nowhere.html")
    page.get_by_role("link", name="The front page").click()
    page.wait_for_url(f"{at_root}/index.html")


def test_missing_page_uses_the_configured_base_address(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(page="# A page\n")
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    configured = config.replace("html_baseurl: ''", "html_baseurl: https://example.org/course/")
    assert configured != config
    book.write("_config.yml", configured)
    result = book.build()
    assert result.returncode == 0, result.stdout
    assert '<base href="/course/404.html">' in book.page("404.html")
    assert "XMLHttpRequest" not in book.page("404.html")
