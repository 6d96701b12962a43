"""The exercise `additive_scores`: a small network compares two states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def scores_cases(rng: np.random.Generator) -> Iterator[Case]:
    s, H = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    W_s, W_h = np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[-1.0, 1.0], [0.0, 1.0]])
    yield Case("three places, everything small", (s, H, W_s, W_h, np.array([2.0, -1.0])))
    yield Case("states of one width", _inputs(rng, (), 4, 3, 3, 3))
    yield Case("all sizes differ", _inputs(rng, (), 5, 2, 4, 3))
    yield Case("a batch, as many places as sentences", _inputs(rng, (3,), 3, 2, 4, 5))
    yield Case("float32, two leading batch axes", _inputs(rng, (2, 3), 4, 3, 2, 5, np.float32))
    yield Case("large states", _inputs(rng, (), 3, 2, 3, 4, size=2000.0))
    yield Case("a batch of one, one place, one hidden unit", _inputs(rng, (1,), 1, 2, 3, 1))
    yield Case(
        "three leading batch axes, tiny states", _inputs(rng, (2, 1, 3), 2, 3, 2, 4, size=1e-6)
    )


def scores_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_s, d_h, d_a = rng.permutation([2, 3, 4, 5])
    yield Case("states of one width", _inputs(rng, (), n, d_s, d_s, d_s))
    yield Case("all sizes differ", _inputs(rng, (), n, d_s, d_h, d_a))
    yield Case("large states", _inputs(rng, (), n, d_s, d_h, d_a, size=2000.0))
    yield Case("a batch, as many places as sentences", _inputs(rng, (n,), n, d_s, d_h, d_a))
    yield Case("float32, a batch", _inputs(rng, (3,), n, d_s, d_h, d_a, np.float32))
    yield Case("one place, one hidden unit", _inputs(rng, (), 1, d_s, d_h, 1))
    yield Case("a batch of one, tiny states", _inputs(rng, (1,), n, d_s, d_h, d_a, size=1e-6))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d_s: int,
    d_h: int,
    d_a: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random s, H, W_s, W_h and v; `size` multiplies the states."""
    states = rng.normal(size=(*batch, d_s)) * size, rng.normal(size=(*batch, n, d_h)) * size
    parts = (rng.normal(size=shape) for shape in ((d_s, d_a), (d_h, d_a), (d_a,)))
    return tuple(array.astype(dtype) for array in (*states, *parts))


def additive_scores__no_tanh(s, H, W_s, W_h, v):
    return ((s @ W_s)[..., None, :] + H @ W_h) @ v


def additive_scores__no_v(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] + H @ W_h).sum(axis=-1)


def additive_scores__tanh_last(s, H, W_s, W_h, v):
    return np.tanh(((s @ W_s)[..., None, :] + H @ W_h) @ v)


def additive_scores__tanh_of_each(s, H, W_s, W_h, v):
    return (np.tanh(s @ W_s)[..., None, :] + np.tanh(H @ W_h)) @ v


def additive_scores__matrices_swapped(s, H, W_s, W_h, v):
    return np.tanh((s @ W_h)[..., None, :] + H @ W_s) @ v


def additive_scores__concatenated_the_other_way(s, H, W_s, W_h, v):
    repeated = np.broadcast_to(s[..., None, :], (*H.shape[:-1], s.shape[-1]))
    both = np.concatenate((H, repeated), axis=-1)
    return np.tanh(both @ np.concatenate((W_s, W_h), axis=0)) @ v


def additive_scores__products(s, H, W_s, W_h, v):
    return ((s @ W_s)[..., None, :] * (H @ W_h)).sum(axis=-1)


def additive_scores__products_of_units(s, H, W_s, W_h, v):
    return np.tanh((s @ W_s)[..., None, :] * (H @ W_h)) @ v


def additive_scores__softmax(s, H, W_s, W_h, v):
    scores = np.tanh((s @ W_s)[..., None, :] + H @ W_h) @ v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def additive_scores__no_axis_for_the_places(s, H, W_s, W_h, v):
    return np.tanh(s @ W_s + H @ W_h) @ v


def additive_scores__state_ignored(s, H, W_s, W_h, v):
    return np.tanh(H @ W_h) @ v


def additive_scores__loop(s, H, W_s, W_h, v):
    if H.ndim > 2:
        pairs = zip(s, H, strict=True)
        return np.stack([additive_scores__loop(*pair, W_s, W_h, v) for pair in pairs])
    scores = np.zeros(len(H))
    for j in range(len(H)):
        for unit in range(len(v)):
            scores[j] += v[unit] * np.tanh(s @ W_s[:, unit] + H[j] @ W_h[:, unit])
    return scores


def additive_scores__concatenated(s, H, W_s, W_h, v):
    repeated = np.broadcast_to(s[..., None, :], (*H.shape[:-1], s.shape[-1]))
    both = np.concatenate((repeated, H), axis=-1)
    return np.tanh(both @ np.concatenate((W_s, W_h), axis=0)) @ v


def additive_scores__einsum(s, H, W_s, W_h, v):
    from_encoder = np.einsum("...th,ha->a...t", H, W_h)
    from_decoder = np.expand_dims(np.einsum("...s,sa->a...", s, W_s), -1)
    return np.einsum("a,a...t->...t", v, np.tanh(from_decoder + from_encoder))


ADDITIVE_SCORES = Exercise(
    name="additive_scores",
    points=2,
    difficulty=2,
    minutes=15,
    reference=solutions.additive_scores,
    cases=scores_cases,
    hidden=scores_hidden,
    misconceptions=(
        Misconception(
            "tanh forgotten",
            additive_scores__no_tanh,
            "Without the tanh, how does the difference of two scores change when the decoder's "
            "state changes?",
        ),
        Misconception(
            "v forgotten",
            additive_scores__no_v,
            "Each hidden unit votes. Who decides how much each vote counts, and with which sign?",
        ),
        Misconception(
            "tanh after v",
            additive_scores__tanh_last,
            "How large can your scores become? Which layer of the network has the tanh, the hidden "
            "one or the output?",
        ),
        Misconception(
            "a tanh for each state",
            additive_scores__tanh_of_each,
            "One hidden unit reads both states. Is its tanh taken before or after they meet?",
        ),
        Misconception(
            "W_s and W_h swapped",
            additive_scores__matrices_swapped,
            "Which matrix belongs to the decoder's state? Try states of different widths.",
        ),
        Misconception(
            "concatenated in the other order",
            additive_scores__concatenated_the_other_way,
            "You put two states side by side, and two matrices on top of each other. Does the "
            "first matrix meet the first state?",
        ),
        Misconception(
            "multiplicative scores",
            additive_scores__products,
            "This is the other kind of score: a product of the two. Where in yours are tanh and v?",
        ),
        Misconception(
            "hidden units multiply",
            additive_scores__products_of_units,
            "A hidden unit adds up what it reads. What does yours do when the state is 0?",
        ),
        Misconception(
            "softmax applied",
            additive_scores__softmax,
            "Are scores or weights asked for? Do your scores sum to 1?",
        ),
        Misconception(
            "no axis for the places",
            additive_scores__no_axis_for_the_places,
            "`s @ W_s` of a batch has shape (batch, d_a), `H @ W_h` has (batch, T, d_a). Which "
            "axes does NumPy line up when you add them?",
        ),
        Misconception(
            "decoder's state ignored",
            additive_scores__state_ignored,
            "Change s. Do your scores change?",
        ),
    ),
    alternatives=(
        additive_scores__loop,
        additive_scores__concatenated,
        additive_scores__einsum,
    ),
    help=(
        "Project both states to d_a, add them, tanh, and weigh the hidden units by v.",
        "`s @ W_s` has shape (..., d_a) and `H @ W_h` has (..., T, d_a). Give the first an axis "
        "for the T places before you add.",
        "Section “A score from a small network”.",
    ),
    promises=(
        Promise(
            "s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, "
            "one a row, with the same leading axes.",
            (
                "all sizes differ",
                "a batch, as many places as sentences",
                "a batch of one, one place, one hidden unit",
                "float32, two leading batch axes",
                "three leading batch axes, tiny states",
            ),
        ),
        Promise(
            "W_s: (d_s, d_a). W_h: (d_h, d_a). v: (d_a,).",
            ("states of one width", "all sizes differ"),
        ),
        Promise(
            "The network has one hidden layer of d_a tanh units, which reads both states, and one "
            "linear output; neither has a bias.",
            (
                "three places, everything small",
                "one place, one hidden unit",
                "three leading batch axes, tiny states",
            ),
        ),
        Promise("States may be large.", ("large states",)),
        Promise(
            "Returns the scores (..., T), before any softmax",
            ("three places, everything small", "one place, one hidden unit"),
        ),
    ),
)
