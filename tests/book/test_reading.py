"""Test that the reading time of a page is measured on the page."""

import re
from collections.abc import Callable

import pytest
from course_reading import Reading, assignment_minutes, in_fives, in_hours, measure
from site_tools import NOTEBOOK, Book, cell

PAGE = """\
# Two words

Three words, $x$: it's one formula, {glue:text}`y:.2f` is one number. <!-- a comment -->

$$
x + y = z
$$

- an item
- `code` counts

| a | b |
|---|---|
| c | d |

:::{admonition} A title
:class: tip
Two words.
:::

```{predict}
:name: p
A prediction that is not counted word by word, either.

- [ ] Yes.
- [ ] No.
```

```{seen}
Two words.
```

```{quiz}
:name: q
A question that is not counted word by word?

- [ ] no
  > no
- [x] yes
  > yes
```

```python
print("two")
# lines
```
"""


def test_words_and_other_parts_are_counted() -> None:
    counts = measure(PAGE)
    # heading 2; text 10; items 2 + 2; table 4; box 2 + 2; visible code 2
    assert counts == Reading(words=26, formulas=1, lines=2, figures=0, questions=2)


def test_cells_count_by_their_visible_parts() -> None:
    caption = (
        'mystnb:\n  image: {alt: "not read"}\n  figure: {caption: "**A caption** of five words."}'
    )
    page = (
        cell("x = 1", "", "y = 2")
        + cell("z = 3", header=f"---\ntags: [hide-input]\n{caption}\n---")
        + cell("assert x == 1", header=":tags: [remove-cell]")
    )
    assert measure(NOTEBOOK + page) == Reading(words=2 + 5, lines=2, figures=1)


def test_more_of_anything_takes_longer() -> None:
    nothing = Reading(words=240)
    assert nothing.minutes == 2
    for name in ("words", "formulas", "lines", "figures", "questions"):
        assert (nothing + Reading(**{name: 1})).minutes > nothing.minutes


@pytest.mark.parametrize(("minutes", "shown"), [(1, 5), (12.4, 10), (12.6, 15), (95, 95)])
def test_minutes_are_shown_in_fives(minutes: float, shown: int) -> None:
    assert in_fives(minutes) == shown


PAGES_OF_WORDS = {"captioning": 1800, "alignment": 7200}


def test_a_page_shows_its_time(make_book: Callable[..., Book]) -> None:
    text = "About {minutes}`to read`, about {minutes}`for the assignment`.\n\n"
    book = make_book(softly="# A page\n", alignment=f"# A page\n\n{text}{'word ' * 3000}\n")
    result = book.build()
    assert result.returncode == 0, result.stdout
    page = re.sub(r"<[^>]*>", "", book.page("alignment.html"))
    task = in_fives(assignment_minutes("alignment"))
    assert f"About 25 minutes to read, about {task} minutes for the assignment." in page
    assert task > 30
    book.write("book/softly.md", "# A page\n\n{minutes}`to write`\n")
    wrong = book.build()
    assert wrong.returncode != 0
    assert (
        "unknown kind of minutes 'to write'. Write 'to read' or 'for the assignment'"
        in wrong.stdout
    )


def test_a_table_shows_the_time_of_all_chapters(make_book: Callable[..., Book]) -> None:
    pages = {name: f"# The {name}\n{'word ' * words}" for name, words in PAGES_OF_WORDS.items()}
    book = make_book(softly="# A page\n\n```{times}\n```\n", **pages)
    result = book.build()
    assert result.returncode == 0, result.stdout
    rows = re.findall(r"<tr.*?</tr>", book.page("softly.html"), re.DOTALL)
    cells_of_rows = [re.sub(r"<[^>]*>|\s+", " ", row).split() for row in rows]
    tasks = {name: assignment_minutes(name) for name in PAGES_OF_WORDS}
    assert cells_of_rows[1] == [
        "The",
        "captioning",
        "15",
        "min",
        str(in_fives(tasks["captioning"])),
        "min",
    ]
    assert cells_of_rows[2][:4] == ["The", "alignment", "60", "min"]
    assert cells_of_rows[3] == ["in", "all", "1", "hour", *in_hours(sum(tasks.values())).split()]
    assert len(cells_of_rows) == 4, "there is a row for a page without an assignment"
