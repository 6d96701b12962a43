"""The exercise `test_reads_from_both_ends`: write the test that finds what a reader has read.

`test_reads_from_both_ends` must tell apart bidirectional encoders of padded sentences: right ones
in several styles, and mutants. Each has its own parameters, which a test cannot see; the test can
only change a token and watch which states change.

Each encoder is self-contained: only its own lines reach the process in which it runs. The matrices
from state to state are 0.8 times a rotation, so that every token keeps the influence that the
docstring promises.
"""

import numpy as np

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import written_tests as solutions

test_reads_from_both_ends = Declaration(
    solutions.test_reads_from_both_ends,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TEST,
    help=(
        "You do not know a single state. How can you find out, just by calling the encoder, "
        "whether a row has read a certain token?",
        "Change one token after another. In which rows may the first half change, in which the "
        "second half, and in which rows must they change? What should a sentence get if it is "
        "alone in its batch? And how do the two readers differ if there is only one token to read?",
        "Section “A sequence in, a sequence out”.",
    ),
)


@test_reads_from_both_ends.right
def token_by_token(implementation):
    rng = np.random.default_rng(4)
    X, lengths = rng.uniform(-1, 1, size=(4, 5, 3)), np.array([3, 5, 1, 2])
    before = implementation(X, lengths)
    d_h = before.shape[-1] // 2
    for i in range(4):
        real = np.arange(5) < lengths[i]
        for token in range(5):
            other = X.copy()
            other[i, token] -= 0.9
            moved = np.abs(implementation(other, lengths) - before) > 1e-4
            for j in range(4):
                if i != j:
                    assert not moved[j, : lengths[j]].any()
            left, right = moved[i, :, :d_h].any(axis=-1), moved[i, :, d_h:].any(axis=-1)
            reads = real[token] & real
            assert np.array_equal(left[real], (reads & (np.arange(5) >= token))[real])
            assert np.array_equal(right[real], (reads & (np.arange(5) <= token))[real])
        alone = implementation(X[i : i + 1], lengths[i : i + 1])
        np.testing.assert_allclose(alone[0, real], before[i, real], atol=1e-7)
    assert not np.allclose(before[2, 0, :d_h], before[2, 0, d_h:])


@test_reads_from_both_ends.right
def by_prefixes(implementation):
    """A half is right if it is that of a sentence which has nothing but what it may have read."""
    rng = np.random.default_rng(9)
    X, lengths = rng.uniform(-2, 2, size=(3, 4, 2)), np.array([4, 1, 3])
    H = implementation(X, lengths)
    first, second = np.split(H, 2, axis=-1)
    assert np.abs(first[1, 0] - second[1, 0]).max() > 1e-4
    for i, length in enumerate(lengths):
        for t in range(length):
            upto = implementation(X[i, None, : t + 1], np.array([t + 1]))
            onwards = implementation(X[i, None, t:length], np.array([length - t]))
            assert np.allclose(np.split(upto[0, t], 2)[0], first[i, t])
            assert np.allclose(np.split(onwards[0, 0], 2)[1], second[i, t])
            for token in range(length):
                other = X[i, None].copy()
                other[0, token] *= -1
                moved = implementation(other, lengths[[i]])[0, t] - H[i, t]
                here = [np.abs(half).max() > 1e-4 for half in np.split(moved, 2)]
                assert here == [token <= t, token >= t]


@test_reads_from_both_ends.right
def plain(implementation):
    rng = np.random.default_rng(2)
    X, lengths = rng.uniform(-1, 1, size=(3, 4, 2)), np.array([3, 4, 1])
    H = implementation(X, lengths)
    for i, length in enumerate(lengths):
        own, n = X[[i], :length], lengths[[i]]
        alone = implementation(own, n)
        assert np.allclose(H[i, :length], alone[0])
        for token in range(length):
            other = own.copy()
            other[0, token] += 1
            moved = np.abs(implementation(other, n) - alone)[0] > 1e-4
            left, right = np.split(moved, 2, axis=-1)
            assert not left[:token].any()
            assert left[token:].any(axis=-1).all()
            assert not right[token + 1 :].any()
            assert right[: token + 1].any(axis=-1).all()
    first, second = np.split(H[2, 0], 2)
    assert not np.allclose(first, second)


test_reads_from_both_ends.wrong(
    "no padding",
    "What comes after a short sentence in a batch, and which reader meets it first? Would your "
    "test notice?",
    plain.edit("X[[i], :length], lengths[[i]]", "X[[i]], np.array([4])")
    .edit("np.array([3, 4, 1])", "np.array([4, 4, 4])")
    .edit("H[2, 0]", "implementation(X[:1, :1], np.array([1]))[0, 0]"),
)
test_reads_from_both_ends.wrong(
    "the reader from the left only",
    "One half of your test is missing. Which tokens should change the other half of a row?",
    plain.edit(
        "assert not right[token + 1 :].any()\nassert right[: token + 1].any(axis=-1).all()", ""
    ),
)
test_reads_from_both_ends.wrong(
    "what a state has read, not what it must not have",
    "A state that has read the whole sentence has read everything that it should. What else does "
    "the docstring say about a state?",
    plain.edit("assert not left[:token].any()", "").edit("assert not right[token + 1 :].any()", ""),
)
test_reads_from_both_ends.wrong(
    "shared parameters accepted",
    "Which sentence do the two readers read in the same order? What should its two halves be?",
    plain.edit("first, second = np.split(H[2, 0], 2)\nassert not np.allclose(first, second)", ""),
)
test_reads_from_both_ends.wrong(
    "zeros required in the padding",
    "What does the docstring say about the rows of the padding?",
    plain.edit("own, n =", "assert not H[i, length:].any()\nown, n ="),
)


@test_reads_from_both_ends.accepts(
    "sentence by sentence",
    holds=(
        "It is called `implementation(X, lengths)`",
        "It should return H, (batch, n, 2 d_h), with the same d_h for every X",
        "Right to seven digits is right",
    ),
)
def sentence_by_sentence(X, lengths):
    rng = np.random.default_rng(5)
    W_xh = 0.4 * rng.normal(size=(2, X.shape[-1], 6))
    W_hh = 0.8 * np.linalg.qr(rng.normal(size=(2, 6, 6)))[0]
    b = 0.2 * rng.normal(size=(2, 6))
    H = np.zeros((*X.shape[:2], 12))
    for i, length in enumerate(lengths):
        left = right = np.zeros(6)
        for t in range(length):
            left = np.tanh(X[i, t] @ W_xh[0] + left @ W_hh[0] + b[0])
            H[i, t, :6] = left
        for t in reversed(range(length)):
            right = np.tanh(X[i, t] @ W_xh[1] + right @ W_hh[1] + b[1])
            H[i, t, 6:] = right
    return H


@test_reads_from_both_ends.accepts(
    "all sentences at once, each reversed within its length",
    holds=(
        "behind them stand any numbers, up to a thousand in size",
        "What stands in the rows of the padding does not matter",
    ),
)
def turned_within_the_length(X, lengths):
    rng = np.random.default_rng(6)
    W_xh = 0.4 * rng.normal(size=(2, X.shape[-1], 5))
    W_hh = 0.8 * np.linalg.qr(rng.normal(size=(2, 5, 5)))[0]
    b = 0.2 * rng.normal(size=(2, 5))
    places = np.arange(X.shape[1])
    back = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    halves = []
    for k, order in enumerate((np.broadcast_to(places, back.shape), back)):
        tokens = np.take_along_axis(X, order[..., None], axis=1)
        h, states = np.zeros((len(X), 5)), []
        for t in places:
            h = np.tanh(tokens[:, t] @ W_xh[k] + h @ W_hh[k] + b[k])
            states.append(h)
        halves.append(np.take_along_axis(np.stack(states, axis=1), order[..., None], axis=1))
    return np.concatenate(halves, axis=-1)


@test_reads_from_both_ends.accepts("the state is kept at 0 until the first real token")
def kept_at_zero(X, lengths):
    rng = np.random.default_rng(7)
    W_xh = 0.4 * rng.normal(size=(2, X.shape[-1], 6))
    W_hh = 0.8 * np.linalg.qr(rng.normal(size=(2, 6, 6)))[0]
    b = 0.2 * rng.normal(size=(2, 6))
    n = X.shape[1]
    real = np.arange(n) < lengths[:, None]
    H = np.zeros((len(X), n, 12))
    left = right = np.zeros((len(X), 6))
    for t in range(n):
        back = n - 1 - t
        left = np.tanh(X[:, t] @ W_xh[0] + left @ W_hh[0] + b[0])
        right = np.tanh(X[:, back] @ W_xh[1] + right @ W_hh[1] + b[1]) * real[:, back, None]
        H[:, t, :6], H[:, back, 6:] = left, right
    return H


test_reads_from_both_ends.rejects(
    "the reader from the right reads the padding first",
    kept_at_zero.edit(" * real[:, back, None]", "").edit(
        "real = np.arange(n) < lengths[:, None]", ""
    ),
    holds=("lengths: whole numbers from 1 to n, (batch,): so many tokens of each sentence are",),
)
test_reads_from_both_ends.rejects(
    "the states from the right are not put back in order",
    sentence_by_sentence.edit("H[i, t, 6:]", "H[i, length - 1 - t, 6:]"),
    holds=("Row t belongs to token t",),
)
test_reads_from_both_ends.rejects(
    "both read from the left",
    sentence_by_sentence.edit("reversed(range(length))", "range(length)"),
    holds=("its last d_h numbers",),
)
test_reads_from_both_ends.rejects(
    "one set of parameters for both",
    sentence_by_sentence.edit(
        "W_xh[1] + right @ W_hh[1] + b[1]", "W_xh[0] + right @ W_hh[0] + b[0]"
    ),
    holds=("The two readers have parameters of their own, and begin with a state of zeros",),
)
test_reads_from_both_ends.rejects(
    "the second reader begins with what the first one has read",
    sentence_by_sentence.edit(
        "for t in reversed(range(length)):", "right = left\nfor t in reversed(range(length)):"
    ),
    holds=("and nothing else",),
)
test_reads_from_both_ends.rejects(
    "the states before a token, not after it",
    sentence_by_sentence.edit(
        "left = np.tanh(X[i, t] @ W_xh[0] + left @ W_hh[0] + b[0])\nH[i, t, :6] = left",
        "H[i, t, :6] = left\nleft = np.tanh(X[i, t] @ W_xh[0] + left @ W_hh[0] + b[0])",
    ),
    holds=("its first d_h numbers have read the tokens 0 to t of its sentence",),
)
test_reads_from_both_ends.rejects(
    "the padding fades to a thousandth, not to 0",
    kept_at_zero.edit(" * real[:, back, None]", " * np.where(real[:, back, None], 1, 0.001)"),
    holds=("and nothing else",),
)
test_reads_from_both_ends.rejects(
    "the longest sentence's length for all",
    sentence_by_sentence.edit(
        "for i, length in enumerate(lengths):",
        "for i, length in enumerate(np.full(len(X), lengths.max())):",
    ),
    shown=False,
    holds=("X: (batch, n, d), tokens, one a row",),
)
test_reads_from_both_ends.rejects(
    "the last token is not read from the right",
    sentence_by_sentence.edit("reversed(range(length))", "reversed(range(length - 1))"),
    shown=False,
    holds=("A reader has read a token if", "Raises AssertionError"),
)
test_reads_from_both_ends.rejects(
    "a sentence begins with the state in which the one before it ended",
    sentence_by_sentence.edit(
        "for i, length in enumerate(lengths):\n    left = right = np.zeros(6)",
        "left = right = np.zeros(6)\nfor i, length in enumerate(lengths):",
    ),
    shown=False,
)
test_reads_from_both_ends.rejects(
    "the half from the right first",
    sentence_by_sentence.edit("return H", "return np.roll(H, 6, axis=-1)"),
    shown=False,
)
test_reads_from_both_ends.rejects(
    "the last states in every row",
    sentence_by_sentence.edit("H[i, t, :6]", "H[i, :, :6]").edit("H[i, t, 6:]", "H[i, :, 6:]"),
    shown=False,
)
