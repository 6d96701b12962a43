"""The grader in its sandbox says what the self-check says, of the answers that we know."""

import itertools
from collections.abc import Collection
from dataclasses import replace

import pytest
from nightly import some
from reference_cells import reference_source
from toy import Cell, imports

from autograder.exercise.model import Exercise, Kind
from autograder.exercise.stubs import stub
from autograder.grading.observing import Question
from autograder.grading.program import judge_program, judge_questions
from autograder.grading.questions import draw_questions
from autograder.grading.sample import answer_source
from autograder.judging.judge import judge, observe_quietly
from autograder.judging.verdict import AS_GIVEN, Verdict
from exercises import COURSE


def known_answers(exercise: Exercise):
    """(function, source) of the reference, the alternatives and the misconceptions.

    All of them by night, and one of each by day: whether an answer is right is judged by the same
    code in both places, and what differs is how an exercise's values travel.
    """
    yield exercise.reference, reference_source(exercise.reference)
    wrong = [misconception.wrong for misconception in exercise.misconceptions]
    for function in (*some(exercise.alternatives), *some(wrong)):
        yield function, answer_source(function, exercise.name)


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda one: one.name)
def test_untouched_stubs_earn_nothing(assignment, sandbox):
    program = [imports(assignment)]
    program += [Cell(stub(exercise), exercise.name) for exercise in assignment.exercises]
    verdicts = judge_program(
        program, assignment, course_key=b"key", digest="agreement", sandbox=sandbox
    )
    for exercise in assignment.exercises:
        judgement = verdicts[exercise.name]
        assert judgement.verdict is Verdict.MISSING
        assert (judgement == AS_GIVEN) is (exercise.kind is Kind.DEBUG)


def on_enough(question: Question, wrong: Collection[str]) -> Question:
    """The question, and if the answer is a wrong test, what the self-check asks alone.

    Each implementation takes a process, and the public ones show what is wrong with it.
    """
    if question.whole.is_test and question.name in wrong:
        return replace(question, whole=question.public)
    return question


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda one: one.name)
def test_self_check_and_sandboxed_grader_agree(assignment, sandbox):
    """One program for the first known answer of each exercise, one for the second, and so on."""
    asked = draw_questions(assignment, b"key", "agreement")
    public = {one.name: one.public for one in asked}
    wrongs = {one.wrong for exercise in assignment.exercises for one in exercise.misconceptions}
    answers = [list(known_answers(exercise)) for exercise in assignment.exercises]
    judged = 0
    for row in itertools.zip_longest(*answers):
        chosen = {
            exercise.name: answer
            for exercise, answer in zip(assignment.exercises, row, strict=True)
            if answer is not None
        }
        program = [imports(assignment)]
        program += [Cell(source, name) for name, (_, source) in chosen.items()]
        wrong = {name for name, (function, _) in chosen.items() if function in wrongs}
        verdicts = judge_questions(program, [on_enough(one, wrong) for one in asked], sandbox)
        for name, (function, _) in chosen.items():
            key, theirs = public[name], verdicts[name]
            ours = judge(key, observe_quietly(function, key.cases))
            assert (ours.verdict, ours.misconception, ours.hint) == (
                theirs.verdict,
                theirs.misconception,
                theirs.hint,
            ), (function.__name__, theirs.message)
            judged += 1
    assert judged == sum(map(len, answers))
