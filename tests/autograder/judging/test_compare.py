"""Test the verdict of each kind of difference, and which harmless differences are accepted."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.judging.agreement import agree, all_close
from autograder.judging.compare import compare
from autograder.judging.modules import compare_gradients, wrong_gradients
from autograder.judging.verdict import Verdict
from autograder.probe.values import Foreign, Tensor

WANTED = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])


@pytest.mark.parametrize(
    ("actual", "verdict"),
    [
        (WANTED + 1e-3, Verdict.WRONG_VALUE),
        (WANTED * (1 + 1e-5), Verdict.WRONG_VALUE),
        (WANTED.T, Verdict.WRONG_SHAPE),
        (WANTED[:, :, None], Verdict.WRONG_SHAPE),
        (WANTED.astype(np.float16), Verdict.WRONG_DTYPE),
        (WANTED.astype(complex), Verdict.WRONG_DTYPE),
        (WANTED.astype(int), Verdict.WRONG_DTYPE),
        (Foreign("ndarray[object]"), Verdict.WRONG_DTYPE),
        (WANTED.tolist(), Verdict.WRONG_TYPE),
        ((WANTED,), Verdict.WRONG_TYPE),
        (None, Verdict.WRONG_TYPE),
        (Foreign("matrix"), Verdict.WRONG_TYPE),
        (np.where(WANTED > 0.5, np.nan, WANTED), Verdict.NONFINITE),
        (np.where(WANTED > 0.5, np.inf, WANTED), Verdict.NONFINITE),
        (np.full_like(WANTED, np.nan), Verdict.NONFINITE),
    ],
)
def test_each_kind_of_difference_has_its_own_verdict(actual, verdict):
    mismatch = compare(WANTED, actual)
    assert mismatch is not None
    assert mismatch.verdict is verdict


def test_integers_of_any_size_are_compared():
    assert compare(2**100, 2**100) is None
    mismatch = compare(5, 2**100)
    assert mismatch.verdict is Verdict.WRONG_VALUE
    assert mismatch.text == f"the result is {2**100} and should be 5"
    assert compare(5.0, 2**2000).verdict is Verdict.NONFINITE


@pytest.mark.parametrize(
    "actual",
    [
        WANTED,
        WANTED.astype(np.float32),
        np.asfortranarray(WANTED),
        WANTED + 1e-12,
        WANTED[::-1][::-1],
    ],
)
def test_correct_values_pass_in_any_layout_and_float_width(actual):
    assert compare(WANTED, actual) is None


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        (True, np.True_, 1),
        (3, np.int64(3), 3.0),
        (0.5, np.float32(0.5), "0.5"),
        (0.0, 0, 1),
        (1.0, np.int64(1), True),
        ([1.0, 0.5], [1, 0.5], [1, 1]),
        (3, 3, True),
        ("a", "a", "b"),
        ([1, 2], [1, 2], (1, 2)),
        ((1, 2), [1, 2], [1, 3]),
        ((1, [2, 3]), [1, [2, 3]], (1, (2, 3))),
    ],
)
def test_python_values_are_compared_by_type_and_value(expected, right, wrong):
    assert compare(expected, right) is None
    assert compare(expected, wrong) is not None


def test_message_says_which_value_of_a_tuple_is_wrong():
    mismatch = compare((WANTED, WANTED), (WANTED, WANTED + 1))
    assert mismatch is not None
    assert "value 2 of 2" in mismatch.text
    assert "[0, 0]" in mismatch.text


def test_tuple_of_the_wrong_length_is_a_wrong_type():
    mismatch = compare((WANTED, WANTED), (WANTED,))
    assert mismatch is not None
    assert mismatch.verdict is Verdict.WRONG_TYPE
    assert mismatch.text == "the result has 1 value and should have 2"


SENTENCES = {
    "the result has 3 values and should have 2: it is [1, 2, 3] and should be [1, 2]": (
        [1, 2],
        [1, 2, 3],
        "the result has more values than it should",
    ),
    "the result is [1, 3] and should be [1, 2]": ([1, 2], [1, 3], "the result is wrong"),
    "the result has 1 value and should have 0: it is [''] and should be []": (
        [],
        [""],
        "the result has more values than it should",
    ),
    "item 2 of value 2 is 0.5 and should be 0.25": (
        (1, [1.0, 0.25]),
        (1, [1.0, 0.5]),
        "an item of value 2 is wrong",
    ),
    "item 1 of the list is 2 and should be 0.5": ([0.5], [2.0], "an item is wrong"),
    "item 1 of item 2 of value 1 is 2 and should be 1": (
        ([0.5, (1.0,)], 1),
        ([0.5, (2.0,)], 1),
        "item 1 of an item of value 1 is wrong",
    ),
    "the result is a tuple of 2 values and should be a list of 2 values": (
        [1, 2],
        (1, 2),
        "the result is a tuple and should be a list",
    ),
    "the result has dtype object and should have float64": (
        WANTED,
        Foreign("ndarray[object]"),
        "the dtype of the result is wrong",
    ),
    "the result is a NumPy array of dtype object and should be a list of 2 values": (
        [1, 2],
        Foreign("ndarray[object]"),
        "the result is of another type and should be a list",
    ),
    "the result is a float and should be an int": (
        3,
        3.0,
        "the result is a float and should be an int",
    ),
    "the result is 0 and should be 0.5": (0.5, -0.0, "the result is wrong"),
    "the result is 2 and should be 1.5": (1.5, 2, "the result is wrong"),
    "the result is of type matrix and should be an array of shape (2, 3)": (
        WANTED,
        Foreign("matrix"),
        "the result is of another type and should be an array",
    ),
    "the result is None and should be a tuple of 2 values": (
        (1, 2),
        None,
        "the result is None and should be a tuple",
    ),
    "the value of 'b' in value 1 is 2 and should be 1": (
        ({"b": 1},),
        ({"b": 2},),
        "the value of a key in value 1 is wrong",
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_message_gives_the_path_and_its_general_form_omits_numbers(sentence):
    expected, actual, general = SENTENCES[sentence]
    mismatch = compare(expected, actual)
    assert mismatch is not None
    assert mismatch.text == sentence
    assert mismatch.in_general == general


@pytest.mark.parametrize(
    ("expected", "actual", "advice"),
    [
        ((1, 2), None, "Is a `return` missing?"),
        ((1, 2), (1, None), ""),
        ([1, 2], (1, 2), "`list(...)` makes a list of it."),
        (WANTED, WANTED.tolist(), "`np.array` makes an array of it."),
        (WANTED, (WANTED,), "Is there a comma after the value that you return?"),
        (3, 1.5, "Did you write `/` where you need `//`?"),
        ((WANTED, WANTED), WANTED, "Return both values, with commas between them."),
    ],
)
def test_wrong_type_comes_with_advice(expected, actual, advice):
    mismatch = compare(expected, actual)
    assert mismatch is not None
    assert mismatch.advice == advice


floats = arrays.arrays(
    st.sampled_from([np.float64, np.float32]),
    arrays.array_shapes(max_dims=3, max_side=4),
    elements=st.floats(-1e6, 1e6, width=32),
)


@given(floats)
def test_every_array_equals_its_copy(array):
    assert compare(array, array.copy()) is None
    assert agree(array, array.copy())


@given(floats, st.data())
def test_single_outlier_is_always_detected(array, data):
    index = tuple(data.draw(st.integers(0, side - 1)) for side in array.shape)
    wrong = array.copy()
    wrong[index] += 1 + np.max(np.abs(array))
    assert compare(array, wrong) is not None
    assert not agree(array, wrong)


def test_nan_agrees_with_nan_but_never_matches_the_reference():
    broken = np.array([np.nan, 1.0])
    assert agree(broken, broken.copy())
    assert not agree(broken, np.array([0.0, 1.0]))
    assert compare(np.array([0.0, 1.0]), broken) is not None


SCALES = st.sampled_from([0.0, 1e-9, 1.0, 1e5])
CHANGES = st.sampled_from([0.0, 1e-12, 1e-8, 1e-6, 1e-3, np.nan, np.inf])
DTYPES = st.sampled_from(["f8", "f8", "f8", "f4"])
GRADIENTS = st.lists(st.tuples(SCALES, CHANGES, DTYPES, st.booleans(), st.booleans()), max_size=4)


@given(GRADIENTS)
@example([(0.0, 0.0, "f8", True, True)])
@example([(1.0, 0.0, "f8", True, False), (1e-9, 1e-3, "f8", True, False)])
def test_gradients_compared_together_or_separately_get_the_same_verdict(drawn):
    expected, actual = {}, {}
    for number, (scale, change, dtype, present, transposed) in enumerate(drawn):
        reference = (scale * np.arange(1.0, 7).reshape(2, 3)).astype(dtype)
        answer = reference.copy()
        answer[-1, -1] += change
        expected[f"parameter {number}"] = Tensor(reference) if present or number else None
        actual[f"parameter {number}"] = (
            Tensor(answer.T if transposed else answer) if present else None
        )
    wrong = [*wrong_gradients(expected, actual)]
    assert (compare_gradients(expected, actual) is None) == (not wrong)
    assert not (wrong and all_close(expected, actual))


def test_message_shows_enough_digits_to_tell_two_numbers_apart():
    for wrong, text in ((0.5, "is 0.5 and should be 0.25"), (0.25001, "is 0.25001 and should be")):
        mismatch = compare(0.25, wrong)
        assert mismatch is not None
        assert text in mismatch.text


def test_integers_beyond_64_bits_are_compared_exactly():
    assert agree(10**25, 10**24 * 10)
    assert not agree(10**25, 10**25 + 1)
    assert agree([10**25, 1.5], [10**24 * 10, 1.5])
