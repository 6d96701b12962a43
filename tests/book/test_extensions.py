"""Test the book's own Sphinx extensions on temporary small books."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import jupyter_book
import pytest
import yaml
from course_build import inputs
from site_tools import NOTEBOOK, ROOT, Book, cell

QUIZ = """\
```{quiz}
:name: quiz-rows
What does a row sum to? It is $\\sum_j w_{ij}$.

- [ ] 0.
  > No weight is below 0.
- [x] 1, *always*.
  > Softmax divides by the sum.
```
"""


@pytest.fixture(scope="module")
def broken(make_book: Callable[..., Book]) -> str:
    """Return the terminal output of building a book with one fault of each kind."""
    quizzes = (
        "# Quizzes\n\n"
        "```{quiz}\nNone right?\n\n- [ ] a\n  > b\n- [ ] c\n  > d\n```\n\n"
        "```{quiz}\nNo reason?\n\n- [x] a\n  > b\n- [ ] c\n```\n\n"
        "```{quiz}\nOne choice?\n\n- [x] a\n  > b\n```\n\n"
        "```{quiz}\n- [x] a\n  > b\n- [ ] c\n  > d\n```\n"
    )
    plot = cell("import matplotlib.pyplot as plt", "plt.plot([1, 2]);")
    book = make_book(
        quizzes=quizzes,
        figure=NOTEBOOK + plot,
        task="# A task\n\n```{assignment} nowhere\n```\n",
        formula="# A formula\n\nA $\\sine$ of nothing.\n",
        image="# An image\n\n```{image} _web/favicon.svg\n```\n",
    )
    result = book.make()
    assert result.returncode != 0
    return (book.root / "_build" / "book.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "warning"),
    [
        ("quizzes.md:4", "0 choices are marked right"),
        ("quizzes.md:17", "a choice has no reason"),
        ("quizzes.md:21", "1 choices; write 2 to 8"),
        ("quizzes.md:28", "no question before the first choice"),
        ("task.md:3", r"no assignment 'nowhere'; there are: alignment, "),
        ("formula.md:3", r"the formula '.*sine' cannot be drawn: Undefined control sequence"),
        ("figure.md", r"the picture _images/\w+\.svg has no alternative text"),
        ("image.md", r"the picture _images/favicon\.svg has no alternative text"),
    ],
)
def test_each_fault_is_a_warning(broken: str, place: str, warning: str) -> None:
    lines = [line for line in broken.splitlines() if re.search(rf"{place}.*(WARNING|ERROR)", line)]
    assert any(re.search(warning, line) for line in lines), lines


def test_a_sound_book_builds_and_shows_progress(make_book: Callable[..., Book]) -> None:
    figure = "---\nmystnb: {image: {alt: A line that rises from 1 to 2.}}\n---"
    book = make_book(
        sound=NOTEBOOK
        + cell("from solutions.running.progress import say", "import time")
        + cell("say('half of it done')", "time.sleep(2)")
        + cell("import matplotlib.pyplot as plt", "plt.plot([1, 2]);", header=figure)
        + QUIZ
        + "\n```{assignment} alignment\nSix exercises.\n```\n",
        howto_student="# How to do the exercises\n",
    )
    result = book.make()
    assert result.returncode == 0, result.stdout
    page = book.page("sound.html")
    assert "half of it done</" not in page.replace("say(", "")
    words = re.sub("<[^>]*>", "", page)
    assert "make practise CHAPTER=alignment" in words, "no command, although there is no link"
    how = r'href="howto_student.html"><span class="doc">How to fetch and hand in</span></a>'
    assert re.search(how, page)
    assert "additive_scores: implement, 2 points, difficulty 2 of 5, about 15 minutes" in words
    assert re.search(
        r"Computed on \d+ \w+ \d{4} in \d+\u00a0s.*make fresh PAGES=sound", words, re.DOTALL
    )
    plain = book.build("--builder", "custom", "--custom-builder", "text")
    assert plain.returncode == 0, plain.stdout
    text = (book.root / "_build" / "text" / "sound.txt").read_text(encoding="utf-8")
    assert re.search(r"1\. 0\.\s+2\. 1, .*Answer key.*\*\*Right\.\*\*\s+Softmax", text, re.DOTALL)


def test_a_claim_that_fails_stops_the_build(make_book: Callable[..., Book]) -> None:
    book = make_book(claim=NOTEBOOK + cell("assert 1 + 1 == 3, 'the claim is false'"))
    result = book.make()
    assert result.returncode != 0
    assert "AssertionError: the claim is false" in result.stdout
    assert book.make().returncode != 0, "a second build ignored the failed claim"


def test_a_page_over_its_time_budget_is_stored_and_reported(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(slow=NOTEBOOK + cell("import time", "time.sleep(1.5)"))
    config = (book.root / "_config.yml").read_text(encoding="utf-8")
    assert "course_budget: 600" in config
    book.write("_config.yml", config.replace("course_budget: 600", "course_budget: 1"))
    result = book.make()
    assert result.returncode == 0, result.stdout
    assert re.search(r"slow: \d+ s; its budget on two idle cores is 1 s", result.stdout)


def test_changed_code_executes_exactly_the_chapters_that_import_it(
    make_book: Callable[..., Book],
) -> None:
    book = make_book(
        direct=NOTEBOOK + cell("from lib.outer import value", "print('value', value)"),
        other=NOTEBOOK + cell("import lib.apart", "print('apart', lib.apart.value)"),
    )
    book.write("lib/__init__.py", "")
    book.write("lib/outer.py", "from .inner import value\n")
    book.write("lib/inner.py", "value = 111\n")
    book.write("lib/apart.py", "value = 5\n")

    def executed() -> tuple[set[str], str]:
        result = book.make()
        assert result.returncode == 0, result.stdout
        return set(re.findall(r"chapter \d of \d, (\w+): \d+ s", result.stdout)), result.stdout

    assert executed()[0] == {"direct", "other"}
    book.write("lib/inner.py", "value = 222\n")
    names, output = executed()
    assert names == {"direct"}
    assert "direct: `lib/inner.py` changed\n" in output
    assert "value 222" in book.page("direct.html")
    comment = '"""A docstring."""\n\nvalue   =   222  # a comment\n'
    book.write("lib/inner.py", comment)
    path = book.root / "book" / "direct.md"
    path.write_text(path.read_text(encoding="utf-8") + "A sentence more.\n", encoding="utf-8")
    assert executed()[0] == set()
    assert "A sentence more." in book.page("direct.html")


def test_imports_are_followed(tmp_path: Path) -> None:
    for name in ("a/__init__.py", "a/b.py", "a/c/__init__.py", "a/c/d.py", "a/c/e.py", "f.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a/b.py").write_text("def late():\n    from .c import d\n")
    (tmp_path / "a/c/d.py").write_text("from ..c.e import thing\nimport numpy.linalg\n")
    files, others = inputs.follow(["import a.b as x"], tmp_path)
    names = {file.relative_to(tmp_path).as_posix() for file in files}
    assert names == {"a/__init__.py", "a/b.py", "a/c/__init__.py", "a/c/d.py", "a/c/e.py"}
    assert others == {"numpy"}


def test_the_figures_of_an_appendix_are_numbered_after_its_chapter(
    make_book: Callable[..., Book],
) -> None:
    figure = "```{figure} _web/favicon.svg\n:alt: A square.\nA square.\n```\n"
    book = make_book(
        **{
            name: f"# {name}\n\n{figures * figure}"
            for name, figures in {"plan": 1, "one": 2, "two": 1}.items()
        },
        one_more=f"# The second page of one\n\n{2 * figure}",
        one_appendix=f"# Appendix to one\n\n{figure}",
        two_appendix=f"# Appendix to two\n\n## Part\n\n{2 * figure}",
    )
    parts = [["plan"], ["one", "two"], ["two_appendix", "one_more", "one_appendix"]]
    toc = yaml.safe_load((book.root / "book" / "_toc.yml").read_text(encoding="utf-8"))
    del toc["chapters"]
    toc["parts"] = [
        {"caption": str(place), "chapters": [{"file": name} for name in names]}
        for place, names in enumerate(parts)
    ]
    toc["parts"][1]["numbered"] = 1
    book.write("book/_toc.yml", yaml.safe_dump(toc))
    result = book.build()
    assert result.returncode == 0, result.stdout
    numbers = {
        name: re.findall(r'"caption-number">Fig. (\S+) ', book.page(f"{name}.html"))
        for names in parts
        for name in names
    }
    assert numbers == {
        "plan": ["1"],
        "one": ["1.1", "1.2"],
        "two": ["2.1"],
        "one_more": ["1.3", "1.4"],
        "one_appendix": ["A1.1"],
        "two_appendix": ["A2.1", "A2.2"],
    }


def test_configuration_has_no_unknown_key() -> None:
    folder = Path(jupyter_book.__file__).parent
    schema = json.loads((folder / "config_schema.json").read_text())["properties"]
    known_keys = yaml.safe_load((folder / "default_config.yml").read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert set(config) <= set(schema) | set(known_keys)
    for section in ("execute", "parse", "sphinx"):
        assert set(config[section]) <= set(known_keys[section])


def test_numeric_columns_and_their_headings_are_right_aligned(
    make_book: Callable[..., Book],
) -> None:
    rows = ("| model | loss | time | size |", "|:--|:--|:--|:--|")
    rows += ("| one | 0.9 | 12 ms | 1 MB |", "| 2 | -1,300.25 | | none |")
    book = make_book(table="# A table\n\n" + "\n".join(rows) + "\n")
    result = book.build()
    assert result.returncode == 0, result.stdout
    cells = re.findall(r'<t[hd] class="head([^"]*)|<td([^>]*)>', book.page("table.html"))
    right = ["text-right" in head + cell for head, cell in cells]
    assert right == [False, True, True, False] * 3
