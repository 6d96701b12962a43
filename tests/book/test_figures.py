"""Test that figures follow the theme: inlined, in the reader's colours, legible on a phone."""

import re
from collections.abc import Callable, Iterator

import pytest
from course_figures import themed
from playwright.sync_api import Browser, Page
from site_tools import MODES, NOTEBOOK, ROOT, Book, Reader, cell, serving

from solutions.drawing.theme import HEAT, INK, PAPER, TURN, VARIABLES

CAPTION = (
    "mystnb:\n  image: {alt: 'Three rows of numbers.'}\n  figure: {name: fig-NAME, caption: A.}"
)
HEADER = f"---\ntags: [hide-input]\n{CAPTION}\n---"
DRAW = "heatmap(np.eye(3), ['the', 'cat', 'sat'], ['the', 'cat', 'sat'])"
LINES = "quality_curve([1, 2], {'a': np.eye(2), 'b': np.eye(2)}, x_label='step', y_label='share')"

COLOURS = """(figure) => ({
    text: getComputedStyle(figure.querySelector("text")).fill,
    behind: getComputedStyle(figure).backgroundColor,
    cell: getComputedStyle(figure.querySelector("[style*=heat]")).fill,
})"""
LETTERS = """(figure) => {
    const shrunk = figure.getBoundingClientRect().width / figure.viewBox.baseVal.width;
    return [...figure.querySelectorAll("text")]
        .map((text) => parseFloat(getComputedStyle(text).fontSize) * shrunk);
}"""


@pytest.fixture(scope="module")
def book(make_book: Callable[..., Book]) -> Book:
    book = make_book(
        drawn=NOTEBOOK
        + cell("import numpy as np", "from solutions.drawing.plots import heatmap, quality_curve")
        + cell(f"{DRAW};", header=HEADER.replace("NAME", "before"))
        + cell("from solutions.drawing.theme import follow_theme", "follow_theme()")
        + cell(f"{DRAW};", header=HEADER.replace("NAME", "one"))
        + cell(f"{LINES};", header=HEADER.replace("NAME", "two"))
    )
    result = book.make()
    assert result.returncode == 0, result.stdout
    return book


@pytest.fixture(scope="module")
def visit(book: Book, browser: Browser) -> Iterator[Callable[[str], tuple[Reader, Page]]]:
    """Open the page in one of MODES."""
    with serving(book.root / "_build" / "html") as address:

        def open_page(mode: str) -> tuple[Reader, Page]:
            reader = Reader(browser.new_context(**MODES[mode]), address)
            return reader, reader.open("drawn.html")

        yield open_page


def test_themed_figures_are_inlined_and_others_are_linked(
    book: Book,
) -> None:
    page = book.page("drawn.html")
    assert len(re.findall(r'<svg[^>]*class="course-figure"', page)) == 2
    assert len(re.findall(r'<img alt="Three rows of numbers."', page)) == 1
    figures = re.findall(r'<svg[^>]*class="course-figure".*?</svg>', page, re.DOTALL)
    assert all('aria-label="Three rows of numbers."' in figure for figure in figures)
    assert "<style" not in "".join(figures), "the style would apply to the whole page"
    assert set(re.findall(r"#[0-9a-f]{6}", "".join(figures))) == set()
    identities = re.findall(r'\sid="([^"]+)"', "".join(figures))
    assert identities
    assert len(identities) == len(set(identities))
    references = re.findall(r'(?:url\(|href=")#([^)"]+)', "".join(figures))
    assert references
    assert set(references) <= set(identities)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_figure_has_the_colours_of_the_theme(
    visit: Callable[[str], tuple[Reader, Page]], mode: str
) -> None:
    reader, page = visit(mode)
    computed = page.locator("svg.course-figure").first.evaluate(COLOURS)
    colours = {name: as_computed(variables(mode)[VARIABLES[name]]) for name in (INK, HEAT, PAPER)}
    assert computed["text"] == colours[INK]
    assert computed["behind"] == "rgba(0, 0, 0, 0)"
    assert computed["cell"] == colours[HEAT]
    background = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    assert background == colours[PAPER]
    assert reader.violations(page) == []


def test_figure_is_legible_on_a_phone(visit: Callable[[str], tuple[Reader, Page]]) -> None:
    _, page = visit("phone")
    for figure in page.locator("svg.course-figure").all():
        letters = figure.evaluate(LETTERS)
        assert len(letters) >= 6
        assert min(letters) >= 10
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_missing_alternative_text_fails_the_build(make_book: Callable[..., Book]) -> None:
    imports = ("import numpy as np", "from solutions.drawing.plots import heatmap")
    follow = ("from solutions.drawing.theme import follow_theme", "follow_theme()")
    book = make_book(drawn=NOTEBOOK + cell(*imports, *follow, f"{DRAW};"))
    result = book.make()
    assert result.returncode != 0
    assert "the picture number 1 has no alternative text" in result.stdout


def test_a_picture_that_does_not_follow_the_theme_is_left_alone() -> None:
    favicon = (ROOT / "book" / "_web" / "favicon.svg").read_text(encoding="utf-8")
    assert themed(favicon, "f1-", "A flower.") is None


# The colours


def variables(theme: str) -> dict[str, str]:
    """Return the colours of the page's style in a theme."""
    style = (ROOT / "book" / "_web" / "styles" / "tokens.css").read_text(encoding="utf-8")
    pairs = re.findall(r"(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", style)
    values = {name: light if theme == "light" else dark for name, light, dark in pairs}
    same = re.findall(r"(--[\w-]+): var\((--[\w-]+)\);", style)
    return values | {name: values[other] for name, other in same}


def as_computed(colour: str) -> str:
    return f"rgb({', '.join(str(int(number)) for number in numbers(colour))})"


def luminance(colour: list[float]) -> float:
    parts = [channel / 255 for channel in colour]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def numbers(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def contrast(first: list[float], second: list[float]) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_named_colour_stands_out_in_either_theme(theme: str) -> None:
    values = variables(theme)
    paper = numbers(values[VARIABLES[PAPER]])
    assert set(VARIABLES.values()) <= set(values)
    for name in set(VARIABLES.values()) - {"--figure-rule", VARIABLES[PAPER]}:
        assert contrast(numbers(values[name]), paper) >= 4.5, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_number_in_every_cell_of_a_heatmap_is_legible(theme: str) -> None:
    values = variables(theme)
    heat, paper, ink = (numbers(values[VARIABLES[variable]]) for variable in (HEAT, PAPER, INK))
    for weight in range(101):
        share = weight / 100
        cell = [share * h + (1 - share) * p for h, p in zip(heat, paper, strict=True)]
        assert contrast(cell, paper if share > TURN else ink) >= 4.2
