"""Test that answers that are wrong in one edge case are rejected, or that a reason is listed."""

import pytest
from keys import OTHERS, declared
from nightly import NIGHTLY
from semantic import wrong_answers
from semantic_table import EVERYWHERE, rejected, right_somewhere, survivors

NAMED = {param.id.split(".")[1]: param.values[0] for param in OTHERS}
WRONG_ALWAYS = {
    "padding_mask": {"axes of length 1 squeezed"},
}
"""Mutants that are wrong in every case, although they should be right in some.

Mutants whose name ends with `changed` are not compared."""


SLOW = ("context_bottleneck.critical_gain",)
BY_DAY = [param for param in OTHERS if NIGHTLY or param.id not in SLOW]
A_CHAPTER = [param for param in OTHERS if NIGHTLY or param.id.startswith("self_attention.")]
"""The exercises of the daily run. One chapter is enough, since the wrappers are test code that is
the same for every exercise."""


@pytest.mark.parametrize("exercise", BY_DAY)
def test_every_semantic_mutant_is_rejected_or_listed(exercise):
    passed, listed = survivors(exercise), set(declared(exercise).unrejected)
    assert not passed - listed, "not rejected, and no reason is listed"
    assert not listed - passed, "listed, although rejected or not generated"


@pytest.mark.parametrize("exercise", A_CHAPTER)
def test_a_semantic_mutant_is_wrong_only_where_intended(exercise):
    wrong = {
        name
        for name, answer in wrong_answers(exercise).items()
        if not name.endswith(" changed") and not right_somewhere(exercise, answer)
    }
    assert wrong == WRONG_ALWAYS.get(exercise.name, set())


@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_listed_mutant_passes_in_some_exercise(name):
    mutants = ((exercise, wrong_answers(exercise).get(name)) for exercise in NAMED.values())
    assert any(answer and not rejected(exercise, name, answer) for exercise, answer in mutants)
