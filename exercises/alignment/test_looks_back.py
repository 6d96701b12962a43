"""The exercise `test_looks_back`: write the test that finds a look that goes wrong unseen.

`test_looks_back` must tell apart looks back at a source: right ones in several styles, and mutants.
Each has its own parameters, which a test cannot see; the test can only change one thing and watch
what else changes.

Each look is self-contained: only its own lines reach the process in which it runs.
"""

import numpy as np

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import written_tests as solutions

test_looks_back = Declaration(
    solutions.test_looks_back,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TEST,
    help=(
        "You do not know a single score. What can you check about weights and context all the "
        "same? Which changes to s, H and mask should change the results, and which should not?",
        "Two sentences, one of them padded. What should each of them get if it is alone, in "
        "another order, without one of its tokens, or with another state of the decoder?",
        "Sections “What the tanh is for”, “Large scores, and padding” and “The source is a set”.",
    ),
)


@test_looks_back.right
def one_thing_at_a_time(implementation):
    rng = np.random.default_rng(3)
    s, H = rng.uniform(-2, 2, size=(3, 4)), rng.uniform(-2, 2, size=(3, 6, 5))
    mask = np.arange(6) < np.array([[4], [6], [3]])
    context, weights = implementation(s, H, mask)
    np.testing.assert_allclose(np.where(mask, 0, weights), 0, atol=0)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    np.testing.assert_allclose(context, np.einsum("bt,btd->bd", weights, H), atol=1e-7)
    for i in range(3):
        _, alone = implementation(s[i : i + 1], H[i : i + 1], mask[i : i + 1])
        np.testing.assert_allclose(alone[0], weights[i], atol=1e-7)
    order = rng.permutation(6)
    _, shuffled = implementation(s, H[:, order], mask[:, order])
    np.testing.assert_allclose(shuffled, weights[:, order], atol=1e-7)
    fewer = mask & (np.arange(6) != 1)
    _, rest = implementation(s, H, fewer)
    wanted = weights * fewer / (weights * fewer).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(rest, wanted, atol=1e-7)
    _, moved = implementation(-s, H, mask)
    assert (np.abs(moved - weights).max(axis=-1) > 1e-4).all()


@test_looks_back.right
def by_pairs(implementation):
    """Whatever the others are, the ratio of two weights is that of these two tokens alone."""
    rng = np.random.default_rng(8)
    s, H = rng.uniform(-1, 1, size=(4, 2)), rng.uniform(-1, 1, size=(4, 4, 3))
    mask = np.array([[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 1]]) == 1
    context, weights = implementation(s, H, mask)
    ratios = []
    for i in range(4):
        assert abs(weights[i].sum() - 1) < 1e-7
        assert np.allclose(context[i], weights[i] @ H[i])
        for j in range(4):
            assert mask[i, j] or weights[i, j] == 0
            for k in range(4):
                if j != k and mask[i, j] and mask[i, k]:
                    pair = np.ones((1, 2), dtype=bool)
                    _, (two,) = implementation(s[[i]], H[[i]][:, [j, k]], pair)
                    assert np.isclose(two[0] * weights[i, k], two[1] * weights[i, j])
        ratios.append(implementation(s[[i - 1]], H[[i]], mask[[i]])[1][0])
    assert (np.abs(np.array(ratios) - weights).max(axis=-1) > 1e-4).all()


@test_looks_back.right
def plain(implementation):
    rng = np.random.default_rng(1)
    s, H = rng.uniform(-2, 2, size=(2, 3)), rng.uniform(-2, 2, size=(2, 4, 3))
    mask = np.array([[True, True, True, True], [True, True, True, False]])
    context, weights = implementation(s, H, mask)
    assert np.allclose(weights.sum(axis=-1), 1)
    assert (weights[~mask] == 0).all()
    assert np.allclose(context, (weights[..., None] * H).sum(axis=-2))
    for at in range(2):
        for token in range(3):
            less = mask.copy()
            less[at, token] = False
            own = slice(at, at + 1)
            turned = implementation(s[own], H[own, ::-1], less[own, ::-1])[1][0, ::-1]
            assert np.allclose(turned, weights[at] * less[at] / weights[at, less[at]].sum())
    moved = implementation(s + 1, H, mask)[1] - weights
    assert (abs(moved).max(axis=-1) > 1e-4).all()


@test_looks_back.wrong(
    "only shapes, and that the weights sum to 1",
    "Even a look that never reads the decoder's state has weights that sum to 1. What should the "
    "weights depend on?",
)
def _(implementation):
    rng = np.random.default_rng(0)
    mask = np.array([[True, True, True, True], [True, True, True, False]])
    context, weights = implementation(rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 5)), mask)
    assert context.shape == (2, 5)
    assert weights.shape == (2, 4)
    assert np.allclose(weights.sum(axis=-1), 1)


test_looks_back.wrong(
    "no padding in any input",
    "With a mask that allows everything, how would you notice that an implementation ignores the "
    "mask?",
    plain.edit("[True, True, True, False]]", "[True, True, True, True]]").edit(
        "less = mask.copy()\nless[at, token] = False", "less = mask"
    ),
)
test_looks_back.wrong(
    "one sentence only",
    "Which decoder state should ask for the second sentence? Can a single sentence show that?",
    plain.edit("size=(2, 3)", "size=(1, 3)")
    .edit("size=(2, 4, 3)", "size=(1, 4, 3)")
    .edit("[[True, True, True, True], [True, True, True, False]]", "[[True, True, True, False]]")
    .edit("for at in range(2)", "for at in range(1)"),
)
test_looks_back.wrong(
    "one state of the decoder only",
    "What does the decoder's state have to do with where it looks? Which call would show it?",
    plain.edit(
        "moved = implementation(s + 1, H, mask)[1] - weights\n"
        "assert (abs(moved).max(axis=-1) > 1e-4).all()",
        "",
    ),
)
test_looks_back.wrong(
    "the context is not checked",
    "Suppose that the weights are right. Which of the two results does the decoder's cell read?",
    plain.edit("assert np.allclose(context, (weights[..., None] * H).sum(axis=-2))", ""),
)
test_looks_back.wrong(
    "nearly 0 is enough",
    "Does the docstring only say that a weight at the padding is small, or does it give a value?",
    plain.edit("(weights[~mask] == 0)", "(weights[~mask] < 0.05)").edit(
        "turned, weights[at]", "turned * less[at] / turned[less[at]].sum(), weights[at]"
    ),
)


@test_looks_back.accepts(
    "all sentences at once",
    holds=(
        "It is called `implementation(s, H, mask)`",
        "s: (batch, d_s), the decoder's states, one for each sentence",
        "It should return the tuple (context, weights), of shapes (batch, d_h) and (batch, T)",
        "Both count: with numbers drawn between -1 and 1 or wider, another state of the decoder "
        "moves some weight of every sentence of three tokens or more by over 0.0001",
    ),
)
def all_at_once(s, H, mask):
    rng = np.random.default_rng(5)
    W_s, W_h = rng.normal(size=(s.shape[-1], 8)) / 2, rng.normal(size=(H.shape[-1], 8)) / 2
    v = rng.normal(size=8)
    hidden = np.tanh((s @ W_s)[:, None, :] + H @ W_h)
    scores = np.where(mask, hidden @ v, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.einsum("bt,btd->bd", weights, H), weights


@test_looks_back.accepts(
    "one token after another",
    holds=(
        "All numbers lie between -3 and 3; d_s and d_h are 2 to 8",
        "What is right to seven digits is right",
    ),
)
def token_by_token(s, H, mask):
    rng = np.random.default_rng(6)
    W_s, W_h = rng.normal(size=(s.shape[-1], 8)) / 2, rng.normal(size=(H.shape[-1], 8)) / 2
    v = rng.normal(size=8)
    weights, context = np.zeros(mask.shape), np.zeros((len(s), H.shape[-1]))
    for i in range(len(s)):
        for j in np.flatnonzero(mask[i]):
            weights[i, j] = np.exp(np.tanh(s[i] @ W_s + H[i, j] @ W_h) @ v)
        weights[i] = weights[i] / weights[i].sum()
        for j in np.flatnonzero(mask[i]):
            context[i] += weights[i, j] * H[i, j]
    return context, weights


@test_looks_back.accepts("the two states side by side")
def side_by_side(s, H, mask):
    rng = np.random.default_rng(7)
    W, v = rng.normal(size=(s.shape[-1] + H.shape[-1], 8)) / 2, rng.normal(size=8)
    asked = np.repeat(s[:, None], H.shape[1], axis=1)
    scores = np.tanh(np.concatenate([asked, H], axis=-1) @ W) @ v
    total = np.logaddexp.reduce(np.where(mask, scores, -np.inf), axis=-1)
    weights = np.where(mask, np.exp(scores - total[:, None]), 0)
    return (weights[:, None] @ H)[:, 0], weights


@test_looks_back.accepts("the padding left out")
def padding_left_out(s, H, mask):
    rng = np.random.default_rng(8)
    W_s, W_h = rng.normal(size=(s.shape[-1], 8)) / 2, rng.normal(size=(H.shape[-1], 8)) / 2
    v = rng.normal(size=8)
    weights, contexts = np.zeros(mask.shape), []
    for state, row, own, seen in zip(s, weights, H, mask, strict=True):
        shares = np.exp(np.tanh(state @ W_s + own[seen] @ W_h) @ v)
        row[seen] = shares / np.sum(shares)
        contexts.append(row[seen] @ own[seen])
    return np.array(contexts), weights


mask_ignored = test_looks_back.rejects(
    "the mask is ignored",
    all_at_once.edit("np.where(mask, hidden @ v, -np.inf)", "hidden @ v"),
    holds=("mask: boolean, (batch, T), True where a token stands", "Raises AssertionError"),
)
test_looks_back.rejects(
    "hidden after the softmax: the weights no longer sum to 1",
    mask_ignored.edit(
        "shares / shares.sum(axis=-1, keepdims=True)",
        "shares / shares.sum(axis=-1, keepdims=True) * mask",
    ),
    holds=("The weights are the softmax of the scores of a sentence's tokens",),
)
test_looks_back.rejects(
    "hidden by a penalty that is too small",
    all_at_once.edit("np.where(mask, hidden @ v, -np.inf)", "hidden @ v - np.where(mask, 0, 30)"),
    holds=("exactly 0 at the padding",),
)
test_looks_back.rejects(
    "the tanh is left out: every state of the decoder looks at the same tokens",
    all_at_once.edit(
        "np.tanh((s @ W_s)[:, None, :] + H @ W_h)", "(s @ W_s)[:, None] + H @ W_h / 3"
    ),
    holds=("A score comes from a network of tanh units",),
)
test_looks_back.rejects(
    "the first sentence's state asks for all",
    all_at_once.edit("(s @ W_s)", "(s[:1] @ W_s)"),
    holds=("the decoder's state of its sentence, and nothing else",),
)
test_looks_back.rejects(
    "a softmax over the sentences",
    all_at_once.edit(
        "shares.sum(axis=-1, keepdims=True)", "np.maximum(shares.sum(axis=0), 1e-300)"
    ),
)
test_looks_back.rejects(
    "the context is the mean of the states",
    all_at_once.edit(
        'np.einsum("bt,btd->bd", weights, H)',
        "np.sum(mask[..., None] * H, axis=1) / np.sum(mask, axis=1)[:, None]",
    ),
    holds=(
        "The context is the sum of the encoder's states of the sentence, each times its weight",
    ),
)
test_looks_back.rejects(
    "a thousandth added to the softmax's denominator",
    all_at_once.edit(
        "shares.sum(axis=-1, keepdims=True)", "(shares.sum(axis=-1, keepdims=True) + 0.001)"
    ),
    holds=("The weights are the softmax of the scores of a sentence's tokens",),
)
test_looks_back.rejects(
    "a token's position adds to its score",
    all_at_once.edit("hidden @ v", "hidden @ v - 0.3 * np.arange(H.shape[1])"),
    shown=False,
    holds=("that reads the token's own state",),
)
test_looks_back.rejects(
    "the context is one token late",
    all_at_once.edit("weights, H)", "weights, np.roll(H, 1, axis=1))"),
    shown=False,
    holds=("H: (batch, T, d_h), the encoder's states",),
)
test_looks_back.rejects(
    "the first sentence's mask for all",
    all_at_once.edit("np.where(mask,", "np.where(mask[:1],"),
    shown=False,
    holds=("every sentence has one",),
)
test_looks_back.rejects(
    "the mean state of the batch is subtracted",
    all_at_once.edit("(s @ W_s)", "((s - s.mean(axis=0) / 2) @ W_s)"),
    shown=False,
)
test_looks_back.rejects(
    "scores are brought to one spread in every sentence",
    all_at_once.edit(
        "shares =",
        "spread = (hidden @ v).std(axis=-1, keepdims=True, where=mask)\n"
        "scores = scores / (spread + 0.1)\n"
        "shares =",
    ),
    shown=False,
)
