"""Test messages on unnamed wrong answers: they must be true and hide hidden numbers."""

import re

import numpy as np
import pytest
import torch

from autograder.exercise.model import Case, Exercise, Tensor
from autograder.judging.common_cases import common_cases
from autograder.judging.compare import Mismatch
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
from autograder.judging.naming import Trial
from autograder.judging.verdict import Verdict
from autograder.probe.values import Observation


def hide(scores, mask=None):
    """Return `scores` minus 1, with zeros where `mask` is False."""
    return scores - 1 if mask is None else np.where(mask, scores - 1, 0)


def cases(seed):
    """Return square cases, large enough that no pattern fits by chance."""
    rng = np.random.default_rng(seed)
    mask = np.ones((4, 4), bool)
    mask[1, 2:] = False
    return [
        Case("a square", (rng.normal(size=(4, 4)),)),
        Case("a mask", (rng.normal(size=(4, 4)), mask)),
        Case("a batch", (rng.normal(size=(2, 4, 4)), mask)),
        Case("float32", (rng.normal(size=(4, 4)).astype(np.float32),)),
    ]


EXERCISE = Exercise("hide", 1, 1, 1, hide, cases, cases, (), (), ("", "", ""))


def message_for(answer, *, hidden=False):
    public = [] if hidden else cases(1)
    key = build_key(EXERCISE, public, cases(2) if hidden else [])
    judgement = judge(key, observe_quietly(answer, key.cases))
    assert not judgement.passed
    return judgement.message


def with_change(index, by=1.0):
    def answer(scores, mask=None):
        result = hide(scores, mask)
        result[index] += by
        return result

    return answer


def where_mask_is(value):
    def answer(scores, mask=None):
        result = hide(scores, mask)
        return result if mask is None else np.where(mask == value, result + 3, result)

    return answer


def through_float32(scores, mask=None):
    single = scores.astype(np.float32)
    return hide((single + 8) - 8, mask).astype(scores.dtype)


def only_if(condition):
    def answer(scores, mask=None):
        return np.exp(scores) if condition(scores, mask) else hide(scores, mask)

    return answer


def off_by_a_factor_of_the_case(scores, mask=None):
    return hide(scores, mask) * (2 if mask is None else scores.ndim + 2)


PATTERNS = {
    "every number is 2.5 times what it should be": lambda s, m=None: hide(s, m) * 2.5,
    "every number has the opposite sign": lambda s, m=None: -hide(s, m),
    "every number is 0.25 less than it should be": lambda s, m=None: hide(s, m) - 0.25,
    "off by the same factor, which depends on the case (2, 4, 5)": off_by_a_factor_of_the_case,
    "the last two axes are swapped": lambda s, m=None: np.swapaxes(hide(s, m), -1, -2),
    "are reversed along the last axis": lambda s, m=None: hide(s, m)[..., ::-1],
    "shifted by one place along the second-to-last axis": (
        lambda s, m=None: np.roll(hide(s, m), 1, -2)
    ),
    "right size, but the signs are wrong in some places": lambda s, m=None: abs(hide(s, m)),
    "numbers are wrong only in the last row": with_change(np.s_[..., -1, :]),
    "numbers are wrong only in the first column": with_change(np.s_[..., 0]),
    "numbers are wrong only in one row": with_change(np.s_[..., 1, :]),
    "numbers are wrong only on the diagonal": with_change(np.s_[..., range(4), range(4)]),
    "numbers are wrong only above the diagonal": with_change(np.s_[..., [0, 1], [2, 3]]),
    "numbers are wrong only where the mask is False": where_mask_is(False),
    "numbers are wrong only where the mask is True": where_mask_is(True),
    "Compute in the dtype of the input": through_float32,
    "The numbers are right, and in the right order: only the shape differs": (
        lambda s, m=None: hide(s, m)[..., None]
    ),
    "cases with a mask fail, and no others": only_if(lambda s, m: m is not None),
    "cases without a mask fail, and no others": only_if(lambda s, m: m is None),
    "It is right on 1 of the 4 public cases": only_if(lambda s, m: s.dtype == np.float64),
}


@pytest.mark.parametrize("words", PATTERNS)
def test_message_describes_the_pattern_of_the_differences(words):
    assert words in message_for(PATTERNS[words])


@pytest.mark.parametrize("words", PATTERNS)
def test_messages_on_hidden_cases_count_only_cases_and_axes(words):
    message = message_for(PATTERNS[words], hidden=True)
    known = r"the \d+ cases|of \d+ returned|more than \d+ ax|right on \d+ of|float\d\d"
    assert not re.search(r"\d", re.sub(known, "", message)), message


def test_no_pattern_is_claimed_for_random_differences():
    rng = np.random.default_rng(3)
    message = message_for(lambda s, m=None: hide(s, m) + rng.normal(size=s.shape))
    assert message.count(".") - message.count("0.") <= 5
    assert "In each" not in message
    assert "There," not in message


def test_pattern_must_hold_on_every_failing_case():
    def opposite_sign_except_on_batches(scores, mask=None):
        return hide(scores, mask) * (3 if scores.ndim == 3 else -1)

    assert "opposite sign" not in message_for(opposite_sign_except_on_batches)


def test_axes_are_blamed_only_if_every_case_with_that_many_fails():
    wrong = Mismatch(Verdict.WRONG_VALUE, "", "")
    observation = Observation(None, ())
    trials = [
        Trial(Case("", (np.ones((2,) * axes),)), None, observation, mismatch)
        for axes, mismatch in ((2, None), (2, None), (3, wrong), (3, wrong), (3, None))
    ]
    assert common_cases(trials, "") == "It is right on 3 of the 5 cases."
    assert common_cases(trials[:4], "").endswith("more than 2 axes fail, and no others.")
    assert common_cases(trials[1:4], "") == "It is right on 1 of the 3 cases."


def test_axes_are_blamed_only_if_nothing_else_explains_the_failures():
    wrong = Mismatch(Verdict.WRONG_VALUE, "", "")
    mask = np.ones(2, dtype=bool)
    trials = [
        Trial(Case("", arguments), None, Observation(None, ()), mismatch)
        for arguments, mismatch in (
            ((np.ones((2, 2)),), None),
            ((np.ones((2, 2)),), None),
            ((np.ones((2, 2, 2)), mask), wrong),
            ((np.ones((2, 2, 2)), mask), wrong),
        )
    ]
    assert common_cases(trials, "") == "The cases with a mask fail, and no others."


@pytest.mark.parametrize(("failing", "named"), [(2, False), (5, True)])
def test_kind_with_passing_cases_is_named_only_with_enough_failures(failing, named):
    wrong = Mismatch(Verdict.WRONG_VALUE, "", "")
    single, double = (np.ones((2, 2), dtype) for dtype in (np.float32, np.float64))
    trials = [
        *(Trial(Case("", (single,)), None, Observation(None, ()), wrong) for _ in range(failing)),
        Trial(Case("", (single,)), None, Observation(None, ()), None),
        *(Trial(Case("", (double,)), None, Observation(None, ()), None) for _ in range(3)),
    ]
    assert ("Only cases in float32 fail, though not all" in common_cases(trials, "")) is named


def test_value_of_a_keyword_is_named_for_public_cases_only():
    wrong = Mismatch(Verdict.WRONG_VALUE, "", "")
    trials = [
        Trial(
            Case("", (np.ones(2),), {"norm": norm, "mask": np.ones(2, dtype=bool)}),
            None,
            Observation(None, ()),
            mismatch,
        )
        for norm, mismatch in (("pre", wrong), ("pre", wrong), ("post", None), ("post", None))
    ]
    assert 'public cases with `norm="pre"` fail, and no others' in common_cases(trials, "public ")
    assert "pre" not in common_cases(trials, "")


def weights(scores, shift=0.0):
    """Return the softmax of `scores` along the last axis; `shift` changes nothing."""
    shares = np.exp(scores + shift)
    return shares / shares.sum(axis=-1, keepdims=True)


def tables(seed):
    rng = np.random.default_rng(seed)
    return [Case(f"{n} rows", (rng.normal(size=(2, n, 4)),)) for n in (3, 4, 5)]


WEIGHTS = Exercise("weights", 1, 1, 1, weights, tables, tables, (), (), ("", "", ""))


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            lambda s: np.swapaxes(weights(np.swapaxes(s, -1, -2)), -1, -2),
            "sum to 1 along the last axis, and they sum to 1 along the second-to-last axis",
        ),
        (lambda s: weights(s) * (s > 0), "should sum to 1 (or be all 0), and they do not"),
        (lambda s: np.log(weights(s)), "every number is the logarithm of the right one"),
        (lambda s: weights(s) + s, "the result is the right one plus `scores`"),
        (lambda s: s, "the result is `scores` itself"),
    ],
)
def test_relation_to_the_right_numbers_is_named(answer, words, hidden):
    key = build_key(WEIGHTS, [] if hidden else tables(1), tables(2) if hidden else [])
    assert words in judge(key, observe_quietly(answer, key.cases)).message


def loss(scores):
    """Return the mean of `scores` as a float."""
    return float(scores.mean())


LOSS = Exercise("loss", 1, 1, 1, loss, tables, tables, (), (), ("", "", ""))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda s: float(s.sum()), "a whole number of times too large (24, 32, 40)"),
        (lambda s: loss(s) / np.log(2), "every result is 1.443 times what it should be"),
    ],
)
def test_factor_of_single_numbers_is_named(answer, words):
    key = build_key(LOSS, tables(1), [])
    assert words in judge(key, observe_quietly(answer, key.cases)).message


def two(x, y):
    """Return the sum and the product of `x` and `y`."""
    return x + y, x * y


def two_cases(seed):
    rng = np.random.default_rng(seed)
    return [
        Case(f"{n} rows", (Tensor(rng.normal(size=(n, 3))), Tensor(rng.normal(size=(n, 3)))))
        for n in (2, 3)
    ]


TWO = Exercise("two", 1, 1, 1, two, two_cases, two_cases, (), (), ("", "", ""))


def message_for_two(answer):
    key = build_key(TWO, two_cases(1), ())
    return judge(key, observe_quietly(answer, key.cases)).message


OF_TWO = {
    "only value 2 of 2 returned is wrong": lambda x, y: (x + y, x * x),
    "only the gradient of `y` is wrong": lambda x, y: (x + y, x * y.detach()),
    "should be a tensor. No gradient flows through NumPy": (
        lambda x, y: ((x + y).detach().numpy(), x * y)
    ),
    "value 1 of 2 returned is a float and should be a tensor. No gradient flows through a Python": (
        lambda x, y: (float(x.sum()), x * y)
    ),
    "value 1 of 2 returned has dtype int32 and should have float64": (
        lambda x, y: ((x + y).to(torch.int32), x * y)
    ),
}


@pytest.mark.parametrize("words", OF_TWO)
def test_message_names_the_wrong_value_or_gradient(words):
    assert words in message_for_two(OF_TWO[words])


def test_booleans_in_another_shape_are_not_called_right_numbers():
    message = message_for(lambda scores, mask=None: (hide(scores, mask) > 0)[None])
    assert "shape" in message
    assert "numbers are right" not in message
