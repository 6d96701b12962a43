"""The grader in its sandbox says what the self-check says, of every answer that we know."""

import inspect
import itertools
import re

import pytest
from toy import Cell

from autograder.checks import assignments
from autograder.exercise import Exercise
from autograder.grading import judge_program
from autograder.judge import build_key, judge, observe_quietly, public_cases
from autograder.sample import answer_source
from autograder.sandbox import open_sandbox
from autograder.stubs import stub
from autograder.verdict import Verdict
from solutions import softmax

HELPERS = inspect.getsource(softmax)


def reference_source(function) -> str:
    """The module of a reference as one cell, with what it imports from `solutions` written out."""
    module = inspect.getsource(inspect.getmodule(function))
    return re.sub(r"^from \.softmax import .*$", HELPERS, module, flags=re.MULTILINE)


def known_answers(exercise: Exercise):
    """(function, source) of the reference, the alternatives and the misconceptions."""
    yield exercise.reference, reference_source(exercise.reference)
    wrong = [misconception.wrong for misconception in exercise.misconceptions]
    for function in (*exercise.alternatives, *wrong):
        yield function, answer_source(function, exercise.name)


@pytest.mark.parametrize("assignment", assignments().values(), ids=lambda one: one.name)
def test_untouched_stubs_earn_nothing(assignment):
    program = [Cell("import numpy as np")]
    program += [Cell(stub(exercise), exercise.name) for exercise in assignment.exercises]
    verdicts = judge_program(
        program, assignment, course_key=b"key", digest="stubs", sandbox=open_sandbox()
    )
    assert {judgement.verdict for judgement in verdicts.values()} == {Verdict.MISSING}
    assert len(verdicts) == len(assignment.exercises)


@pytest.mark.parametrize("assignment", assignments().values(), ids=lambda one: one.name)
def test_self_check_and_sandboxed_grader_agree(assignment):
    """One program for the first known answer of each exercise, one for the second, and so on."""
    sandbox = open_sandbox()
    answers = [list(known_answers(exercise)) for exercise in assignment.exercises]
    judged = 0
    for number, row in enumerate(itertools.zip_longest(*answers)):
        chosen = {
            exercise.name: (exercise, *answer)
            for exercise, answer in zip(assignment.exercises, row, strict=True)
            if answer is not None
        }
        program = [Cell("import numpy as np")]
        program += [Cell(source, name) for name, (_, _, source) in chosen.items()]
        verdicts = judge_program(
            program, assignment, course_key=b"key", digest=str(number), sandbox=sandbox
        )
        for name, (exercise, function, _) in chosen.items():
            key = build_key(exercise, public_cases(exercise), ())
            ours, theirs = judge(key, observe_quietly(function, key.cases)), verdicts[name]
            assert (ours.verdict, ours.misconception, ours.hint) == (
                theirs.verdict,
                theirs.misconception,
                theirs.hint,
            ), (function.__name__, theirs.message)
            judged += 1
    assert judged == sum(map(len, answers))
