"""Test the folds: references, which a class's edition omits, and cells."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from course_answers import ELSEWHERE, HERE, NOWHERE, definition, imported_from, title_of
from course_folds import CHECKS, FIGURE, OUTPUT
from site_tools import NOTEBOOK, Book, cell

SOLUTION = '''\
"""A chapter."""

import numpy as np


def doubled(x):
    """Return twice `x`.

    x: a number.
    """
    # a quadratum would be too much
    return 2 * x  # (n,)


@np.vectorize
def tripled(x):
    """Return three times `x`."""
    return 3 * x
'''


@pytest.fixture(scope="module")
def book(make_book: Callable[..., Book]) -> Book:
    alternative = "mystnb: {image: {alt: A line that rises from 1 to 2.}}"
    folded = "---\ntags: [hide-input]\n---"
    book = make_book(
        small=NOTEBOOK
        + "```{answer} small.doubled small.tripled\n```\n\n"
        + "```{spoiler}\nIt adds the number to itself.\n```\n\n"
        + cell("secret = 'ran'", header="---\ntags: [remove-cell]\n---")
        + cell("assert 1 + 1 == 2", "print('checked', secret)", header=folded)
        + cell("print('an output')", header=folded)
        + cell(
            "import matplotlib.pyplot as plt",
            "plt.plot([1, 2]);",
            header=f"---\ntags: [hide-input]\n{alternative}\n---",
        )
    )
    book.write("solutions/small.py", SOLUTION)
    return book


@pytest.fixture(scope="module")
def pages(book: Book) -> dict[str, str]:
    """Build the page in both editions, first the ordinary one, in the same folder."""
    built = {}
    for edition in ("shown", "hidden"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COURSE_ANSWERS", edition)
            result = book.make()
        assert result.returncode == 0, result.stdout
        built[edition] = book.page("small.html")
        sources = book.root / "_build" / "html" / "_sources"
        assert sources.exists() == (edition == "shown")
    return built


def folds(page: str) -> list[str]:
    """Return the distinct words in the summaries of the page's folds."""
    return re.findall(r"<summary>(.*?)</summary>", page)


def test_the_ordinary_edition_folds_the_reference_away(pages: dict[str, str]) -> None:
    assert folds(pages["shown"]) == [NOWHERE, CHECKS, OUTPUT, FIGURE]
    text = re.sub(r"<[^>]*>", "", pages["shown"])
    assert "return 2 * x  # (n,)" in text
    assert "a quadratum would be too much" in text
    assert "Return twice" not in text
    assert "It adds the number to itself." in text
    assert "_sources/small.md" in pages["shown"]


@pytest.mark.parametrize(
    ("names", "page", "title"),
    [
        (["self_attention.softmax"], "self_attention", HERE),
        (["self_attention.window_mask", "self_attention.softmax"], "self_attention_appendix", HERE),
        (["self_attention.softmax"], "alignment", ELSEWHERE),
        (["self_attention.window_mask"], "self_attention", NOWHERE),
    ],
)
def test_a_fold_says_whether_it_shows_an_exercise(names: list[str], page: str, title: str) -> None:
    assert title_of(names, page) == title


def test_a_class_gets_neither_the_folds_nor_the_sources(pages: dict[str, str], book: Book) -> None:
    assert folds(pages["hidden"]) == [CHECKS, OUTPUT, FIGURE]
    assert "_sources" not in pages["hidden"]
    site = book.root / "_build" / "html"
    kinds = (".html", ".md", ".ipynb", ".js", ".json")
    texts = [path for path in site.rglob("*") if path.suffix in kinds]
    assert site / "_static" / "search.json" in texts
    for secret in ("quadratum", "adds the number to itself"):
        assert [path for path in texts if secret in path.read_text(encoding="utf-8")] == []


def test_a_cell_that_is_removed_still_runs(pages: dict[str, str]) -> None:
    assert "secret" not in re.sub(r"checked.*?secret", "", re.sub(r"<[^>]*>", "", pages["shown"]))
    assert "checked ran" in pages["shown"]


@pytest.mark.parametrize(
    ("edition", "page", "message"),
    [
        ("shown", "```{answer} small.nothing\n```\n", "no function or class 'small.nothing'"),
        ("shown", "```{answer} nowhere.doubled\n```\n", "no function or class 'nowhere"),
        ("secret", "", "ANSWERS=secret: unknown edition. Write one of: shown, hidden."),
    ],
)
def test_missing_sources_are_reported(
    make_book: Callable[..., Book],
    monkeypatch: pytest.MonkeyPatch,
    edition: str,
    page: str,
    message: str,
) -> None:
    book = make_book(small=f"# A page\n\n{page}")
    book.write("solutions/small.py", SOLUTION)
    monkeypatch.setenv("COURSE_ANSWERS", edition)
    result = book.build()
    assert result.returncode != 0
    assert message in result.stdout


def test_imported_definitions_are_looked_up_in_their_chapter() -> None:
    module = "import numpy as np\nfrom .first import one, softmax\nfrom numpy import dot\n"
    assert imported_from(module, "softmax") == "first"
    assert imported_from(module, "dot") is None
    assert imported_from(module, "doubled") is None


def test_a_definition_is_shown_with_its_comments_and_without_its_docstring() -> None:
    assert definition(SOLUTION, "doubled").splitlines() == [
        "def doubled(x):",
        "    # a quadratum would be too much",
        "    return 2 * x  # (n,)",
    ]
    assert definition(SOLUTION, "tripled").startswith("@np.vectorize\ndef tripled(x):\n    return")
    layer = 'class A:\n    """An A."""\n\n    def f(self):\n        """Do."""\n        return 1\n'
    assert definition(layer, "A") == "class A:\n    def f(self):\n        return 1"


def test_every_reference_of_the_course_can_be_shown() -> None:
    root = Path(__file__).parents[2] / "solutions"
    for path in root.glob("[a-z]*.py"):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE):
            shown = definition(text, name)
            assert '"""' not in shown
            compile(shown, f"{path.stem}.{name}", "exec")
