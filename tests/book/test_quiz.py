"""Test the quizzes by keyboard and without JavaScript; test_pages answers them by mouse."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect
from site_tools import MODES, Reader


def quizzes(page: Page) -> list[Locator]:
    return page.locator("fieldset.quiz").all()


def check(quiz: Locator) -> Locator:
    return quiz.get_by_role("button", name="Check my answer")


def reason(quiz: Locator, choice: Locator) -> Locator:
    return quiz.locator(f".quiz-key [data-choice={choice.get_attribute('value')}]")


def test_a_quiz_works_by_keyboard(quiz_pages: list[str], reader: Callable[..., Reader]) -> None:
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


def test_a_check_without_a_choice_is_reported(
    quiz_pages: list[str], reader: Callable[..., Reader]
) -> None:
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
