"""The proof of every exercise: right answers pass, wrong ones are rejected and named."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from assertions import without_an_assertion
from keys import (
    EXERCISES as OF_THE_COURSE,
)
from keys import (
    OTHERS,
    RAISING,
    SEEDS,
    WRITTEN_TESTS,
    declarations,
    drawn_cases,
    grading_key,
    hidden_cases,
    shown_cases,
)
from smallest import SMALLEST

from autograder.exercise.answers import source
from autograder.exercise.model import Case, Exercise, SourceFunction
from autograder.exercise.stubs import stub
from autograder.judging.judge import (
    AnswerKey,
    KeyedMisconception,
    build_key,
    fault,
    judge,
    observe_quietly,
)
from autograder.judging.verdict import AS_GIVEN, Judgement, Verdict
from autograder.probe.values import Differentiated, Observation, Raised, Tensor

EXERCISES = [*OF_THE_COURSE, pytest.param(SMALLEST, id="the smallest")]


@functools.cache
def draws(exercise: Exercise) -> list[tuple[Case, ...]]:
    """The public cases, and the hidden ones of each seed."""
    return [
        shown_cases(exercise),
        *(drawn_cases(exercise, seed) for seed in SEEDS),
    ]


@functools.cache
def observed(exercise: Exercise, function: Callable) -> list[tuple[Observation, ...]]:
    """What `function` does on each draw, and then on the public cases with each hidden draw.

    It is called once on each draw, because what it does on a case depends on no other case.
    """
    public, *hidden = (tuple(observe_quietly(function, cases)) for cases in draws(exercise))
    return [public, *hidden, *((*public, *one) for one in hidden)]


@functools.cache
def keys(exercise: Exercise) -> list[AnswerKey]:
    """The self-check's key, the hidden cases alone, and what the grader uses: both together."""
    public, *hidden = draws(exercise)
    built = [
        build_key(exercise, public, ()),
        *(build_key(exercise, (), one) for one in hidden),
        *(grading_key(exercise, seed) for seed in SEEDS),
    ]
    return [replace(key, misconceptions=known(exercise, at)) for at, key in enumerate(built)]


def known(exercise: Exercise, at: int) -> tuple[KeyedMisconception, ...]:
    """The misconceptions of the key at this place of `keys`, each observed once for all of them."""
    return tuple(
        KeyedMisconception(
            one.name, one.hint, lambda wrong=one.wrong: observed(exercise, wrong)[at]
        )
        for one in exercise.misconceptions
    )


def verdicts(exercise: Exercise, function: Callable) -> list[Judgement]:
    pairs = zip(keys(exercise), observed(exercise, function), strict=True)
    return [judge(key, observations) for key, observations in pairs]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_right_answers_get_full_points(exercise):
    for function in (exercise.reference, *exercise.alternatives):
        for judgement in verdicts(exercise, function):
            assert judgement.verdict is Verdict.PASS, (function.__name__, judgement)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_misconception_is_rejected_and_named(exercise):
    for misconception in exercise.misconceptions:
        for judgement in verdicts(exercise, misconception.wrong):
            assert not judgement.passed, misconception.name
            if misconception.released:
                assert judgement == AS_GIVEN
                continue
            assert judgement.misconception == misconception.name, judgement
            assert judgement.hint == misconception.hint


BASES = [
    pytest.param(declared, base, id=f"{declared.name} {base.written.__name__}")
    for declared in declarations()
    for base in declared.bases
]


@pytest.mark.parametrize(("declared", "base"), BASES)
def test_a_base_is_right_but_for_the_cases_that_it_names(declared, base):
    cases = [*shown_cases(declared.exercise)]
    cases += [case for seed in range(5) for case in hidden_cases(declared.exercise, seed)]
    key = build_key(declared.exercise, (), cases)
    observations = observe_quietly(base.function, cases)
    checked = zip(key.cases, key.expected, observations, strict=True)
    wrong = {case.note for case, right, one in checked if fault(case, right, one, key.names)}
    assert wrong == set(declared.bases[base])


@pytest.mark.parametrize("exercise", RAISING)
def test_a_misconception_is_named_where_the_promised_exceptions_are_raised_too(exercise):
    """Of those that leave them out, too: to do more right is not to be told less."""
    right = observed(exercise, exercise.reference)
    for misconception in exercise.misconceptions:
        theirs = observed(exercise, misconception.wrong)
        for key, *both in zip(keys(exercise), right, theirs, strict=True):
            raising = [
                as_asked if case.raises else wrong
                for case, as_asked, wrong in zip(key.cases, *both, strict=True)
            ]
            judgement = judge(key, raising)
            if misconception.released:
                assert judgement == AS_GIVEN
            elif not judgement.passed:
                assert judgement.misconception == misconception.name, judgement


@pytest.mark.parametrize("exercise", OTHERS)
def test_an_answer_of_the_right_shape_but_empty_of_thought_fails(exercise):
    """Zeros, ones and the first argument, in the shape and type that are wanted, earn nothing."""
    pairs = zip(keys(exercise), observed(exercise, exercise.reference), strict=True)
    for key, observations in pairs:
        for fill in (np.zeros_like, np.ones_like):
            answers = [_filled(expected, fill) for expected in key.expected]
            forged = [
                type(observation)(answer, observation.arguments_after, answer)
                for observation, answer in zip(observations, answers, strict=True)
            ]
            assert not judge(key, forged).earns, (exercise.name, fill.__name__)


@pytest.mark.parametrize("exercise", WRITTEN_TESTS)
def test_a_test_that_treats_all_implementations_alike_earns_nothing(exercise):
    def accept(implementation):
        """Whatever it is."""

    def reject(implementation):
        raise AssertionError

    for function in (accept, reject):
        assert not any(judgement.earns for judgement in verdicts(exercise, function))


@pytest.mark.parametrize("exercise", WRITTEN_TESTS)
def test_the_reference_needs_each_of_its_assertions(exercise):
    """Without it, some mutant slips through."""
    key = grading_key(exercise, 0)
    for change, weaker in without_an_assertion(exercise.reference):
        assert not judge(key, observe_quietly(weaker, key.cases)).passed, change


@pytest.mark.parametrize("exercise", WRITTEN_TESTS)
def test_mutants_are_of_several_kinds_and_some_are_never_shown(exercise):
    shown = {case.note for case in shown_cases(exercise) if case.raises}
    drawn = {case.note for case in drawn_cases(exercise, 0) if case.raises}
    assert len(shown) >= 3
    assert len(drawn - shown) >= 2
    assert sum(1 for case in drawn_cases(exercise, 0) if not case.raises) >= 2


@pytest.mark.parametrize("exercise", EXERCISES)
def test_answers_learnt_by_heart_from_one_draw_fail_on_the_next(exercise):
    """Even yes-or-no answers: their order is drawn too."""
    _, learnt, *_ = observed(exercise, exercise.reference)
    other = build_key(exercise, (), drawn_cases(exercise, SEEDS.stop))
    assert not judge(replace(other, misconceptions=()), learnt).passed


def _filled(expected, fill):
    if isinstance(expected, Differentiated):  # even with the right gradients
        return Differentiated(_filled(expected.output, fill), expected.gradients)
    if isinstance(expected, Tensor):
        return Tensor(fill(expected.array))
    if isinstance(expected, Raised):  # even with the right exceptions
        return expected
    if isinstance(expected, tuple | list):
        return type(expected)(_filled(one, fill) for one in expected)
    if isinstance(expected, dict):
        return {name: _filled(one, fill) for name, one in expected.items()}
    if isinstance(expected, np.ndarray):
        return fill(expected)
    return type(expected)(fill(np.asarray(expected)).item())


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_exercise_is_complete(exercise):
    assert exercise.points > 0
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes > 0
    assert len(exercise.alternatives) >= 3
    assert len(exercise.misconceptions) >= 4
    assert len({misconception.name for misconception in exercise.misconceptions}) == len(
        exercise.misconceptions
    )
    assert all(misconception.hint.strip() for misconception in exercise.misconceptions)
    assert all(stage.strip() for stage in exercise.help)
    assert inspect.getdoc(exercise.reference)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_stub_states_the_parameters_of_the_reference(exercise):
    setup = shown_cases(exercise)[0].setup
    if setup is None:
        return
    module = exercise.reference(*setup.arguments, **setup.keywords)
    lines = [f"{name} {tuple(one.shape)}" for name, one in module.named_parameters()]
    stated = [line.strip() for line in stub(exercise).splitlines()]
    assert [line for line in stated if line in lines] == lines


@pytest.mark.parametrize("exercise", EXERCISES)
def test_cases_depend_on_the_seed_and_on_nothing_else(exercise):
    one, same, other = (build_key(exercise, (), hidden_cases(exercise, s)) for s in (0, 0, 1))
    assert _expected_bytes(one) == _expected_bytes(same)
    assert _inputs_bytes(one) != _inputs_bytes(other), "the hidden cases are the same for everyone"


def _expected_bytes(key: AnswerKey) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in _leaves(key.expected)]


def _inputs_bytes(key: AnswerKey) -> list[bytes]:
    values = [value for case in key.cases for value in (*case.arguments, *case.keywords.values())]
    values += [case.setup.weights for case in key.cases if case.setup]
    return [np.asarray(value).tobytes() for value in _leaves(values) if value is not None]


def _leaves(value):
    if isinstance(value, tuple | list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves([*value, *value.values()])
    elif isinstance(value, Differentiated):
        yield from _leaves([value.output, value.gradients])
    elif isinstance(value, Tensor):
        yield value.array
    elif isinstance(value, SourceFunction):
        yield np.array(value.source)
    elif isinstance(value, np.ndarray | int | float | bool | str):
        yield value


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_source_of_an_answer_is_what_python_finds(exercise):
    wrong = [one.answer.written for one in exercise.misconceptions]
    for function in (*exercise.alternatives, *wrong):
        found = inspect.cleandoc("\n" + inspect.getsource(function))
        assert found.endswith(source(function).strip())
        above = found.removesuffix(source(function).strip())
        assert above == "" or above.startswith("@")
