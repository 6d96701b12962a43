"""The exercise `next_token_loss`: cross-entropy with teacher forcing, and padding. To debug."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

from .. import forbidden

next_token_loss = Declaration(
    solutions.next_token_loss,
    points=3,
    difficulty=3,
    minutes=15,
    kind=Kind.DEBUG,
    forbidden=forbidden.CROSS_ENTROPY,
    help=(
        "One line is wrong. Without padding the mistake does not show, so begin with two "
        "sentences, one of one word and one of two.",
        "Print, for the shorter sentence, what the decoder reads at each step, what it should "
        "predict, and whether the step counts.",
        "Section “The machine, whole”; “What you need”, softmax and cross-entropy.",
    ),
)


@next_token_loss.right
def token_by_token(logits, targets, pad):
    total, count = 0.0, 0
    for scores, row in zip(logits.astype(float), targets, strict=True):
        for one, right in zip(scores, row[1:], strict=True):
            if right != pad:
                total += np.log(np.sum(np.exp(one - one.max()))) + one.max() - one[right]
                count += 1
    return float(total / count)


@next_token_loss.right
def one_hot(logits, targets, pad):
    V = logits.shape[-1]
    flat, right = logits.reshape(-1, V), targets[:, 1:].ravel()
    kept = right != pad
    flat, one_hot = flat[kept], np.eye(V)[right[kept]]
    relative = flat - np.sum(flat * one_hot, axis=1, keepdims=True)
    largest = relative.max(axis=1)
    return float(np.mean(largest + np.log(np.exp(relative - largest[:, None]).sum(axis=1))))


@next_token_loss.right
def zeros_where_padding(logits, targets, pad):
    real = (targets[:, 1:] != pad).astype(float)
    largest = logits.max(axis=-1)
    log_total = np.log(np.exp(logits - largest[..., None]).sum(axis=-1)) + largest
    rows, columns = np.indices(real.shape)
    chosen = logits[rows, columns, targets[:, 1:]]
    return float(np.sum(real * (log_total - chosen)) / real.sum())


@next_token_loss.right
def plain(logits, targets, pad):
    right = targets[:, 1:]  # what is to be predicted
    counts = right != pad  # no padding
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    losses = -np.take_along_axis(log_p, right[..., None], axis=-1)[..., 0]
    return float(losses[counts].mean())


next_token_loss.wrong(
    "the mask of what is read, not of what is predicted",
    "Write down a row with one word and two tokens of padding. What is read at each step, and "
    "what should be predicted? At which step is only one of the two padding?",
    plain.edit("right != pad", "targets[:, :-1] != pad").edit(
        "losses[counts].mean()", "(losses * counts).sum() / counts.sum()"
    ),
    released=True,
)
next_token_loss.wrong(
    "padding counted",
    "Add ten more columns of padding at the end of every row. Should the loss change?",
    plain.edit("losses[counts].mean", "losses.mean"),
)
next_token_loss.wrong(
    "zeros in the mean",
    "Padding adds nothing to your sum. Does it still count in the number that you divide by?",
    plain.edit("losses[counts].mean", "(losses * counts).mean"),
)
next_token_loss.wrong(
    "a mean of the sentences' means",
    "Take a sentence of one word and a sentence of twenty. How much does a word of each count in "
    "your mean, and how much should it?",
    plain.edit("losses[counts].mean", "((losses * counts).sum(axis=1) / counts.sum(axis=1)).mean"),
)
next_token_loss.wrong(
    "the token that was just read",
    "logits[b, 0] are the scores after the start token alone. Which token should be predicted "
    "there?",
    plain.edit("targets[:, 1:]", "targets[:, :-1]"),
)
next_token_loss.wrong(
    "stop left out",
    "What will a decoder do if it never had to predict the stop token in training?",
    plain.edit(
        "right != pad", "np.pad(right[:, 1:], ((0, 0), (0, 1)), constant_values=pad) != pad"
    ).edit("losses[counts].mean()", "(losses * counts).sum() / max(counts.sum(), 1)"),
)
next_token_loss.wrong(
    "a sum in place of the mean",
    "Give your function every sentence twice. Should the loss change?",
    plain.edit("losses[counts].mean", "losses[counts].sum"),
)


@next_token_loss.public
def _(rng):
    yield Case("two sentences, one with padding", _inputs(rng, [2, 1], 5)).holds(
        "targets: (B, m + 1) ids, m at least 1: a row is a start token, the words, a stop token, "
        "and then `pad` up to the end of the row"
    )
    yield Case("two other sentences of the same lengths", _inputs(rng, [2, 1], 5))
    yield Case("no padding at all", _inputs(rng, [3, 3], 4)).holds(
        "It is to predict the token that comes next"
    )
    yield Case("one long sentence and three short ones", _inputs(rng, [6, 1, 1, 2], 7)).holds(
        "Every other token counts once, whatever sentence it is in"
    )
    yield Case("one sentence, half of it padding", _inputs(rng, [2], 5, extra=3)).holds(
        "Padding is not to be predicted: it adds nothing to the sum, and is not counted in the mean"
    )
    yield Case("a sentence without words: only stop is predicted", _inputs(rng, [0, 3], 6)).holds(
        "It is to…"
    )
    yield Case("as many sentences as tokens", _inputs(rng, [2, 0, 1], 6)).holds(
        "logits: (B, m, V), which may be large; logits[b, i] are what the decoder scores after "
        "it has read targets[b, : i + 1]"
    )
    yield Case("float32", _inputs(rng, [4, 2, 3], 5, dtype=np.float32)).holds("logits: (B…")
    yield Case("another id for padding", _inputs(rng, [3, 1], 6, pad=5)).holds("targets: (B…")
    yield Case("large logits", _inputs(rng, [3, 1, 2], 5, size=2000.0)).holds("logits: (B…")
    yield Case("a decoder that is nearly sure, and right", _sure(rng)).holds("Padding is…")
    yield Case("one prediction in all", _inputs(rng, [0], 4)).holds("targets: (B…")


@next_token_loss.hidden
def _(rng):
    words = [int(n) for n in rng.permutation([0, 1, 3, 5])]
    yield Case("sentences of several lengths", _inputs(rng, words, 7)).holds(
        "Returns the mean of -log p over these tokens, a float, with p the softmax of the logits "
        "at the right token"
    )
    yield Case("no padding at all", _inputs(rng, [4, 4, 4], 6))
    yield Case("one sentence, half of it padding", _inputs(rng, [2], 6, extra=int(words[0]) + 2))
    yield Case("another id for padding", _inputs(rng, words, 8, pad=int(rng.integers(3, 8))))
    yield Case("float32", _inputs(rng, words, 6, dtype=np.float32))
    yield Case("large logits", _inputs(rng, words, 6, size=2000.0))


def _inputs(
    rng: np.random.Generator,
    words: list[int],
    V: int,
    pad: int = 0,
    extra: int = 0,
    dtype: type = np.float64,
    size: float = 1.5,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Random logits and targets of so many `words` each; `extra` columns of padding for all.

    start and stop are the two lowest ids that are not `pad`.
    """
    start, stop, *ordinary = (i for i in range(V) if i != pad)
    width = max(words) + 2 + extra
    targets = np.full((len(words), width), pad)
    for row, n in zip(targets, words, strict=True):
        row[: n + 2] = [start, *rng.choice(ordinary, size=n), stop]
    logits = size * rng.normal(size=(len(words), width - 1, V))
    return logits.astype(dtype), targets, pad


def _sure(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Logits of which the right one is largest by far, except on padding."""
    logits, targets, pad = _inputs(rng, [3, 1], 5)
    np.put_along_axis(logits, targets[:, 1:, None], 14.0, axis=-1)
    logits[..., pad] = rng.normal(size=logits.shape[:-1])
    return logits, targets, pad


next_token_loss.lets_through("V of 1 refused", "start, stop and padding are three tokens")
