"""Test predictions: their syntax, and what the reader sees, with and without JavaScript."""

import json
import re
from collections.abc import Callable, Iterator

import pytest
from course_kept import number_at
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, NOTEBOOK, Book, Reader, cell, serving

KINDS = """\
## A choice

A word [to the table](#the-table).

```{predict}
:name: predict-choice
Which is larger, $a$ or $b$?

- [ ] $a$
- [x] *b*
- [ ] Neither.
```

The answer to the choice.

```{figure} _web/favicon.svg
:name: the-table
:alt: A square.
A square.
```

```{seen}
Whoever said b was right.
```

The end of the choice.

## A number

```{predict}
:name: predict-number
:number: Share of the whole
:measured: {glue:text}`half:.2f`
How much is half?
```

CELL
```{seen}
```

## A curve

```{predict}
:name: predict-curve
:curve: accuracy, 0 to 1
:against: tokens
Draw it.

- 1: {kept}`by_length accuracy * 0:.2f`
- 10: {kept}`by_length accuracy * 1:.2f`
- 100: {kept}`by_length accuracy * 2:.2f`
```

The answer to the curve.

```{seen}
```

## A sentence

```{predict}
:name: predict-sentence
What do you expect?
```

The answer to the sentence.

```{seen}
```
"""
ANSWERS = {
    "choice": "The answer to the choice.",
    "number": "half is 0.5",
    "curve": "The answer to the curve.",
    "sentence": "The answer to the sentence.",
}
RUN = cell(
    "from solutions.running.reporting import figure_data, report",
    "report('kinds', half=0.5)",
    "figure_data('by_length', {'accuracy': [[1, 0.5, 0], [1, 0.7, 0.2]]})",
    "print('half is', 0.5)",
)


def prediction_without_end(body: str, options: str = "", name: str = "a") -> str:
    """Return a prediction without the `seen` block that ends it."""
    return f"```{{predict}}\n:name: {name}\n{options}{body}\n```\n\n"


END = "```{seen}\n```\n\n"
REST = f"The answer.\n\n{END}"
CURVE = ":curve: b, 0 to 1\n:against: c\n"
TWO = "\n- [ ] b\n- [ ] c"
FAULTS = {
    "it has no name": f"```{{predict}}\nWhy?\n```\n\n{REST}",
    "no `seen` in its section": prediction_without_end("Why?"),
    "no `seen` before the next prediction": prediction_without_end("Why?")
    + prediction_without_end("How?", name="b")
    + REST,
    "no `seen` before the next heading": prediction_without_end("Why?")
    + "## More\n\nThe answer.\n",
    "has no prediction before it": prediction_without_end("Why?") + REST + END,
    "there is no answer between": prediction_without_end("Why?") + END,
    "there is no question": prediction_without_end(TWO) + REST,
    "1 choices": prediction_without_end("Why?\n\n- [ ] b") + REST,
    r"2 choices are marked, with \[x\]": prediction_without_end("Why?\n\n- [x] b\n- [x] c\n- [ ] d")
    + REST,
    "has a reason": prediction_without_end("Why?\n\n- [ ] b\n  > c\n- [ ] d") + REST,
    "it asks for a number and a choice": prediction_without_end(
        f"Why?\n{TWO}", ":number: d\n:measured: 1\n"
    )
    + REST,
    "the measured value is missing": prediction_without_end("How many?", ":number: d\n") + REST,
    "it asks for a curve and a choice": prediction_without_end(
        "Why?\n\n- [x] 1\n- [ ] 2\n- 1\n- 2\n- 3", CURVE
    )
    + REST,
    "cannot read 'b, 0 to 1 .log.' as an axis": prediction_without_end(
        "Why?\n\n- 1\n- 2\n- 3", CURVE.replace("1", "1 (log)")
    )
    + REST,
    "2 points": prediction_without_end("Why?\n\n- 1\n- 2", CURVE) + REST,
    "the horizontal axis has no label": prediction_without_end(
        "Why?\n\n- 1\n- 2\n- 3", ":curve: b, 0 to 1\n"
    )
    + REST,
    "no number 'nothing a:.2f'": "{kept}`nothing a:.2f`\n",
}


@pytest.fixture(scope="module")
def faults(make_book: Callable[..., Book]) -> str:
    """Return the output of building a book in which each page has one fault."""
    pages = {f"page{n}": f"# A page\n\n{text}" for n, text in enumerate(FAULTS.values())}
    book = make_book(**pages)
    result = book.build()
    assert result.returncode != 0
    assert "build finished with problems" in result.stdout  # it continued to the end
    return result.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_a_warning_at_its_line(faults: str, fault: str) -> None:
    page = f"page{list(FAULTS).index(fault)}"
    lines = [line for line in faults.splitlines() if f"{page}.md" in line]
    assert len(lines) == 1, lines
    assert re.search(rf"{page}\.md:\d+: (WARNING|ERROR): .*{fault}", lines[0])


@pytest.mark.parametrize(
    ("steps", "number"),
    [(["a", "b"], 3), (["l", "1"], 5), (["l", "*"], 4.5), (["s", "*", "0"], 2)],
)
def test_a_number_is_found_in_stored_data(steps: list[str], number: float) -> None:
    data = {"a": {"b": 3}, "l": [4, 5], "s": [[1, 9], [3, 9]]}
    assert number_at(data, steps) == number


@pytest.fixture(scope="module")
def kinds(make_book: Callable[..., Book]) -> Iterator[tuple[Book, str]]:
    """Return a book with a prediction of each kind, and its address."""
    book = make_book(kinds=NOTEBOOK + KINDS.replace("CELL\n", RUN))
    result = book.make()
    assert result.returncode == 0, result.stdout
    # Stored results are read with the page: the first run has only just stored them.
    with serving(book.root / "_build" / "html") as address:
        yield book, address


@pytest.fixture
def open_kinds(
    kinds: tuple[Book, str], reader: Callable[..., Reader]
) -> Callable[..., tuple[Reader, Page]]:
    """Open the page of all kinds, in a fresh profile."""

    def go(hash: str = "", before: str = "", **options: object) -> tuple[Reader, Page]:
        person = reader(**MODES["light"] | options)
        person.address = kinds[1]
        if before:
            person.context.add_init_script(before)
        return person, person.open(f"kinds.html{hash}")

    return go


def prediction(page: Page, kind: str) -> Locator:
    return page.locator(f"#predict-{kind}")


def answer(page: Page, kind: str) -> Locator:
    return page.locator(f"#predict-{kind}-seen")


def press(box: Locator, name: str) -> None:
    box.get_by_role("button", name=name, exact=True).click()


def give(page: Page, kind: str) -> None:
    """Make a guess of a kind by mouse."""
    box = prediction(page, kind)
    if kind == "choice":
        box.get_by_text("Neither.").click()
    elif kind == "curve":
        box.locator("svg").scroll_into_view_if_needed()
        frame = box.locator("svg").bounding_box()
        assert frame
        page.mouse.move(frame["x"] + 60, frame["y"] + 60)
        page.mouse.down()
        page.mouse.move(frame["x"] + frame["width"] - 20, frame["y"] + 120, steps=3)
        page.mouse.up()
    else:
        box.locator(".predict-field").fill("0.25")


SAID = {
    "choice": "You said C; it was B.",
    "number": "You said 0.25; it is 0.50.",
    "curve": "Dashed is your curve; the line is what was measured.",
    "sentence": "Compare what you said with what follows.",
}


@pytest.mark.parametrize("kind", SAID)
def test_the_answer_opens_with_a_guess_which_is_kept(
    open_kinds: Callable[..., tuple[Reader, Page]], kind: str
) -> None:
    person, page = open_kinds()
    box, closed = prediction(page, kind), answer(page, kind)
    expect(closed).to_have_attribute("hidden", "until-found")
    assert not closed.get_by_text(ANSWERS[kind]).first.evaluate(
        "(node) => node.checkVisibility({ contentVisibilityAuto: true })"
    )
    give(page, kind)
    press(box, "See the answer")
    expect(box.get_by_role("status")).to_have_text(SAID[kind])
    expect(box.get_by_role("button", name="Change my guess")).to_be_focused()
    expect(closed).not_to_have_attribute("hidden", re.compile(""))
    expect(closed.get_by_text(ANSWERS[kind]).first).to_be_visible()
    others = [other_kind for other_kind in SAID if other_kind != kind]
    assert all(answer(page, other).get_attribute("hidden") for other in others)
    page.reload()
    expect(box.get_by_role("status")).to_have_text(SAID[kind])
    assert person.violations(page, "article") == []
    press(box, "Change my guess")
    expect(closed).to_have_attribute("hidden", "until-found")
    press(box, "See the answer")  # the guess is still there
    expect(box.get_by_role("status")).to_have_text(SAID[kind])
    press(box, "Clear")
    page.reload()
    expect(closed).to_have_attribute("hidden", "until-found")
    assert page.evaluate("localStorage.length") == 0
    assert person.errors == []


def marked(page: Page) -> list[str]:
    """Return the choices that are visibly marked as right."""
    marks = page.locator("#predict-choice label:has(.predict-right:visible)")
    return [text.split(".")[0] for text in marks.all_inner_texts()]


def test_the_right_choice_is_named_and_marked_once_the_answer_is_open(
    open_kinds: Callable[..., tuple[Reader, Page]],
) -> None:
    _, page = open_kinds()
    box = prediction(page, "choice")
    assert marked(page) == []
    box.get_by_role("radio", name="B. b", exact=True).check()  # no accessible name reveals it
    press(box, "See the answer")
    expect(box.get_by_role("status")).to_have_text("You said B, and so it was.")
    assert marked(page) == ["B"]
    expect(box.get_by_role("radio", name="B. b it was this", exact=True)).to_be_checked()
    expect(page.get_by_text("It was B.", exact=True)).to_be_hidden()  # its verdict is already shown
    press(box, "Change my guess")
    assert marked(page) == []
    press(box, "Show without a guess")
    expect(box.get_by_role("status")).to_have_text("Shown without a guess.")
    assert marked(page) == ["B"]


def test_the_difference_to_a_drawn_curve_is_stated(
    open_kinds: Callable[..., tuple[Reader, Page]],
) -> None:
    _, page = open_kinds()
    box = prediction(page, "curve")
    sliders = box.get_by_role("slider").all()
    assert [slider.get_attribute("aria-label") for slider in sliders] == [
        f"accuracy, at {place} tokens" for place in ("1", "10", "100")
    ]
    sliders[0].focus()
    for key in ("ArrowUp", "ArrowUp", "PageUp", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Tab")
    expect(sliders[1]).to_be_focused()
    for key in ("PageDown", "PageDown", "PageDown", "PageDown"):
        page.keyboard.press(key)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    message = (
        "accuracy against tokens. Your curve: 0.75 at 1, 0 at 10. "
        "Measured: 1 at 1, 0.6 at 10, 0.1 at 100."
    )
    expect(box.locator("svg")).to_have_attribute("aria-label", message)
    stored = json.loads(page.evaluate("localStorage['course:predict/kinds/predict-curve']"))
    assert stored["guess"] == [0.75, 0, None]


def test_a_missing_guess_is_accepted(open_kinds: Callable[..., tuple[Reader, Page]]) -> None:
    _, page = open_kinds()
    box, closed = prediction(page, "number"), answer(page, "number")
    press(box, "See the answer")
    expect(box.get_by_role("status")).to_contain_text("A guess helps, even a bad one")
    expect(closed).to_have_attribute("hidden", "until-found")
    press(box, "Show without a guess")
    expect(box.get_by_role("status")).to_have_text("It is 0.50.")
    expect(box.get_by_label("Share of the whole")).to_be_hidden()
    page.reload()
    expect(box.get_by_label("Share of the whole")).to_be_hidden()
    expect(closed.get_by_text(ANSWERS["number"]).first).to_be_visible()
    press(box, "Guess after all")
    expect(box.get_by_label("Share of the whole")).to_be_focused()
    page.reload()
    expect(closed).to_have_attribute("hidden", "until-found")


def test_a_guess_is_made_by_keyboard(open_kinds: Callable[..., tuple[Reader, Page]]) -> None:
    _, page = open_kinds()
    box = prediction(page, "number")
    box.get_by_label("Share of the whole").focus()
    page.keyboard.type("0.25")
    page.keyboard.press("Enter")
    expect(box.get_by_role("status")).to_have_text(SAID["number"])
    box = prediction(page, "choice")
    box.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowUp")  # around, to the last
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(box.get_by_role("status")).to_have_text(SAID["choice"])


FORBIDDEN = {
    "forbidden": "Object.defineProperty(window, 'localStorage',"
    " { get() { throw new DOMException('no', 'SecurityError'); } });",
    "full": "Storage.prototype.setItem = () => {"
    " throw new DOMException('no', 'QuotaExceededError'); };",
}


@pytest.mark.parametrize("storage", FORBIDDEN)
def test_predictions_work_with_storage_that_loses_everything(
    open_kinds: Callable[..., tuple[Reader, Page]], storage: str
) -> None:
    person, page = open_kinds(before=FORBIDDEN[storage])
    for kind in SAID:
        give(page, kind)
        press(prediction(page, kind), "See the answer")
        expect(prediction(page, kind).get_by_role("status")).to_contain_text(
            f"{SAID[kind]} This browser keeps nothing"
        )
        expect(answer(page, kind).get_by_text(ANSWERS[kind]).first).to_be_visible()
    assert person.errors == []


def test_an_address_and_a_link_open_their_target(
    open_kinds: Callable[..., tuple[Reader, Page]],
) -> None:
    for hash in ("#the-table", ""):
        _, page = open_kinds(hash)
        if not hash:
            page.get_by_role("link", name="to the table").click()
        expect(page.locator("#the-table")).to_be_in_viewport()
        status = prediction(page, "choice").get_by_role("status")
        expect(status).to_have_text("Shown without a guess.")
        assert page.evaluate("localStorage.length") == 0


def test_an_address_that_cannot_be_decoded_opens_nothing_and_breaks_nothing(
    open_kinds: Callable[..., tuple[Reader, Page]],
) -> None:
    person, page = open_kinds("#100%")
    page.get_by_role("link", name="to the table").click()
    expect(page.locator("#the-table")).to_be_in_viewport()
    assert person.errors == []


def everything_is_open(page: Page) -> None:
    for kind, text in ANSWERS.items():
        expect(answer(page, kind).get_by_text(text).first).to_be_visible()
        assert answer(page, kind).evaluate(
            "(node) => getComputedStyle(node).contentVisibility"
        ) == ("visible")
        assert answer(page, kind).bounding_box()["height"] > 20
        expect(prediction(page, kind).locator("legend")).to_be_visible()
        expect(prediction(page, kind).locator(".predict-row")).to_be_hidden()
    assert marked(page) == []
    after = answer(page, "choice").evaluate("(node) => node.innerText")
    assert re.search(r"The answer to the choice\..*It was B\.\s+Whoever said b", after, re.DOTALL)


def test_everything_is_open_without_javascript(
    open_kinds: Callable[..., tuple[Reader, Page]],
) -> None:
    everything_is_open(open_kinds(java_script_enabled=False)[1])


def test_everything_is_open_in_print(open_kinds: Callable[..., tuple[Reader, Page]]) -> None:
    _, page = open_kinds()
    page.emulate_media(media="print")
    everything_is_open(page)


def test_everything_is_open_in_a_page_opened_as_a_file(
    kinds: tuple[Book, str], reader: Callable[..., Reader]
) -> None:
    page = reader(**MODES["light"]).context.new_page()
    page.goto((kinds[0].root / "_build" / "html" / "kinds.html").as_uri())
    everything_is_open(page)


def test_everything_is_open_if_the_script_fails_to_load(
    kinds: tuple[Book, str], reader: Callable[..., Reader]
) -> None:
    page = reader(**MODES["light"]).context.new_page()
    page.route("**/predict.mjs*", lambda route: route.abort())
    page.goto(f"{kinds[1]}/kinds.html", wait_until="load")
    everything_is_open(page)


def test_nothing_moves_while_the_page_loads(open_kinds: Callable[..., tuple[Reader, Page]]) -> None:
    person, page = open_kinds()
    for kind in SAID:
        give(page, kind)
        press(prediction(page, kind), "See the answer")
    page = person.context.new_page()
    page.set_viewport_size({"width": 1280, "height": 4000})
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => {"
        " for (const shift of list.getEntries()) window.moved += shift.value; })"
        ".observe({ type: 'layout-shift', buffered: true });"
    )
    page.goto(f"{person.address}/kinds.html", wait_until="networkidle")
    expect(prediction(page, "choice").get_by_role("status")).to_have_text(SAID["choice"])
    assert page.evaluate("window.moved") < 0.01


def test_predictions_are_plain_text_in_another_format(kinds: tuple[Book, str]) -> None:
    book, _ = kinds
    plain = book.build("--builder", "custom", "--custom-builder", "text")
    assert plain.returncode == 0, plain.stdout
    text = (book.root / "_build" / "text" / "kinds.txt").read_text(encoding="utf-8")
    assert text.count("Predict, then see") == len(SAID)
    choice = r"Which is larger.*A\. a\s+B\. \*b\*\s+C\. Neither\.\s+The answer to the choice\."
    assert re.search(rf"{choice}.*It was B\.\s+Whoever said b was right\.", text, re.DOTALL)


def test_only_the_blocks_in_between_are_closed(kinds: tuple[Book, str]) -> None:
    book, _ = kinds
    page = book.page("kinds.html")
    closed = re.findall(
        r'<div class="seen" id="predict-choice-seen">(.*?)\n</div>\n<p>', page, re.S
    )
    assert "The answer to the choice" in closed[0]
    assert "Whoever said b" in closed[0]
    assert "The end of the choice" not in closed[0]
