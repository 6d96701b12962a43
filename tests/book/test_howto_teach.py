"""Test that the numbers on the page about planning a term match the course."""

import re

import pytest
from course_reading import in_fives
from site_tools import ROOT

from autograder.exercise.model import Kind
from exercises import COURSE
from solutions.running.reporting import read_measured

PAGE = (ROOT / "book" / "howto_teach.md").read_text(encoding="utf-8")
NUMBER = {name: number for number, name in enumerate(COURSE, start=1)}
CORE = {Kind.IMPLEMENT, Kind.DEBUG, Kind.TEST}  # as in howto_student.md
QUESTIONS = "A question to discuss in each chapter"


def rows(*head: str) -> list[list[str]]:
    """Return the rows of every table of the page with this heading row."""
    rows, in_table = [], False
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            in_table = False
        elif in_table and set(line) - set("|-"):
            rows.append(cells)
        else:
            in_table = in_table or cells == list(head)
    return rows


PLANNED = rows("Week", "Chapter", "Assignment", "Due", "Core", "All")


def needed(chapter: str) -> set[int]:
    """Return the numbers of the chapters that a chapter names as prerequisites."""
    text = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
    opening = re.search(r"```\{takes\}.*?\n```", text, re.DOTALL)[0]
    [sentence] = [line for line in opening.splitlines() if line.startswith("You need")]
    named = re.findall(r"[Cc]hapters? (\d+)(?: and (\d+))?", sentence)
    return {int(number) for pair in named for number in pair if number}


def test_each_week_has_one_lecture_and_every_plan_exists() -> None:
    weeks = [int(week) for week, *_ in PLANNED]
    assert weeks == [*range(1, 13), *range(1, 6)]
    twelve = [int(chapter) for _, chapter, *_ in PLANNED[:12]]
    assert twelve == [number for number in NUMBER.values() if number != 3]


@pytest.mark.parametrize("row", PLANNED, ids=lambda row: f"{row[2]}-{row[0]}")
def test_the_minutes_of_a_plan_are_those_of_the_exercises(row: list[str]) -> None:
    week, chapter, name, due, core, total = row
    assignment = COURSE[name.strip("`")]
    written = sum(question.minutes for question in assignment.written)
    in_core = sum(exercise.minutes for exercise in assignment.exercises if exercise.kind in CORE)
    assert int(core) == in_fives(in_core + written)
    assert int(total) == in_fives(
        sum(exercise.minutes for exercise in assignment.exercises) + written
    )
    assert int(chapter) == NUMBER[assignment.name]
    assert int(due) > int(week)


def test_chapters_build_on_the_chapters_that_they_name() -> None:
    stated = {
        int(chapter): set() if builds_on == "none" else {int(name) for name in builds_on.split(",")}
        for chapter, builds_on, _ in rows("Chapter", "Builds on", "If you skip it")
    }
    assert stated == {number: needed(name) for name, number in NUMBER.items()}


def test_every_chapter_has_a_question_and_its_misconception() -> None:
    section = PAGE.split(f"## {QUESTIONS}")[1].split("\n## ")[0]
    items = re.findall(r"^(\d+)\. (.*)$", section, re.MULTILINE)
    assert [int(number) for number, _ in items] == list(NUMBER.values())
    assert [item for _, item in items if not re.search(r"\? \(\*[^*]+\*\)$", item)] == []


def test_the_stated_grading_times_are_the_measured_ones() -> None:
    measured = read_measured("grading")
    measurements = measured["assignments"]
    assert "64 right notebooks of chapter 4 took under ten seconds" in PAGE
    assert "64 of chapter 8 about half a minute" in PAGE
    assert "1,000 of chapter 4 under two minutes" in PAGE
    assert measured["submissions"] == 64
    assert measured["large_class"]["assignment"] == "self_attention"
    assert measurements["self_attention"]["seconds"] < 10
    assert 25 < measurements["transformer_block"]["seconds"] < 40
    assert 60 < measured["large_class"]["seconds"]["1000"] < 120
