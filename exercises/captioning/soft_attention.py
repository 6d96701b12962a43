"""The exercise `soft_attention`: a look at all places at once. To debug.

The given function adds the state's contribution after the tanh: the same number to all scores. The
softmax cancels it, so the state has no influence on where the decoder looks.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import captioning as solutions
from solutions.alignment import additive_scores

soft_attention = Declaration(
    solutions.soft_attention,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Give the function two different states and the same picture, and compare the weights.",
        "The state contributes to every score. What does the softmax do with a number that all "
        "scores of a picture share?",
        "Section “Soft attention”.",
    ),
)


@soft_attention.right
def place_by_place(s, annotations, params):
    W_s, W_a, v = params
    places = np.moveaxis(annotations, -2, 0)
    scores = [np.tanh(s @ W_s + place @ W_a) @ v for place in places]
    largest = np.max(scores, axis=0)
    shares = np.stack([np.exp(score - largest) for score in scores])
    shares = shares / sum(shares)
    context = sum(share[..., None] * places[i] for i, share in enumerate(shares))
    return context, np.moveaxis(shares, 0, -1)


@soft_attention.right
def one_wide_layer(s, annotations, params):
    W_s, W_a, v = params
    shape = (*annotations.shape[:-1], s.shape[-1])
    both = np.concatenate([np.broadcast_to(s[..., None, :], shape), annotations], axis=-1)
    scores = np.tanh(both @ np.concatenate([W_s, W_a])) @ v
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return (np.swapaxes(annotations, -1, -2) @ weights[..., None])[..., 0], weights


@soft_attention.right
def einsum(s, annotations, params):
    W_s, W_a, v = params
    state = np.einsum("...s,sa->...a", s, W_s)
    seen = np.einsum("...lc,ca->...la", annotations, W_a)
    scores = np.einsum("...la,a->...l", np.tanh(np.expand_dims(state, -2) + seen), v)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    total = np.sum(weights, axis=-1)
    context = np.einsum("...l,...lc->...c", weights, annotations) / total[..., None]
    return context, weights / total[..., None]


@soft_attention.right
def plain(s, annotations, params):
    W_s, W_a, v = params
    hidden = (s @ W_s)[..., None, :] + annotations @ W_a
    scores = np.tanh(hidden) @ v
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    context = np.einsum("...l,...lc->...c", weights, annotations)
    return context, weights


no_tanh = soft_attention.wrong(
    "tanh forgotten",
    "Without the tanh, what does the state add to the score of each place? Can a number that all "
    "places share change their weights?",
    plain.edit("np.tanh(hidden)", "hidden"),
)
soft_attention.wrong(
    "state added after the tanh",
    "The hidden layer reads the state and the annotation. What does a number that is added to all "
    "scores do to the weights?",
    no_tanh.edit("annotations @ W_a", "np.tanh(annotations @ W_a)"),
    released=True,
)
soft_attention.wrong(
    "state multiplied",
    "The hidden layer reads both. Are the two projections added or multiplied?",
    plain.edit("+ annotations @ W_a", "* (annotations @ W_a)"),
)
soft_attention.wrong(
    "hidden layer blended",
    "The network of the scores only decides where to look. What does the decoder see there, and "
    "how wide is it?",
    plain.edit("weights, annotations", "weights, annotations @ W_a"),
)
soft_attention.wrong(
    "plain mean",
    "Does your context change when the state does?",
    plain.edit('np.einsum("...l,...lc->...c", weights, annotations)', "annotations.mean(axis=-2)"),
)


soft_attention.wrong(
    "scores used as weights",
    "What do your weights sum to? Can one of them be negative?",
    plain.edit("shares / shares.sum(axis=-1, keepdims=True)", "scores"),
)
soft_attention.wrong(
    "sigmoid for softmax",
    "What do your weights sum to over the places of one picture?",
    plain.edit("shares / shares.sum(axis=-1, keepdims=True)", "0.5 * (1 + np.tanh(scores / 2))"),
)
soft_attention.wrong(
    "only the best place",
    "How much does the second-best place contribute to a soft look?",
    plain.edit(
        "weights = shares / shares.sum(axis=-1, keepdims=True)",
        "best = scores.argmax(axis=-1)\n"
        "weights = (np.arange(scores.shape[-1]) == best[..., None]).astype(scores.dtype)",
    ),
)
soft_attention.wrong(
    "weights shared over the batch",
    "Your answer is right for one picture. In a batch, over which axis should the weights of one "
    "picture sum to 1?",
    plain.edit("axis=-1, keepdims=True", "", times=2),
)
soft_attention.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from all scores without changing the weights?",
    plain.edit("np.exp(scores - scores.max(axis=-1, keepdims=True))", "np.exp(scores)"),
)
soft_attention.wrong(
    "largest score of all pictures subtracted",
    "One picture has scores near 1000, and the next has scores near -1000. What is left of the "
    "second picture's exponentials in your function?",
    plain.edit("scores.max(axis=-1, keepdims=True)", "scores.max()"),
)
soft_attention.wrong(
    "weights returned first",
    "In which order does the docstring return the two results?",
    plain.edit("return context, weights", "return weights, context"),
)


@soft_attention.public
def _(rng):
    W_s = np.array([[1.0, 0.0]])
    W_a = np.array([[1.0, 0.0], [0.0, 1.0]])
    params = (W_s, W_a, np.array([2.0, -1.0]))
    annotations = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])
    yield Case("three places, by hand", (np.array([0.5]), annotations, params)).holds(
        "params: the tuple (W_s, W_a, v) of a small network that scores an annotation against "
        "the state: (d_s, d_a), (C, d_a) and (d_a,), one hidden layer of d_a tanh units, which "
        "reads both, a linear output, no bias.",
        "The weights sum to 1, and the context blends the annotations by them.",
    )
    yield Case("all widths equal", _look(rng, (), 3, 3, 3, 3))
    yield Case("all widths differ", _look(rng, (), 6, 2, 3, 4)).holds(
        "s: (..., d_s), the state of the decoder. annotations: (..., L, C), one a place, with "
        "the same leading axes.",
        "params: the…",
    )
    yield Case("a batch, float32", _look(rng, (2,), 4, 3, 2, 5, np.float32)).holds("s: (...…")
    yield Case("two leading axes", _look(rng, (2, 3), 4, 2, 3, 2)).holds("s: (...…")
    yield Case("large scores", _look(rng, (), 5, 3, 2, 4, size=2000.0)).holds(
        "States and scores may be large."
    )
    yield Case("two pictures with very different scores", _far_apart(rng, 4, 2, 3, 2)).holds(
        "States and…", "The weights…"
    )
    yield Case("another picture, all widths differ", _look(rng, (), 6, 2, 3, 4)).holds("s: (...…")
    yield Case("a batch of one, one place, one channel", _look(rng, (1,), 1, 2, 1, 3)).holds(
        "Returns (context, weights) of shapes (..., C) and (..., L)."
    )
    tiny = _look(rng, (2, 1, 3), 2, 3, 2, 4, states=1e-6)
    yield Case("three leading axes, tiny states", tiny).holds("s: (...…")
    yield Case("large states", _look(rng, (), 3, 2, 4, 3, states=2000.0)).holds("States and…")


@soft_attention.hidden
def _(rng):
    L, d_s, C, d_a = rng.permutation([3, 4, 5, 6])
    yield Case("one picture", _look(rng, (), L, d_s, C, d_a)).holds("params: the…")
    yield Case("all widths equal", _look(rng, (), L, C, C, C))
    yield Case(
        "as many pictures as places, float32", _look(rng, (L,), L, d_s, C, d_a, np.float32)
    ).holds("s: (...…")
    yield Case("two leading axes", _look(rng, (2, 2), L, d_s, C, d_a))
    yield Case("large scores, a batch", _look(rng, (3,), L, d_s, C, d_a, size=2000.0)).holds(
        "States and…"
    )
    yield Case("two pictures with very different scores", _far_apart(rng, L, d_s, C, d_a))
    yield Case("a batch of one, one channel", _look(rng, (1,), L, d_s, 1, d_a)).holds(
        "Returns (context…"
    )
    yield Case("one place", _look(rng, (), 1, d_s, C, d_a)).holds("Returns (context…")
    yield Case("large states", _look(rng, (2,), L, d_s, C, d_a, states=2000.0))


def _look(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    L: int,
    d_s: int,
    C: int,
    d_a: int,
    dtype: type = np.float64,
    size: float = 1.0,
    states: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Random state, annotations and parameters.

    `size` multiplies the read-out of the network, `states` the state and the annotations.
    """
    shapes = ((*batch, d_s), (*batch, L, C), (d_s, d_a), (C, d_a), (d_a,))
    s, annotations, W_s, W_a, v = (rng.normal(size=shape) for shape in shapes)
    drawn = states * s, states * annotations, W_s, W_a, size * v
    arrays: list[np.ndarray] = [one.astype(dtype) for one in drawn]
    return arrays[0], arrays[1], tuple(arrays[2:])


def _far_apart(rng: np.random.Generator, L: int, d_s: int, C: int, d_a: int) -> tuple:
    """Two pictures, the highest score of the one more than 1000 above that of the other."""
    while True:
        s, annotations, params = _look(rng, (2,), L, d_s, C, d_a, size=2000.0)
        highest = additive_scores(s, annotations, *params).max(axis=-1)
        if np.ptp(highest) > 1000:
            return s, annotations, params
