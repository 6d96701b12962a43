"""Test that each fault of an exercise is reported, and that the smallest exercise has none."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from smallest import SMALLEST
from typer.testing import CliRunner

from autograder import cli
from autograder.commands.assignments import warn_of_unproved
from autograder.exercise.model import Assignment, Case
from autograder.proving.prove import obvious_problems, problems, try_changes
from exercises import COURSE


def as_reference(function):
    """Return `function` with the name and the docstring of the reference."""
    return functools.wraps(SMALLEST.reference)(function)


def median(x):
    return np.median(x, axis=1)


def means_of_floats(x):
    return x.mean(axis=1)


def with_wrong(**changes):
    first, *others = SMALLEST.misconceptions
    return replace(SMALLEST, misconceptions=(replace(first, **changes), *others))


def cases(*of, quote="the mean of each row of x: (m, n)"):
    def draw(rng):
        yield Case("these rows", (np.array(of, float),)).holds(quote)

    return draw


def integers(rng):
    yield Case("integers", (np.arange(6).reshape(2, 3),)).holds("Integers are as good as")


FAULTS = {
    "a wrong reference": (
        replace(SMALLEST, reference=as_reference(lambda x: x.sum(axis=1))),
        "The right answer `plain` fails on the public cases",
    ),
    "a reference that raises": (
        replace(SMALLEST, reference=as_reference(lambda x: x.absent)),
        "the reference raises AttributeError on the case 'two rows'",
    ),
    "a right answer that is wrong": (
        replace(SMALLEST, alternatives=(*SMALLEST.alternatives, median)),
        "The right answer `median` fails on",
    ),
    "a wrong answer that passes": (
        replace(SMALLEST, cases=cases([0, 0], [0, 0])),
        "The wrong answer “columns for rows” passes on the public cases. Add a case",
    ),
    "a mistake taken for another": (
        with_wrong(answer=SMALLEST.misconceptions[1].answer),
        "is rejected on the public cases, but not named",
    ),
    "no question": (with_wrong(hint=" "), "The wrong answer “columns for rows” asks no question."),
    "few right answers": (
        replace(SMALLEST, alternatives=SMALLEST.alternatives[:1]),
        "It has 1 right answers (`right`); it needs at least 3.",
    ),
    "no points": (replace(SMALLEST, points=0), "Points and minutes must be above 0"),
    "no help": (replace(SMALLEST, help=("", "b", "c")), "A stage of its `help` is empty."),
    "a wrong quote": (
        replace(SMALLEST, cases=cases([1, 2], [3, 5], quote="the medians")),
        "which occurs in the docstring 0 times, not once",
    ),
    "a sentence that no case holds": (
        replace(SMALLEST, hidden=cases([1, 2], [3, 5])),
        "this sentence of the docstring: “Integers are as good as floats.”",
    ),
    "hidden cases that are always the same": (
        replace(SMALLEST, hidden=integers),
        "The hidden cases are the same in two draws",
    ),
    "results that are all zeros": (
        replace(SMALLEST, cases=cases([-1, 1], [2, -2])),
        "An answer full of zeros earns points on the public cases.",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_an_exercise_is_reported(fault):
    exercise, text = FAULTS[fault]
    assert any(text in problem for problem in problems(exercise)), problems(exercise)


def test_smallest_exercise_has_no_problems():
    assert problems(SMALLEST) == []
    assert try_changes(SMALLEST).tried > 0


def test_obvious_problems_are_found_by_public_cases_alone():
    assert obvious_problems(SMALLEST) == []
    exercise, text = FAULTS["a wrong answer that passes"]
    assert any(text in problem for problem in obvious_problems(exercise))


def prove(*names):
    return CliRunner().invoke(cli.app, ["prove", *names])


def test_command_names_the_proved_exercise():
    result = prove("additive_scores")
    assert result.exit_code == 0, result.output
    assert "alignment.additive_scores: proved with" in result.stdout
    assert "10 of 10 changes rejected." in result.stdout


def test_unknown_name_is_reported():
    result = prove("unknown")
    assert result.exit_code == 1
    assert "unknown: no assignment and no exercise of exercises has this name." in result.stderr


def test_release_warns_of_a_wrong_answer_that_passes(capsys):
    exercise, _ = FAULTS["a wrong answer that passes"]
    assignment = Assignment("chapter", "A chapter", (exercise,), ())
    warn_of_unproved(assignment, COURSE)
    printed = capsys.readouterr().out
    assert printed.startswith("Warning: chapter.row_mean is not proved: ")
    assert printed.endswith("Type: autograder prove chapter.row_mean\n")
