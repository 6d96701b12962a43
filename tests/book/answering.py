"""Answer every choice of a page's quizzes by mouse, and open what predictions hide."""

from dataclasses import dataclass
from typing import TypeAlias

from playwright.sync_api import ElementHandle, Page

CHOICES = """(quiz) => [...quiz.querySelectorAll("input[type=radio]")].map((choice) => {
    const reason = quiz.querySelector(`.quiz-key [data-choice=${choice.value}]`);
    return [choice.id, reason.textContent, reason.dataset.verdict]; })"""
"""Return the identifier, the reason and the verdict of each choice."""

POINT = """(quiz, part) => {
    const element = quiz.querySelector(part);
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const { x, y, width, height } = element.getClientRects()[0];
    return [x + width / 2, y + height / 2]; }"""
"""Bring a part of a quiz into view and return the middle of its first line."""

SEEN = """(quiz) => [
    quiz.querySelector("[role=status]").textContent,
    quiz.querySelector(".quiz-key").checkVisibility()]"""

Seen: TypeAlias = list[object]
"""The feedback that a quiz shows, and whether its answer key is open."""


@dataclass(frozen=True)
class Answer:
    """The state of a quiz after a choice was made, after it was checked, and as it should be."""

    choice: str
    made: Seen
    checked: Seen
    right: tuple[Seen, Seen]

    @property
    def wrong(self) -> bool:
        return (self.made, self.checked) != self.right


def answer_all(page: Page) -> list[Answer]:
    """Make and check every choice of every quiz, then open the answer key."""
    answers = []
    for quiz in page.query_selector_all("fieldset.quiz"):
        solved = False
        for identity, reason, verdict in quiz.evaluate(CHOICES):
            made = press(page, quiz, f"label[for={identity}]")
            checked = press(page, quiz, ".quiz-check")
            before, solved = solved, solved or verdict == "right"
            right = (["", before], [reason, solved])
            answers.append(Answer(identity, made, checked, right))
        if quiz.evaluate(SEEN)[1]:
            press(page, quiz, ".quiz-key summary")
    return answers


def open_predictions(page: Page) -> None:
    """Open what the predictions of a page hide, so that it can be checked."""
    page.evaluate(
        "() => document.querySelectorAll('.predict-skip').forEach((node) => node.click())"
    )


def press(page: Page, quiz: ElementHandle, part: str) -> Seen:
    """Click a visible part of a quiz, whatever covers it, and return what the quiz then shows."""
    page.mouse.click(*quiz.evaluate(POINT, part))
    return quiz.evaluate(SEEN)
