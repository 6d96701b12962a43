"""The exercise `feed_forward_sublayer`: what is dropped, and when. To debug."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import blocks as solutions

feed_forward_sublayer = Declaration(
    solutions.feed_forward_sublayer,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Only one call is wrong. Set the probabilities to 0 and 1, in training and not in "
        "training: what should come out, and what does?",
        "Call the function twice with the same arguments, not in training, with probabilities "
        "between 0 and 1. Which of its lines can give two different results?",
        "Section “Dropout”.",
    ),
)


@feed_forward_sublayer.right
def early_return(X, W_1, b_1, W_2, b_2, p_hidden, p_output, training):
    hidden = torch.relu(F.layer_norm(X, (X.shape[-1],)) @ W_1 + b_1)
    if not training:
        return X + (hidden @ W_2 + b_2)
    added = torch.nn.Dropout(p_hidden)(hidden) @ W_2 + b_2
    return torch.nn.Dropout(p_output)(added) + X


@feed_forward_sublayer.right
def before_the_bend(X, W_1, b_1, W_2, b_2, p_hidden, p_output, training):
    centred = X - X.mean(-1, keepdim=True)
    normed = centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    hidden = torch.dropout(torch.matmul(normed, W_1) + b_1, p_hidden, training).clamp(min=0)
    return torch.dropout(torch.matmul(hidden, W_2) + b_2, p_output, training) + X


@feed_forward_sublayer.right
def own_masks(X, W_1, b_1, W_2, b_2, p_hidden, p_output, training):
    def drop(Y, p):
        if not training or p == 0:
            return Y
        return Y * 0 if p == 1 else Y * (torch.rand(Y.shape) >= p) / (1 - p)

    hidden = drop(F.relu(F.linear(F.layer_norm(X, X.shape[-1:]), W_1.T, b_1)), p_hidden)
    return X + drop(F.linear(hidden, W_2.T, b_2), p_output)


@feed_forward_sublayer.wrong(
    "the output dropped at inference too",
    "Not in training, with `p_output` = 1: what is left of the sublayer? How does `F.dropout` "
    "know whether the model is in training, and what does it assume if you do not say?",
    released=True,
)
def given(X, W_1, b_1, W_2, b_2, p_hidden, p_output, training):
    normed = F.layer_norm(X, X.shape[-1:])
    hidden = F.dropout(F.relu(normed @ W_1 + b_1), p_hidden, training)
    return X + F.dropout(hidden @ W_2 + b_2, p_output)


plain = feed_forward_sublayer.right(given.edit("p_output)", "p_output, training)"))

feed_forward_sublayer.wrong(
    "the hidden numbers dropped at inference too",
    "Not in training, with `p_hidden` = 1: what is left for `W_2` to read?",
    plain.edit("p_hidden, training)", "p_hidden)"),
)
feed_forward_sublayer.wrong(
    "the sum dropped",
    "In training, with `p_output` = 1: what is left of `X`?",
    plain.edit("X + F.dropout(hidden @ W_2 + b_2", "F.dropout(X + hidden @ W_2 + b_2"),
)
feed_forward_sublayer.wrong(
    "nothing dropped at all",
    "In training, with `p_output` = 1: what should be left of the sublayer?",
    plain.edit(
        "F.dropout(F.relu(normed @ W_1 + b_1), p_hidden, training)", "F.relu(normed @ W_1 + b_1)"
    ).edit("F.dropout(hidden @ W_2 + b_2, p_output, training)", "hidden @ W_2 + b_2"),
)
feed_forward_sublayer.wrong(
    "dropped at inference and not in training",
    "Dropout is noise that helps to learn. When does a model learn?",
    plain.edit("normed =", "training = not training\nnormed ="),
)
feed_forward_sublayer.wrong(
    "the probabilities exchanged",
    "Let `p_hidden` be 1 and `p_output` 0, in training. Is `b_2` still added to `X`?",
    plain.edit("normed =", "p_hidden, p_output = p_output, p_hidden\nnormed ="),
)
feed_forward_sublayer.wrong(
    "what is read dropped, not what is added",
    "In training, with `p_output` = 1, nothing may be added to `X`. Which two biases still are?",
    plain.edit(
        "F.layer_norm(X, X.shape[-1:])",
        "F.dropout(F.layer_norm(X, X.shape[-1:]), p_output, training)",
    ).edit("F.dropout(hidden @ W_2 + b_2, p_output, training)", "hidden @ W_2 + b_2"),
)
feed_forward_sublayer.wrong(
    "the bias kept",
    "In training, with `p_output` = 1, nothing may be added to `X`. What still is?",
    plain.edit("@ W_2 + b_2, p_output, training)", "@ W_2, p_output, training) + b_2"),
)
feed_forward_sublayer.wrong(
    "scaled at inference",
    "`F.dropout` divides the numbers that it keeps by 1 - p in training. What is left to correct "
    "at inference?",
    plain.edit(
        "F.dropout(hidden @ W_2 + b_2, p_output, training)",
        "F.dropout(hidden @ W_2 + b_2, p_output, training) * (1 if training else 1 - p_output)",
    ),
)


@feed_forward_sublayer.public
def _(rng):
    """In training chance has no say in them: the probabilities are 0 and 1."""
    yield _case(rng, "in training, nothing dropped", (2, 3), 4, 0.0, 0.0, True).holds(
        "X: (..., n, d_model), n may be 0.",
        "W_1: (d_model, d_ff).",
        "W_2: (d_ff, d_model).",
        "The norm, without scale and shift, comes first; `X` itself is never dropped.",
    )
    yield _case(rng, "in training, all of the output dropped", (2, 3), 4, 0.0, 1.0, True).holds(
        "p_hidden and p_output, from 0 to 1, are the probabilities with which a number is "
        "dropped: after the ReLU, and of what is added to `X`.",
        "In training both dropouts work, and with a probability of 1 nothing is kept.",
        "The norm…",
    )
    yield _case(rng, "in training, all in between dropped", (2, 3), 4, 1.0, 0.0, True).holds(
        "p_hidden and…"
    )
    yield _case(rng, "in training, all of both dropped", (2, 3, 4), 5, 1.0, 1.0, True).holds(
        "In training…"
    )
    yield _case(rng, "at inference, both probabilities 1", (2, 3), 4, 1.0, 1.0, False).holds(
        "Otherwise nothing is dropped, and nothing is scaled."
    )
    yield _case(rng, "at inference, the output's probability 1", (2, 3), 4, 0.0, 1.0, False)
    yield _case(rng, "at inference, the other probability 1", (2, 3), 4, 1.0, 0.0, False)
    yield _case(rng, "at inference, other probabilities", (2, 3, 4), 5, 0.4, 0.3, False).holds(
        "Otherwise nothing…"
    )
    yield _case(rng, "float32, at inference", (2, 2, 3, 4), 6, 0.1, 0.1, False, np.float32).holds(
        "Returns the shape of `X`."
    )
    yield _case(rng, "float32, in training", (2, 2, 3, 4), 6, 1.0, 0.0, True, np.float32)
    yield _case(rng, "no token", (2, 0, 3), 4, 1.0, 1.0, True).holds("X: (...…", "Returns the…")
    yield _case(rng, "one token, a batch of one", (1, 1, 3), 1, 0.0, 1.0, False).holds(
        "Returns the…"
    )
    yield _case(rng, "tiny numbers", (2, 3), 4, 0.5, 0.5, False, size=1e-9).holds(
        "b_2: (d_model,)."
    )
    yield _case(rng, "at inference, other numbers", (2, 3), 4, 0.0, 1.0, False).holds(
        "Otherwise nothing…"
    )
    yield _case(rng, "one feature, as wide in between", (2, 1), 1, 0.0, 0.5, False).holds(
        "b_2: (d_model,)."
    )
    yield _case(rng, "three features, as wide in between", (2, 3), 3, 1.0, 0.0, True).holds(
        "b_1: (d_ff,)."
    )


@feed_forward_sublayer.hidden
def _(rng):
    batch, n, d_model, d_ff = (int(one) for one in rng.permutation([3, 4, 5, 6]))
    shape = (batch, n, d_model)
    yield _case(rng, "in training, nothing dropped", shape, d_ff, 0.0, 0.0, True)
    yield _case(rng, "in training, all of the output dropped", shape, d_ff, 0.0, 1.0, True)
    yield _case(rng, "in training, all in between dropped", shape, d_ff, 1.0, 0.0, True)
    yield _case(rng, "in training, all of both dropped", shape[1:], d_ff, 1.0, 1.0, True)
    yield _case(rng, "at inference, both probabilities 1", shape[1:], d_ff, 1.0, 1.0, False)
    yield _case(rng, "at inference, the output's probability 1", shape, d_ff, 0.0, 1.0, False)
    yield _case(rng, "at inference, the other probability 1", shape, d_ff, 1.0, 0.0, False)
    p_hidden, p_output = rng.uniform(0.2, 0.6, size=2)
    yield _case(rng, "at inference, other probabilities", shape, d_ff, p_hidden, p_output, False)
    yield _case(rng, "float32, in training", shape, d_ff, 1.0, 0.0, True, np.float32)
    yield _case(rng, "three leading axes", (2, 1, *shape), d_ff, 1.0, 0.0, True).holds("X: (...…")
    yield _case(rng, "no token", (0, d_model), d_ff, 0.0, 1.0, False)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    d_ff: int,
    p_hidden: float,
    p_output: float,
    training: bool,
    dtype: type = np.float64,
    size: float = 1.0,
) -> Case:
    """A case with tokens of `shape`, and numbers of that size."""
    d_model = shape[-1]
    shapes = (shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))
    arrays = (size * rng.normal(size=one) for one in shapes)
    given = tuple(Tensor(one.astype(dtype)) for one in arrays)
    return Case(note, (*given, float(p_hidden), float(p_output), training))
