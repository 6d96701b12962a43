"""Test the output of a build: one line that is updated, and permanent lines."""

from io import StringIO

import pytest
from course_build import progress
from course_build.progress import Screen
from rich.console import Console

THREE = {"one": 60.0, "two": None, "three": 120.0}


def screen(width: int = 200, terminal: bool = True) -> Screen:
    console = Console(
        file=StringIO(),
        force_terminal=terminal,
        width=width,
        color_system=None,
        legacy_windows=False,
    )
    screen_ = Screen(console)
    screen_.plan(dict.fromkeys(THREE, "code cell 1 changed"), THREE)
    return screen_


def drawn(display: Screen, width: int) -> str:
    """Return the one line that a terminal of that width shows."""
    text = StringIO()
    console = Console(file=text, force_terminal=True, width=width, color_system=None)
    console.print(display.status)
    (line,) = text.getvalue().splitlines()
    assert len(line) <= width
    return line


@pytest.mark.parametrize("width", [40, 80, 200])
def test_progress_line_shows_chapter_remaining_time_and_activity(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    display = screen()
    display.begin("one")
    display.end("one", "61 s")
    display.begin("two")
    now[0] += 60
    display.doing("seed 2: step 300 of 900, [bold]and so on for a while")
    line = drawn(display, width)
    assert "chapter 2 of 3, two" in line
    assert ("(3 min left in all): seed 2: step 300 of 900" in line) == (width >= 80)
    assert ("[bold]and so on" in line) == (width == 200)


def test_without_a_terminal_only_permanent_lines_are_shown() -> None:
    display = screen(terminal=False)
    with display:
        display.begin("one")
        display.doing("step 1 of 2")
        display.end("one", "61 s")
        display.end("two", "")
        display.begin("three")
        display.end("three", "failed\nbook/three.md:3, code cell 1: [no]")
    assert display.console.file.getvalue().splitlines() == [
        "one: code cell 1 changed",
        "two: code cell 1 changed",
        "three: code cell 1 changed",
        "chapter 1 of 3, one: 61 s",
        "chapter 3 of 3, three: failed",
        "book/three.md:3, code cell 1: [no]",
    ]


def test_pages_never_executed_get_no_time_estimate() -> None:
    display = Screen(Console(file=StringIO()))
    display.plan({"new": "it has no stored outputs"}, {"new": None})
    display.begin("new")
    assert drawn(display, 80).endswith("chapter 1 of 1, new: starting")
