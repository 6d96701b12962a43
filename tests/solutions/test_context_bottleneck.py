"""Test the recurrent reader, its Jacobians and its training against torch and by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.context_bottleneck import (
    clip_by_global_norm,
    encode,
    encode_bidirectional,
    greedy_decode,
    gru_cell,
    jacobian_norms,
    next_token_loss,
    rnn_cell,
)
from solutions.experiments.context_bottleneck.gradient_decay import (
    fit_rate,
    state_norms,
)

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
DTYPES = st.sampled_from([np.float64, np.float32])
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-5}


def sentence(rng, batch, T, d, d_h, dtype=np.float64):
    X, h_0 = rng.normal(size=(*batch, T, d)), rng.uniform(-1, 1, size=(*batch, d_h))
    return X.astype(dtype), h_0.astype(dtype)


def parameters(rng, d, d_h, dtype=np.float64):
    shapes = (d, d_h), (d_h, d_h), (d_h,)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def test_one_step_by_hand():
    """Weights 0.5 for the token, 0.5 for the state, -0.25 for the bias."""
    x, h = np.array([1.0, 0.0]), np.array([1.0])
    W_xh, W_hh, b = np.array([[0.5], [9.0]]), np.array([[0.5]]), np.array([-0.25])
    np.testing.assert_allclose(rnn_cell(x, h, W_xh, W_hh, b), [np.tanh(0.75)])


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, DTYPES)
def test_equals_torch(seed, batch, T, d, d_h, dtype):
    rng = np.random.default_rng(seed)
    X, h_0 = sentence(rng, batch, T, d, d_h, dtype)
    forward, backward = parameters(rng, d, d_h, dtype), parameters(rng, d, d_h, dtype)
    torch_dtype = torch.float64 if dtype == np.float64 else torch.float32
    rnn = torch.nn.RNN(d, d_h, batch_first=True, bidirectional=True, dtype=torch_dtype)
    for end, (W_xh, W_hh, b) in (("", forward), ("_reverse", backward)):
        with torch.no_grad():
            getattr(rnn, f"weight_ih_l0{end}").copy_(torch.from_numpy(W_xh.T))
            getattr(rnn, f"weight_hh_l0{end}").copy_(torch.from_numpy(W_hh.T))
            getattr(rnn, f"bias_ih_l0{end}").copy_(torch.from_numpy(b))
            getattr(rnn, f"bias_hh_l0{end}").zero_()
    flat = torch.from_numpy(X.reshape(-1, T, d))
    first = torch.from_numpy(h_0.reshape(-1, d_h)).expand(2, -1, -1).contiguous()
    expected = rnn(flat, first)[0].detach().numpy().reshape(*batch, T, 2 * d_h)
    actual = encode_bidirectional(X, h_0, forward, backward)
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype])
    H, h_T = encode(X, h_0, *forward)
    assert H.dtype == h_T.dtype == dtype
    np.testing.assert_allclose(H, expected[..., :d_h], rtol=0, atol=TOLERANCE[dtype])
    np.testing.assert_array_equal(h_T, H[..., -1, :])


@given(SEEDS, BATCHES, SIZES, SIZES)
def test_jacobian_norms_are_those_of_autograd(seed, batch, T, d_h):
    rng = np.random.default_rng(seed)
    X, h_0 = sentence(rng, batch, T, 3, d_h)
    W_xh, W_hh, b = (0.5 * array for array in parameters(rng, 3, d_h))
    norms = jacobian_norms(encode(X, h_0, W_xh, W_hh, b)[0], W_hh)
    assert norms.shape == (*batch, T)
    for index in np.ndindex(*batch):
        inputs = torch.from_numpy(X[index] @ W_xh + b)
        H, _ = encode(X[index], h_0[index], W_xh, W_hh, b)
        for t in range(T):

            def last(h, t=t, inputs=inputs):
                for later in inputs[t + 1 :]:
                    h = torch.tanh(later + h @ torch.from_numpy(W_hh))
                return h

            table = torch.autograd.functional.jacobian(last, torch.from_numpy(H[t]))
            expected = torch.linalg.matrix_norm(table, ord=2).item()
            np.testing.assert_allclose(norms[(*index, t)], expected, rtol=1e-8)


def test_jacobian_norms_by_hand():
    """Two units swap their values and double them; the slopes are 0.75 and 1."""
    H = np.array([[0.3, 0.3], [0.5, 0.0], [0.0, 0.5]])
    W_hh = np.array([[0.0, 2.0], [2.0, 0.0]])
    # [[0, 2], [1.5, 0]] @ [[0, 1.5], [2, 0]] = [[4, 0], [0, 2.25]]
    np.testing.assert_allclose(jacobian_norms(H, W_hh), [4.0, 2.0, 1.0])


def test_an_empty_sentence_and_a_token_of_another_width_are_errors():
    cell = parameters(np.random.default_rng(0), 3, 2)
    with pytest.raises(ValueError, match="no token"):
        encode(np.ones((0, 3)), np.zeros(2), *cell)
    with pytest.raises(ValueError, match="mismatch"):
        encode(np.ones((5, 4)), np.zeros(2), *cell)


def test_greedy_decode_returns_plain_ints():
    tokens = greedy_decode(lambda *_: (np.eye(3)[2], None), None, 0, 1, 4)
    assert [(token, type(token)) for token in tokens] == [(2, int)] * 4


def test_state_norms_of_an_rnn_are_those_of_the_exercise():
    torch.manual_seed(0)
    cell = torch.nn.RNNCell(3, 4).double()
    X = torch.randn(2, 6, 3, dtype=torch.float64)
    W_xh, W_hh = (weight.detach().numpy().T for weight in (cell.weight_ih, cell.weight_hh))
    b = (cell.bias_ih + cell.bias_hh).detach().numpy()
    H, _ = encode(X.numpy(), np.zeros((2, 4)), W_xh, W_hh, b)
    np.testing.assert_allclose(state_norms(cell, X).numpy(), jacobian_norms(H, W_hh))


@pytest.mark.parametrize("kind", [torch.nn.GRUCell, torch.nn.LSTMCell])
def test_state_norms_of_gated_cells_are_those_of_autograd(kind):
    torch.manual_seed(0)
    cell = kind(3, 4).double()
    X = torch.randn(1, 5, 3, dtype=torch.float64)
    norms = state_norms(cell, X)[0]
    size = 8 if kind is torch.nn.LSTMCell else 4

    def run(state, tokens):
        for x in tokens:
            if size == 8:
                state = torch.cat(cell(x[None], state[None].chunk(2, dim=1)), dim=1)[0]
            else:
                state = cell(x[None], state[None])[0]
        return state

    for t in range(1, 6):
        state = run(torch.zeros(size, dtype=torch.float64), X[0, :t]).detach()
        table = torch.autograd.functional.jacobian(lambda s, t=t: run(s, X[0, t:]), state)
        torch.testing.assert_close(norms[t - 1], torch.linalg.matrix_norm(table, ord=2))


def test_a_known_rate_is_recovered():
    rate, explained = fit_rate(3.0 * 0.7 ** np.arange(20))
    assert rate == pytest.approx(0.7)
    assert explained == pytest.approx(1.0)
    wave = np.exp(np.sin(np.arange(20)))
    assert fit_rate(wave)[1] < 0.5


@given(SEEDS, BATCHES, SIZES, SIZES, DTYPES)
def test_gru_cell_equals_torch(seed, batch, d, d_h, dtype):
    """PyTorch's update gate is the course's; its second candidate bias is 0 here."""
    rng = np.random.default_rng(seed)
    x, h = (rng.normal(size=(*batch, n)).astype(dtype) for n in (d, d_h))
    triples = [parameters(rng, d, d_h, dtype) for _ in range(3)]
    cell = torch.nn.GRUCell(d, d_h, dtype=torch.float64 if dtype == np.float64 else torch.float32)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(np.concatenate([W.T for W, _, _ in triples])))
        cell.weight_hh.copy_(torch.from_numpy(np.concatenate([W.T for _, W, _ in triples])))
        cell.bias_ih.copy_(torch.from_numpy(np.concatenate([b for _, _, b in triples])))
        cell.bias_hh.zero_()
        flat = torch.from_numpy(x.reshape(-1, d)), torch.from_numpy(h.reshape(-1, d_h))
        expected = cell(*flat).numpy().reshape(h.shape)
    actual = gru_cell(x, h, *triples)
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype])


@given(SEEDS, st.lists(st.sampled_from([(), (2,), (3, 1), (2, 2)]), min_size=1, max_size=4))
def test_clipping_equals_torch(seed, shapes):
    rng = np.random.default_rng(seed)
    gradients = [np.asarray(rng.normal(size=shape)) for shape in shapes]
    max_norm = float(rng.uniform(0.1, 4))
    weights = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in shapes]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = torch.tensor(gradient)
    expected = torch.nn.utils.clip_grad_norm_(weights, max_norm)
    clipped, norm = clip_by_global_norm(gradients, max_norm)
    assert norm == pytest.approx(expected.item())
    for actual, weight in zip(clipped, weights, strict=True):
        np.testing.assert_allclose(actual, weight.grad.numpy(), rtol=1e-5)


@given(SEEDS, st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(3, 7))
def test_next_token_loss_equals_torch(seed, words, V):
    rng = np.random.default_rng(seed)
    targets = np.zeros((len(words), max(words) + 2), dtype=int)
    for row, n in zip(targets, words, strict=True):
        row[: n + 2] = [1, *rng.integers(1, V, size=n), 2]
    logits = rng.normal(size=(len(words), targets.shape[1] - 1, V))
    expected = torch.nn.functional.cross_entropy(
        torch.from_numpy(logits).flatten(0, 1),
        torch.from_numpy(targets[:, 1:]).flatten(),
        ignore_index=0,
    )
    assert next_token_loss(logits, targets, 0) == pytest.approx(expected.item())
