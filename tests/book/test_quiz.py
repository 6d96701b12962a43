"""Every quiz of the site: by mouse, by keyboard, and without JavaScript."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader


@pytest.fixture(scope="module")
def quiz_pages(site: Path) -> list[str]:
    """The pages that have a quiz."""
    marked = '<fieldset class="quiz"'
    names = [p.name for p in sorted(site.glob("*.html")) if marked in p.read_text("utf-8")]
    assert names, "no page of the site has a quiz"
    return names


def quizzes(page: Page) -> list[Locator]:
    return page.locator("fieldset.quiz").all()


def check(quiz: Locator) -> Locator:
    return quiz.get_by_role("button", name="Check my answer")


def reason(quiz: Locator, choice: Locator) -> Locator:
    return quiz.locator(f".quiz-key [data-choice={choice.get_attribute('value')}]")


CHOICES = """(quiz) => [...quiz.querySelectorAll("input[type=radio]")].map((choice) => {
    const reason = quiz.querySelector(`.quiz-key [data-choice=${choice.value}]`);
    return [choice.id, reason.textContent, reason.dataset.verdict]; })"""
"""The identity of each choice, its reason and its verdict, asked for all at once."""


@pytest.mark.parametrize("mode", ["dark", "phone"])  # the phone reads in light
def test_each_choice_gets_its_reason_by_mouse(
    mode: str, quiz_pages: list[str], reader: Callable[..., Reader]
) -> None:
    person = reader(**MODES[mode])
    for name in quiz_pages:
        page = person.open(name)
        for quiz in quizzes(page):
            key, feedback = quiz.locator(".quiz-key"), quiz.get_by_role("status")
            expect(key).to_be_hidden()
            found = False
            for identity, text, verdict in quiz.evaluate(CHOICES):
                quiz.locator(f"label[for={identity}]").click()
                expect(feedback).to_be_empty()
                check(quiz).click()
                expect(feedback).to_have_text(text)
                found |= verdict == "right"
                expect(key).to_be_visible(visible=found)
            key.locator("summary").click()
        # Of the rest of the page, which no answer changes, test_pages asks.
        assert person.violations(page, "fieldset.quiz") == []
    assert person.errors == []


def test_by_keyboard(quiz_pages: list[str], reader: Callable[..., Reader]) -> None:
    page = reader(**MODES["light"]).open(quiz_pages[0])
    for quiz in quizzes(page):
        choices = quiz.get_by_role("radio").all()
        button, feedback = check(quiz), quiz.get_by_role("status")
        choices[0].focus()
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
        expect(choices[1]).to_be_checked()
        page.keyboard.press("Tab")
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        expect(feedback).to_have_text(reason(quiz, choices[1]).text_content() or "")


def test_nothing_chosen_yet(quiz_pages: list[str], reader: Callable[..., Reader]) -> None:
    quiz = quizzes(reader(**MODES["light"]).open(quiz_pages[0]))[0]
    check(quiz).click()
    expect(quiz.get_by_role("status")).to_have_text("Choose an answer first.")


def test_question_and_answer_key_without_javascript(
    quiz_pages: list[str], reader: Callable[..., Reader]
) -> None:
    person = reader(java_script_enabled=False, **MODES["light"])
    for name in quiz_pages:
        page = person.context.new_page()
        page.goto(f"{person.address}/{name}")
        for quiz in quizzes(page):
            expect(quiz.locator("legend")).to_be_visible()
            expect(quiz.get_by_role("button")).to_have_count(0)
            key = quiz.locator(".quiz-key")
            key.locator("summary").click()
            reasons = key.locator("li").all()
            assert len(reasons) == quiz.get_by_role("radio").count() >= 2
            for item in reasons:
                expect(item.locator("p").first).to_be_visible()
            expect(key.locator("li[data-verdict=right]")).to_have_count(1)
        page.close()
