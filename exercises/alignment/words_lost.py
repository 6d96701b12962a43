"""The exercise `words_lost`: what does a decoder lose when a state is hidden? To measure."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import alignment as solutions

from .. import forbidden

words_lost = Declaration(
    solutions.words_lost,
    points=3,
    difficulty=3,
    minutes=20,
    kind=Kind.MEASURE,
    tolerance=0.01,
    forbidden=forbidden.SOFTMAX,
    help=(
        "Find out which words are right with everything visible, and which are still right with "
        "one state hidden. Then count.",
        "Make a mask that is True except at `hidden[i]` in row i, and a softmax over what it "
        "leaves visible. Then compute the blend and the logits as before.",
        "Section “Does the map tell the truth?”.",
    ),
)


@words_lost.right
def word_by_word(scores, H, W_out, targets, hidden):
    def writes(row, states):
        shares = np.exp(row - row.max())
        return np.argmax(shares / shares.sum() @ states @ W_out)

    right = lost = 0
    for row, target, j in zip(scores, targets, hidden, strict=True):
        if writes(row, H) == target:
            right += 1
            lost += writes(np.delete(row, j), np.delete(H, j, axis=0)) != target
    return float(lost / right)


@words_lost.right
def minus_infinity(scores, H, W_out, targets, hidden):
    logits = []
    masked = scores.copy()
    masked[np.arange(len(scores)), hidden] = -np.inf
    for one in (scores, masked):
        logarithms = one - np.logaddexp.reduce(one, axis=-1, keepdims=True)
        logits.append(np.exp(logarithms) @ (H @ W_out))
    before, after = (one.argmax(axis=-1) == targets for one in logits)
    return float(np.mean(~after[before]))


@words_lost.right
def without_a_softmax(scores, H, W_out, targets, hidden):
    visible = np.arange(scores.shape[-1]) != np.reshape(hidden, (-1, 1))
    written = []
    for where in (np.ones_like(visible), visible):
        largest = np.max(scores, axis=-1, keepdims=True, where=where, initial=-1e30)
        shares = np.where(where, np.exp(np.where(where, scores - largest, 0)), 0)
        written.append(np.argmax(shares @ H @ W_out, axis=-1))
    before = np.flatnonzero(written[0] == targets)
    return sum(int(written[1][i] != targets[i]) for i in before) / len(before)


@words_lost.right
def plain(scores, H, W_out, targets, hidden):
    def right(visible):
        masked = np.where(visible, scores, -np.inf)
        shares = np.exp(masked - masked.max(axis=-1, keepdims=True))
        weights = shares / shares.sum(axis=-1, keepdims=True)
        return np.argmax(weights @ H @ W_out, axis=-1) == targets

    before = right(True)
    after = right(np.arange(scores.shape[-1]) != hidden[:, None])
    return float(np.sum(before & ~after) / np.sum(before))


words_lost.wrong(
    "a share of all words",
    "A word that was wrong before cannot be lost. The docstring asks for a share: of which words?",
    plain.edit("np.sum(before & ~after) / np.sum(before)", "np.mean(before & ~after)"),
)
words_lost.wrong(
    "words that were wrong before counted as lost",
    "Hide nothing at all. What is your share then, and what should it be?",
    plain.edit("np.sum(before & ~after) / np.sum(before)", "np.mean(~after)"),
)
words_lost.wrong(
    "words that became right subtracted",
    "One word is lost, and another becomes right. How many of the right words were lost?",
    plain.edit("np.sum(before & ~after)", "(np.sum(before) - np.sum(after))"),
)
words_lost.wrong(
    "survivors counted",
    "Do you count the words that are lost, or those that are left?",
    plain.edit("before & ~after", "before & after"),
)
words_lost.wrong(
    "score 0 for what is hidden",
    "What is exp(0)? Which score gives a weight of 0?",
    plain.edit("-np.inf", "0"),
)
words_lost.wrong(
    "everything hidden but one",
    "Which weights does your function keep: that of the hidden state, or those of the others?",
    plain.edit("!= hidden[:, None]", "== hidden[:, None]"),
)
words_lost.wrong(
    "always the peak hidden",
    "Change `hidden`. Does your result change?",
    plain.edit("hidden[:, None]", "scores.argmax(axis=-1)[:, None]"),
)
words_lost.wrong(
    "renormalised after the softmax",
    "Suppose that the score that you hide is larger than all others by 1000. How large are the "
    "other weights after the softmax, and what do you get when you renormalise them?",
    plain.edit("np.where(visible, scores, -np.inf)", "scores").edit(
        "weights = shares / shares.sum(axis=-1, keepdims=True)",
        "weights = shares / shares.sum(axis=-1, keepdims=True) * visible\n"
        "weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-12)",
    ),
)


@words_lost.public
def _(rng):
    scores, H = np.array([[2.0, 0.0], [0.0, 2.0]]), np.eye(2)
    yield Case(
        "two words, their own state hidden from both",
        (scores, H, np.eye(2), np.array([0, 1]), np.array([0, 1])),
    ).holds(
        "scores: (m, T), one row a target word, of any size, T at least 2",
        "Returns the number of words that were right and are not any more, over the number of "
        "those that were right, as a float from 0 to 1",
    )
    yield Case(
        "two words, the other state hidden from both",
        (scores, H, np.eye(2), np.array([0, 1]), np.array([1, 0])),
    ).holds("Returns the…")
    word = np.array([[1.0, 3.0, 2.0]]), np.eye(3), np.eye(3), np.array([1]), np.array([1])
    yield Case("one word", word).holds("scores: (m…")
    scores, H, W_out, *_ = _experiment(rng, "peak", m=3, n=4)
    only = W_out[:, :1], np.zeros(3, dtype=int), np.arange(3)
    yield Case("a vocabulary of one word", (scores, H, *only)).holds(
        "W_out: (d_h, V). A word's logits are its context times W_out, and nothing else. "
        "targets: (m,), the ids of the words that should be written"
    )
    yield Case("the experiment, the peak hidden", _experiment(rng, "peak")).holds(
        "H: (T, d_h), the encoder's states", "W_out: (d_h…"
    )
    yield Case("the experiment, any state hidden", _experiment(rng, "random")).holds(
        "hidden: (m,), the position that is hidden from each word: its state gets no weight, and "
        "the softmax is taken over the scores of the others"
    )
    yield Case("one of five words is wrong before", _experiment(rng, "peak", wrong=0.2)).holds(
        "A word is right if its target has the largest logit; at least one is, and no two logits "
        "are equal"
    )
    yield Case("half of the words are wrong before", _experiment(rng, "peak", wrong=0.5)).holds(
        "A word is…", "Returns the…"
    )
    scores, *rest = _experiment(rng, "peak")
    yield Case("scores a thousand times as large", (scores * 1000, *rest)).holds("scores: (m…")
    yield Case("scores far below 0", (scores - 5000, *rest)).holds("scores: (m…")
    yield Case(
        "one state hidden from all words", (scores, *rest[:-1], np.full(len(scores), 3))
    ).holds("hidden: (m,)…")
    yield Case("as many words as states", _cut(_experiment(rng, "random"), 12)).holds(
        "H: (T, d_h)…"
    )
    yield Case("float32", single(_experiment(rng, "peak", wrong=0.2))).holds("scores: (m…")
    yield Case("every state twice, scores far apart", _twins(rng)).holds("hidden: (m,)…")
    yield Case("scores below any stand-in for infinity", _twins(rng, -1e12))


@words_lost.hidden
def _(rng):
    for hidden in ("peak", "random"):
        yield Case(f"another experiment, hidden: {hidden}", _experiment(rng, hidden))
        inputs = _experiment(rng, hidden, wrong=0.3)
        yield Case(f"some words wrong before, hidden: {hidden}", inputs)
    scores, *rest = _experiment(rng, "peak", wrong=0.4)
    yield Case("scores a thousand times as large", (scores * 1000, *rest))
    yield Case("half of the words are wrong before", _experiment(rng, "peak", wrong=0.5))
    yield Case("as many words as states", _cut(_experiment(rng, "random", wrong=0.3), 12))
    yield Case("every state twice, scores far apart", _twins(rng))
    yield Case("every state twice, scores far below 0", _twins(rng, -5000.0))


def _experiment(
    rng: np.random.Generator, hide: str, wrong: float = 0.0, m: int = 60, n: int = 12
) -> tuple[np.ndarray, ...]:
    """Return the arguments of a case whose decoder has a gold state per word.

    The targets are the words that the decoder writes, except for a share `wrong`. The scores of a
    word prefer its gold state, more or less.
    """
    d_h, vocabulary = 8, 20
    H, W_out = rng.normal(size=(n, d_h)), rng.normal(size=(d_h, vocabulary))
    gold = rng.integers(n, size=m)
    scores = rng.normal(size=(m, n))
    scores[np.arange(m), gold] += rng.uniform(0, 5, size=m)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    targets = np.argmax(weights @ H @ W_out, axis=-1)
    spoilt = rng.permutation(m)[: round(wrong * m)]
    targets[spoilt] = (targets[spoilt] + rng.integers(1, vocabulary, size=len(spoilt))) % vocabulary
    hidden = scores.argmax(axis=-1) if hide == "peak" else rng.integers(n, size=m)
    return scores, H, W_out, targets, hidden


def _twins(rng: np.random.Generator, shift: float = 0.0) -> tuple[np.ndarray, ...]:
    """An experiment in which most words can be written from a second state, if the peak is hidden.

    The peak is so far above it that nothing is left of the others' weights.
    """
    scores, H, W_out, *_ = _experiment(rng, "peak", m=40, n=5)
    behind = scores - rng.uniform(0.5, 1.5, size=scores.shape)
    scores, H = np.concatenate([scores, behind], axis=-1), np.concatenate([H, H])
    return scores * 2000 + shift, H, W_out, _written(scores * 2000, H, W_out), scores.argmax(-1)


def _written(scores: np.ndarray, H: np.ndarray, W_out: np.ndarray) -> np.ndarray:
    """Return the words that a decoder writes if it looks at only one state."""
    return np.argmax(H[scores.argmax(axis=-1)] @ W_out, axis=-1)


def _cut(inputs: tuple[np.ndarray, ...], m: int) -> tuple[np.ndarray, ...]:
    """Leave the first `m` words."""
    scores, H, W_out, targets, hidden = inputs
    return scores[:m], H, W_out, targets[:m], hidden[:m]


words_lost.lets_through("T of 1 refused", "there are two states or more")
words_lost.lets_through(
    "a softmax with 1e-6 in its denominator", "the largest logit stays the largest"
)
words_lost.lets_through("the last of equal scores", "no two logits are equal")


def single(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with float32 where there was float64."""
    return tuple(
        one.astype(np.float32) if getattr(one, "dtype", None) == np.float64 else one
        for one in inputs
    )
