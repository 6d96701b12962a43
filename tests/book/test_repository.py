"""Test that every page links to the repository if the course has an address, and none otherwise."""

import re
from collections.abc import Callable

import pytest
import yaml
from site_tools import ROOT, Book

ADDRESS = "https://github.com/someone/attention"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob("book/howto_*.md")}
SHOWING = ("{code-cell}", "{literalinclude}")  # files outside the page
HOWTO = {
    name: f"# {name}" if any(directive in text for directive in SHOWING) else text
    for name, text in PAGES.items()
}
"""The pages, where pages with cells are reduced to their titles, since others link to them."""
LINKED = {"practise/context_bottleneck": "# Exercises\n\nText.\n"}
"""The other targets of links on these pages."""
FAULT = "howto_instructor"  # mentions a fault of the grader
READ = "howto_reader"  # mentions a copy of the course, and mistakes


def set_address(book: Book, address: str) -> None:
    config = yaml.safe_load((book.root / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["config"]["html_theme_options"]["repository_url"] = address
    book.write("_config.yml", yaml.safe_dump(config))


def built(book: Book) -> dict[str, str]:
    result = book.build()
    assert result.returncode == 0, result.stdout
    return {name: book.page(f"{name}.html") for name in ("index", *HOWTO)}


def links(page: str) -> set[str]:
    """Return the addresses under `someone`'s name."""
    return set(re.findall(r'href="(https://github\.com/[^"]*)', page))


def article(page: str) -> str:
    return page[page.index("<article") : page.index("</article")]


def test_repository_links_depend_on_the_address(make_book: Callable[..., Book]) -> None:
    book = make_book(**HOWTO, **LINKED)
    for page in built(book).values():
        assert links(page) == set()
        assert "repository" not in article(page).lower()
        assert "{{" not in article(page)
    assert "tell whoever gave you this book" in book.page(f"{FAULT}.html")

    set_address(book, ADDRESS)
    pages = built(book)
    for page in pages.values():
        assert links(page) >= {ADDRESS, f"{ADDRESS}/issues"}, "the two links of the foot"
    assert f"{ADDRESS}/issues" in links(article(pages[FAULT]))
    archive = f"{ADDRESS}/archive/HEAD.zip"
    assert links(article(pages[READ])) == {ADDRESS, f"{ADDRESS}/issues", archive}

    set_address(book, "")
    assert not any(links(page) for page in built(book).values()), "the pages were not read again"


@pytest.mark.parametrize("address", [f"{ADDRESS}/", "https://example.org/a/b"])
def test_an_invalid_address_is_refused_in_one_clear_line(
    make_book: Callable[..., Book], address: str
) -> None:
    book = make_book(page="# A page\n")
    set_address(book, address)
    result = book.build()
    assert result.returncode != 0
    assert f"_config.yml: repository_url: {address!r}" in result.stdout
    assert "Write https://github.com/OWNER/NAME, or leave it empty." in result.stdout


def test_no_page_mentions_a_repository_without_an_address() -> None:
    """Only course_repository.py, which knows the address, may write these words.

    Chapter 13 links to bugs in other projects, so the addresses of links are ignored.
    """
    for path in ROOT.glob("book/*.md"):
        text = re.sub(r"\]\(https://[^)]*\)", "]", path.read_text(encoding="utf-8")).lower()
        mentioned = [word for word in ("repository", "github", "open an issue") if word in text]
        assert not mentioned, f"{path.name}: {mentioned}"
