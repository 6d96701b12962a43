"""Test the reader's progress: stored in the browser, summed up, exported, deleted."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from site_tools import MODES, Reader


def read_to_the_end(page: Page) -> None:
    page.locator(".onward").scroll_into_view_if_needed()
    expect(page.locator(".contents [data-page='alignment'][data-read]")).to_have_count(1)


def test_a_page_counts_as_read_at_its_end_and_not_before(reader: Callable[..., Reader]) -> None:
    page = reader(**MODES["light"]).open("alignment.html")
    expect(page.locator(".contents [data-read]")).to_have_count(0)
    read_to_the_end(page)
    page.reload()
    expect(page.locator(".contents [data-read]")).to_have_count(1)


def test_the_front_page_sums_up_the_progress(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["phone"])
    page = person.open("alignment.html")
    read_to_the_end(page)
    page.locator(".assignment input").first.check()
    page.reload()
    expect(page.locator(".assignment input").first).to_be_checked()
    page = person.open("index.html")
    part = page.locator(".part").first
    expect(part).to_contain_text("You have read 1 of 3, answered 0 of")
    expect(part).to_contain_text("and done 1 of")
    assert person.violations(page) == []


def test_a_right_answer_counts_and_a_wrong_one_does_not(reader: Callable[..., Reader]) -> None:
    person = reader(**MODES["light"])
    page = person.open("self_attention.html")
    quiz = page.locator("#quiz-self-attention-rows")
    for choice in (0, 1):  # the second choice is right
        quiz.locator("input").nth(choice).check()
        quiz.get_by_role("button").click()
        stored = page.evaluate("() => Object.keys(localStorage).filter((key) => /quiz/.test(key))")
        assert len(stored) == choice
    expect(person.open("index.html").locator(".part").nth(1)).to_contain_text("answered 1 of")


def test_progress_can_be_exported_and_deleted(
    reader: Callable[..., Reader], tmp_path: Path
) -> None:
    person = reader(**MODES["light"])
    read_to_the_end(person.open("alignment.html"))
    page = person.open("index.html")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export my progress").click()
    download.value.save_as(tmp_path / "progress.json")
    assert list(json.loads((tmp_path / "progress.json").read_text())) == ["read:alignment"]
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator(".part-done")).to_have_count(0)
    assert page.evaluate("() => localStorage.length") == 0
