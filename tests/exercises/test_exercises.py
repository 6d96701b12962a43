"""Test that every exercise of the course passes its proof, and that stub and answers are valid."""

import inspect

import pytest
from keys import EXERCISES as OF_THE_COURSE
from keys import SEEDS, declarations, hidden_cases, shown_cases
from smallest import SMALLEST

from autograder.exercise.answers import source
from autograder.exercise.stubs import stub
from autograder.judging.agreement import agree
from autograder.judging.faults import fault
from autograder.judging.keys import build_key, observe_quietly
from autograder.proving.prove import problems

EXERCISES = [*OF_THE_COURSE, pytest.param(SMALLEST, id="the smallest")]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_exercise_passes_its_proof(exercise):
    assert problems(exercise, range(SEEDS.stop + 1)) == []


BASES = [
    pytest.param(declared, base, id=f"{declared.name} {base.written.__name__}")
    for declared in declarations()
    for base in declared.bases
]


@pytest.mark.parametrize(("declared", "base"), BASES)
def test_a_base_fails_on_exactly_the_cases_that_it_names(declared, base):
    cases = [*shown_cases(declared.exercise)]
    cases += [case for seed in range(5) for case in hidden_cases(declared.exercise, seed)]
    key = build_key(declared.exercise, (), cases)
    observations = observe_quietly(base.function, cases)
    checked = zip(key.cases, key.expected, observations, strict=True)
    wrong = {
        case.note
        for case, right, observation in checked
        if fault(case, right, observation, key.names)
    }
    assert wrong == set(declared.bases[base])


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_stub_states_the_parameters_of_the_reference(exercise):
    setup = shown_cases(exercise)[0].setup
    if setup is None:
        return
    module = exercise.reference(*setup.arguments, **setup.keywords)
    lines = [f"{name} {tuple(value.shape)}" for name, value in module.named_parameters()]
    stated = [line.strip() for line in stub(exercise).splitlines()]
    assert [line for line in stated if line in lines] == lines


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_seed_always_draws_the_same_cases(exercise):
    first, second = (build_key(exercise, (), hidden_cases(exercise, 0)) for _ in range(2))
    assert agree(first.expected, second.expected)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_source_of_an_answer_equals_that_of_inspect(exercise):
    wrong = [misconception.answer.written for misconception in exercise.misconceptions]
    for function in (*exercise.alternatives, *wrong):
        text = inspect.cleandoc("\n" + inspect.getsource(function))
        assert text.endswith(source(function).strip())
        above = text.removesuffix(source(function).strip())
        assert above == "" or above.startswith("@")
