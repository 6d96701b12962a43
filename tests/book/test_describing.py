"""Test the description and the preview picture of a page."""

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cells import CHAPTERS
from course_describing import MOST, shorten
from PIL import Image
from site_tools import ROOT, Book, pages_of

LONG = " ".join(["A sentence of six words here."] * 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One. Two."),
        ("Half of it, e.g. this. Two.", "Half of it, e.g. this. Two."),
        ("“Well,” she said. “Yes.” Then no more.", "“Well,” she said. “Yes.” Then no more."),
        ("“Short.” “" + "x" * 300 + ".”", "“Short.”"),
        ("x" * 300 + ". Another.", "x" * 300 + "."),
    ],
)
def test_a_description_is_made_of_whole_sentences(text: str, expected: str) -> None:
    assert shorten(text) == expected


def test_a_description_uses_the_allowed_length() -> None:
    description = shorten(LONG)
    assert LONG.startswith(description)
    assert MOST - len("A sentence of six words here. ") < len(description) <= MOST


@pytest.fixture(scope="module")
def book(make_book: Callable[..., Book]) -> Book:
    book = make_book(
        plain="# A page\n\n```{takes}\nAn hour.\n```\n\nIt is *about* $x$. More.\n",
        named="---\ndescription: In its own words.\n---\n# Another\n\nText.\n",
    )
    config = yaml.safe_load((book.root / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["config"]["html_baseurl"] = "https://example.org/course/"
    book.write("_config.yml", yaml.safe_dump(config))
    result = book.build()
    assert result.returncode == 0, result.stdout
    return book


@pytest.mark.parametrize(
    ("page", "expected"), [("plain", "It is about x. More."), ("named", "In its own words.")]
)
def test_a_page_has_a_description(book: Book, page: str, expected: str) -> None:
    descriptions = re.findall(
        r'<meta name="description" content="([^"]*)"', book.page(f"{page}.html")
    )
    assert descriptions == [expected]


def test_every_description_makes_sense_on_its_own(site: Path) -> None:
    for name in pages_of(site):
        page = html.unescape((site / name).read_text(encoding="utf-8"))
        (description,) = re.findall(r'<meta name="description" content="(.*?)">', page)
        assert 20 < len(description) <= MOST, (
            f"{name}: {len(description)} characters: {description}"
        )
        assert re.search(r"[.?!]”?$", description), f"{name}: {description}"
        assert description.count("“") == description.count("”"), f"{name}: {description}"
        assert not re.search(r"\s[.,;]|…", description), f"{name}: words are missing: {description}"
        assert f'<meta property="og:description" content="{description}">' in page


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_a_preview_picture(chapter: str) -> None:
    path = ROOT / "book" / "_web" / "pictures" / "previews" / f"{chapter}.png"
    with Image.open(path) as picture:
        assert picture.size == (1200, 630)
    assert path.stat().st_size < 50_000
