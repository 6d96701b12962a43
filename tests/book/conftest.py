"""Fixtures of the book tests: the built site, a browser to read it with, and small books."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, sync_playwright
from site_tools import CHROMIUM, FLAGS, MAKE, ROOT, SITE, Book, Reader, serving


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site, which is built here only if it is missing."""
    if not (SITE / "index.html").is_file():
        subprocess.run(MAKE, cwd=ROOT, check=True)
    return SITE


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Return the address at which the site is served."""
    with serving(site) as address:
        yield address


@pytest.fixture(scope="session")
def quiz_pages(site: Path) -> list[str]:
    """Return the pages that have a quiz."""
    marked = '<fieldset class="quiz"'
    names = [p.name for p in sorted(site.glob("*.html")) if marked in p.read_text("utf-8")]
    assert names, "no page of the site has a quiz"
    return names


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def reader(browser: Browser, address: str) -> Iterator[Callable[..., Reader]]:
    """Return a function that makes a `Reader`; its keywords are those of a browser context."""
    contexts = []

    def make(**options: object) -> Reader:
        contexts.append(browser.new_context(**options))
        return Reader(contexts[-1], address)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def make_book(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Book]:
    """Return a function that makes a `Book` of `index` and the pages given by name."""

    def make(**pages: str) -> Book:
        book = Book(tmp_path_factory.mktemp("book"))
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        extensions = config["sphinx"]["local_extensions"]
        config["sphinx"]["local_extensions"] = {
            name: str(ROOT / folder) for name, folder in extensions.items()
        }
        book.write("_config.yml", yaml.safe_dump(config))
        chapters = [{"file": name} for name in pages]
        toc = {"format": "jb-book", "root": "index", "chapters": chapters}
        book.write("book/_toc.yml", yaml.safe_dump(toc))
        book.write("book/index.md", "# Front page\n\nText.\n")
        book.write("book/references.bib", "")
        (book.root / "requirements.txt").symlink_to(ROOT / "requirements.txt")
        (book.root / "book" / "_web").symlink_to(ROOT / "book" / "_web")
        for name, text in pages.items():
            book.write(f"book/{name}.md", text)
        return book

    return make
