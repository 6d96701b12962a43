"""The exercise `masked_diffusion_loss`: what hidden tokens cost, whatever share was hidden."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import filling_gaps as solutions

masked_diffusion_loss = Declaration(
    solutions.masked_diffusion_loss,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "A mask at place i stands where token i was. Only the hidden tokens cost anything, and a "
        "text of which little was hidden stands for all the masks that were not drawn.",
        "Take the log-softmax, pick the right token in each row, set what was not hidden to 0, "
        "sum over the tokens, divide by the text's share, and take the mean over the texts.",
        "Section “Three ways to make it write”, on the page about BERT.",
    ),
)


@masked_diffusion_loss.right
def one_by_one(logits, tokens, hidden, share):
    n, V = logits.shape[-2:]
    if share.size == 0:
        return 0.0
    costs = []
    rows = zip(
        logits.reshape(share.size, n, V),
        tokens.reshape(share.size, n),
        hidden.reshape(share.size, n),
        share.reshape(share.size),
        strict=True,
    )
    for scores, ids, masked, probability in rows:
        total = 0.0
        for at in np.flatnonzero(masked):
            row = scores[at].astype(float)
            total += row.max() + np.log(np.exp(row - row.max()).sum()) - row[ids[at]]
        costs.append(total / probability)
    return float(np.mean(costs))


@masked_diffusion_loss.right
def one_hot(logits, tokens, hidden, share):
    shifted = logits - logits.max(-1, keepdims=True)
    normaliser = np.log(np.exp(shifted).sum(-1))
    right = (shifted * (np.arange(logits.shape[-1]) == tokens[..., None])).sum(-1)
    costs = ((normaliser - right) * hidden / share[..., None]).sum()
    return float(costs / max(share.size, 1))


@masked_diffusion_loss.right
def plain(logits, tokens, hidden, share):
    scores = logits - logits.max(axis=-1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    costs = -np.take_along_axis(log_p, tokens[..., None], -1)[..., 0] * hidden
    total = costs.sum(axis=-1) / share
    return float(total.sum() / max(total.size, 1))


masked_diffusion_loss.wrong(
    "not divided by the share",
    "A text of which a tenth is hidden, and one that is all hidden: must they not stand for "
    "equally many tokens?",
    plain.edit(" / share", ""),
)
masked_diffusion_loss.wrong(
    "tokens in view are counted",
    "The model saw the tokens that were not hidden. What do they cost?",
    plain.edit(" * hidden", ""),
)
masked_diffusion_loss.wrong(
    "the tokens in view in place of the hidden ones",
    "What does True mean in `hidden`?",
    plain.edit(" * hidden", " * ~hidden"),
)
masked_diffusion_loss.wrong(
    "divided by the tokens that were hidden",
    "Half of the tokens were to be hidden, and by chance one of four was. By what does the "
    "docstring divide?",
    plain.edit("/ share", "/ np.maximum(hidden.mean(axis=-1), 1e-9)"),
)
masked_diffusion_loss.wrong(
    "multiplied by the share",
    "Of which text is each hidden token worth more: of one that is nearly all hidden, or of one "
    "that is nearly all in view?",
    plain.edit("/ share", "* share"),
)
masked_diffusion_loss.wrong(
    "nats of a token, not of a text",
    "Write every text twice, end to end. Should the result be the same, or twice as large?",
    plain.edit("costs.sum(axis=-1)", "costs.mean(axis=-1)"),
)
masked_diffusion_loss.wrong(
    "the mean over all hidden tokens, as for BERT",
    "One text has a single hidden token, another has ten. How much does each of the two texts "
    "count?",
    plain.edit(
        "total = costs.sum(axis=-1) / share\nreturn float(total.sum() / max(total.size, 1))",
        "return float(costs.sum() / max(hidden.sum(), 1))",
    ),
)
masked_diffusion_loss.wrong(
    "the sum over the texts",
    "Pass every text twice. Should the result change?",
    plain.edit(" / max(total.size, 1)", ""),
)
masked_diffusion_loss.wrong(
    "shifted, as for GPT",
    "Which token does row i score here: the one at place i, or the one after it?",
    plain.edit(
        "-np.take_along_axis(log_p, tokens[..., None], -1)[..., 0] * hidden",
        "-np.take_along_axis(log_p, np.roll(tokens, -1, axis=-1)[..., None], -1)[..., 0] * hidden",
    ),
)
masked_diffusion_loss.wrong(
    "one share for all texts",
    "Each text has a share of its own. Which one do you divide by?",
    plain.edit("/ share", "/ share.mean()"),
)
masked_diffusion_loss.wrong(
    "the logarithm of a softmax",
    "With scores in the hundreds, some softmax is exactly 0. What is its logarithm?",
    plain.edit(
        "scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))",
        "np.log(np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True))",
    ),
)


@masked_diffusion_loss.public
def _(rng):
    yield _case(rng, "one text of four tokens, half of it hidden", (), 4, 3, share=0.5).holds(
        "row i scores what stands at place i.",
        "A hidden token costs -log softmax(row i)[token i], divided by the share of its text, and "
        "a token that was not hidden costs nothing.",
    )
    yield _case(rng, "three texts with different shares", (3,), 5, 4).holds(
        "share: (...), above 0 and at most 1, the probability with which each token of a text was "
        "hidden; how many were is another matter.",
        "Returns the mean over the texts of what their tokens cost together, in nats, a float",
    )
    yield _case(rng, "all is hidden", (2,), 3, 4, share=1.0).holds(
        "hidden: boolean (..., n), True where the model saw a mask."
    )
    yield _case(rng, "nothing happens to be hidden", (1,), 3, 4, share=0.1, none=True).holds(
        "hidden: boolean…"
    )
    yield _case(rng, "as many texts as tokens and candidates", (3,), 3, 3)
    yield _case(rng, "large scores", (2,), 4, 3, size=400.0).holds(
        "logits: (..., n, V), and may be large"
    )
    yield _case(rng, "float32, two leading axes", (2, 3), 4, 5, dtype=np.float32).holds(
        "tokens: ids (..., n), the texts."
    )
    yield _case(rng, "three leading axes", (2, 1, 2), 3, 4).holds("logits: (...…")
    yield _case(rng, "one token, one candidate, one text", (1,), 1, 1, share=0.5)
    yield _case(rng, "long texts, few tokens hidden", (2,), 12, 3, share=0.2).holds("share: (...…")
    yield _case(rng, "no text", (0,), 3, 4).holds("0 if there is no text.")


@masked_diffusion_loss.hidden
def _(rng):
    batch, n, V = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "one text", (), n, V, share=0.6).holds("tokens: ids…")
    yield _case(rng, "several texts", (batch,), n, V).holds("Returns the mean…")
    yield _case(rng, "several texts, other shares", (batch,), n, V)
    yield _case(rng, "all is hidden", (batch,), n, V, share=1.0)
    yield _case(rng, "nothing happens to be hidden", (1,), n, V, share=0.2, none=True)
    yield _case(rng, "large scores", (batch,), n, V, size=400.0)
    yield _case(rng, "float32, two leading axes", (2, batch), n, V, dtype=np.float32)
    yield _case(rng, "long texts, few tokens hidden", (2,), 3 * n, V, share=0.2)
    yield _case(rng, "no text", (0,), n, V)


def _case(
    rng: np.random.Generator,
    note: str,
    leading: tuple[int, ...],
    n: int,
    V: int,
    share: float | None = None,
    size: float = 1.5,
    dtype: type = np.float64,
    none: bool = False,
) -> Case:
    """Texts, some of whose tokens are hidden, but never as many as the share says, unless all."""
    logits = (rng.normal(size=(*leading, n, V)) * size).astype(dtype)
    tokens = rng.integers(V, size=(*leading, n))
    if size > 100:  # the right tokens are the least likely ones
        tokens = logits.argmin(axis=-1)
    shares = rng.uniform(0.3, 0.9, size=leading) if share is None else np.full(leading, share)
    hidden = rng.random((*leading, n)) < shares[..., None]
    if hidden.size and not none:
        hidden[..., 0] = True
        if n > 1 and (shares < 1).all():
            hidden[..., -1] = False
    return Case(note, (logits, tokens, hidden & (not none), shares))


masked_diffusion_loss.lets_through(
    "inputs rounded to 1e-12", "a change of scores below that changes no loss"
)
