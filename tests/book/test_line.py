"""What people see while the book is built: one line, or a plain line for each chapter."""

from io import StringIO

import pytest
from course_build.line import Progress, Screen
from rich.console import Console

NINE = {f"chapter_{letter}": None for letter in "abcdefgh"} | {"a_chapter_with_a_long_name": None}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def planned(clock: Clock, chapters: dict[str, float | None], at_once: int = 1) -> Progress:
    progress = Progress(clock)
    progress.update("plan", chapters=dict(chapters), reasons={}, at_once=at_once)
    return progress


def drawn(progress: Progress, width: int) -> str:
    """Return the one line that a terminal of that width shows."""
    console = Console(file=StringIO(), force_terminal=True, width=width, color_system=None)
    console.print(progress)
    (line,) = console.file.getvalue().splitlines()
    assert len(line) <= width
    return line


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_line_says_which_chapter_what_it_does_and_how_long_yet(
    clock: Clock, width: int
) -> None:
    progress = planned(clock, dict.fromkeys(NINE, 120.0))
    for name in list(NINE)[:-1]:
        progress.update("begun", chapter=name)
        progress.update("done", chapter=name, seconds=120.0)
    progress.update("begun", chapter="a_chapter_with_a_long_name")
    progress.update(
        "doing", chapter="a_chapter_with_a_long_name", text="seed 2: step 300 of 900, and so on"
    )
    clock.now += 40
    line = drawn(progress, width)
    assert line.startswith("chapter 9 of 9, a_chapter_with_a_long_name: s")
    assert line.endswith(" 80 s left")
    assert ("seed 2: step 300 of 900" in line) == (width > 60)


@pytest.mark.parametrize("width", [20, 60])
def test_a_message_that_is_too_long_or_holds_markup_takes_one_line(
    clock: Clock, width: int
) -> None:
    progress = planned(clock, NINE)
    progress.update("begun", chapter="chapter_b")
    progress.update("doing", chapter="chapter_b", text="[bold]mean[/] [3, 4] " * 30)
    assert "…" in drawn(progress, width)
    if width == 60:
        assert "chapter 2 of 9, chapter_b: [bold]mean" in drawn(progress, width)


def test_time_left_is_not_invented(clock: Clock) -> None:
    progress = planned(clock, {"one": None, "two": None, "three": None})
    progress.update("begun", chapter="one")
    clock.now += 30
    assert drawn(progress, 80).endswith("30 s so far")
    progress.update("done", chapter="one", seconds=30.0)
    progress.update("begun", chapter="two")
    assert drawn(progress, 80).endswith("60 s left"), "two more of the mean"
    clock.now += 300
    assert drawn(progress, 80).endswith("30 s left"), "a chapter that is late takes no time away"


def test_time_left_of_chapters_side_by_side(clock: Clock) -> None:
    progress = planned(clock, {"one": 60.0, "two": 60.0, "three": 60.0, "four": 60.0}, at_once=2)
    progress.update("begun", chapter="one")
    progress.update("begun", chapter="two")
    assert progress.seconds_left() == 120
    clock.now += 60
    progress.update("done", chapter="one", seconds=60.0)
    progress.update("failed", chapter="two", text="two.md:3: no")
    progress.update("unchanged", chapter="three")
    assert progress.seconds_left() == 60, "one chapter has the cores of one"


def test_the_line_names_the_chapter_that_spoke_last(clock: Clock) -> None:
    progress = planned(clock, {"one": None, "two": None}, at_once=2)
    progress.update("begun", chapter="one")
    progress.update("begun", chapter="two")
    progress.update("doing", chapter="one", text="seed 1")
    assert drawn(progress, 80).startswith("chapter 1 of 2, one and 1 more: seed 1 ")
    progress.update("done", chapter="one", seconds=1.0)
    assert drawn(progress, 80).startswith("chapter 2 of 2, two: ")


EVENTS = (
    {
        "event": "plan",
        "chapters": {"first": 3.0, "captioning": None},
        "reasons": {"first": "code cell 2 changed"},
        "at_once": 1,
    },
    {"event": "begun", "chapter": "first"},
    {"event": "doing", "chapter": "first", "text": "cell 1 of 3"},
    {"event": "done", "chapter": "first", "seconds": 117.6},
    {"event": "begun", "chapter": "captioning"},
    {"event": "failed", "chapter": "captioning", "text": "captioning.md:3, code cell 1: no " * 9},
    {"event": "pages"},
    {"event": "note", "text": "first: the chapter took long"},
)


def test_without_a_terminal_there_is_a_plain_line_for_each_chapter() -> None:
    console = Console(file=StringIO(), width=40)
    with Screen(console, Progress()) as screen:
        for event in EVENTS:
            screen.update(**event)
    assert console.file.getvalue().splitlines() == [
        "first: code cell 2 changed",
        "chapter 1 of 2, first: 118 s",
        "chapter 2 of 2, captioning: failed",
        "captioning.md:3, code cell 1: no " * 9,
        "first: the chapter took long",
    ]


@pytest.mark.parametrize("width", [60, 80])
def test_on_a_terminal_only_what_went_wrong_stays(width: int) -> None:
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    with Screen(console, Progress()) as screen:
        for event in EVENTS:
            screen.update(**event)
        screen.live.refresh()
    shown = console.file.getvalue()
    assert "writing the pages" in shown
    assert "captioning.md:3, code cell 1: no" in shown
    assert "first: the chapter took long" in shown
    assert "118 s" not in shown
