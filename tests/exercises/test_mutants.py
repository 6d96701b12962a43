"""Test that the checks catch 95 % of the generated mutants of each chapter's references."""

import pytest
import toy
from keys import grading_key

from autograder.exercise.model import Kind, public_cases
from autograder.judging.keys import build_key
from autograder.proving.mutants import mutants
from autograder.proving.prove import survives
from exercises import COURSE

CAUGHT = 0.95
EQUIVALENT = {
    "softmax(scores, axis=-1) -> weights = softmax(scores)": "-1 is the default",
    "axis=-1) -> weights = softmax(scores / temperature)": "-1 is the default",
    "(keys @ query[..., None])[..., -1]": "that axis has length 1",
    "@ values)[..., -1, :]": "that axis has length 1",
    "np.abs(permute_then_attend - attend_then_permute)": "the absolute value has no sign",
    "difference <= np": "no case lies exactly on the tolerance",
    "np.broadcast_to(mask, scores.shape) -> mask = mask": "np.where broadcasts it anyway",
    "largest = np.where(np.isfinite(largest), largest, 1)": "exp of minus infinity is 0",
    "largest = np.where(np.isfinite(largest), largest, -1)": "exp of minus infinity is 0",
    "np.where(total > 0, total, 2)": "it divides only zeros",
    "entropy >= bits": "no intermediate entropy equals the target",
    "np.maximum(np.finfo(float).tiny, weights)": "the larger of two, in either order",
    "W.reshape(n_heads, len(W), ": "only the shape changes, not the order of the numbers",
    "np.where(total > 1, total, 1)": "the largest of a row's exponentials is 1",
    "if x.size else 1": "an empty array has no element to shift",
    "if x.size else -1": "an empty array has no element to shift",
    "np.where(inside, places, -1)": "these values are masked afterwards",
    "sees = np.zeros((n, n))": "every column is overwritten; numbers work",
    "sees = np.ones((n, n), dtype=bool)": "every column is overwritten",
    ">= 1e-06 * size": "no change is exactly as large as the tolerance",
    "np.random.default_rng(1).uniform(-size": "any random token works",
    "np.abs(layer(X) - layer(changed))": "the absolute value has no sign",
    "np.abs(layer(changed) - layer(X)), axis=+1)": "the last of two axes",
    "np.take_along_axis(log_p, right[..., None])[..., 0]": "-1 is the default",
    "right[..., None], axis=-1)[..., -1]": "that axis has length 1",
    "-> norm = np.sqrt(sum(squares))": "a NumPy scalar counts as a float",
    "if norm >= max_norm else 1.0": "the factor is also 1 for equal values",
    ".reshape(-2, ": "any negative size is inferred",
    "np.geomspace(0.25, 8, 71) -> gains = np.geomspace(0.25, ": "other steps lead to the same gain",
    "for _ in range(12): ->": "one step more or less changes much less than the tolerance",
    "if norm(middle) <= 1 else": "no intermediate norm is exactly 1",
    "if norm(gain) > 1))": "no intermediate norm is exactly 1",
    "(gains[above - 2], gains[above])": "the bisection starts lower and ends at the same gain",
    "-> length = torch.stack(": "a tensor of one number counts as a number",
    "max(1, tokens)": "the larger of two, in either order",
    "-> pairs = zip(leaves, gradients": "both have the same length",
    "torch.zeros_like(leaves[0]).mean()": "the mean of zeros is 0 too",
    "torch.zeros_like(leaves[-1]).sum()": "a zero of any weight is 0",
    "if length >= max_norm else": "the factor is also 1 for equal values",
    "model(sources, written)[:, -1].argmax(dim=+1)": "the last of two axes",
    "logits.max(axis=+1, keepdims=True))": "the last of two axes",
    "shares.sum(axis=+1, keepdims=True)": "the last of two axes",
    "cache is None else cache[1].shape[-2]": "keys and values have the same length",
    "cache is None else cache[-1].shape[-2]": "keys and values have the same length",
    "found.transpose(-2, -3)": "two axes exchanged, in either order",
    "min(step * warmup ** (-1.5), step": "the smaller of two, in either order",
}
"""Equivalent mutants, with the reason; each key is a part of the description of a mutant."""


def test_an_endless_mutant_is_caught():
    def endless(X):
        while True:
            pass

    key = build_key(toy.MEAN, public_cases(toy.MEAN), ())
    assert survives(toy.MEAN.reference, key)
    assert not survives(endless, key, seconds=0.1)


@pytest.mark.parametrize("assignment", COURSE.values(), ids=lambda assignment: assignment.name)
def test_at_least_95_percent_of_the_mutants_are_caught(assignment):
    survivors, total = [], 0
    exercises = [exercise for exercise in assignment.exercises if exercise.kind is not Kind.TEST]
    for exercise in exercises:
        key = grading_key(exercise, 0)
        for change, mutant in mutants(exercise.reference):
            if any(part in change for part in EQUIVALENT):
                continue
            total += 1
            if survives(mutant, key):
                survivors.append(f"{exercise.name}: {change}")
    caught = 1 - len(survivors) / total
    print(f"{assignment.name}: {total} mutants, {caught:.1%} caught")
    assert total >= 5 * len(exercises)
    assert caught >= CAUGHT, "\n".join(survivors)
