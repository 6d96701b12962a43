"""What people see while the book is built: one line that moves, and lines that stay."""

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
    made = Screen(console)
    made.plan(dict.fromkeys(THREE, "code cell 1 changed"), THREE)
    return made


def drawn(made: Screen, width: int) -> str:
    """Return the one line that a terminal of that width shows."""
    console = Console(file=StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(made.status)
    (line,) = console.file.getvalue().splitlines()
    assert len(line) <= width
    return line


@pytest.mark.parametrize("width", [40, 80, 200])
def test_progress_line_shows_chapter_remaining_time_and_activity(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    made = screen()
    made.begin("one")
    made.end("one", "61 s")
    made.begin("two")
    now[0] += 60
    made.doing("seed 2: step 300 of 900, [bold]and so on for a while")
    line = drawn(made, width)
    assert "chapter 2 of 3, two" in line
    assert ("(3 min left in all): seed 2: step 300 of 900" in line) == (width >= 80)
    assert ("[bold]and so on" in line) == (width == 200)


def test_without_a_terminal_only_permanent_lines_are_shown() -> None:
    made = screen(terminal=False)
    with made:
        made.begin("one")
        made.doing("step 1 of 2")
        made.end("one", "61 s")
        made.end("two", "")
        made.begin("three")
        made.end("three", "failed\nbook/three.md:3, code cell 1: [no]")
    assert made.console.file.getvalue().splitlines() == [
        "one: code cell 1 changed",
        "two: code cell 1 changed",
        "three: code cell 1 changed",
        "chapter 1 of 3, one: 61 s",
        "chapter 3 of 3, three: failed",
        "book/three.md:3, code cell 1: [no]",
    ]


def test_pages_never_executed_get_no_time_estimate() -> None:
    made = Screen(Console(file=StringIO()))
    made.plan({"new": "it has no stored outputs"}, {"new": None})
    made.begin("new")
    assert drawn(made, 80).endswith("chapter 1 of 1, new: starting")
