"""The exercise `test_masked_blend`: write the test that finds a mask which does not hide.

`test_masked_blend` must tell apart masked blends: right ones in several styles, and mutants.

Each blend is self-contained: only its own lines reach the process in which it runs.
"""

import numpy as np

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import written_tests as solutions

test_masked_blend = Declaration(
    solutions.test_masked_blend,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TEST,
    help=(
        "Choose scores, values and a mask for which you know the answer, and compare. Then take "
        "the docstring sentence by sentence: which input would show that an implementation breaks "
        "that sentence?",
        "`assert np.allclose(implementation(scores, values, mask), right)`. The logarithms of "
        "small whole numbers are good scores. Take two queries that differ, and values that tell "
        "the keys apart; in which ways may scores and masks be extreme?",
        "The section “Masks” of the chapter.",
    ),
)


@test_masked_blend.right
def without_the_hidden(implementation):
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(4, 5)) * 3000, rng.normal(size=(5, 3))
    scores[1:, 2] += 1e6
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0]]) == 1
    for scale in (1, 1e-3):
        output = implementation(scores * scale, values, mask)
        for i in range(4):
            kept = scores[i, mask[i]] * scale
            weights = np.exp(kept - kept.max()) if kept.size else kept
            wanted = weights @ values[mask[i]] / max(weights.sum(), 1)
            assert np.allclose(output[i], wanted)


@test_masked_blend.right
def table(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    wanted = np.array([[2, 8], [18 / 7 + 96 / 7, 96 / 7], [0, 0]])
    np.testing.assert_allclose(implementation(scores, values, mask), wanted, rtol=1e-6)
    np.testing.assert_allclose(implementation(scores + 800, values, mask), wanted, rtol=1e-6)
    loud = np.where(mask, scores, 1e5)
    np.testing.assert_allclose(implementation(loud, values, mask), wanted, rtol=1e-6)


@test_masked_blend.right
def by_properties(implementation):
    rng = np.random.default_rng(1)
    scores, values = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    mask = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]]) == 1
    output = implementation(scores, values, mask)
    if np.any(output[2] != 0):
        raise AssertionError("nothing to attend to should give 0")
    if not np.allclose(implementation(scores, np.ones((4, 1)), mask)[:2], 1):
        raise AssertionError("the weights should sum to 1")
    if not np.allclose(implementation(np.where(mask, scores + 5000, 1e5), values, mask), output):
        raise AssertionError("a hidden score, or a shift, should change nothing")
    marked = values.copy()
    marked[3] += 7
    if not np.allclose(implementation(scores, marked, mask)[1], output[1]):
        raise AssertionError("a hidden value should change nothing")
    ratio = np.exp(scores[0, 3] - scores[0, 0])
    weights = implementation(scores, np.eye(4), mask)[0]
    if not np.isclose(weights[3] / weights[0], ratio):
        raise AssertionError("weights should be as the exponentials of the scores")


@test_masked_blend.wrong(
    "only that the weights sum to 1",
    "Equal values hide where the weights went. Which values tell one key from another?",
)
def _(implementation):
    scores = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    mask = np.array([[True, True, False], [False, True, True]])
    assert np.allclose(implementation(scores, np.ones((3, 2)), mask), 1)


@test_masked_blend.wrong(
    "a mask that hides nothing",
    "With a mask that allows everything, how would you notice that an implementation ignores the "
    "mask?",
)
def _(implementation):
    scores, values = np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([[4.0], [8.0]])
    everything = np.ones((2, 2), dtype=bool)
    assert np.allclose(implementation(scores, values, everything), [[7], [6]])
    assert np.allclose(implementation(scores + 800, values, everything), [[7], [6]])


test_masked_blend.wrong(
    "small scores only",
    "What if a hidden score is larger than the penalty that should hide it, or a visible score "
    "overflows?",
    table.edit(
        "np.testing.assert_allclose(implementation(scores, values, mask), wanted, "
        "rtol=1e-6)\n"
        "np.testing.assert_allclose(implementation(scores + 800, values, mask), wanted, "
        "rtol=1e-6)\n"
        "loud = np.where(mask, scores, 1e5)\n"
        "np.testing.assert_allclose(implementation(loud, values, mask), wanted, rtol=1e-6)",
        "assert np.allclose(implementation(scores, values, mask), wanted)",
    ),
)


@test_masked_blend.wrong(
    "every query may attend to something",
    "What should the output be for a query that may attend to nothing? Does your test check that?",
)
def _(implementation):
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True]])
    wanted = np.array([[2, 8], [18 / 7 + 96 / 7, 96 / 7]])
    for shift in (0, 800):
        assert np.allclose(implementation(scores + shift, values, mask), wanted)
    assert np.allclose(implementation(np.where(mask, scores, 1e5), values, mask), wanted)


@test_masked_blend.wrong(
    "equal to the last bit",
    "Do a loop and a matrix product add in the same order? Is one of the two wrong?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(6, 40)), rng.normal(size=(40, 7))
    mask = rng.random((6, 40)) < 0.6
    hidden = np.where(mask, scores, -np.inf)
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    wanted = weights / weights.sum(axis=-1, keepdims=True) @ values
    assert (implementation(scores, values, mask) == wanted).all()


@test_masked_blend.wrong(
    "one query only", "Which mask should the second query get? Can a single query show that?"
)
def _(implementation):
    scores, values = np.log([[1.0, 2.0, 5.0]]), np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False]])
    for shift in (0, 800):
        assert np.allclose(implementation(scores + shift, values, mask), [[2, 8]])
    assert np.allclose(implementation(np.where(mask, scores, 1e5), values, mask), [[2, 8]])
    assert not implementation(scores, values, ~np.ones((1, 3), dtype=bool)).any()


@test_masked_blend.accepts("hidden scores are minus infinity")
def minus_infinity(scores, values, mask):
    scores = np.where(mask, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1) @ values


@test_masked_blend.accepts(
    "a loop over the queries",
    holds=("It is called `implementation(scores, values, mask)`", "right to seven digits"),
)
def query_by_query(scores, values, mask):
    output = np.zeros((len(scores), values.shape[1]))
    for i, seen in enumerate(mask):
        if seen.any():
            weights = np.exp(scores[i, seen] - scores[i, seen].max())
            output[i] = weights @ values[seen] / weights.sum()
    return output


@test_masked_blend.accepts("with logarithms")
def by_logarithms(scores, values, mask):
    total = np.full(len(scores), -np.inf)
    for key in range(scores.shape[1]):
        total = np.where(mask[:, key], np.logaddexp(total, scores[:, key]), total)
    shifted = scores - np.where(np.isfinite(total), total, 0)[:, None]
    weights = np.exp(np.where(mask, shifted, -np.inf))
    return np.einsum("qk,kd->qd", weights, values)


@test_masked_blend.accepts("one key after another")
def running(scores, values, mask):
    output = np.zeros((len(scores), values.shape[1]))
    for i in range(len(scores)):
        best, total = -np.inf, 0.0
        for score, value, seen in zip(scores[i], values, mask[i], strict=True):
            if seen:
                before = np.exp(best - max(best, score))
                best = max(best, score)
                now = np.exp(score - best)
                total = total * before + now
                output[i] = output[i] * before + now * value
        if total:
            output[i] /= total
    return output


@test_masked_blend.rejects("the mask is ignored", holds=("mask: boolean", "Raises AssertionError"))
def mask_ignored(scores, values, mask):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


mask_turned_round = test_masked_blend.rejects(
    "True hides",
    minus_infinity.edit("np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)").edit(
        "return weights / np.where(total > 0, total, 1) @ values",
        "weights = weights / np.where(total > 0, total, 1)\n"
        "return weights * mask.any(axis=-1, keepdims=True) @ values",
    ),
    holds=("mask: boolean",),
)
masked_after_the_softmax = test_masked_blend.rejects(
    "hidden after the softmax: the weights no longer sum to 1",
    mask_ignored.edit("weights * mask.any(axis=-1, keepdims=True)", "weights * mask"),
)


@test_masked_blend.rejects(
    "a hidden score counts as 0", holds=("A hidden key changes nothing, however large its score",)
)
def hidden_scores_are_zero(scores, values, mask):
    scores = np.where(mask, scores, 0)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights * mask.any(axis=-1, keepdims=True) @ values


test_masked_blend.rejects(
    "the first query's mask for every query",
    mask_turned_round.edit(
        "scores = np.where(mask, -np.inf, scores)",
        "seen = np.broadcast_to(mask[:1], mask.shape)\nscores = np.where(seen, scores, -np.inf)",
    ),
    holds=("should return an array of shape (n_q, d_v)",),
)
test_masked_blend.rejects(
    "hidden by a penalty that a large score outweighs",
    hidden_scores_are_zero.edit(
        "np.where(mask, scores, 0)", "np.where(mask, scores, scores - 1e4)"
    ),
    holds=("A hidden…",),
)


@test_masked_blend.rejects(
    "a query that may attend to nothing gets the mean of all values", holds=("gets 0",)
)
def _(scores, values, mask):
    scores = np.where(mask, scores, -1e30)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values


@test_masked_blend.rejects("large scores overflow", holds=("may be large",))
def _(scores, values, mask):
    with np.errstate(all="ignore"):
        weights = np.exp(np.where(mask, scores, -np.inf))
        total = np.sum(weights, axis=-1, keepdims=True)
        return weights / np.where(total > 0, total, 1) @ values


test_masked_blend.rejects(
    "a thousandth added to the softmax's denominator",
    minus_infinity.edit("np.where(total > 0, total, 1)", "(total + 0.001)"),
    holds=("weighted by the softmax of their scores",),
)


@test_masked_blend.rejects(
    "a query that may attend to nothing gets NaN", shown=False, holds=("gets 0",)
)
def _(scores, values, mask):
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ values


test_masked_blend.rejects(
    "a softmax over the queries",
    minus_infinity.edit("axis=-1", "axis=0", times=2),
    shown=False,
    holds=("scores: (n_q, n_k)",),
)
test_masked_blend.rejects(
    "the last key is never looked at",
    minus_infinity.edit(
        "scores = np.where(mask, scores, -np.inf)",
        "seen = mask.copy()\n"
        "seen[:, -1] = seen[:, -1] & ~mask[:, :-1].any(axis=-1)\n"
        "scores = np.where(seen, scores, -np.inf)",
    ),
    shown=False,
    holds=("values: (n_k, d_v)",),
)
test_masked_blend.rejects(
    "every query sees what any query may attend to",
    hidden_scores_are_zero.edit(
        "scores = np.where(mask, scores, 0)",
        "seen = np.broadcast_to(mask.any(axis=0), mask.shape)\n"
        "scores = np.where(seen, scores, -np.inf)",
    ),
    shown=False,
)
test_masked_blend.rejects(
    "hidden after the softmax, right where one key is left",
    masked_after_the_softmax.edit(
        "return weights * mask @ values",
        "output = weights * mask @ values\n"
        "return np.where(mask.sum(axis=-1, keepdims=True) > 1, output, mask @ values)",
    ),
    shown=False,
)
