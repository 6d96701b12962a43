"""Test that the sandboxed grader and the self-check agree on all known answers."""

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
from autograder.judging.judge import judge
from autograder.judging.keys import observe_quietly
from autograder.judging.verdict import AS_GIVEN, Verdict
from exercises import COURSE


def known_answers(exercise: Exercise):
    """Yield (function, source) of the reference, the alternatives and the misconceptions.

    The nightly run uses all of them, other runs one of each: both sides judge with the same code,
    and only the transport of values differs.
    """
    yield exercise.reference, reference_source(exercise.reference)
    wrong = [misconception.wrong for misconception in exercise.misconceptions]
    for function in (*some(exercise.alternatives), *some(wrong)):
        yield function, answer_source(function, exercise.name)


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda assignment: assignment.name)
def test_untouched_stubs_earn_no_points(assignment, sandbox):
    program = [imports(assignment)]
    program += [Cell(stub(exercise), exercise.name) for exercise in assignment.exercises]
    verdicts = judge_program(
        program, assignment, course_key=b"key", digest="agreement", sandbox=sandbox
    )
    for exercise in assignment.exercises:
        judgement = verdicts[exercise.name]
        assert judgement.verdict is Verdict.MISSING
        assert (judgement == AS_GIVEN) is (exercise.kind is Kind.DEBUG)


def with_needed_cases(question: Question, wrong: Collection[str]) -> Question:
    """Return `question`, reduced to its public cases if the answer is a wrong test.

    Each implementation needs a process, and those of the public cases suffice to expose a wrong
    test.
    """
    if question.whole.is_test and question.name in wrong:
        return replace(question, whole=question.public)
    return question


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda assignment: assignment.name)
def test_self_check_and_sandboxed_grader_agree_on_known_answers(assignment, sandbox):
    """Grade a program with the first known answer of each exercise, then the second, and so on."""
    questions = draw_questions(assignment, b"key", "agreement")
    public = {question.name: question.public for question in questions}
    wrongs = {
        misconception.wrong
        for exercise in assignment.exercises
        for misconception in exercise.misconceptions
    }
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
        verdicts = judge_questions(
            program, [with_needed_cases(question, wrong) for question in questions], sandbox
        )
        for name, (function, _) in chosen.items():
            key, graded = public[name], verdicts[name]
            self_check = judge(key, observe_quietly(function, key.cases))
            assert (self_check.verdict, self_check.misconception, self_check.hint) == (
                graded.verdict,
                graded.misconception,
                graded.hint,
            ), (function.__name__, graded.message)
            judged += 1
    assert judged == sum(map(len, answers))
