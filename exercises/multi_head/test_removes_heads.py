"""The exercise `test_removes_heads`: write the test that finds a head which still speaks.

It tells several functions apart that compute a layer's output without some of its heads: right
ones in several styles, and mutants. Each stands alone: only its own lines reach the process in
which it runs.
"""

import numpy as np

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import written_tests as solutions

test_removes_heads = Declaration(
    solutions.test_removes_heads,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TEST,
    help=(
        "Compute the term of each head yourself, and compare with the sum of the terms that "
        "should be left. Then ask which lists of heads would show that an implementation breaks a "
        "sentence of the docstring.",
        "Take three heads or more, of two features or more, that all differ. Which lists could go "
        "wrong: none, the last one, two in ascending order, two in descending order, one named "
        "twice, all?",
        "Sections “What W_o is for” and “Removing heads”.",
    ),
)


@test_removes_heads.right
def table(implementation):
    weights = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]], [[0.5, 0.5], [1, 0]]])
    values = np.array([[[2.0, 0], [4, 2]], [[0, 4], [4, 0]], [[8, 2], [0, 6]]])
    W_o = np.array([[1.0, 0], [0, 1], [10, 0], [0, 10], [100, 1], [0, 100]])
    # the terms of the three heads
    first = np.array([[2.0, 0], [3, 1]])
    second = np.array([[40.0, 0], [30, 10]])
    third = np.array([[400.0, 404], [800, 208]])
    for removed, right in (
        ([], first + second + third),
        ([2], first + second),
        ([0, 1], third),
        ([0, 2], second),
        ([2, 2], first + second),
        ([0, 1, 2], 0 * first),
    ):
        output = implementation(weights, values, W_o, np.array(removed, dtype=int))
        np.testing.assert_allclose(output, right, rtol=1e-6, atol=1e-6)


@test_removes_heads.right
def by_properties(implementation):
    rng = np.random.default_rng(2)
    scores = np.exp(rng.normal(size=(4, 3, 5)))
    weights = scores / scores.sum(axis=-1, keepdims=True)
    values, W_o = rng.normal(size=(4, 5, 2)), rng.normal(size=(8, 3))

    def without(*heads):
        return implementation(weights, values, W_o, np.array(heads, dtype=int))

    merged = np.concatenate(list(weights @ values), axis=-1)
    if not np.allclose(without(), merged @ W_o):
        raise AssertionError("with all heads it should be the layer")
    for h in range(4):
        if not np.allclose(
            without(*{0, 1, 2, 3} - {h}), merged[:, 2 * h : 2 * h + 2] @ W_o[2 * h : 2 * h + 2]
        ):
            raise AssertionError("one head alone should be its term")
        if not np.allclose(without() - without(h), without(*{0, 1, 2, 3} - {h})):
            raise AssertionError("what is missing should be the head's term")
    if not np.allclose(without(3, 1), without(1, 3, 1)):
        raise AssertionError("neither order nor repetition should matter")
    if without(1, 2, 0, 3).any():
        raise AssertionError("nothing should be left")


@test_removes_heads.right
def every_subset(implementation):
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(3), size=(3, 2))
    values, W_o = rng.normal(size=(3, 3, 4)), rng.normal(size=(12, 2))
    for subset in range(8):
        removed = [h for h in range(3) if subset >> h & 1]
        zeroed = np.stack([weights[h] @ values[h] * (h not in removed) for h in range(3)])
        right = np.swapaxes(zeroed, 0, 1).reshape(2, 12) @ W_o
        for order in (removed, removed[::-1], removed + removed):
            output = implementation(weights, values, W_o, np.array(order, dtype=int))
            assert output.shape == right.shape
            assert np.abs(output - right).max() < 1e-6


@test_removes_heads.wrong(
    "only that the output changes",
    "Many wrong functions change the output. Which output is right?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), size=(3, 2))
    values, W_o = rng.normal(size=(3, 4, 2)), rng.normal(size=(6, 5))
    whole = np.concatenate(list(weights @ values), axis=-1) @ W_o
    for h in range(3):
        assert not np.allclose(implementation(weights, values, W_o, np.array([h])), whole)


@test_removes_heads.wrong(
    "only that nothing is left of no head",
    "If all heads are removed, the output is 0. How would you notice that one head too many goes?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), size=(3, 2))
    values, W_o = rng.normal(size=(3, 4, 2)), rng.normal(size=(6, 5))
    assert not implementation(weights, values, W_o, np.arange(3)).any()


test_removes_heads.wrong(
    "never without a head",
    "Your test asks for the whole layer. What does it say about a function that removes nothing?",
    table.edit(
        "([2], first + second),\n"
        "([0, 1], third),\n"
        "([0, 2], second),\n"
        "([2, 2], first + second),\n"
        "([0, 1, 2], 0 * first),",
        "",
    ),
)


@test_removes_heads.wrong(
    "that the output gets smaller",
    "Two terms may point in opposite directions. What becomes of the size of the sum if one of "
    "them goes?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), size=(3, 2))
    values, W_o = rng.normal(size=(3, 4, 2)), rng.normal(size=(6, 5))
    W_o[4:] -= W_o[:2]
    values[2] = values[0]
    whole = np.concatenate(list(weights @ values), axis=-1) @ W_o
    for h in range(3):
        fewer = implementation(weights, values, W_o, np.array([h]))
        assert np.linalg.norm(fewer) < np.linalg.norm(whole)


@test_removes_heads.wrong(
    "heads that all look alike",
    "If all heads have the same weights and values, how would you notice that the wrong one goes?",
)
def _(implementation):
    weights = np.full((3, 2, 4), 0.25)
    values, W_o = np.ones((3, 4, 2)), np.ones((6, 5))
    for removed in ([], [0], [2], [0, 1], [2, 0]):
        output = implementation(weights, values, W_o, np.array(removed, dtype=int))
        assert np.allclose(output, 2 * (3 - len(removed)))


@test_removes_heads.wrong(
    "heads of one feature",
    "With one feature for each head, which rows of W_o could be taken for another head's?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), size=(3, 2))
    values, W_o = rng.normal(size=(3, 4, 1)), rng.normal(size=(3, 5))
    terms = weights @ values @ W_o[:, None]
    for removed in ([], [0], [1, 2], [2, 2], [0, 2], [0, 1, 2]):
        kept = [h for h in range(3) if h not in removed]
        output = implementation(weights, values, W_o, np.array(removed, dtype=int))
        assert np.allclose(output, terms[kept].sum(axis=0))


test_removes_heads.wrong(
    "equal to the last bit",
    "Does a sum of terms add in the same order as one product? Is one of the two wrong?",
    every_subset.edit("np.abs(output - right).max() < 1e-6", "(output == right).all()"),
)
test_removes_heads.wrong(
    "the last head only",
    "Would your test notice if the function always removed the last head?",
    table.edit(
        "([0, 1], third),\n([0, 2], second),\n([2, 2], first + second),\n([0, 1, 2], 0 * first),",
        "",
    ),
)


@test_removes_heads.accepts(
    "the heads' findings set to zero",
    holds=("It is called `implementation(weights, values, W_o, removed)`",),
)
def zeroed(weights, values, W_o, removed):
    found = weights @ values
    found[removed] = 0
    return np.swapaxes(found, 0, 1).reshape(found.shape[1], -1) @ W_o


@test_removes_heads.accepts(
    "head by head, and added", holds=("right to seven digits", "A head's term is the product of")
)
def added(weights, values, W_o, removed):
    n_heads, d_v = len(values), values.shape[-1]
    output = np.zeros((weights.shape[1], W_o.shape[1]))
    for h in range(n_heads):
        if h not in removed:
            output = output + weights[h] @ values[h] @ W_o[h * d_v : (h + 1) * d_v]
    return output


@test_removes_heads.accepts("the terms taken away from the whole")
def taken_away(weights, values, W_o, removed):
    rows = W_o.reshape(len(values), -1, W_o.shape[1])
    terms = weights @ (values @ rows)
    return terms.sum(axis=0) - terms[np.unique(removed)].sum(axis=0)


@test_removes_heads.accepts("a smaller layer")
def smaller(weights, values, W_o, removed):
    kept = np.setdiff1d(np.arange(len(values)), removed)
    rows = W_o.reshape(len(values), -1, W_o.shape[1])[kept]
    return np.einsum("hqk,hkv,hvo->qo", weights[kept], values[kept], rows)


test_removes_heads.rejects(
    "nothing is removed",
    zeroed.edit("found[removed] = 0", ""),
    holds=("the heads to remove", "Raises AssertionError"),
)
test_removes_heads.rejects(
    "the heads of the list are kept, and the others removed",
    added.edit("if h not in removed", "if h in removed"),
    holds=("the sum of the terms of all other heads",),
)
test_removes_heads.rejects(
    "the other heads made larger, to make up for it",
    zeroed.edit(
        "found[removed] = 0",
        "found[removed] = 0\n"
        "left = len(values) - len(set(removed.tolist()))\n"
        "found = found * len(values) / max(left, 1)",
    ),
    holds=("each as it was",),
)
test_removes_heads.rejects(
    "a removed head looks at all tokens alike, and goes on speaking",
    zeroed.edit(
        "found = weights @ values\nfound[removed] = 0",
        "weights = weights.copy()\nweights[removed] = 1 / weights.shape[-1]\n"
        "found = weights @ values",
    ),
    holds=("weights: (n_heads, n_q, n_k)",),
)
test_removes_heads.rejects(
    "rows of W_o dealt out in turn",
    added.edit("W_o[h * d_v : (h + 1) * d_v]", "W_o[h::n_heads]"),
    holds=("W_o: (n_heads * d_v, d_out)", "values: (n_heads, n_k, d_v)"),
)
test_removes_heads.rejects(
    "the heads that are left read the first rows of W_o",
    smaller.edit("[kept]\nreturn", "[: len(kept)]\nreturn"),
    holds=("its first d_v rows belong to head 0, and so on",),
)
test_removes_heads.rejects(
    "heads counted from 1",
    zeroed.edit("found[removed] = 0", "found[removed - 1] = 0"),
    holds=("each from 0 to n_heads - 1",),
)
test_removes_heads.rejects(
    "only the first head of the list is removed",
    zeroed.edit("found[removed] = 0", "found[removed[:1]] = 0"),
    shown=False,
    holds=("an array of whole numbers",),
)
test_removes_heads.rejects(
    "a head that is named twice is taken away twice",
    taken_away.edit("np.unique(removed)", "removed"),
    shown=False,
    holds=("perhaps one of them twice",),
)
test_removes_heads.rejects(
    "one head after another, while the numbers of the others shift",
    smaller.edit(
        "kept = np.setdiff1d(np.arange(len(values)), removed)",
        "kept = np.arange(len(values))\n"
        "for head in dict.fromkeys(removed.tolist()):\n"
        "    kept = np.delete(kept, head % len(kept))",
    ),
    shown=False,
    holds=("in any order",),
)
test_removes_heads.rejects(
    "the whole layer if no head is left",
    zeroed.edit(
        "found[removed] = 0", "if len(set(removed.tolist())) < len(values):\n    found[removed] = 0"
    ),
    shown=False,
    holds=("and 0 if there is none", "perhaps all"),
)
test_removes_heads.rejects(
    "an empty list removes the last head",
    zeroed.edit("found[removed] = 0", "found[removed if len(removed) else -1] = 0"),
    shown=False,
    holds=("perhaps none",),
)
