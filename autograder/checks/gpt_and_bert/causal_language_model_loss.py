"""The exercise `causal_language_model_loss`: every token but the first, given those before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch.nn.functional as F

from solutions import gpt_and_bert as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Tensor


def loss_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "one text of three tokens, two candidates", (3,), 2)
    yield _case(rng, "a batch of two texts", (2, 4), 5)
    yield _case(rng, "as many tokens as candidates", (3, 3), 3)
    yield _case(rng, "large scores", (2, 3), 4, size=400.0)
    yield _case(rng, "float32, two leading axes", (2, 3, 4), 6, dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2, 3), 4)
    yield _case(rng, "two tokens, a batch of one", (1, 2), 3)
    yield _case(rng, "one candidate", (2, 3), 1)
    yield _case(rng, "one token: nothing is predicted", (2, 1), 3)
    yield _case(rng, "no token: nothing is predicted", (2, 0), 3)
    yield _case(rng, "no text: nothing is predicted", (0, 3), 4)


def loss_hidden(rng: np.random.Generator) -> Iterator[Case]:
    batch, n, V = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "one text", (n,), V)
    yield _case(rng, "a batch", (batch, n), V)
    yield _case(rng, "as many tokens as candidates", (batch, V), V)
    yield _case(rng, "large scores", (batch, n), V, size=400.0)
    yield _case(rng, "float32, two leading axes", (2, batch, n), V, dtype=np.float32)
    yield _case(rng, "two tokens", (batch, 2), V)
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


def loss__not_shifted(logits, tokens):
    losses = -logits.log_softmax(-1).gather(-1, tokens[..., None])
    return losses.sum() / max(losses.numel(), 1)


def loss__shifted_the_other_way(logits, tokens):
    losses = -logits[..., 1:, :].log_softmax(-1).gather(-1, tokens[..., :-1, None])
    return losses.sum() / max(losses.numel(), 1)


def loss__round_the_end(logits, tokens):
    losses = -logits.log_softmax(-1).gather(-1, tokens.roll(-1, dims=-1)[..., None])
    return losses.sum() / max(losses.numel(), 1)


def loss__sum(logits, tokens):
    losses = -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None])
    return losses.sum()


def loss__mean_over_all_tokens(logits, tokens):
    losses = -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None])
    return losses.sum() / max(tokens.numel(), 1)


def loss__sum_of_means(logits, tokens):
    losses = -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None])[..., 0]
    return losses.sum() / max(losses.shape[-1], 1)


def loss__over_the_tokens(logits, tokens):
    losses = -logits[..., :-1, :].log_softmax(-2).gather(-1, tokens[..., 1:, None])
    return losses.sum() / max(losses.numel(), 1)


def loss__log_of_a_softmax(logits, tokens):
    losses = -logits[..., :-1, :].softmax(-1).gather(-1, tokens[..., 1:, None]).log()
    return losses.sum() / max(losses.numel(), 1)


def loss__last_token_only(logits, tokens):
    losses = -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None])[..., -1:, :]
    return losses.sum() / max(losses.numel(), 1)


def loss__nothing_over_nothing(logits, tokens):
    return -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None]).mean()


def loss__cross_entropy(logits, tokens):
    V = logits.shape[-1]
    predicted, right = logits[..., :-1, :].reshape(-1, V), tokens[..., 1:].reshape(-1)
    return F.cross_entropy(predicted, right, reduction="sum") / max(len(right), 1)


def loss__log_sum_exp(logits, tokens):
    right = F.one_hot(tokens[..., 1:], logits.shape[-1]).to(logits)
    logits = logits[..., :-1, :]
    losses = logits.logsumexp(-1) - (logits * right).sum(-1)
    return losses.sum() if losses.numel() == 0 else losses.mean()


def loss__place_by_place(logits, tokens):
    total, count = logits.sum() * 0, 0
    for place in range(1, tokens.shape[-1]):
        scores = logits[..., place - 1, :]
        chosen = scores.gather(-1, tokens[..., place, None])[..., 0]
        total = total + (scores.logsumexp(-1) - chosen).sum()
        count += chosen.numel()
    return total / count if count else total


CAUSAL_LANGUAGE_MODEL_LOSS = Exercise(
    name="causal_language_model_loss",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.causal_language_model_loss,
    cases=loss_cases,
    hidden=loss_hidden,
    misconceptions=(
        Misconception(
            "not shifted",
            loss__not_shifted,
            "Row i of the logits was made with token i in view. Which token is it to predict?",
        ),
        Misconception(
            "shifted the other way",
            loss__shifted_the_other_way,
            "Does row i score the token after i, or the one before it?",
        ),
        Misconception(
            "the first token follows the last",
            loss__round_the_end,
            "What follows the last token of a text? `roll` puts something there: what?",
        ),
        Misconception(
            "the sum in place of the mean",
            loss__sum,
            "Give the function every text twice. Should the loss change?",
        ),
        Misconception(
            "the mean over all tokens",
            loss__mean_over_all_tokens,
            "A text of n tokens: how many of them are predicted?",
        ),
        Misconception(
            "summed over the batch",
            loss__sum_of_means,
            "You divide by the predictions of one text. How many are there in the whole batch?",
        ),
        Misconception(
            "a softmax over the positions",
            loss__over_the_tokens,
            "The candidates of one position share out a probability of 1. Which axis are they?",
        ),
        Misconception(
            "the logarithm of a softmax",
            loss__log_of_a_softmax,
            "With scores in the hundreds, some softmax is exactly 0. What is its logarithm?",
        ),
        Misconception(
            "the last prediction only",
            loss__last_token_only,
            "One pass scores every position. How many of them teach the model something?",
        ),
        Misconception(
            "nothing divided by nothing",
            loss__nothing_over_nothing,
            "What is the mean of no numbers? What does the docstring ask for?",
        ),
    ),
    alternatives=(loss__cross_entropy, loss__log_sum_exp, loss__place_by_place),
    help=(
        "Leave out the last row of the logits and the first token, so that what is left stands "
        "row by row against what it predicts.",
        "`log_softmax` over the candidates, `gather` the right one, and divide the sum by how many "
        "there are.",
        "Chapter 10, the section “Every token is a question”.",
    ),
    promises=(
        Promise(
            "logits: (..., n, V), and may be large",
            ("large scores", "float32, two leading axes", "three leading axes", "one candidate"),
        ),
        Promise(
            "row i scores what follows token i",
            ("one text of three tokens, two candidates", "as many tokens as candidates"),
        ),
        Promise(
            "tokens: ids (..., n), the text that was read.",
            ("one text", "a batch", "two tokens"),
        ),
        Promise(
            "So the first token is not predicted, and the last row of logits counts for nothing.",
            ("one text of three tokens, two candidates", "two tokens, a batch of one"),
        ),
        Promise("Returns a scalar tensor", ("a batch of two texts",)),
        Promise(
            "0 if no token is predicted: n is below 2, or a leading axis is 0.",
            (
                "one token: nothing is predicted",
                "no token: nothing is predicted",
                "no text: nothing is predicted",
            ),
        ),
    ),
)
