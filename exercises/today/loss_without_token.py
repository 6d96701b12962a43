"""The exercise `loss_without_token`: what later tokens lose when one may not be seen."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction
from solutions.variants import reading_models as solutions

loss_without_token = Declaration(
    solutions.loss_without_token,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.01,
    help=(
        "The text stays as it is; only the mask changes. Draw both masks for four tokens before "
        "you write any code.",
        "One column of the causal mask changes, from some row on. Which of its entries has to "
        "stay True, so that every token sees something? Then compare the same rows of both "
        "answers.",
        "Section “The sink”.",
    ),
)


@loss_without_token.right
def by_places(model, tokens, at):
    i, j = np.indices((len(tokens), len(tokens)))
    masks = [(j <= i) & ~((j == at) & (i > at)), j <= i]
    means = []
    for mask in masks:
        logits = model(tokens, mask)[at + 1 : -1]
        right = np.take_along_axis(logits, tokens[at + 2 :, None], axis=1)[:, 0]
        means.append((np.logaddexp.reduce(logits, axis=1) - right).mean())
    return float(means[0] - means[1])


@loss_without_token.right
def loop(model, tokens, at):
    n, total = len(tokens), 0.0
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    before = model(tokens, mask.copy())
    for i in range(at + 1, n):
        mask[i, at] = False
    after = model(tokens, mask)
    for i in range(at + 1, n - 1):
        for sign, row in ((1, after[i]), (-1, before[i])):
            row = row - row.max()
            total += sign * (np.log(np.exp(row).sum()) - row[tokens[i + 1]])
    return float(total / (n - 2 - at))


@loss_without_token.right
def differences_first(model, tokens, at):
    causal = np.tri(len(tokens), dtype=bool)
    unseen = causal & (np.arange(len(tokens)) != at) | np.eye(len(tokens), dtype=bool)
    logits = np.stack([model(tokens, mask) for mask in (causal, unseen)])
    log_p = logits - np.max(logits, axis=-1, keepdims=True)
    log_p = log_p - np.log(np.sum(np.exp(log_p), axis=-1, keepdims=True))
    rows = np.arange(at + 1, len(tokens) - 1)
    of_next = log_p[:, rows, tokens[rows + 1]]
    return float(np.mean(of_next[0] - of_next[1]))


@loss_without_token.right
def plain(model, tokens, at):
    n = len(tokens)
    causal = np.tri(n, dtype=bool)
    hidden = causal.copy()
    hidden[at + 1 :, at] = False

    def loss(mask):
        logits = model(tokens, mask)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        rows = np.arange(at + 1, n - 1)
        return -log_p[rows, tokens[rows + 1]].mean()

    return float(loss(hidden) - loss(causal))


loss_without_token.wrong(
    "the token taken out of the text",
    "Without the token, which positions do the later ones have? Should the text lose the token, "
    "or should the other tokens only not see it?",
    plain.edit(
        "logits = model(tokens, mask)",
        "logits = model(tokens, mask)\n"
        "if not mask[-1, at]:\n"
        "    left = np.delete(tokens, at)\n"
        "    logits[at + 1 :] = model(left, np.tri(n - 1, dtype=bool))[at:]",
    ),
)
loss_without_token.wrong(
    "hidden from the next token only",
    "Which tokens lose sight of it: only the next one, or all later ones?",
    plain.edit("hidden[at + 1 :, at]", "hidden[at + 1, at]"),
)
loss_without_token.wrong(
    "the row for the column",
    "Should the other tokens not see this one, or should this one not see the others?",
    plain.edit("hidden[at + 1 :, at] = False", "hidden[at, :at] = False"),
)
loss_without_token.wrong(
    "every token up to it hidden",
    "How many tokens are hidden from the later ones by your mask?",
    plain.edit("hidden[at + 1 :, at]", "hidden[at + 1 :, : at + 1]"),
)
loss_without_token.wrong(
    "the first token always",
    "Which token does your mask hide if `at` is 3?",
    plain.edit("hidden[at + 1 :, at]", "hidden[at + 1 :, 0]"),
)
loss_without_token.wrong(
    "no causal mask",
    "May a token see the one that it should predict?",
    plain.edit("np.tri(n, dtype=bool)", "np.ones((n, n), dtype=bool)"),
)
loss_without_token.wrong(
    "all rows compared",
    "The rows up to `at` see the same tokens as before. Do they count?",
    plain.edit("rows = np.arange(at + 1, n - 1)", "rows = np.arange(n - 1)"),
)
loss_without_token.wrong(
    "its own row compared too",
    "Has the token itself lost sight of anything?",
    plain.edit("rows = np.arange(at + 1, n - 1)", "rows = np.arange(at, n - 1)"),
)
loss_without_token.wrong(
    "each row scored by its own token",
    "Row i scores what follows token i. Which token is that?",
    plain.edit("tokens[rows + 1]", "tokens[rows]"),
)
loss_without_token.wrong(
    "the fall in place of the rise",
    "A model gets worse when the token is hidden. Is your number positive?",
    plain.edit("loss(hidden) - loss(causal)", "loss(causal) - loss(hidden)"),
)
loss_without_token.wrong(
    "the loss with the token hidden",
    "What is your number if the model never looked at the token?",
    plain.edit("loss(hidden) - loss(causal)", "loss(hidden)"),
)
loss_without_token.wrong(
    "the sum of the rows",
    "Read a text twice as long. Should the rise be twice as large?",
    plain.edit(".mean()", ".sum()"),
)


@loss_without_token.public
def _(rng):
    yield _case(rng, "four tokens, the first hidden", 4, 0).holds(
        "model: a function of tokens and a mask, which returns logits (n, vocab_size)",
        "row i scores what follows token i.",
        "Its mask is boolean (n, n), True where the token of the row may see that of the column",
        "The model reads all n tokens twice: under a causal mask, and under the same mask but "
        "that no later token sees the one at `at`",
    )
    yield _case(rng, "ten tokens, the first hidden", 10, 0).holds(
        "The losses of the rows that have lost sight of it are compared: those from at + 1 to n - "
        "2, each -log softmax(row i)[token i + 1].",
        "Returns their mean where the token is hidden minus their mean where it is not, in nats, "
        "a float.",
    )
    yield _case(rng, "ten tokens, the fourth hidden", 10, 3).holds(
        "at: from 0 to n - 3.", "each token has to see one at least"
    )
    yield _case(rng, "another ten tokens, the fourth hidden", 10, 3).holds("The losses…")
    yield _case(rng, "ten tokens, the last that can be hidden", 10, 7).holds("at: from…")
    yield _case(rng, "large logits", 9, 2, size=500.0).holds("perhaps large")
    yield _case(rng, "large logits, the first hidden", 9, 0, size=500.0).holds("perhaps large")
    yield _case(rng, "as many tokens as there are ids", 7, 2).holds("tokens: ids (n,).")
    yield _case(rng, "three tokens", 3, 0).holds("at: from…")
    yield _case(rng, "a model that refuses a token that sees nothing", 8, 4).holds(
        "that one still sees itself"
    )


@loss_without_token.hidden
def _(rng):
    n = int(rng.integers(9, 14))
    at = int(rng.integers(2, n - 4))
    yield _case(rng, "the first hidden", n, 0)
    yield _case(rng, "one in the middle hidden", n, at)
    yield _case(rng, "the last that can be hidden", n, n - 3)
    yield _case(rng, "large logits", n, at, size=500.0)
    yield _case(rng, "large logits, the first hidden", n, 0, size=500.0)
    yield _case(rng, "three tokens", 3, 0)


def _case(rng: np.random.Generator, note: str, n: int, at: int, size: float = 3.0) -> Case:
    """A small model of two heads, of which one looks at the first token that it sees."""
    d, vocab_size = 6, 7
    code = f"""
def model(tokens, mask):
    rng = np.random.default_rng({int(rng.integers(1 << 30))})
    E, P = rng.normal(size=({vocab_size}, {d})), rng.normal(size=(64, {d}))
    W = rng.normal(size=(4, {d}, {d})) / {d}**0.5
    n = len(tokens)
    if mask.shape != (n, n) or mask.dtype != bool or not mask.any(axis=1).all():
        raise RuntimeError("a token sees nothing, or the mask does not fit this text")
    X = E[tokens] + P[:n]
    for first, scores in ((True, X @ W[0] @ X.T), (False, X @ W[1] @ X.T)):
        scores = scores - 2.0 * first * np.arange(n)
        scores = np.where(mask, scores - scores.max(axis=1, keepdims=True), -1e9)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        X = X + weights / weights.sum(axis=1, keepdims=True) @ X @ W[2 + first]
    return {size / d} * X @ E.T
"""
    tokens = rng.integers(vocab_size, size=n)
    return Case(note, (SourceFunction("model", code), tokens, at))


loss_without_token.lets_through("n of 1 refused", "there are three tokens or more")
