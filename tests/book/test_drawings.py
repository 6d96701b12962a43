"""Test that each Mermaid drawing has a picture made from its current source."""

import re
from collections.abc import Callable

import pytest
from course_drawings import drawn
from mermaid_drawings import canvas, picture, sources
from playwright.sync_api import Browser
from site_tools import Book

ROOMS = """\
flowchart TD
    accTitle: Two rooms
    accDescr: The first leads to the second.
    subgraph house["<b>house/</b>"]
        one["<b>first/</b><br>where one comes in"] --> two["second/"]
    end
    one ~~~ three["third/"]
"""


@pytest.mark.parametrize("source", list(sources()))
def test_a_picture_matches_its_source(source: str) -> None:
    assert "<svg" in drawn(source)


def test_a_picture_uses_only_text_and_lines_in_page_colours(browser: Browser) -> None:
    svg = picture(canvas(browser), ROOMS)
    lines = re.findall(r"<text[^>]*>([^<]*)", svg)
    assert sorted(lines) == ["first/", "house/", "second/", "third/", "where one comes in"]
    assert len(re.findall(r'<path d="[^"]+"/>', svg)) == 1
    assert 'aria-label="Two rooms: The first leads to the second."' in svg
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
    assert {
        colour for colour in colours if not re.fullmatch(r"none|var\(--[\w-]+\)", colour)
    } == set()


def test_a_drawing_without_its_picture_is_a_warning(make_book: Callable[..., Book]) -> None:
    (source,) = sources()
    texts = (source + "    book --> sandbox\n", ROOMS, "flowchart TD\n    one --> two\n")
    page = "\n\n".join(f"```mermaid\n{text}```" for text in texts)
    result = make_book(drawings=f"# Drawings\n\n{page}\n").build()
    output = " ".join(result.stdout.split())
    assert result.returncode != 0
    assert (
        "the-packages-and-their-arrows.svg of this drawing was drawn from a different source"
        in output
    )
    assert "the picture two-rooms.svg of this drawing is missing" in output
    assert "a drawing needs a line `accTitle: ...`" in output
