"""Test the output of `autograder grade`: correct, and readable at any width and in a log."""

import re
from collections import Counter
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from autograder.course.journal import Row
from autograder.course.plaintext import MOST_NAMES
from autograder.grading.grade import Report, Waiting
from autograder.grading.grades_table import LOOK, MISTAKES, one_by_one, overview
from autograder.judging.verdict import Verdict
from autograder.nbgrader.scores import Score

WIDTHS = (60, 80, 120, 200)
INDENT = 14  # of continuation lines below a label
ASSIGNMENTS = [
    "alignment",
    "attention_between_two_sequences_of_unequal_lengths_and_its_cost",
    "captioning",
    "context_bottleneck",
    "efficient-attention",
    "interpretability_of_heads",
    "multi_head",
    "positions",
    "pretraining",
    "queries_keys_values",
    "self_attention",
    "transformer_block",
]
EXERCISES = [
    "softmax",
    "scaled_dot_product_attention_with_a_mask_for_every_sentence_of_the_batch",
    "FeedForward",
]
FIRST_NAMES = ["ann", "Bartholomäus van der Wolkenstein-Trostburg", "c3po", "李小龙"]
OUTCOMES = [
    (Verdict.PASS, None),
    (Verdict.WRONG_VALUE, "the mask of the decoder passed on to the encoder, and the other way"),
    (Verdict.WRONG_SHAPE, None),
    (Verdict.MISSING, None),
    (Verdict.PASS, None),
    (Verdict.TIMEOUT, None),
    (Verdict.WRONG_VALUE, "columns_normalised-for-rows"),
    (Verdict.GRADER_FAULT, None),
    (Verdict.PASS, None),
    (Verdict.EXCEPTION, None),
    (Verdict.MALFORMED, None),
]


def _row(student, assignment, exercise, verdict="PASS", misconception=None, points=2, message="m"):
    gained = points if verdict == "PASS" else 0
    return Row(student, assignment, exercise, verdict, gained, points, misconception, message)


def _report(rows, waiting=(), scores=()):
    waiting = tuple(Waiting(*entry) for entry in waiting)
    return Report(tuple(rows), waiting, tuple(scores), (), 1, 0, ())


def _score(student, assignment, handed_in=True):
    """Return a score; the table only uses whether the assignment was handed in."""
    unknown = dict.fromkeys(("last_name", "first_name", "email", "platform_id", "timestamp"))
    numbers = dict.fromkeys(
        ("late_seconds", "raw_score", "late_penalty", "max_score", "waiting"), 0
    )
    return Score(
        student=student,
        assignment=assignment,
        handed_in=handed_in,
        outdated=(),
        **unknown,
        **numbers,
    )


def _class(size):
    """Return a report on `size` students with twelve assignments each and varied outcomes."""
    rows, waiting = [], []
    for number in range(size):
        student = f"{FIRST_NAMES[number % 4]}-{number:03}"
        for place, assignment in enumerate(ASSIGNMENTS):
            for turn, exercise in enumerate(EXERCISES):
                outcome = OUTCOMES[(number * (place + 1) + turn * place) % len(OUTCOMES)]
                rows.append(_row(student, assignment, exercise, *outcome, points=turn + 1))
            waiting.append((student, assignment, (number + place) % 3))
    return _report(rows, waiting)


def _shown(renderable, width=5000, **options):
    console = Console(width=width, file=StringIO(), **options)
    console.print(renderable)
    return console.file.getvalue()


def _numbers(report, assignment):
    """Return the overview cells of `assignment`, computed independently from the rows."""
    submissions = {}
    for row in report.rows:
        if row.assignment == assignment:
            submissions.setdefault(row.student, []).append(row)
    judged = [s for s in submissions.values() if all(r.verdict != "GRADER_FAULT" for r in s)]
    points = sum(row.points for rows in judged for row in rows) / max(len(judged), 1)
    cells = [f"{len(judged)}"]
    if len(judged) < len(submissions):
        cells += ["of", f"{len(submissions)}"]
    cells += [f"{points:.1f}/6", f"{100 * points / 6:.0f}%"] if judged else ["none"]
    waiting = sum(entry.answers for entry in report.waiting if entry.assignment == assignment)
    look = {"GRADER_FAULT", "TIMEOUT", "MALFORMED"}
    needed = sum(
        any(r.verdict in look for r in rows) or all(r.verdict == "MISSING" for r in rows)
        for rows in submissions.values()
    )
    return cells + [str(number) for number in (waiting, needed) if number]


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("view", [overview, one_by_one])
def test_words_break_only_if_too_long_and_lines_fit_the_width(view, size):
    report = _class(size)
    words = _shown(view(report)).split()
    for width in (36, *WIDTHS):
        shown = _shown(view(report), width)
        assert max(map(cell_len, shown.splitlines())) <= width
        assert "".join(shown.split()) == "".join(words)
        whole = Counter(word for word in words if cell_len(word) <= width - INDENT)
        assert whole <= Counter(shown.split())


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("view", [overview, one_by_one])
def test_terminal_and_log_show_the_same_lines_without_frames(view, size):
    report = _class(size)
    log = _shown(view(report), 80)
    terminal = _shown(view(report), 80, force_terminal=True, color_system="standard")
    assert "\x1b[1m" in terminal
    assert re.sub("\x1b\\[[0-9;]*m", "", terminal) == log
    assert not re.search("[\u2500-\u259f\u2026]", log)


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_of_each_assignment_are_correct_and_aligned(width, size):
    report = _class(size)
    table = _shown(overview(report), width).partition("to mark  look at\n")[2]
    lines = [line for line in table.splitlines() if re.search("%|none", line)]
    for assignment, line in zip(ASSIGNMENTS, lines, strict=True):
        numbers = _numbers(report, assignment)
        assert line.split()[-len(numbers) :] == numbers
    assert len({line.index("%") for line in lines}) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_points_of_students_are_aligned(width):
    shown = _shown(one_by_one(_class(300)), width)
    points = [line for line in shown.splitlines() if re.search(r" \d/6", line)]
    assert len(points) == 300 * len(ASSIGNMENTS)
    assert len({cell_len(line[: line.index("/6")]) for line in points}) == 1


@pytest.mark.parametrize("size", [3, 300])
def test_one_by_one_lists_every_submission_with_its_points(size):
    report = _class(size)
    shown = _shown(one_by_one(report))
    groups = [part.splitlines() for part in shown.strip().split("\n\n")]
    students = list(dict.fromkeys(row.student for row in report.rows))
    assert [lines[0] for lines in groups] == (students if size == 3 else ASSIGNMENTS)
    for name in {*students, *ASSIGNMENTS}:
        assert name in shown
    points = [line for line in shown.splitlines() if re.search(r" \d/6", line)]
    assert len(points) == size * len(ASSIGNMENTS)
    total = sum(int(re.search(r" (\d)/6", line)[1]) for line in points)
    assert total == sum(row.points for row in report.rows)
    to_mark = sum(int(number) for number in re.findall(r"(\d) to mark", shown))
    assert to_mark == sum(entry.answers for entry in report.waiting)


def test_overview_of_a_large_class_shortens_lists_of_names():
    shown = _shown(overview(_class(300)), 80)
    assert len(shown.splitlines()) < 30 * len(ASSIGNMENTS)
    report = _report(_row(f"s{n:03}", "toy", "loop", "TIMEOUT") for n in range(MOST_NAMES + 12))
    named = ", ".join(f"s{n:03}" for n in range(MOST_NAMES))
    assert f"ran too long: {named} and 12 more\n" in _shown(overview(report))
    report = _report(_row(f"s{n:03}", "toy", "loop", "TIMEOUT") for n in range(MOST_NAMES))
    assert f"ran too long: {named}\n" in _shown(overview(report))


SMALL = _report(
    [
        _row("ann", "alpha", "row_mean"),
        _row("ann", "alpha", "scale", "WRONG_VALUE", "rows for columns", 3),
        _row("bob", "alpha", "row_mean", "TIMEOUT", message="It did not end within 10 s."),
        _row("bob", "alpha", "scale", "WRONG_VALUE", "rows for columns", 3),
        _row("cy", "alpha", "row_mean", "WRONG_DTYPE"),
        _row("cy", "alpha", "scale", "EXCEPTION", points=3),
        _row("dee", "alpha", "row_mean", "GRADER_FAULT", message="KeyError in the grader."),
        _row("dee", "alpha", "scale", points=3),
        _row("eve", "alpha", "row_mean", "MISSING"),
        _row("eve", "alpha", "scale", "MISSING", points=3),
        _row("ann", "beta", "mask"),
    ],
    [("ann", "alpha", 1), ("dee", "alpha", 2), ("ann", "beta", 0)],
)

OVERVIEW = """\
alpha
  mistakes  2 students: rows for columns (scale)
            1 student: wrong dtype (row_mean)
            1 student: raised an exception (scale)
  look at   the grader failed, see grader-faults.log: dee
            ran too long: bob
            no exercise answered: eve

       graded        mean  to mark  look at
alpha  4 of 5  0.5/5  10%        3        3
beta        1  2.0/2 100%

The mean counts the grader's points only, not the points
that you give. Answers to mark are waiting in the
formgrader. To list the students, name an assignment, or a
student with --student.
"""

ONE_BY_ONE = """\
alpha
  ann  2/5  1 to mark
    rows for columns (scale)
  bob  0/5
    ran too long (row_mean). It did not end within 10 s.
    rows for columns (scale)
  cy   0/5
    wrong dtype (row_mean)
    raised an exception (scale)
  dee  3/5  2 to mark
    the grader failed, see grader-faults.log (row_mean).
      KeyError in the grader.
  eve  0/5
    no answer (all exercises)

beta
  ann  2/2

"""


def test_small_class_is_printed_exactly():
    assert _shown(overview(SMALL), 60) == OVERVIEW
    assert _shown(one_by_one(SMALL), 60) == ONE_BY_ONE


def test_student_with_many_assignments_has_one_heading():
    report = _report(_row("ann", assignment, "mask") for assignment in ("alpha", "beta"))
    assert _shown(one_by_one(report)) == "ann\n  alpha  2/2\n  beta   2/2\n\n"
    report = _report([_row("ann", "alpha", "mask")])
    assert _shown(one_by_one(report)) == "alpha\n  ann  2/2\n\n"


def test_most_common_mistakes_are_sorted_and_ties_follow_the_exercises():
    mistakes = {
        "z first": ["zebra", "zebra", "mistake b", "mistake b", "mistake a"],
        "a second": ["yak", "mistake a", "mistake a", "mistake a", "mistake a"],
    }
    rows = [
        _row(f"s{number}", "toy", exercise, "WRONG_VALUE", mistakes[exercise][number])
        for number in range(5)
        for exercise in mistakes
    ]
    for order in (rows, rows[::-1]):
        shown = _shown(overview(_report(order)))
        listed_mistakes = re.findall(r"(\d) students?: (.*)", shown)
        tied = [("2", "mistake b (z first)"), ("2", "zebra (z first)")]
        assert listed_mistakes == [("4", "mistake a (a second)"), *tied]
    rows = [
        _row(f"s{number}", "toy", exercise, "WRONG_VALUE", "late" if "b" in exercise else "zoo")
        for number in range(2)
        for exercise in ("c", "b")
    ]
    listed_mistakes = re.findall(r"2 students: (.*)", _shown(overview(_report(rows))))
    assert listed_mistakes == ["zoo (c)", "late (b)"]


def test_grader_fault_is_left_out_of_the_mean():
    report = _report([_row("ann", "toy", "mask", "GRADER_FAULT")])
    assert re.search("toy +0 of 1 +none +1\n", _shown(overview(report)))


def test_every_verdict_has_a_description():
    assert {*LOOK, *MISTAKES} == {*Verdict} - {Verdict.PASS}
    assert not {*LOOK} & {*MISTAKES}
    for verdict in {*Verdict} - {Verdict.PASS}:
        words = (LOOK | MISTAKES)[verdict]
        for view in (overview, one_by_one):
            report = _report([_row("ann", "toy", "mask", verdict), _row("ann", "toy", "scale")])
            no_mistake = view is overview and verdict is Verdict.MISSING
            assert (words in _shown(view(report))) is not no_mistake


def test_student_text_cannot_control_the_terminal():
    name = "eve\x1b]0;owned\x07\u202e\n[bold]"
    rows = [
        _row(name, "toy", "row_mean", "WRONG_VALUE", "x\x1b[31m"),
        _row(name, "toy", "scale", "MALFORMED", message="y\x1b[32m\r:smile:"),
    ]
    for view in (overview, one_by_one):
        shown = _shown(view(_report(rows, [(name, "toy", 1)])), 200)
        assert "\\u001b]0;owned" in shown
        assert "x\\u001b[31m" in shown
        assert "[bold]" in shown
        assert all(char.isprintable() or char == "\n" for char in shown)
    assert "y\\u001b[32m\\u000d:smile:" in shown


def test_overlong_word_starts_a_new_line_and_breaks_at_its_end():
    rows = [_row("ann", "toy", "soft_maps", "WRONG_VALUE", "李小龙" * 3 + " internationally")]
    shown = _shown(one_by_one(_report(rows)), 16).splitlines()
    assert shown[2:7] == [
        "    李小龙李小",
        "      龙李小龙",
        "      internatio",
        "      nally (all",
        "      exercises)",
    ]


def test_every_student_without_a_submission_is_named():
    """Check a class where ann has handed in three assignments, and others one or none."""
    handed_in = [("ann", name) for name in ("a1", "a2", "a3")] + [("bob", "a1")]
    rows = [_row(student, name, "softmax") for student, name in sorted(handed_in)]
    for students in (("ann", "bob"), ("ann", "bob", "cay", "dan", "eve")):
        places = [(student, name) for student in students for name in ("a1", "a2", "a3")]
        scores = [_score(*place, handed_in=place in handed_in) for place in places]
        shown = _shown(one_by_one(_report(rows, scores=scores)))
        for student, name in set(places) - set(handed_in):
            parts = [part for part in shown.split("\n\n") if name in part and student in part]
            assert any("not handed in" in part for part in parts), (student, name, shown)
