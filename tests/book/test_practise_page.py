"""Test a practise page in a browser with its real Python: checks, stops, crashes, keyboard only.

Python takes seconds to start, so most tests share one page.
"""

import gzip
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, expect
from site_tools import MODES, Reader

PRACTISE = "practise/alignment.html"
MOST_KB = 130
START = 120_000
"""Milliseconds that Python may take to start on a busy machine."""

TOO_WIDE = """(all) => all.filter((node) => node.getBoundingClientRect().right > innerWidth)
    .map((node) => `${node.getBoundingClientRect().right} ${node.outerHTML.slice(0, 200)}`)"""

RIGHT = """\
def additive_scores(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
"""
WRONG = RIGHT.replace("np.tanh", "")
LOST = """\
def words_lost(scores, gold, H, W_out, targets):
    return 0.0
"""


@pytest.fixture(scope="module", autouse=True)
def patience() -> None:
    """Wait for Python as long as a busy machine needs, also where one test runs alone."""
    expect.set_options(timeout=START)


@pytest.fixture(scope="module")
def person(reader: Callable[..., Reader]) -> Reader:
    """Return the reader whose page is shared by all tests that need Python."""
    person = reader(**MODES["light"])
    person.context.set_default_timeout(START)
    person.open(PRACTISE)
    return person


@pytest.fixture
def page(person: Reader) -> Iterator[Page]:
    """Return the shared page, which must stay usable after each test."""
    person.page.set_viewport_size(MODES["light"]["viewport"])
    yield person.page
    assert person.errors == []
    assert person.foreign == []


def answer(page: Page, name: str = "additive_scores") -> Locator:
    return page.locator(f'[data-cell="{name}"]')


def decoder(page: Page) -> Locator:
    """The given cell that makes the decoder which `words_lost` is asked about."""
    return page.locator("[data-cell^='part-']").filter(has_text="the peak is the gold state in")


def write(cell: Locator, text: str) -> None:
    cell.locator(".cm-content").first.fill(text)


def press(cell: Locator, name: str) -> None:
    cell.get_by_role("button", name=re.compile(f"^{name}: ")).first.click()


def said(cell: Locator) -> Locator:
    return cell.locator(".practise-said").first


def check(cell: Locator, text: str) -> str:
    """Check an answer; return the self-check's message."""
    write(cell, text)
    press(cell, "Check")
    expect(said(cell)).to_contain_text(re.compile("Checked|stopped with"))
    return cell.locator(".practise-words").inner_text()


@pytest.fixture
def own(page: Page) -> Iterator[Locator]:
    """Yield an own cell below the first answer, which is removed afterwards."""
    press(answer(page), "Add a cell below")
    cell = answer(page).locator(".practise-own").first
    yield cell
    page.once("dialog", lambda dialog: dialog.accept())
    press(cell, "Remove")
    expect(answer(page).locator(".practise-own")).to_have_count(0)


def run(cell: Locator, text: str) -> str:
    """Run an own cell; return its output."""
    write(cell, text)
    press(cell, "Run")
    expect(said(cell)).to_contain_text(re.compile("It ran|It stopped"))
    return cell.locator(".practise-outputs").inner_text()


def test_a_wrong_answer_is_named_and_drawn_and_a_right_one_is_right(page: Page) -> None:
    cell = answer(page)
    words = check(cell, WRONG)
    assert words.startswith("additive_scores: not yet")
    assert "tanh forgotten" in words
    pictures = cell.locator(".practise-pictures svg[role='img']")
    labels = [picture.get_attribute("aria-label") for picture in pictures.all()]
    assert [label for label in labels if label and label.startswith("your result, shape")]
    assert cell.locator(".practise-words svg").count() == 0
    expect(cell.get_by_role("button", name="Check: additive_scores")).to_be_focused()
    assert check(cell, RIGHT).startswith("additive_scores: right")
    expect(page.locator(".practise-progress")).to_contain_text("1 of 10 right")


def test_an_overwritten_name_is_restored_when_the_line_is_removed(
    page: Page,
) -> None:
    assert "NoneType" in check(answer(page), f"{RIGHT}\nnp = None\n")
    assert check(answer(page), RIGHT).startswith("additive_scores: right")


def test_a_syntax_error_is_shown_and_nothing_is_checked(page: Page) -> None:
    cell = answer(page, "masked_softmax")
    words = check(cell, "def masked_softmax(scores:\n    return 0")
    assert words.startswith("masked_softmax: not yet")
    expect(cell.locator(".practise-error")).to_contain_text("SyntaxError")
    assert "stopped with SyntaxError" in said(cell).inner_text()


def test_given_code_above_an_answer_runs_first_and_shows_its_output_at_its_place(
    page: Page,
) -> None:
    check(answer(page, "words_lost"), LOST)
    given_cell = decoder(page)
    expect(given_cell.locator(".practise-outputs")).to_contain_text(
        "the peak is the gold state in 0."
    )
    press(given_cell, "Run")
    expect(said(given_cell)).to_contain_text("It ran")


def test_an_endless_loop_is_stopped_and_typed_text_stays(page: Page, own: Locator) -> None:
    write(own, "print('begun')\nwhile True:\n    pass")
    press(own, "Run")
    expect(own.locator(".practise-outputs")).to_have_text("begun\n")
    press(answer(page, "masked_softmax"), "Run")
    expect(said(answer(page, "masked_softmax"))).to_contain_text("is still running")
    stop = own.get_by_role("button", name=re.compile("^Stop"))
    stop.click()
    expect(said(own)).to_contain_text("Stopped.")
    expect(stop).to_be_hidden()
    expect(own.get_by_role("button", name=re.compile("^Run"))).to_be_focused()
    expect(own.locator(".cm-content")).to_contain_text("while True")
    assert check(answer(page), RIGHT).startswith("additive_scores: right")
    assert run(own, "np.ones(2)").strip() == "array([1., 1.])"


def test_a_million_lines_leave_the_page_usable(page: Page, own: Locator) -> None:
    output = run(own, "for i in range(1_000_000):\n    print(i)")
    assert output.startswith("0\n1\n2")
    assert "left out" in output
    assert len(output) < 101_000
    assert run(own, "2 + 2").strip() == "4"


def test_a_thousand_tables_are_cut_off(own: Locator) -> None:
    table = "class Table:\n    def _repr_html_(self):\n        return '<table><tr><td>1</table>'\n"
    output = run(own, f"{table}for i in range(5000):\n    display(Table())")
    assert "left out" in output
    assert own.locator(".practise-html").count() < 1000


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("np.ones((100_000, 12_500))", "make arrays smaller"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("import torch", "torch is not in this page"),
        ("input('?')", "obody can answer"),
    ],
)
def test_unsupported_operations_are_reported(own: Locator, code: str, error: str) -> None:
    assert error in run(own, code)
    assert run(own, "1 + 1").strip() == "2"


def test_a_crash_of_python_is_reported_and_python_restarts(person: Reader, own: Locator) -> None:
    write(own, "import os\nos.abort()")
    press(own, "Run")
    expect(said(own)).to_contain_text("Python has crashed")
    assert run(own, "3 + 3").strip() == "6"
    person.errors.clear()  # Pyodide writes to the console as it crashes


def test_html_of_a_cell_cannot_run_or_fetch_anything(page: Page, own: Locator) -> None:
    html = (
        "<b onclick=\\'x()\\' id=main-content>bold</b><script>document.title = 1</script>"
        "<img src=https://other.example/a.png onerror=\\'document.title = 2\\'>"
        "<a href=javascript:x()>a</a><p style=\\'background:url(//other.example)\\'>p</p>"
        "<svg><text><style>*{display:none}</style>drawn</text></svg>"
    )
    title = page.title()
    run(own, f"class Page:\n    def _repr_html_(self):\n        return '{html}'\nPage()")
    shown = own.locator(".practise-html").inner_html()
    assert shown == "<b>bold</b><a>a</a><p>p</p><svg><text>drawn</text></svg>"
    assert page.title() == title


def test_an_own_cell_that_was_run_runs_again_before_a_check_on_a_fresh_python(
    page: Page, own: Locator
) -> None:
    run(own, "half = 0.5")
    cell = answer(page, "masked_softmax")
    write(cell, "print('half', half)")
    press(cell, "Run")
    expect(cell.locator(".practise-outputs")).to_have_text("half 0.5\n")
    write(own, "half = 0.25")
    press(cell, "Run")
    expect(cell.locator(".practise-outputs")).to_have_text("half 0.25\n")


def test_removing_a_cell_asks_unless_it_is_empty(page: Page) -> None:
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    cell = answer(page)
    press(cell, "Add a cell below")
    own = cell.locator(".practise-own")
    write(own, "kept")
    press(own, "Remove")
    expect(own).to_have_count(1)
    write(own, "")
    press(own, "Remove")
    expect(own).to_have_count(0)
    page.remove_listener("dialog", refuse)
    assert len(dialogs) == 1


def test_reset_asks_and_can_be_undone(page: Page) -> None:
    cell = answer(page)
    write(cell, "mine = 1")
    page.once("dialog", lambda dialog: dialog.accept())
    press(cell, "Reset")
    expect(cell.locator(".cm-content")).to_contain_text("raise NotImplementedError")
    cell.locator(".cm-content").focus()
    page.keyboard.press("Control+z")
    expect(cell.locator(".cm-content")).to_have_text("mine = 1")


def test_the_keyboard_alone_types_checks_and_leaves(page: Page) -> None:
    cell = answer(page)
    content = cell.get_by_role("textbox", name="Your answer to additive_scores")
    content.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("def additive_scores(s, H, W_s, W_h, v):\nreturn np.tanh(")
    page.keyboard.type("(s @ W_s)[..., None, :] + H @ W_h) @ v")
    page.keyboard.press("Shift+Enter")
    expect(cell.locator(".practise-words")).to_contain_text("additive_scores: right")
    expect(content).to_be_focused()
    lines = cell.locator(".cm-line").all_inner_texts()
    assert lines[1] == "    return np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v"

    page.keyboard.press("Tab")
    expect(content).to_be_focused()
    assert cell.locator(".cm-line").nth(1).inner_text().startswith("        return")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(cell.get_by_role("button", name="Check: additive_scores")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(content).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert cell.locator(".cm-line").nth(1).inner_text().startswith("    return")
    expect(content).to_have_accessible_description(re.compile("press Escape, then Tab"))


def test_code_is_coloured_as_in_the_chapters(page: Page) -> None:
    cell = answer(page)
    write(cell, "def f(x):  # why\n    return 'a', None, 1.5")
    colour = "(spans) => spans.map((span) => [span.textContent, getComputedStyle(span).color])"
    editor = dict(cell.locator(".cm-line span").evaluate_all(colour))
    static = dict(decoder(page).locator(".highlight span").evaluate_all(colour))
    comment = static["# the state that a word is made from"]
    assert editor["# why"] == comment
    assert editor["1.5"] == static["200"]
    assert editor["def"] == editor["return"] == editor["None"] != comment
    inks = set(dict(cell.locator(".cm-line").evaluate_all(colour)).values())
    assert inks == {page.evaluate("getComputedStyle(document.body).color")}
    assert len({editor[text] for text in ("f", "def", "# why", "'a'", "1.5")}) == 5


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_below_a_wrong_answer(person: Reader, page: Page, mode: str) -> None:
    page.emulate_media(color_scheme=MODES[mode]["color_scheme"])
    page.set_viewport_size(MODES[mode]["viewport"])
    check(answer(page), WRONG)
    check(answer(page, "masked_softmax"), "print('out')\n1 / 0")
    assert person.violations(page) == []
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        pytest.fail("\n".join(page.locator("article *").evaluate_all(TOO_WIDE)))
    page.emulate_media(color_scheme="light")


def test_a_written_answer_grows_and_is_kept(page: Page) -> None:
    field = page.get_by_label("Your answer to read_the_heatmap")
    before = field.bounding_box()
    field.fill("line\n" * 30)
    after = field.bounding_box()
    assert before
    assert after
    assert after["height"] > 2 * before["height"]
    expect(page.locator(".practise-progress")).to_contain_text("1 of 1 written answers")


def test_typed_text_survives_leaving_the_page(person: Reader, browser: Browser, page: Page) -> None:
    write(answer(page), "# still here")
    press(answer(page), "Add a cell below")
    write(answer(page).locator(".practise-own"), "mine = 2")
    page.reload()
    expect(answer(page).locator(".cm-content").first).to_have_text("# still here")
    expect(answer(page).locator(".practise-own .cm-content")).to_have_text("mine = 2")


def test_the_script_of_a_page_is_light(person: Reader, address: str) -> None:
    fetched = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    scripts = [name for name in person.page.evaluate(fetched) if name.endswith(".mjs")]
    scripts.append(f"{address}/_static/practise/worker.mjs")
    bodies = [person.context.request.get(name).body() for name in dict.fromkeys(scripts)]
    assert sum(len(gzip.compress(body, 9)) for body in bodies) < 1000 * MOST_KB


def test_failed_python_download_is_reported_and_can_be_retried(
    reader: Callable[..., Reader],
) -> None:
    person = reader(**MODES["light"])
    page = person.open(PRACTISE)
    page.route("**/*.wasm", lambda route: route.abort())
    cell = answer(page)
    press(cell, "Check")
    expect(said(cell)).to_contain_text("Look at your connection")
    page.unroute("**/*.wasm")
    page.locator(".practise-bar").get_by_role("button", name="Try again").click()
    expect(said(cell)).to_have_text("")
    expect(page.locator(".practise-python")).to_have_text("Python is ready.")
    press(cell, "Check")
    expect(cell.locator(".practise-words")).to_contain_text("not yet")
    assert [error for error in person.errors if "Uncaught" in error] == []  # Pyodide logs its own


def test_a_browser_without_web_assembly_is_told_what_to_do(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["light"])
    person.page.add_init_script("delete globalThis.WebAssembly")
    page = person.open(PRACTISE)
    press(answer(page), "Check")
    expect(said(answer(page))).to_contain_text("Open the page in a newer browser")
    write(answer(page), "# typed")
    expect(page.get_by_role("button", name="Download as notebook")).to_be_enabled()
    assert person.errors == []


def test_failed_download_of_exercises_can_be_retried(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["light"])
    person.page.route("**/*.ipynb", lambda route: route.abort())
    page = person.open(PRACTISE)
    expect(page.locator(".practise-bar")).to_contain_text("could not be fetched")
    expect(answer(page).locator(".highlight")).to_be_visible()
    page.unroute("**/*.ipynb")
    page.get_by_role("button", name="Try again").click()
    expect(answer(page).locator(".cm-editor")).to_be_visible()


def test_a_second_tab_is_read_only(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["light"])
    person.open(PRACTISE)
    second = person.context.new_page()
    second.goto(person.page.url)
    expect(second.locator(".practise-kept")).to_contain_text("open in another tab")
    content = answer(second).locator(".cm-content")
    content.focus()
    second.keyboard.type("# not here")
    expect(content).not_to_contain_text("# not here")
    second.get_by_role("button", name="Work here instead").click()
    expect(person.page.locator(".practise-kept")).to_contain_text("open in another tab")
    content.focus()
    second.keyboard.type("# here")
    expect(content).to_contain_text("# here")


@pytest.mark.parametrize("scripts", [True, False])
def test_on_paper_and_without_scripts_the_static_code_is_shown(
    reader: Callable[..., Reader], scripts: bool
) -> None:
    page = reader(**MODES["light"], java_script_enabled=scripts).open(PRACTISE)
    if scripts:
        expect(answer(page).locator(".cm-editor")).to_be_visible()
        page.emulate_media(media="print")
    expect(answer(page).locator(".highlight")).to_be_visible()
    expect(answer(page, "read_the_heatmap").locator("p")).to_be_visible()
    for hidden in (".cm-editor", ".practise-cell button", ".practise-hint", "textarea"):
        expect(page.locator(hidden).filter(visible=True)).to_have_count(0)
