"""The exercise `causal_language_model_loss`: every token but the first, given those before it."""

import numpy as np
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import gpt_and_bert as solutions

causal_language_model_loss = Declaration(
    solutions.causal_language_model_loss,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Leave out the last row of the logits and the first token, so that each row that is left "
        "goes with the token that it predicts.",
        "Take `log_softmax` over the candidates and `gather` the right one. Divide the sum by "
        "the number of predictions.",
        "Section “Every token is a question”.",
    ),
)


@causal_language_model_loss.right
def cross_entropy(logits, tokens):
    V = logits.shape[-1]
    predicted, right = logits[..., :-1, :].reshape(-1, V), tokens[..., 1:].reshape(-1)
    return F.cross_entropy(predicted, right, reduction="sum") / max(len(right), 1)


@causal_language_model_loss.right
def log_sum_exp(logits, tokens):
    right = F.one_hot(tokens[..., 1:], logits.shape[-1]).to(logits)
    logits = logits[..., :-1, :]
    losses = logits.logsumexp(-1) - (logits * right).sum(-1)
    return losses.sum() if losses.numel() == 0 else losses.mean()


@causal_language_model_loss.right
def place_by_place(logits, tokens):
    total, count = logits.sum() * 0, 0
    for place in range(1, tokens.shape[-1]):
        scores = logits[..., place - 1, :]
        chosen = scores.gather(-1, tokens[..., place, None])[..., 0]
        total = total + (scores.logsumexp(-1) - chosen).sum()
        count += chosen.numel()
    return total / count if count else total


@causal_language_model_loss.right
def plain(logits, tokens):
    predicted, right = logits[..., :-1, :], tokens[..., 1:]
    losses = -predicted.log_softmax(-1).gather(-1, right[..., None])[..., 0]
    return losses.sum() / max(losses.numel(), 1)


causal_language_model_loss.wrong(
    "not shifted",
    "Row i of the logits was made with token i in view. Which token should it predict?",
    plain.edit("logits[..., :-1, :], tokens[..., 1:]", "logits, tokens"),
)
causal_language_model_loss.wrong(
    "shifted the other way",
    "Does row i score the token after i, or the one before it?",
    plain.edit("logits[..., :-1, :], tokens[..., 1:]", "logits[..., 1:, :], tokens[..., :-1]"),
)
causal_language_model_loss.wrong(
    "the first token follows the last",
    "What follows the last token of a text? What does `roll` put there?",
    plain.edit("logits[..., :-1, :], tokens[..., 1:]", "logits, tokens.roll(-1, dims=-1)"),
)
causal_language_model_loss.wrong(
    "the sum in place of the mean",
    "Pass every text twice. Should the loss change?",
    plain.edit(" / max(losses.numel(), 1)", ""),
)
causal_language_model_loss.wrong(
    "the mean over all tokens",
    "A text of n tokens: how many of them are predicted?",
    plain.edit("losses.numel()", "tokens.numel()"),
)
causal_language_model_loss.wrong(
    "summed over the batch",
    "You divide by the predictions of one text. How many are there in the whole batch?",
    plain.edit("losses.numel()", "losses.shape[-1]"),
)
causal_language_model_loss.wrong(
    "a softmax over the positions",
    "The probabilities of the candidates at one position sum to 1. Which axis holds the "
    "candidates?",
    plain.edit("log_softmax(-1)", "log_softmax(-2)"),
)
causal_language_model_loss.wrong(
    "a softmax over the second axis",
    "Axis 1 holds the candidates of one text. Which axis holds them if there is a batch?",
    plain.edit("log_softmax(-1)", "log_softmax(1)"),
)
causal_language_model_loss.wrong(
    "shifted twice",
    "Row i scores the token after i. How far apart are the row and the token that your function "
    "brings together?",
    plain.edit("logits[..., :-1, :], tokens[..., 1:]", "logits[..., :-2, :], tokens[..., 2:]"),
)
causal_language_model_loss.wrong(
    "the logarithm of a softmax",
    "With scores in the hundreds, some softmax is exactly 0. What is its logarithm?",
    plain.edit(
        "predicted.log_softmax(-1).gather(-1, right[..., None])",
        "predicted.softmax(-1).gather(-1, right[..., None]).log()",
    ),
)
causal_language_model_loss.wrong(
    "the last prediction only",
    "One pass scores every position. How many of them teach the model something?",
    plain.edit("[..., 0]", "[..., -1:, 0]"),
)


@causal_language_model_loss.wrong(
    "nothing divided by nothing",
    "What is the mean of zero numbers? What does the docstring ask for?",
)
def _(logits, tokens):
    return -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None]).mean()


@causal_language_model_loss.public
def _(rng):
    yield _case(rng, "one text of three tokens, two candidates", (3,), 2).holds(
        "row i scores what follows token i",
        "So the first token is not predicted, and the last row of logits counts for nothing.",
    )
    yield _case(rng, "a batch of two texts", (2, 4), 5).holds("Returns a scalar tensor")
    yield _case(rng, "as many tokens as candidates", (3, 3), 3).holds("row i scores…")
    yield _case(rng, "large scores", (2, 3), 4, size=400.0).holds(
        "logits: (..., n, V), and may be large"
    )
    yield _case(rng, "float32, two leading axes", (2, 3, 4), 6, dtype=np.float32).holds(
        "logits: (...…"
    )
    yield _case(rng, "three leading axes", (2, 1, 2, 3), 4).holds("logits: (...…")
    yield _case(rng, "two tokens, a batch of one", (1, 2), 3).holds("So the first…")
    yield _case(rng, "one candidate", (2, 3), 1).holds("logits: (...…")
    yield _case(rng, "one token: nothing is predicted", (2, 1), 3).holds(
        "0 if no token is predicted: n is below 2, or a leading axis is 0."
    )
    yield _case(rng, "no token: nothing is predicted", (2, 0), 3).holds("0 if no token…")
    yield _case(rng, "no text: nothing is predicted", (0, 3), 4).holds("0 if no token…")


@causal_language_model_loss.hidden
def _(rng):
    batch, n, V = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "one text", (n,), V).holds("tokens: ids (..., n), the text that was read.")
    yield _case(rng, "a batch", (batch, n), V).holds("tokens: ids…")
    yield _case(rng, "as many tokens as candidates", (batch, V), V)
    yield _case(rng, "large scores", (batch, n), V, size=400.0)
    yield _case(rng, "float32, two leading axes", (2, batch, n), V, dtype=np.float32)
    yield _case(rng, "two tokens", (batch, 2), V).holds("tokens: ids…")
    yield _case(rng, "one token: nothing is predicted", (batch, 1), V)
    yield _case(rng, "no text: nothing is predicted", (0, n), V)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    V: int,
    dtype: type = np.float64,
    size: float = 1.5,
) -> Case:
    """Tokens of `shape`, and logits of that `size` for V candidates."""
    logits = (rng.normal(size=(*shape, V)) * size).astype(dtype)
    tokens = rng.integers(V, size=shape)
    if size > 100:  # the right tokens are the least likely ones
        tokens[..., 1:] = logits[..., :-1, :].argmin(axis=-1)
    return Case(note, (Tensor(logits), Tensor(tokens)))
