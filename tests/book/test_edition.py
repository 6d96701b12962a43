"""Test that the source of each page keeps the limits of the second edition."""

import ast
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cells
import jupytext
import open_answers
import pytest
import yaml
from cells import BOOK, CHAPTERS, FOLDED, OPEN, REMOVED, Code
from course_reading import measure

MOST_WORDS, MOST_MINUTES, MOST_IMPORTS, MOST_COLUMNS = 3600, 80, 8, 76

LEAST_PREDICTIONS = 5
PREDICTION = re.compile(r"^```\{predict\}\n:name: (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

UNSEEN = {"remove-cell", "remove-input"}


@dataclass(frozen=True)
class Plumbing:
    """The counts of code on a page that serves the book and not its reader.

    imports: lines of the longest visible block of imports. reports: visible cells that report.
    comparisons: visible cells that compare the page's code with `solutions`. asserts: visible
    assertions without the tag `teaches`, or in the code of a figure. empty: folds with no output
    that import nothing.
    """

    imports: int
    reports: int
    comparisons: int
    asserts: int
    empty: int


def plumbing(text: str) -> Plumbing:
    visible = [code for code in cells.code(text) if code.shown != REMOVED]
    modules = {name for code in cells.code(text) for name in chapter_modules(code.tree)}
    return Plumbing(
        imports=max((block(code.tree) for code in visible if code.shown == OPEN), default=0),
        reports=sum("report" in called(code.tree) for code in visible),
        comparisons=sum(compares(code.tree, modules) for code in visible),
        asserts=sum(asserts(code) for code in visible),
        empty=sum(
            code.shown == FOLDED and not shows(code) and not block(code.tree) for code in visible
        ),
    )


def block(tree: ast.Module) -> int:
    """Return the lines of the longest run of imports."""
    longest = lines = 0
    for node in tree.body:
        lines = lines + node.end_lineno - node.lineno + 1 if is_import(node) else 0
        longest = max(longest, lines)
    return longest


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def called(tree: ast.AST) -> set[str]:
    """Return the names of the functions that are called."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(name, "id", getattr(name, "attr", "")) for name in calls}


def chapter_modules(tree: ast.Module) -> Iterator[str]:
    """Yield the names under which a chapter's reference is imported as a module."""
    for node in tree.body:
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            if f"{module}.{alias.name}".removeprefix("solutions.").lstrip(".") in CHAPTERS:
                yield alias.asname or alias.name


def compares(tree: ast.Module, modules: set[str]) -> bool:
    """Return True if a reference is called within a comparison or an assertion."""
    judges = ("allclose", "array_equal", "isclose")
    return any(
        isinstance(inner, ast.Name) and inner.id in modules
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert | ast.Compare)
        or (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in judges)
        for inner in ast.walk(node)
    )


def asserts(code: Code) -> int:
    if code.teaches or (code.shown == FOLDED and not code.figure):
        return 0
    return sum(isinstance(node, ast.Assert) for node in ast.walk(code.tree))


def shows(code: Code) -> bool:
    """Return True if a cell has an output, as far as its source shows."""
    last = code.tree.body[-1]
    return code.figure or "print" in called(code.tree) or isinstance(last, ast.Expr)


def pages(chapter: str) -> list[str]:
    """Return the page of a chapter, and its appendices."""
    return sorted(path.stem for path in BOOK.glob(f"{chapter}*.md") if belongs(path.stem, chapter))


def belongs(page: str, chapter: str) -> bool:
    """Return True if `chapter` is the longest chapter name that `page` starts with."""
    return max((chapter for chapter in CHAPTERS if page.startswith(chapter)), key=len) == chapter


@cache
def text(page: str) -> str:
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_stays_within_its_length_limit(chapter: str) -> None:
    reading = measure(text(chapter))
    assert reading.words <= MOST_WORDS
    assert reading.minutes <= MOST_MINUTES


THIRD_EDITION = (
    "self_attention",
    "queries_keys_values",
    "multi_head",
    "positions",
    "transformer_block",
    "transformer",
    "gpt_and_bert",
    "gpt_and_bert_gaps",
    "cost",
    "today",
)


@pytest.mark.parametrize("chapter", THIRD_EDITION)
def test_a_chapter_of_the_third_edition_is_shorter(chapter: str) -> None:
    assert measure(text(chapter)).words <= 3400
    assert len(re.findall(r"(?m)^## ", text(chapter))) <= 10
    assert sum(code.shown == OPEN for code in cells.code(text(chapter))) <= 14


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_does_not_hard_code_reading_minutes(chapter: str) -> None:
    assert "{minutes}`to read`" in text(chapter)
    assert "{minutes}`for the assignment`" in text(chapter)


@pytest.mark.parametrize("page", [page for chapter in CHAPTERS for page in pages(chapter)])
def test_plumbing_cells_are_hidden(page: str) -> None:
    counts = plumbing(text(page))
    assert counts.imports <= MOST_IMPORTS
    assert counts == Plumbing(counts.imports, reports=0, comparisons=0, asserts=0, empty=0)


def test_no_answer_is_openly_visible() -> None:
    done = [page for chapter in CHAPTERS for page in pages(chapter)]
    assert {
        c: names for c, names in open_answers.open_answers(done, CHAPTERS).items() if names
    } == {}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_asks_for_five_predictions(chapter: str) -> None:
    assert text(chapter).count("```{predict}") >= LEAST_PREDICTIONS


@pytest.mark.parametrize("page", [path.stem for path in sorted(BOOK.glob("*.md"))])
def test_each_predicted_choice_is_identified(page: str) -> None:
    predicted = {
        name: re.findall(r"^- \[(.)\] ", body, re.M)
        for name, body in PREDICTION.findall(text(page))
    }
    assert len(predicted) == text(page).count("```{predict}")
    assert [name for name, marks in predicted.items() if marks and marks.count("x") != 1] == []


def test_every_chapter_belongs_to_a_numbered_part() -> None:
    parts = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    numbered = [
        chapter["file"] for part in parts if part.get("numbered") for chapter in part["chapters"]
    ]
    assert sorted(numbered) == CHAPTERS


@pytest.mark.parametrize("page", [path.stem for path in sorted(BOOK.glob("*.md"))])
def test_displayed_code_fits_its_box(page: str) -> None:
    all_cells = jupytext.reads(text(page), fmt="md:myst").cells
    code = (cell for cell in all_cells if cell.cell_type == "code")
    visible = (cell for cell in code if not UNSEEN.intersection(cell.metadata.get("tags", ())))
    lines = (line for cell in visible for line in cell.source.splitlines())
    assert [line for line in lines if len(line) > MOST_COLUMNS] == []


SCRIPT = re.compile(r'<div class="highlight-javascript.*?<pre>(.*?)</pre>', re.DOTALL)


def test_a_displayed_script_has_balanced_brackets_and_fits_its_box(site: Path) -> None:
    page = (site / "playground_appendix.html").read_text(encoding="utf-8")
    shown = [html.unescape(re.sub(r"<[^>]*>", "", match)) for match in SCRIPT.findall(page)]
    assert shown
    for script in shown:
        assert [script.count(bracket) for bracket in "({["] == [
            script.count(bracket) for bracket in ")}]"
        ], script
        assert [line for line in script.splitlines() if len(line) > MOST_COLUMNS] == []


# The measures

HEADER = "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n---\n"


def page(source: str) -> str:
    return f"{HEADER}```{{code-cell}} ipython3\n{source}\n```\n"


@pytest.mark.parametrize(
    "source",
    [
        "def padding_mask(lengths, n):\n    return something_else(n)",
        "def other(a, m):\n    'A copy.'\n    places = numpy.arange(m)\n"
        "    return places < a[:, None, None]",
        "def f(a, n: int) -> list:\n    if n < 0:\n        raise ValueError\n"
        "    places = np.arange(n)\n    return places < a[:, None, None]",
    ],
)
def test_an_answer_is_found_under_other_names(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers_in(page(source), monkeypatch) == ["padding_mask"]


def test_a_long_answer_with_small_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "def layer(a, b, c, hide=None):\n"
        "    width = a.shape[-1]\n"
        "    s = a @ np.swapaxes(b, -1, -2)\n"
        "    s = s / math.sqrt(width)\n"
        "    shares = masked_softmax(s, hide)\n"
        "    return shares @ c, shares\n"
    )
    assert "scaled_dot_product_attention" in answers_in(page(source), monkeypatch)


def answers_in(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(open_answers, "page_text", lambda name: text)
    return open_answers.open_answers(["queries_keys_values"], ["queries_keys_values"])[
        "queries_keys_values"
    ]
