"""The exercise `words_kept`: what can a decoder write from one state alone? To transfer."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import only_state as solutions

from .. import forbidden
from .words_lost import single

words_kept = Declaration(
    solutions.words_kept,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    forbidden=forbidden.SOFTMAX,
    help=(
        "If one state alone is visible, what is its weight, and what is the context?",
        "Compute which word each of the T states would write by itself. Then compare with the "
        "targets of the words that were right: once at `only`, and once at every state.",
        "Section “Does the map tell the truth?”.",
    ),
)


@words_kept.right
def word_by_word(scores, H, W_out, targets, only):
    kept, drawn = [], []
    for row, target, j in zip(scores, targets, only, strict=True):
        shares = np.exp(row - row.max())
        if np.argmax(shares / shares.sum() @ H @ W_out) == target:
            writes = [np.argmax(state @ W_out) == target for state in H]
            kept.append(writes[j])
            drawn.append(sum(writes) / len(writes))
    return float(np.mean(kept)), float(np.mean(drawn))


@words_kept.right
def by_masks(scores, H, W_out, targets, only):
    def right(visible):
        masked = np.where(visible, scores, -np.inf)
        shares = np.exp(masked - masked.max(axis=-1, keepdims=True))
        return np.argmax(shares @ H @ W_out, axis=-1) == targets

    places = np.arange(len(H))
    before = right(True)
    every = [np.mean(right(places == j)[before]) for j in places]
    return float(np.mean(right(places == only[:, None])[before])), float(np.mean(every))


@words_kept.right
def plain(scores, H, W_out, targets, only):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    before = np.argmax(weights @ H @ W_out, axis=-1) == targets
    alone = np.argmax(H @ W_out, axis=-1) == targets[:, None]
    kept = alone[np.arange(len(targets)), only]
    return float(np.mean(kept[before])), float(np.mean(alone[before]))


words_kept.wrong(
    "shares of all words",
    "A word that was wrong with everything visible cannot be kept. Of which words does the "
    "docstring want a share?",
    plain.edit("np.mean(kept[before])", "np.mean(kept & before)").edit(
        "np.mean(alone[before])", "np.mean(alone & before[:, None])"
    ),
)
words_kept.wrong(
    "words that were wrong before counted as kept",
    "Some words are wrong with everything visible. Which part of your function knows of them?",
    plain.edit("kept[before]", "kept").edit("alone[before]", "alone"),
)
words_kept.wrong(
    "the state hidden and not left",
    "Which states does your function leave visible: those of `only`, or all the others?",
    plain.edit(
        "kept = alone[np.arange(len(targets)), only]",
        "masked = np.where(np.arange(len(H)) == only[:, None], -np.inf, scores)\n"
        "others = np.exp(masked - masked.max(axis=-1, keepdims=True))\n"
        "kept = np.argmax(others @ H @ W_out, axis=-1) == targets",
    ),
)
words_kept.wrong(
    "lost and not kept",
    "Let the only state be the one that a word was made from. Should your first share be large or "
    "small?",
    plain.edit("np.mean(kept[before])", "np.mean(~kept[before])"),
)
words_kept.wrong(
    "a null that leaves out the state of `only`",
    "From how many states is the state of the null drawn?",
    plain.edit(
        "np.mean(alone[before])",
        "((alone.sum(axis=-1) - kept) / max(1, len(H) - 1))[before].mean()",
    ),
)
words_kept.wrong(
    "the peak as the null",
    "Change the scores, but not which words are right. Should your null change?",
    plain.edit(
        "np.mean(alone[before])",
        "np.mean(alone[np.arange(len(targets)), scores.argmax(axis=-1)][before])",
    ),
)
words_kept.wrong(
    "a null with the weights as chances",
    "How likely is each state to be drawn in the null?",
    plain.edit("np.mean(alone[before])", "np.mean((weights * alone).sum(axis=-1)[before])"),
)
words_kept.wrong(
    "one state for all words",
    "May `only` hold another position for each word?",
    plain.edit("alone[np.arange(len(targets)), only]", "alone[:, only[0]]"),
)
words_kept.wrong(
    "a null of what is written by no state",
    "Is a word in your null right if the state writes its target, or if it writes another word?",
    plain.edit("np.mean(alone[before])", "1 - np.mean(alone[before])"),
)


@words_kept.public
def _(rng):
    scores, H = np.array([[2.0, 0.0], [0.0, 2.0]]), np.eye(2)
    yield Case(
        "two words, with their own state alone",
        (scores, H, np.eye(2), np.array([0, 1]), np.array([0, 1])),
    ).holds(
        "scores: (m, T), one row a target word, of any size",
        "Returns two shares of the words that are right with all states visible, as floats from 0 "
        "to 1",
        "those that are right with their state of `only` alone",
        "those that would be right on average if the state that stays were drawn from all T of "
        "them, each as likely",
    )
    yield Case(
        "two words, with the other state alone",
        (scores, H, np.eye(2), np.array([0, 1]), np.array([1, 0])),
    ).holds(
        "only: (m,), the position of the state that stays visible for each word; all the others "
        "get no weight"
    )
    one = np.array([[1.0, 3.0, 2.0]]), np.eye(3), np.eye(3), np.array([1]), np.array([2])
    yield Case("one word", one).holds("scores: (m…")
    single_state = np.array([[3.0], [1.0]]), np.eye(1, 3), np.eye(3), np.array([0, 0])
    yield Case("one state", (*single_state, np.array([0, 0]))).holds(
        "H: (T, d_h), the encoder's states"
    )
    scores, H, W_out, *_ = _experiment(rng, "gold", m=3, n=4)
    lonely = W_out[:, :1], np.zeros(3, dtype=int), np.arange(3)
    yield Case("a vocabulary of one word", (scores, H, *lonely)).holds(
        "W_out: (d_h, V). A word's logits are its context times W_out, and nothing else. "
        "targets: (m,), the ids of the words that should be written"
    )
    yield Case("the experiment, the gold state alone", _experiment(rng, "gold")).holds(
        "H: (T, d_h…"
    )
    yield Case("the experiment, any state alone", _experiment(rng, "random")).holds("only: (m,)…")
    yield Case("one of five words is wrong before", _experiment(rng, "gold", wrong=0.2)).holds(
        "A word is right if its target has the largest logit; at least one is with all states "
        "visible, and no two logits are equal"
    )
    yield Case("half of the words are wrong before", _experiment(rng, "peak", wrong=0.5)).holds(
        "A word is…", "Returns two…"
    )
    scores, *rest = _experiment(rng, "peak")
    yield Case("scores a thousand times as large", (scores * 1000, *rest)).holds("scores: (m…")
    yield Case("scores far below 0", (scores - 5000, *rest)).holds("scores: (m…")
    yield Case(
        "one state alone for all words", (scores, *rest[:-1], np.full(len(scores), 3))
    ).holds("only: (m,)…")
    yield Case("float32", single(_experiment(rng, "random", wrong=0.2))).holds("scores: (m…")


@words_kept.hidden
def _(rng):
    for only in ("gold", "peak", "random"):
        yield Case(f"another experiment, alone: {only}", _experiment(rng, only))
        yield Case(f"some words wrong before, alone: {only}", _experiment(rng, only, wrong=0.3))
    scores, *rest = _experiment(rng, "peak", wrong=0.4)
    yield Case("scores a thousand times as large", (scores * 1000, *rest))
    yield Case("half of the words are wrong before", _experiment(rng, "random", wrong=0.5))


words_kept.lets_through("inputs rounded to 1e-12", "the largest logit stays the largest")
words_kept.lets_through(
    "a softmax with 1e-6 in its denominator", "the largest logit stays the largest"
)
words_kept.lets_through("the last of equal scores", "no two logits are equal")


def _experiment(
    rng: np.random.Generator, only: str, wrong: float = 0.0, m: int = 60, n: int = 6
) -> tuple[Any, ...]:
    """Return the arguments of a case whose words are those that the decoder writes.

    A share `wrong` of the targets is another word. Scores prefer a word's gold state, more or less;
    some states would write the same word.
    """
    d_h, vocabulary = 8, 5
    H, W_out = rng.normal(size=(n, d_h)), rng.normal(size=(d_h, vocabulary))
    gold = rng.integers(n, size=m)
    scores = rng.normal(size=(m, n))
    scores[np.arange(m), gold] += rng.uniform(0, 3, size=m)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    targets = np.argmax(weights @ H @ W_out, axis=-1)
    spoilt = rng.permutation(m)[: round(wrong * m)]
    targets[spoilt] = (targets[spoilt] + rng.integers(1, vocabulary, size=len(spoilt))) % vocabulary
    chosen = {"gold": gold, "peak": scores.argmax(axis=-1), "random": rng.integers(n, size=m)}
    return scores, H, W_out, targets, chosen[only]
