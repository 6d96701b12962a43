"""The exercise `causal_language_model_loss_backward`: what each logit is told. To derive."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import language_models as solutions

from .. import forbidden

causal_language_model_loss_backward = Declaration(
    solutions.causal_language_model_loss_backward,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Write the loss of one row as log(sum of exp(logits)) minus the right logit, and "
        "differentiate both terms.",
        "The first term gives the softmax, the second one a 1 at the right token. Then divide by "
        "the number of rows that count.",
        "Section “Every token is a question”; “What you need”, the chain rule.",
    ),
)


@causal_language_model_loss_backward.right
def loop(logits, tokens):
    d_logits = np.zeros_like(logits)
    for place in np.ndindex(*tokens.shape):
        if place[-1] + 1 < tokens.shape[-1]:
            shares = np.exp(logits[place] - np.max(logits[place]))
            d_logits[place] = shares / shares.sum()
            d_logits[(*place, tokens[(*place[:-1], place[-1] + 1)])] -= 1
    return d_logits / (tokens.size // tokens.shape[-1] * (tokens.shape[-1] - 1))


@causal_language_model_loss_backward.right
def identity(logits, tokens):
    predicted = logits[..., :-1, :]
    log_total = np.logaddexp.reduce(predicted, axis=-1, keepdims=True)
    difference = np.exp(predicted - log_total) - np.eye(logits.shape[-1])[tokens[..., 1:]]
    last = np.zeros_like(logits[..., -1:, :])
    return np.concatenate([difference / difference[..., 0].size, last], axis=-2)


@causal_language_model_loss_backward.right
def by_jacobian(logits, tokens):
    V = logits.shape[-1]
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    jacobian = np.eye(V) - shares[..., None, :]  # d log share_j / d logit_k
    counted = np.zeros((*tokens.shape, V))
    counted[..., :-1, :] = -np.eye(V)[tokens[..., 1:]]
    return np.einsum("...j,...jk->...k", counted, jacobian) / tokens[..., 1:].size


@causal_language_model_loss_backward.right
def plain(logits, tokens):
    following = tokens[..., 1:]
    right = np.arange(logits.shape[-1]) == following[..., None]
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = weights / weights.sum(axis=-1, keepdims=True)
    d_logits[..., :-1, :] -= right
    d_logits[..., -1, :] = 0
    return d_logits / following.size


causal_language_model_loss_backward.wrong(
    "the other sign",
    "Raise the logit of the right token a little. Does the loss rise or fall? What sign has your "
    "entry there?",
    plain.edit(
        "d_logits[..., :-1, :] -= right", "d_logits[..., :-1, :] = right - d_logits[..., :-1, :]"
    ),
)
causal_language_model_loss_backward.wrong(
    "not shifted",
    "Which token does row i predict: token i or the one after it?",
    plain.edit("tokens[..., 1:]", "tokens").edit(
        "d_logits[..., :-1, :] -= right\nd_logits[..., -1, :] = 0", "d_logits -= right"
    ),
)
causal_language_model_loss_backward.wrong(
    "a last row that is not 0",
    "Change the last row of the logits. Does the loss change?",
    plain.edit("d_logits[..., -1, :] = 0", ""),
)
causal_language_model_loss_backward.wrong(
    "the mean forgotten",
    "The loss is a mean. What does that do to each row's gradient?",
    plain.edit(" / following.size", ""),
)
causal_language_model_loss_backward.wrong(
    "the mean of one text",
    "With two texts in the batch, how many predictions is the mean taken over?",
    plain.edit("following.size", "following.shape[-1]"),
)
causal_language_model_loss_backward.wrong(
    "the mean over all tokens",
    "A text of n tokens: how many of them are predicted?",
    plain.edit("following.size", "tokens.size"),
)
causal_language_model_loss_backward.wrong(
    "the right candidate only",
    "Add the same number to all logits of a row: the loss stays as it is. What must the gradients "
    "of a row sum to?",
    plain.edit("-= right", "= (d_logits[..., :-1, :] - 1) * right"),
)
causal_language_model_loss_backward.wrong(
    "the wrong candidates only",
    "Does the loss not depend on the logit of the right token? What must the gradients of a row "
    "sum to?",
    plain.edit("-= right", "*= ~right"),
)
causal_language_model_loss_backward.wrong(
    "with respect to the probabilities",
    "-1/p is the derivative with respect to a probability. The logits are one step further back: "
    "which function lies between?",
    plain.edit("-= right", "= np.where(right, -1 / np.maximum(d_logits[..., :-1, :], 1e-300), 0)"),
)


@causal_language_model_loss_backward.public
def _(rng):
    yield Case("one text of three tokens, two candidates", _inputs(rng, (3,), 2)).holds(
        "row i scores what follows token i", "Returns the shape of `logits`."
    )
    yield Case("a batch of two texts", _inputs(rng, (2, 4), 5)).holds(
        "The loss is the mean of -log softmax(row i)[token i + 1] over all rows but the last, "
        "and over all leading axes."
    )
    yield Case("as many tokens as candidates", _inputs(rng, (3, 3), 3)).holds("row i scores…")
    yield Case("float32, two leading axes", _inputs(rng, (2, 3, 4), 6, dtype=np.float32)).holds(
        "The loss…"
    )
    yield Case("three leading axes, one of length 1", _inputs(rng, (2, 1, 2, 3), 4)).holds(
        "logits: (..., n, V), and may be large"
    )
    yield Case("large scores", _inputs(rng, (2, 3), 4, size=400.0)).holds("logits: (...…")
    yield Case("scores near a million", _far_from_0(rng, (2, 3), 4)).holds("logits: (...…")
    yield Case("two tokens, a batch of one", _inputs(rng, (1, 2), 3)).holds("The loss…")
    yield Case("one candidate", _inputs(rng, (2, 3), 1))


@causal_language_model_loss_backward.hidden
def _(rng):
    batch, n, V = (int(one) for one in rng.permutation([3, 4, 5]))
    yield Case("one text", _inputs(rng, (n,), V)).holds("tokens: ids (..., n), n at least 2.")
    yield Case("a batch", _inputs(rng, (batch, n), V))
    yield Case("as many tokens as candidates", _inputs(rng, (batch, V), V))
    yield Case("float32, two leading axes", _inputs(rng, (2, batch, n), V, dtype=np.float32))
    yield Case("large scores", _inputs(rng, (batch, n), V, size=400.0))
    yield Case("scores near a million", _far_from_0(rng, (batch, n), V))
    yield Case("two tokens", _inputs(rng, (batch, 2), V)).holds("tokens: ids…")


def _inputs(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    V: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, np.ndarray]:
    """Logits for V candidates, and tokens of `shape`."""
    logits = (rng.normal(size=(*shape, V)) * size).astype(dtype)
    return logits, rng.integers(V, size=shape)


def _far_from_0(
    rng: np.random.Generator, shape: tuple[int, ...], V: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that differ by about a million from each other, and little within themselves."""
    logits, tokens = _inputs(rng, shape, V)
    return np.round(logits * 64) / 64 + rng.choice([-1e6, 1e6], size=(*shape, 1)), tokens


causal_language_model_loss_backward.lets_through("n of 1 refused", "there are two tokens or more")
