"""The site in a folder of its host, as GitHub serves pages: nothing begins at the host's root."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from site_tools import Reader, serving

PAGES = ("index.html", "self_attention.html", "cost.html", "search.html?q=softmax")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_finds_all_that_it_needs(browser: Browser, site: Path, page: str) -> None:
    with serving(site.parent) as address:
        person = Reader(browser.new_context(), f"{address}/{site.name}")
        failed: list[str] = []
        person.context.on("response", lambda one: one.status >= 400 and failed.append(one.url))
        person.open(page)
        assert failed == []
        assert person.foreign == []
        assert person.errors == []


def test_the_search_leads_to_a_page_beside_it(browser: Browser, site: Path) -> None:
    with serving(site.parent) as address:
        page = Reader(browser.new_context(), f"{address}/{site.name}").open(PAGES[-1])
        page.locator(".search-results a").first.click()
        page.wait_for_url(f"{address}/{site.name}/self_attention.html#*")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
