"""The exercise `encode_bidirectional`: a sentence read from both ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import context_bottleneck as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise


def bidirectional_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two tokens", _inputs(rng, (), 2, 3, 3))
    yield Case("four tokens", _inputs(rng, (), 4, 3, 2))
    yield Case("two sentences at once, float32", _inputs(rng, (2,), 4, 2, 3, np.float32))
    yield Case("one sentence of one token in the batch", _inputs(rng, (1,), 1, 3, 2))
    yield Case("one number a token, one hidden unit", _inputs(rng, (), 4, 1, 1))
    yield Case("four other tokens", _inputs(rng, (), 4, 3, 2))
    X, h_0, *readers = _inputs(rng, (), 4, 2, 3)
    yield Case("large tokens", (1e5 * X, h_0, *readers))
    X, h_0, *readers = _inputs(rng, (2, 1, 3), 2, 3, 2)
    readers = [(W_xh, W_hh, 1e-6 * b) for W_xh, W_hh, b in readers]
    yield Case("three leading batch axes, tiny numbers", (1e-6 * X, 1e-6 * h_0, *readers))


def bidirectional_hidden(rng: np.random.Generator) -> Iterator[Case]:
    T, d, d_h = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("one sentence", _inputs(rng, (), T, d, d_h))
    yield Case("one token", _inputs(rng, (), 1, d, d_h))
    yield Case("a batch, float32", _inputs(rng, (2,), T, d, d_h, np.float32))
    yield Case("two leading batch axes", _inputs(rng, (2, 3), T, d, d_h))
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), T, d, 1))
    X, h_0, *readers = _inputs(rng, (2,), T, d, d_h)
    yield Case("large tokens", (1e5 * X, h_0, *readers))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    T: int,
    d: int,
    d_h: int,
    dtype: type = np.float64,
) -> tuple:
    """Random X, h_0, and the parameters (W_xh, W_hh, b) of the two readers."""

    def parameters() -> tuple[np.ndarray, ...]:
        shapes = (d, d_h), (d_h, d_h), (d_h,)
        return tuple((0.7 * rng.normal(size=shape)).astype(dtype) for shape in shapes)

    X, h_0 = rng.normal(size=(*batch, T, d)), rng.uniform(0.2, 0.9, size=(*batch, d_h))
    return X.astype(dtype), h_0.astype(dtype), parameters(), parameters()


def bidirectional__not_turned_back(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), tokens in ((forward, X), (backward, X[..., ::-1, :])):
        h, states = h_0, []
        for t in range(X.shape[-2]):
            h = np.tanh(tokens[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states, axis=-2))
    return np.concatenate(halves, axis=-1)


def bidirectional__both_from_the_left(X, h_0, forward, backward):
    halves = []
    for W_xh, W_hh, b in (forward, backward):
        h, states = h_0, []
        for t in range(X.shape[-2]):
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states, axis=-2))
    return np.concatenate(halves, axis=-1)


def bidirectional__read_forward_turned_after(X, h_0, forward, backward):
    halves = []
    for W_xh, W_hh, b in (forward, backward):
        h, states = h_0, []
        for t in range(X.shape[-2]):
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states, axis=-2))
    return np.concatenate([halves[0], halves[1][..., ::-1, :]], axis=-1)


def bidirectional__one_set_of_parameters(X, h_0, forward, backward):
    W_xh, W_hh, b = forward
    halves = []
    for order in (1, -1):
        h, states = h_0, []
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states[::order], axis=-2))
    return np.concatenate(halves, axis=-1)


def bidirectional__backward_first(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), order in ((backward, -1), (forward, 1)):
        h, states = h_0, []
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states[::order], axis=-2))
    return np.concatenate(halves, axis=-1)


def bidirectional__added(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        h, states = h_0, []
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states[::order], axis=-2))
    return halves[0] + halves[1]


def bidirectional__one_below_the_other(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        h, states = h_0, []
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states[::order], axis=-2))
    return np.concatenate(halves, axis=-2)


def bidirectional__state_handed_over(X, h_0, forward, backward):
    h, halves = h_0, []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        states = []
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states[::order], axis=-2))
    return np.concatenate(halves, axis=-1)


def bidirectional__features_turned(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        tokens = X[..., ::order]
        h, states = h_0, []
        for t in range(X.shape[-2]):
            h = np.tanh(tokens[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states, axis=-2)[..., ::order])
    return np.concatenate(halves, axis=-1)


def bidirectional__first_axis_turned(X, h_0, forward, backward):
    halves = []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        tokens = X[::order]
        h, states = h_0, []
        for t in range(X.shape[-2]):
            h = np.tanh(tokens[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        halves.append(np.stack(states, axis=-2)[::order])
    return np.concatenate(halves, axis=-1)


def bidirectional__last_states(X, h_0, forward, backward):
    last = []
    for (W_xh, W_hh, b), order in ((forward, 1), (backward, -1)):
        h = h_0
        for t in range(X.shape[-2])[::order]:
            h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        last.append(h)
    return np.concatenate(last, axis=-1)


def bidirectional__filled(X, h_0, forward, backward):
    T, d_h = X.shape[-2], h_0.shape[-1]
    H = np.zeros((*X.shape[:-1], 2 * d_h), dtype=X.dtype)
    left, right = h_0, h_0
    for t in range(T):
        left = np.tanh(X[..., t, :] @ forward[0] + left @ forward[1] + forward[2])
        H[..., t, :d_h] = left
        right = np.tanh(X[..., T - 1 - t, :] @ backward[0] + right @ backward[1] + backward[2])
        H[..., T - 1 - t, d_h:] = right
    return H


def bidirectional__one_wide_cell(X, h_0, forward, backward):
    d, d_h = forward[0].shape
    W_xh, W_hh = np.zeros((2 * d, 2 * d_h)), np.zeros((2 * d_h, 2 * d_h))
    W_xh[:d, :d_h], W_xh[d:, d_h:] = forward[0], backward[0]
    W_hh[:d_h, :d_h], W_hh[d_h:, d_h:] = forward[1], backward[1]
    b = np.concatenate([forward[2], backward[2]])
    both = np.concatenate([X, np.flip(X, axis=-2)], axis=-1)
    h, states = np.concatenate([h_0, h_0], axis=-1), []
    for t in range(X.shape[-2]):
        h = np.tanh(both[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    left = np.stack([state[..., :d_h] for state in states], axis=-2)
    right = np.stack([state[..., d_h:] for state in states[::-1]], axis=-2)
    return np.concatenate([left, right], axis=-1)


def bidirectional__loops(X, h_0, forward, backward):
    T, d_h = X.shape[-2], h_0.shape[-1]
    H = np.empty((*X.shape[:-1], 2 * d_h))
    for index in np.ndindex(X.shape[:-2]):
        h = h_0[index]
        for t in range(T):
            h = np.tanh(np.einsum("i,ij", X[(*index, t)], forward[0]) + h @ forward[1] + forward[2])
            H[(*index, t)][:d_h] = h
        h = h_0[index]
        for t in range(T - 1, -1, -1):
            a = np.einsum("i,ij", X[(*index, t)], backward[0]) + h @ backward[1]
            h = np.tanh(a + backward[2])
            H[(*index, t)][d_h:] = h
    return H


ENCODE_BIDIRECTIONAL = Exercise(
    name="encode_bidirectional",
    points=3,
    difficulty=3,
    minutes=20,
    reference=solutions.encode_bidirectional,
    cases=bidirectional_cases,
    hidden=bidirectional_hidden,
    misconceptions=(
        Misconception(
            "backward states not turned back",
            bidirectional__not_turned_back,
            "The reader from the right reads the last token first. To which token does its first "
            "state belong, and in which row do you put it?",
        ),
        Misconception(
            "both read from the left",
            bidirectional__both_from_the_left,
            "Change the last token of a sentence. Does any number in your row 0 change?",
        ),
        Misconception(
            "turned round only after reading",
            bidirectional__read_forward_turned_after,
            "In which order does your second reader meet the tokens? Turning its states round "
            "afterwards: does that change what it has read?",
        ),
        Misconception(
            "one set of parameters for both",
            bidirectional__one_set_of_parameters,
            "Does your answer change when the parameters of the second reader do?",
        ),
        Misconception(
            "backward half first",
            bidirectional__backward_first,
            "Which half of row 0 may depend on the last token, the first or the second?",
        ),
        Misconception(
            "added, not put side by side",
            bidirectional__added,
            "How wide is a row of your H? Can you still tell from it what each reader said?",
        ),
        Misconception(
            "one below the other",
            bidirectional__one_below_the_other,
            "How many rows has your H, and how many tokens are there?",
        ),
        Misconception(
            "state handed to the second reader",
            bidirectional__state_handed_over,
            "With which state does each reader begin? Should the second one know what the first "
            "one has read?",
        ),
        Misconception(
            "features turned round, not tokens",
            bidirectional__features_turned,
            "`X[..., ::-1]` turns the last axis round. What stands along the last axis of X?",
        ),
        Misconception(
            "first axis turned round",
            bidirectional__first_axis_turned,
            "Right for one sentence. In a batch, what stands along the first axis?",
        ),
        Misconception(
            "last states only",
            bidirectional__last_states,
            "How many vectors do you return for a sentence of four tokens?",
        ),
    ),
    alternatives=(
        bidirectional__filled,
        bidirectional__one_wide_cell,
        bidirectional__loops,
    ),
    help=(
        "Two readers, each with parameters and a state of its own. One goes from the first token "
        "to the last, the other from the last to the first.",
        "`X[..., ::-1, :]` is the sentence from its end, and the same slice puts states back into "
        "the order of the tokens. `np.concatenate(..., axis=-1)` puts two halves side by side.",
        "Section “A sequence in, a sequence out”.",
    ),
    promises=(
        Promise(
            "X: tokens, one a row, (..., T, d), T at least 1.",
            (
                "one token",
                "two sentences at once, float32",
                "one sentence of one token in the batch",
                "two leading batch axes",
                "three leading batch axes, tiny numbers",
            ),
        ),
        Promise(
            "h_0: (..., d_h), the state with which each of the two readers begins.",
            ("two tokens", "one token"),
        ),
        Promise(
            "forward, backward: the parameters (W_xh, W_hh, b) of the reader from the left and of "
            "the reader from the right, of shapes (d, d_h), (d_h, d_h) and (d_h,). The cell is "
            "tanh, as in `rnn_cell`, and tokens may be large.",
            ("two tokens", "four other tokens", "one sentence", "large tokens"),
        ),
        Promise(
            "Returns H, (..., T, 2 d_h). Row t belongs to token t: its first d_h numbers have "
            "read the tokens 0 to t, its last d_h numbers the tokens T - 1 down to t.",
            (
                "four tokens",
                "one number a token, one hidden unit",
                "one sentence in the batch, one hidden unit",
            ),
        ),
    ),
    forbidden=forbidden.RECURRENT_NETWORK,
)
