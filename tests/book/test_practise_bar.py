"""Test the bar of a practise page in Chromium: storage, a second tab, notebooks, progress."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import classroom
import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect
from site_tools import MODES, ROOT, Reader, serving

WEB = ROOT / "book" / "_web"
CELL = "row_mean"
ANSWER = classroom.MEAN_SUM
DATA = {
    "assignment": "toy",
    "title": "A toy",
    "exercises": [{"name": "row_mean"}, {"name": "scale"}],
    "written": [{"name": "why"}],
}

PRACTISE = """\
<!doctype html><html lang="en"><head><title>Practise</title><meta charset="utf-8"></head>
<body data-page="practise/toy"><main><h1>Practise</h1>
<ul><li data-page="practise/toy" data-exercises="2"><a href="#">Practise</a></li></ul>
<div class="practise-bar"></div><label>row_mean <textarea id="row_mean"></textarea></label></main>
<script type="module">
import "./progress.mjs";
import { AnswerStore } from "./practise/answers.mjs";
import { makeBar } from "./practise/bar.mjs";
const released = await (await fetch("toy.ipynb")).json();
const store = new AnswerStore("toy", "1", released);
const box = document.querySelector("textarea");
const show = () => { box.value = store.source("row_mean"); };
const lock = () => { box.readOnly = store.state === "elsewhere"; };
box.addEventListener("input", () => store.set("row_mean", box.value));
store.on("state", lock);
show();
makeBar(document.querySelector(".practise-bar"), { store, released, data: DATA, onReplaced: show });
window.store = store;
</script></body></html>
"""

CHAPTER = """\
<!doctype html><html lang="en"><head><title>Toy</title><meta charset="utf-8"></head>
<body data-page="toy"><main><h1>Toy</h1>
<ul><li data-page="practise/toy" data-exercises="2"><a href="#">Practise</a></li></ul>
<div class="parts"><div class="part"><ul><li data-page="toy" data-quizzes="1" data-exercises="3">
</li></ul><div></div></div></div>
<div class="assignment"><ul><li><p><code>row_mean</code>: 2 points</p></li>
<li><p><code>scale</code>: 3 points</p></li><li><p>a written question</p></li></ul></div></main>
<script type="module" src="progress.mjs"></script></body></html>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("practise")
    for file in WEB.glob("*.mjs"):
        shutil.copy(file, folder)
    shutil.copytree(WEB / "practise", folder / "practise")
    nbformat.write(classroom.released(), folder / "toy.ipynb")
    page = PRACTISE.replace("DATA", json.dumps(DATA))
    (folder / "practise.html").write_text(page, encoding="utf-8")
    (folder / "chapter.html").write_text(CHAPTER, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def practise_address(folder: Path) -> Iterator[str]:
    with serving(folder) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(**MODES["light"])
    yield context
    context.close()


@pytest.fixture
def tab(context: BrowserContext, practise_address: str) -> Callable[..., Page]:
    def open_tab(name: str = "practise.html") -> Page:
        reader = Reader(context, practise_address)
        return reader.open(name)

    return open_tab


def kept(page: Page) -> str:
    return page.evaluate(
        "() => JSON.parse(localStorage['course:practise:toy'] ?? '{}').sources?.row_mean"
    )


def test_typed_text_survives_leaving_immediately(tab: Callable[..., Page]) -> None:
    page = tab()
    page.locator("textarea").fill(ANSWER)
    page.reload()
    expect(page.locator("textarea")).to_have_value(ANSWER)
    expect(page.locator(".practise-progress")).to_have_text(
        "0 of 2 right, 1 tried; 0 of 1 written answers"
    )
    expect(page.locator(".practise-kept")).to_contain_text("kept in this browser")


def test_a_second_tab_is_notified_and_can_take_over(tab: Callable[..., Page]) -> None:
    first, second = tab(), tab()
    expect(second.locator(".practise-kept")).to_contain_text("open in another tab")
    expect(second.locator("textarea")).not_to_be_editable()
    expect(second.get_by_label("Open a notebook...")).to_be_disabled()
    first.locator("textarea").fill("typed in the first")
    expect(second.locator("textarea")).to_have_value("typed in the first")
    first.locator("textarea").fill("typed and not yet written")
    second.get_by_role("button", name="Work here instead").click()
    expect(second.locator("textarea")).to_be_editable()
    expect(second.locator("textarea")).to_have_value("typed and not yet written")
    expect(first.locator("textarea")).not_to_be_editable()
    second.locator("textarea").fill("second")
    expect(first.locator("textarea")).to_have_value("second")
    second.close()
    expect(first.locator("textarea")).to_be_editable()
    assert kept(first) == "second"


def test_answers_are_downloaded_and_opened_again(
    tab: Callable[..., Page], folder: Path, tmp_path: Path
) -> None:
    page = tab()
    with page.expect_download() as empty:
        page.get_by_role("button", name="Download as notebook").click()
    empty.value.save_as(tmp_path / "empty.ipynb")
    assert empty.value.suggested_filename == "toy.ipynb"
    assert (tmp_path / "empty.ipynb").read_bytes() == (folder / "toy.ipynb").read_bytes()

    page.locator("textarea").fill(ANSWER)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as notebook").click()
    download.value.save_as(tmp_path / "mine.ipynb")
    message, chooser = page.locator(".practise-said"), page.get_by_label("Open a notebook...")
    chooser.set_input_files(tmp_path / "empty.ipynb")
    expect(message).to_have_text("empty.ipynb was opened: no exercise has been started in it.")
    expect(page.locator("textarea")).to_have_value(ANSWER)

    dialogs: list[str] = []
    page.once("dialog", answering(dialogs, accept=False))
    page.locator("textarea").fill("other")
    chooser.set_input_files(tmp_path / "mine.ipynb")
    expect(message).to_contain_text("Nothing was changed")
    expect(page.locator("textarea")).to_have_value("other")
    assert dialogs == ["1 answer here differs from that in mine.ipynb: row_mean. Replace it?"]
    page.once("dialog", lambda dialog: dialog.accept())
    chooser.set_input_files(tmp_path / "mine.ipynb")
    expect(message).to_have_text("mine.ipynb was opened: 1 answer.")
    expect(page.locator("textarea")).to_have_value(ANSWER)
    assert kept(page) == ANSWER


def test_unreadable_files_are_reported_and_change_nothing(
    tab: Callable[..., Page], tmp_path: Path
) -> None:
    page = tab()
    page.locator("textarea").fill(ANSWER)
    (tmp_path / "large.ipynb").write_bytes(b" " * 10 * 2**20)
    (tmp_path / "cut.ipynb").write_text('{"cells": [')
    said, chooser = page.locator(".practise-said"), page.get_by_label("Open a notebook...")
    for name, message in {"large": "10 MB or more", "cut": "damaged or cut off"}.items():
        chooser.set_input_files(tmp_path / f"{name}.ipynb")
        expect(said).to_contain_text(f"{name}.ipynb: ")
        expect(said).to_contain_text(message)
    expect(page.locator("textarea")).to_have_value(ANSWER)


def test_old_answers_are_kept_aside_and_named(tab: Callable[..., Page]) -> None:
    page = tab()
    old = json.dumps({"edition": "0", "sources": {"gone": "def gone(): <b>"}})
    page.evaluate("(old) => localStorage.setItem('course:practise:toy', old)", old)
    page.reload()
    page.get_by_text("Kept aside: gone").click()
    expect(page.locator(".practise-aside pre")).to_have_text("def gone(): <b>")


def test_progress_shows_everywhere_at_once_and_is_deleted_everywhere(
    tab: Callable[..., Page],
) -> None:
    page, chapter = tab(), tab("chapter.html")
    line = chapter.locator(".assignment li").first
    page.locator("textarea").fill(ANSWER)
    expect(line).to_contain_text("(tried)")
    page.evaluate("() => store.noteCheck('row_mean', true)")
    expect(line.locator("input")).to_be_checked()
    expect(line).not_to_contain_text("(tried)")
    for tab_page in (page, chapter):
        expect(tab_page.locator("li[data-page='practise/toy']")).to_contain_text("1 of 2")
    expect(page.locator(".practise-progress")).to_contain_text("1 of 2 right;")
    expect(chapter.locator(".part-done")).to_contain_text("done 1 of 3 exercises")
    chapter.locator(".assignment input").nth(1).check()
    expect(page.locator(".practise-progress")).to_contain_text("2 of 2 right")
    expect(page.locator("li[data-page='practise/toy']")).to_contain_text("2 of 2")

    with chapter.expect_download() as download:
        chapter.get_by_role("button", name="Export my progress").click()
    exported = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert exported["practise:toy"]["sources"] == {CELL: ANSWER}

    dialogs: list[str] = []
    chapter.once("dialog", answering(dialogs, accept=True))
    chapter.get_by_role("button", name="Delete it").click()
    assert "the answers that you have typed" in dialogs[0]
    expect(page.locator(".practise-kept")).to_contain_text("were deleted in another tab")
    expect(page.locator("textarea")).to_have_value(ANSWER)
    expect(page.locator("li[data-page='practise/toy']")).not_to_contain_text("2 of 2")
    assert chapter.evaluate("() => localStorage.length") == 0


def test_my_answers_are_deleted_with_their_ticks_after_asking(tab: Callable[..., Page]) -> None:
    page = tab()
    page.locator("textarea").fill(ANSWER)
    page.evaluate("() => store.noteCheck('row_mean', true)")
    wipe = page.get_by_role("button", name="Delete my answers")
    page.once("dialog", lambda dialog: dialog.dismiss())
    wipe.click()
    assert kept(page) == ANSWER
    page.once("dialog", lambda dialog: dialog.accept())
    wipe.click()
    expect(page.locator("textarea")).to_have_value(classroom.STUBS[CELL])
    expect(page.locator(".practise-progress")).to_contain_text("0 of 2 right;")
    assert page.evaluate("() => localStorage.length") == 0


def test_forbidden_storage_is_reported_and_the_download_works(
    context: BrowserContext, tab: Callable[..., Page]
) -> None:
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } });"
    )
    page = tab()
    expect(page.locator(".practise-kept")).to_contain_text("does not let the site store anything")
    page.locator("textarea").fill(ANSWER)
    page.evaluate("() => store.noteCheck('row_mean', true)")
    expect(page.locator(".practise-progress")).to_contain_text("1 of 2 right;")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as notebook").click()
    notebook = nbformat.read(download.value.path(), as_version=4)
    assert ANSWER in [cell.source for cell in notebook.cells]


def test_the_bar_has_accessible_names(context: BrowserContext, practise_address: str) -> None:
    reader = Reader(context, practise_address)
    page = reader.open("practise.html")
    assert reader.violations(page) == []
    assert reader.errors == []


def answering(dialogs: list[str], accept: bool) -> Callable[[Dialog], None]:
    """Return a handler that appends the message of a dialog to `dialogs`, then closes it."""

    def answer(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.accept() if accept else dialog.dismiss()

    return answer
