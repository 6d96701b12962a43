"""Test the theme of the course: contents, next page, openings of chapters, side notes."""

import html
import re
from collections.abc import Callable

import pytest
import yaml
from site_tools import NOTEBOOK, Book, cell

FIGURE = cell(
    "import numpy as np",
    "from solutions.drawing.plots import heatmap",
    "from solutions.drawing.theme import follow_theme",
    "follow_theme()",
    "heatmap(np.eye(3), ['the', 'cat', 'sat'], ['the', 'cat', 'sat']);",
    header="---\nmystnb: {image: {alt: Three rows.}, figure: {name: fig-one, caption: A.}}\n---",
)
OPENING = "```{opening} fig-one\nWhat one will see.\n```\n\n"
TAKES = "```{takes}\nAbout an hour.\n\nYou need paper.\n```\n\n"


@pytest.fixture(scope="module")
def book(make_book: Callable[..., Book]) -> Book:
    """Make a part of two chapters, the first with an appendix, and a guide with an appendix."""
    book = make_book(
        one=f"{NOTEBOOK.replace('A notebook', 'The first chapter')}{TAKES}{OPENING}## A section\n\n"
        f"As {{cite:t}}`someone` and {{cite:p}}`someone` say.\n\n{FIGURE}"
        "## References\n\n```{bibliography}\n:filter: docname in docnames\n```\n",
        one_appendix="# The appendix of the first\n\nText.\n",
        two="# The second chapter\n\nText.\n",
        guide="# How to read this\n\nText.\n",
        guide_appendix="# How to read on\n\nText.\n",
    )
    book.write(
        "book/references.bib",
        "@book{someone, author={A. One}, title={Of It}, publisher={P}, year={2001}}",
    )
    toc = {"format": "jb-book", "root": "index"}
    first = {"file": "one", "title": "First", "sections": [{"file": "one_appendix"}]}
    chapters = {"caption": "Part I", "numbered": 1, "chapters": [first, {"file": "two"}]}
    guide = {"file": "guide", "sections": [{"file": "guide_appendix"}]}
    guides = {"caption": "About", "chapters": [guide]}
    book.write("book/_toc.yml", yaml.safe_dump(toc | {"parts": [chapters, guides]}))
    result = book.make()
    assert result.returncode == 0, result.stdout
    return book


def between(page: str, start: str, end: str) -> str:
    """Return the words of a stretch of a page, without its tags."""
    text = page[page.index(start) :]
    return " ".join(re.sub(r"<[^>]+>", " ", text[: text.index(end)]).split())


def test_the_contents_have_short_titles_and_the_sections_of_the_page(book: Book) -> None:
    words = between(book.page("one.html"), '<nav class="contents"', "</nav>")
    assert "Part I 1 First A section References" in words
    assert "2 The second chapter About How to read this" in words


def test_an_appendix_is_listed_only_below_the_open_chapter(book: Book) -> None:
    appendix = "The appendix of the first"
    assert appendix in between(book.page("one.html"), '<nav class="contents"', "</nav>")
    assert appendix not in between(book.page("two.html"), '<nav class="contents"', "</nav>")


def test_after_a_chapter_and_its_appendix_comes_the_next_chapter(book: Book) -> None:
    for page in ("one", "one_appendix"):
        words = between(book.page(f"{page}.html"), '<nav class="onward"', "</nav>")
        assert "Next: chapter 2 The second chapter" in words


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("one", "Deeper into this chapter: The appendix of the first"),
        ("guide", "Deeper into this page: How to read on"),
    ],
)
def test_a_page_leads_to_its_appendix(book: Book, page: str, words: str) -> None:
    assert words in between(book.page(f"{page}.html"), '<nav class="onward"', "</nav>")


def test_the_opening_shows_the_figure_again_and_draws_it_once(book: Book) -> None:
    page = book.page("one.html")
    opening, rest = page[page.index('class="opening') :].split("What one will see.", 1)
    (shown,) = re.findall(r'<use href="#([^"]+)"', opening)
    assert 'aria-label="Three rows."' in opening
    assert f'id="{shown}"' in rest
    assert "<path" not in opening


def test_an_opening_without_its_figure_is_a_warning(make_book: Callable[..., Book]) -> None:
    result = make_book(alone=f"# A chapter\n\n{OPENING}Text.\n").build()
    assert result.returncode != 0
    assert "the opening shows 'fig-one', but this page has no figure of that name" in (
        " ".join(result.stdout.split())
    )


def test_the_time_for_a_chapter_is_a_line_and_a_fold(book: Book) -> None:
    page = book.page("one.html")
    assert re.search(r'<p class="takes">\s*About an hour\.</p>', page)
    assert "You need paper." in page[page.index('<details class="fold">') :]


@pytest.mark.parametrize("name", ["cell_input", "cell_output", "headerlink", "section-number"])
def test_the_markup_of_sphinx_has_the_classes_that_the_styles_select(book: Book, name: str) -> None:
    assert re.search(rf'class="([^"]* )?{name}[ "]', book.page("one.html"))


def test_the_first_citation_of_a_work_has_a_side_note(book: Book) -> None:
    notes = re.findall(r'<p><span class="side-note"[^>]*>([^<]*)', book.page("one.html"))
    assert notes == ["One. Of It. 2001."]


TOGETHER = """# Looking back: a page of a book

Let $x$, ($y$) and **$z$** be numbers; so is the $n$-th of $x$/$y$, *and* $z$.

That is 43 % of 12 kB in 5 s, for 3 models: `43 %`.
"""


def test_units_stay_on_one_line(make_book: Callable[..., Book]) -> None:
    book = make_book(page=TOGETHER)
    assert book.build().returncode == 0
    page = book.page("page.html")
    formula = r'<span class="math[^>]*><mjx-container.*?</mjx-container></span>'
    page = re.sub(r"</?strong>", "", re.sub(formula, "F", page))
    assert re.findall('<span class="unbroken">(.*?)</span>', page) == (
        ["F,", "(F)", "F-th", "F/F,", "F."]
    )
    assert "That is 43\u00a0% of 12\u00a0kB in 5\u00a0s, for 3 models: " in page
    assert "43 %" in html.unescape(re.sub("<[^>]+>", "", page)), "code was changed"
    assert "<h1>Looking\u00a0back: a\u00a0page of\u00a0a\u00a0book" in page
