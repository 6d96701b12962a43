"""Tests that only call an implementation: each raises AssertionError if it is wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def test_masked_blend(
    implementation: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Test a function that blends values with the softmax of masked scores.

    It is called `implementation(scores, values, mask)`. scores: (n_q, n_k), floats, a query a row;
    they may be large. values: (n_k, d_v), one for each key. mask: boolean, (n_q, n_k), True where a
    query may attend. It should return an array of shape (n_q, d_v): for each query the values of
    the keys that it may attend to, weighted by the softmax of their scores. A hidden key changes
    nothing, however large its score. A query that may attend to nothing gets 0.
    Raises AssertionError if the implementation is wrong. What is right to seven digits is right.
    """
    scores = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    values = np.array([[6.0, 0.0], [0.0, 12.0], [24.0, 24.0]])
    mask = np.array([[True, True, False], [True, False, True], [False, False, False]])
    right = np.array([[2, 8], [10.5, 6], [0, 0]])  # weights 1/3 and 2/3; 3/4 and 1/4; none
    loud = np.where(mask, scores, 1e6)
    assert np.allclose(implementation(loud, values, mask), right)
    assert np.allclose(implementation(scores + 800, values, mask), right)


def test_looks_back(
    implementation: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> None:
    """Test a look back at a source, of which the parameters are unknown.

    It is called `implementation(s, H, mask)`. s: (batch, d_s), the decoder's states, one for each
    sentence. H: (batch, T, d_h), the encoder's states. mask: boolean, (batch, T), True where a
    token stands; every sentence has one. All numbers lie between -3 and 3; d_s and d_h are 2 to 8.
    It should return the tuple (context, weights), of shapes (batch, d_h) and (batch, T). The
    weights are the softmax of the scores of a sentence's tokens, and exactly 0 at the padding. The
    context is the sum of the encoder's states of the sentence, each times its weight. A score comes
    from a network of tanh units that reads the token's own state and the decoder's state of its
    sentence, and nothing else. Both count: with numbers drawn between -1 and 1 or wider, another
    state of the decoder moves some weight of every sentence of three tokens or more by over 0.0001.
    Raises AssertionError if the implementation is wrong. What is right to seven digits is right.
    """
    rng = np.random.default_rng(0)
    s, H = rng.normal(size=(2, 3)).clip(-3, 3), rng.normal(size=(2, 5, 4)).clip(-3, 3)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]) == 1
    context, weights = implementation(s, H, mask)
    assert np.allclose(weights.sum(axis=-1), 1)
    assert not weights[~mask].any()
    assert np.allclose(context, np.sum(weights[..., None] * H, axis=-2))
    for i in range(2):
        kept = np.flatnonzero(mask[i])[:0:-1]  # alone, in the other order, without the first token
        _, fewer = implementation(s[[i]], H[[i]][:, kept], mask[[i]][:, kept])
        assert np.allclose(fewer[0], weights[i, kept] / weights[i, kept].sum())
    _, moved = implementation(s[::-1], H, mask)
    assert (np.abs(moved - weights).max(axis=-1) > 1e-4).all()


def test_reads_from_both_ends(
    implementation: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Test an encoder that reads padded sentences from both ends, of unknown parameters.

    It is called `implementation(X, lengths)`. X: (batch, n, d), tokens, one a row; n is 1 to 6, d 1
    to 4. lengths: whole numbers from 1 to n, (batch,): so many tokens of each sentence are real,
    and come first. Their numbers lie between -2 and 2; behind them stand any numbers, up to a
    thousand in size. It should return H, (batch, n, 2 d_h), with the same d_h for every X. Row t
    belongs to token t: its first d_h numbers have read the tokens 0 to t of its sentence, its last
    d_h numbers the last real token and all others down to t, and nothing else. What stands in the
    rows of the padding does not matter. The two readers have parameters of their own, and begin
    with a state of zeros. A reader has read a token if another token in that place, which differs
    by 0.5 or more in every number, moves some number of its state by more than 0.0001.
    Raises AssertionError if the implementation is wrong. Right to seven digits is right.
    """
    rng = np.random.default_rng(0)
    X, lengths = rng.uniform(-1, 1, size=(3, 4, 2)), np.array([2, 4, 1])
    H = implementation(X, lengths)
    for i, length in enumerate(lengths):
        alone = implementation(X[[i], :length], lengths[[i]])
        assert np.allclose(H[i, :length], alone[0])
        for token in range(length):
            other = X[[i], :length].copy()
            other[0, token] += 1
            moved = np.abs(implementation(other, lengths[[i]]) - alone)[0] > 1e-4
            from_left, from_right = (half.any(axis=-1) for half in np.split(moved, 2, axis=-1))
            assert np.array_equal(from_left, np.arange(length) >= token)
            assert np.array_equal(from_right, np.arange(length) <= token)
    first, second = np.split(H[2, 0], 2)  # for one token, only the readers' parameters differ
    assert not np.allclose(first, second)


def test_removes_heads(
    implementation: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Test a function that computes what a layer puts out without some of its heads.

    It is called `implementation(weights, values, W_o, removed)`. weights: (n_heads, n_q, n_k); each
    row sums to 1. values: (n_heads, n_k, d_v). W_o: (n_heads * d_v, d_out); its first d_v rows
    belong to head 0, and so on. A head's term is the product of its weights, its values and its
    rows of W_o. removed: an array of whole numbers, the heads to remove, each from 0 to n_heads
    - 1, in any order, perhaps none, perhaps all, perhaps one of them twice. It should return an
    array of shape (n_q, d_out): the sum of the terms of all other heads, each as it was, and 0 if
    there is none.
    Raises AssertionError if the implementation is wrong. What is right to seven digits is right.
    """
    rng = np.random.default_rng(0)
    shares, values = rng.random((3, 2, 4)), rng.normal(size=(3, 4, 2))
    weights, W_o = shares / shares.sum(axis=-1, keepdims=True), rng.normal(size=(6, 5))
    terms = [weights[h] @ values[h] @ W_o[2 * h : 2 * h + 2] for h in range(3)]
    for removed in ([], [0, 1], [1, 1], [2, 0, 1]):
        right = sum((terms[h] for h in range(3) if h not in removed), np.zeros((2, 5)))
        assert np.allclose(implementation(weights, values, W_o, np.array(removed, int)), right)
