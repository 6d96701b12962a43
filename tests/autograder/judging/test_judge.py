"""Test naming the mistake: exact matches, answers with two faults, and unknown mistakes."""

import collections
import dataclasses

import numpy as np
import pytest
import toy

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Case, Raises, SeededGenerator, public_cases
from autograder.judging.judge import judge
from autograder.judging.keys import AnswerKey, build_key, observe_quietly, with_hidden
from autograder.judging.verdict import ALL_BUT_ERRORS, Verdict
from autograder.judging.words import Names


def judgement_of(function, hidden=()):
    key = build_key(toy.MEAN, public_cases(toy.MEAN), hidden)
    return judge(key, observe_quietly(function, key.cases))


def test_building_a_key_calls_the_reference_once_per_case():
    shapes = []

    def reference(X):
        shapes.append(X.shape)
        return X.mean(axis=-1)

    exercise = dataclasses.replace(toy.MEAN, reference=reference)
    public = build_key(exercise, public_cases(exercise), ())
    whole = with_hidden(public, exercise, exercise.hidden(np.random.default_rng(0)))
    assert whole.public == len(public.cases) < len(whole.cases) == len(shapes)
    combined = build_key(
        exercise, public_cases(exercise), exercise.hidden(np.random.default_rng(0))
    )
    assert (whole.public, whole.requests) == (combined.public, combined.requests)
    for value, combined_value in zip(whole.expected, combined.expected, strict=True):
        np.testing.assert_array_equal(value, combined_value)


@pytest.mark.parametrize(
    ("dtype", "verdict"), [(np.float32, Verdict.PASS), (np.float64, Verdict.WRONG_VALUE)]
)
def test_tolerance_follows_the_dtype_of_the_input(dtype, verdict):
    exercise = dataclasses.replace(
        toy.MEAN, reference=lambda X: (float(X.mean()), [X.mean(dtype=float)]), misconceptions=()
    )
    key = build_key(exercise, [Case("", (np.arange(1, 7, dtype=dtype),))], ())

    def off_in_the_sixth_digit(X):
        return float(X.mean()) * (1 + 5e-6), [X.mean(dtype=float) * (1 - 5e-6)]

    observations = observe_quietly(off_in_the_sixth_digit, key.cases)
    assert judge(key, observations).verdict is verdict


def test_mistake_that_explains_only_half_of_the_failures_is_not_named():
    def sums_and_raises_on_four_rows(X):
        if len(X) == 4:
            raise ValueError
        return X.sum(axis=-1)

    assert judgement_of(sums_and_raises_on_four_rows).misconception is None


UNEVEN = np.array([[1.0, 5.0], [2.0, 9.0]])


@pytest.mark.parametrize(
    ("first", "answer", "text"),
    [
        (np.ones((2, 3)), lambda X: X + 1, "is right here: what have you changed"),
        (
            UNEVEN,
            lambda X: X - X.mean(0) if len(X) == 2 else X,
            "Here it still behaves exactly like",
        ),
        (UNEVEN, lambda X: X * 5, ""),
    ],
)
def test_debug_exercise_distinguishes_a_new_bug_from_the_original(first, answer, text):
    others = [Case("", (np.arange(3.0 * n).reshape(n, 3) ** 2,)) for n in (3, 4, 5)]
    key = build_key(toy.CENTRED, [Case("", (first,)), *others], ())
    judgement = judge(key, observe_quietly(answer, key.cases))
    assert judgement.misconception is None
    assert text in judgement.message
    assert ("that you were given" in judgement.message) == bool(text)


def test_mistake_is_not_named_if_it_fails_where_the_answer_passes():
    sums = toy.MEAN.misconceptions[1]
    for right_on, name in ((1, None), (4, None), (0, "sum for mean")):

        def answer(X, right_on=right_on):
            return X.sum(axis=-1) / (X.shape[-1] if len(X) == right_on else 1)

        cases = [Case(f"{n} rows", (np.ones((n, 3)),)) for n in (1, 2, 3, 4)]
        key = build_key(dataclasses.replace(toy.MEAN, misconceptions=(sums,)), cases, ())
        assert judge(key, observe_quietly(answer, key.cases)).misconception == name


def test_message_prefers_a_case_with_a_visible_difference():
    cases = [Case(f"{n} rows", (np.full((n, 3), float(n)),)) for n in (1, 2, 3)]
    key = build_key(dataclasses.replace(toy.MEAN, misconceptions=()), cases, ())
    for off, shown in (({1: 1e-5, 2: 0.1, 3: 0.1}, 1), ({1: 1e-5, 2: 1e-5, 3: 0}, 0)):

        def answer(X, off=off):
            return X.mean(axis=-1) * (1 + off[len(X)])

        assert judge(key, observe_quietly(answer, key.cases)).case == shown


def test_hidden_second_fault_does_not_change_the_named_mistake():
    def sums_and_raises_on_nine_rows(X):
        if len(X) == 9:
            raise ValueError
        return X.sum(axis=-1)

    hidden = [Case("nine rows", (np.ones((9, 3)),))]
    assert judgement_of(sums_and_raises_on_nine_rows).misconception == "sum for mean"
    assert judgement_of(sums_and_raises_on_nine_rows, hidden).misconception == "sum for mean"


def test_unknown_mistake_gets_neither_name_nor_hint():
    for other in (lambda X: X.mean(axis=-1) + 1, lambda X: 1 / 0, lambda X: None):
        judgement = judgement_of(other)
        assert not judgement.passed
        assert judgement.misconception is None
        assert judgement.hint is None


def test_shared_exception_does_not_name_a_mistake():
    def raises_on_two_rows(X):
        if len(X) == 2:
            raise ValueError
        return X.sum(axis=-1)

    judgement = judgement_of(raises_on_two_rows)
    assert judgement.verdict is Verdict.EXCEPTION
    assert judgement.misconception is None


def test_too_few_results_are_malformed_output():
    key = build_key(toy.MEAN, public_cases(toy.MEAN), ())
    assert judge(key, []).verdict is Verdict.MALFORMED


def test_each_call_gets_a_freshly_seeded_generator():
    case = Case("a draw", (SeededGenerator(5),))
    key = AnswerKey("draw", (case,), 1, (np.random.default_rng(5).normal(size=3),), ())
    assert judge(key, observe_quietly(lambda rng: rng.normal(size=3), key.cases)).passed
    twice = judge(
        key, observe_quietly(lambda rng: (rng.normal(), rng.normal(size=3))[1], key.cases)
    )
    assert twice.verdict is Verdict.WRONG_VALUE


def ones(n):
    """Return `n` ones; raise ValueError with the number if it is below 0."""
    if n < 0:
        raise ValueError(f"n is {n} and must be 0 or more")
    return np.ones(n)


def returns(n):
    return np.ones(max(n, 0))


def other_type(n):
    if n < 0:
        raise TypeError(f"n is {n}")
    return np.ones(n)


def no_number(n):
    if n < 0:
        raise ValueError
    return np.ones(n)


def longer_number(n):
    if n < 0:
        raise ValueError("30 or -30")
    return np.ones(n)


def derived_type(n):
    if n < 0:
        raise np.exceptions.AxisError(f"n = {n}")
    return np.ones(n)


ONES = dataclasses.replace(
    toy.MEAN,
    name="ones",
    reference=ones,
    cases=lambda rng: [
        Case("two", (2,)),
        Case("a negative number", (-3,), raises=Raises("ValueError", ("-3",))),
    ],
    hidden=lambda rng: [Case("another", (-4,), raises=Raises("ValueError", ("-4",)))],
)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (returns, "it should raise ValueError, but returns an array of shape (0,)"),
        (other_type, "it should raise ValueError, but raises TypeError: n is -3"),
        (no_number, "the message of its ValueError should name -3; it is empty"),
        (longer_number, "the message of its ValueError should name -3; it says: 30 or -30"),
    ],
)
def test_missing_or_wrong_promised_exception_is_reported(answer, sentence):
    key = build_key(ONES, public_cases(ONES), ONES.hidden(None))
    judgement = judge(key, observe_quietly(answer, key.cases))
    assert judgement.verdict is Verdict.WRONG_EXCEPTION
    assert judgement.message == f"On the case “a negative number”: {sentence}. {ALL_BUT_ERRORS}"
    assert (judgement.passed, judgement.points(4)) == (False, 3)


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.zeros(max(n, 0)),
        lambda n: ones(n) * (n != 2),  # wrong on one of the cases without an exception
        lambda n: ones(-1),
        lambda n: ones(n) if n < 0 else np.zeros(n),
    ],
)
def test_raising_the_promised_exceptions_alone_earns_nothing(answer):
    key = build_key(ONES, public_cases(ONES), ONES.hidden(None))
    judgement = judge(key, observe_quietly(answer, key.cases))
    assert not judgement.earns
    assert ALL_BUT_ERRORS not in judgement.message


def test_exercise_with_only_exception_cases_gives_no_partial_credit():
    key = build_key(ONES, (), ONES.hidden(None))
    assert not judge(key, observe_quietly(returns, key.cases)).earns


@pytest.mark.parametrize("answer", [ones, derived_type])
def test_subclass_of_the_promised_exception_passes(answer):
    key = build_key(ONES, public_cases(ONES), ONES.hidden(None))
    assert judge(key, observe_quietly(answer, key.cases)).passed


def test_hidden_exception_case_does_not_reveal_its_arguments():
    def knows_the_public_case(n):
        return ones(n) if n >= -3 else np.ones(0)

    key = build_key(ONES, public_cases(ONES), ONES.hidden(None))
    judgement = judge(key, observe_quietly(knows_the_public_case, key.cases))
    assert judgement.verdict is Verdict.WRONG_EXCEPTION
    assert "-4" not in judgement.message
    assert "should raise ValueError" in judgement.message


def test_reference_must_raise_the_exception_its_case_declares():
    wrong = [Case("a negative number", (-3,), raises=Raises("TypeError", ()))]
    with pytest.raises(ValueError, match="should raise TypeError, but raises ValueError"):
        build_key(ONES, wrong, ())


TWO = [
    Case("ones", (np.ones((2, 3)),)),
    Case("twos", (np.full((2, 3), 2.0),)),
    Case("three rows", (np.ones((3, 3)),)),
]


def test_results_are_recorded_at_the_time_of_return():
    """Check a buffer that a later call overwrites: each result is correct when returned."""
    buffer = np.empty(2)

    def reuses_a_buffer(X):
        if len(X) != 2:
            return X.mean(axis=-1)
        return X.mean(axis=-1, out=buffer)

    observations = observe_quietly(reuses_a_buffer, TWO)
    assert [list(observation.value) for observation in observations] == [[1, 1], [2, 2], [1, 1, 1]]
    assert [observation.later is None for observation in observations] == [False, False, True]


def test_views_and_cached_results_do_not_count_as_changed():
    cache = {}

    def caches(X):
        return cache.setdefault(X.shape, np.ones(X.shape)), X[..., :1], X

    assert all(observation.later is None for observation in observe_quietly(caches, TWO))


def test_result_changed_by_a_later_call_is_reported():
    buffer = np.empty(9)

    def mean_into_a_buffer(X):
        return X.mean(axis=-1, out=buffer[: len(X)])

    assert judgement_of(mean_into_a_buffer).verdict is Verdict.MUTATED_RESULT
    assert "a later call changes it. Make a new array" in judgement_of(mean_into_a_buffer).message
    assert judgement_of(lambda X: X.mean(axis=-1)).passed


def tokens(stop):
    """Return the numbers below `stop` as a list, and their count."""
    return list(range(stop)), stop


COUNT = dataclasses.replace(
    toy.MEAN,
    reference=tokens,
    cases=lambda rng: [Case("two", (2,)), Case("three", (3,))],
    misconceptions=(),
)


def judgement_of_count(answer):
    key = build_key(COUNT, public_cases(COUNT), ())
    return judge(key, observe_quietly(answer, key.cases))


def test_message_blames_a_mutable_default_argument():
    def into_the_default(stop, numbers=[]):  # noqa: B006
        numbers += range(stop)
        return numbers, stop

    judgement = judgement_of_count(into_the_default)
    assert judgement.verdict is Verdict.MUTATED_RESULT
    assert "a default argument such as `[]`" in judgement.message
    assert judgement.case == 0


def test_named_tuple_or_list_is_accepted_for_a_tuple():
    Both = collections.namedtuple("Both", "numbers count")
    assert judgement_of_count(lambda stop: Both(list(range(stop)), stop)).passed
    assert judgement_of_count(lambda stop: [list(range(stop)), stop]).passed
    assert not judgement_of_count(lambda stop: (tuple(range(stop)), stop)).passed


def test_list_with_too_many_items_in_all_is_described():
    judgement = judgement_of(lambda X: [[0.5] * 120] * 100)
    assert judgement.verdict is Verdict.WRONG_TYPE
    assert "the result is a list of more than 10,000 items in all" in judgement.message


def test_changed_arguments_are_named():
    def changes(X, scale, *, shift):
        X += 1
        shift += 1
        return X.mean(axis=-1)

    case = Case("one", (np.ones((2, 3)), 1.0), {"shift": np.ones(1)})
    key = AnswerKey("x", (case,), 1, (np.full(2, 2.0),), (), Names(("X", "scale", "shift")))
    message = judge(key, observe_quietly(changes, key.cases)).message
    assert "it changes `X` and `shift`, which the caller still needs" in message


def test_report_says_when_an_exception_has_no_message():
    def raises(X):
        raise ValueError

    assert "it raises ValueError, without a message." in judgement_of(raises).message


@pytest.mark.parametrize("arguments", [[np.ones(2)], np.ones(2)])
def test_case_arguments_must_be_a_tuple(arguments):
    with pytest.raises(TypeError, match=r"the case 'two ones' are of type .*; write a tuple"):
        Case("two ones", arguments)


def steps(X, mask=None):
    """Return the row sums and the weights.

    Returns (output, weights) of the shapes (n,) and (n, d); the mask hides entries that are False.
    """
    weights = X if mask is None else np.where(mask, X, 0)
    return weights.sum(axis=-1), weights


def steps_cases(rng):
    """Return cases without a mask, with a mask, and with a batch axis but no mask."""
    mask = np.array([True, False, True])
    return [
        Case("two rows", (rng.normal(size=(2, 3)),)),
        Case("a mask", (rng.normal(size=(2, 3)), mask)),
        Case("the same mask", (rng.normal(size=(4, 3)), mask)),
        Case("a batch", (rng.normal(size=(2, 4, 3)),)),
    ]


def no_mask(X, mask=None):
    return steps(X)


def first_axis(X, mask=None):
    output, weights = steps(X, mask)
    return (weights[0].sum(axis=-1) if X.ndim > 2 else output), weights


DECLARED = Declaration(steps, points=2, difficulty=1, minutes=5, help=toy.HELP)
DECLARED.wrong("the mask left out", "What does the mask hide?", no_mask)
DECLARED.wrong("one sequence only", "Where is the batch?", first_axis)
DECLARED.public(steps_cases)
DECLARED.hidden(toy.hidden)
STEPS = DECLARED.exercise


def judgement_of_steps(answer):
    key = build_key(STEPS, public_cases(STEPS), ())
    return judge(key, observe_quietly(answer, key.cases))


def test_messages_use_the_names_of_results_in_the_docstring():
    def half(X, mask=None):
        output, weights = steps(X, mask)
        return output, weights / 2

    message = judgement_of_steps(half).message
    assert "the returned `weights` is" in message
    assert "only the returned `weights` is wrong" in message


def test_message_shows_a_case_that_the_named_mistake_explains():
    def mostly_no_mask(X, mask=None):
        output, weights = no_mask(X, mask)
        return output, weights + (X.shape == (2, 3) and mask is None)

    key = build_key(STEPS, public_cases(STEPS), ())
    judgement = judge(key, observe_quietly(mostly_no_mask, key.cases))
    assert judgement.misconception == "the mask left out"
    assert key.cases[judgement.case].note == "a mask"
    assert judgement.message.startswith("On the case “a mask”")


def test_two_mistakes_that_together_explain_all_failures_are_both_named():
    def both(X, mask=None):
        return first_axis(X, mask) if X.ndim > 2 else no_mask(X)

    judgement = judgement_of_steps(both)
    assert (judgement.misconception, judgement.also) == ("the mask left out", "one sequence only")
    assert judgement.message.startswith("On the case “a mask”")
    assert "“the mask left out” and “one sequence only”" in judgement.message
    assert "Where is the batch?" in judgement.message


def test_unexplained_case_leaves_both_mistakes_unnamed():
    def partly_explained(X, mask=None):
        if X.ndim > 2:
            return first_axis(X, mask)
        return no_mask(X) if mask is not None else steps(X + 1)

    judgement = judgement_of_steps(partly_explained)
    assert (judgement.misconception, judgement.also) == (None, None)


def test_exception_message_says_how_its_case_differs():
    def unbatched(X, mask=None):
        _n, _d = X.shape
        return steps(X, mask)

    message = judgement_of_steps(unbatched).message
    assert "it raises ValueError: too many values to unpack" in message
    assert "This case has more axes than others: `X` (2, 4, 3)." in message
