"""Small slips in the references are caught: 95 % of the generated mutants of each chapter."""

import contextlib
import io

import numpy as np
import pytest
from mutants import mutants

from autograder.checks import assignments
from autograder.judging.judge import build_key, judge, observe_quietly, public_cases

CAUGHT = 0.95
EQUIVALENT = {
    "softmax(scores, axis=-1) -> weights = softmax(scores)": "-1 is the default",
    "axis=-1) -> weights = softmax(scores / temperature)": "-1 is the default",
    "(keys @ query[..., None])[..., -1]": "that axis has length 1",
    "@ values)[..., -1, :]": "that axis has length 1",
    "np.abs(permute_then_attend - attend_then_permute)": "the absolute value has no sign",
    "difference <= np": "no case stands exactly on the tolerance",
    "np.broadcast_to(mask, scores.shape) -> mask = mask": "np.where broadcasts it anyway",
    "largest = np.where(np.isfinite(largest), largest, 1)": "exp of minus infinity, less anything",
    "largest = np.where(np.isfinite(largest), largest, -1)": "exp of minus infinity, less anything",
    "np.where(total > 0, total, 2)": "it divides nothing but zeros",
    "np.where(total > 1, total, 1)": "the largest of a row's exponentials is 1",
}
"""Changes that change no result, and why; a part of its description names each."""


@pytest.mark.parametrize("assignment", assignments().values(), ids=lambda one: one.name)
def test_mutants_are_caught(assignment):
    survivors, total = [], 0
    for exercise in assignment.exercises:
        hidden = exercise.hidden(np.random.default_rng(7))
        key = build_key(exercise, public_cases(exercise), hidden)
        for change, mutant in mutants(exercise.reference):
            if any(part in change for part in EQUIVALENT):
                continue
            total += 1
            with contextlib.redirect_stdout(io.StringIO()):
                judgement = judge(key, observe_quietly(mutant, key.cases))
            if judgement.passed:
                survivors.append(f"{exercise.name}: {change}")
    caught = 1 - len(survivors) / total
    print(f"{assignment.name}: {total} mutants, {caught:.1%} caught")
    assert total >= 5 * len(assignment.exercises)
    assert caught >= CAUGHT, "\n".join(survivors)
