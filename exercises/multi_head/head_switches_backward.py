"""The exercise `head_switches_backward`: how fast the loss changes as a head is turned down."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import removing_heads as solutions

from .. import forbidden

head_switches_backward = Declaration(
    solutions.head_switches_backward,
    points=4,
    difficulty=4,
    minutes=20,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "The logits are a sum with one term for each head, and a switch multiplies its term. So "
        "you need the derivative of the loss with respect to the logits, and the terms.",
        "For one sequence, the derivative of the cross-entropy with respect to the logits is the "
        "softmax, minus 1 at the right answer. Multiply it by the head's part of the logits, and "
        "sum over the logits. The softmax is that of the logits with the switches as they are.",
        "Sections “What W_o is for” and “Removing heads”.",
    ),
)


@head_switches_backward.right
def loop(heads, switches, W_o, W_r, answers):
    batch, n_heads, d_v = heads.shape
    gradient = np.zeros_like(switches)
    for found, answer in zip(heads, answers, strict=True):
        parts = [found[h] @ W_o[h * d_v : (h + 1) * d_v] @ W_r for h in range(n_heads)]
        logits = sum(switch * part for switch, part in zip(switches, parts, strict=True))
        shares = np.exp(logits - logits.max())
        shares = shares / shares.sum()
        for h, part in enumerate(parts):
            # the parts' mean under the softmax, minus the part of the right answer
            gradient[h] += shares @ (part - part[answer]) / batch
    return gradient


@head_switches_backward.right
def back_to_the_merged_heads(heads, switches, W_o, W_r, answers):
    batch, n_heads, d_v = heads.shape
    merged = (switches[:, None] * heads).reshape(batch, n_heads * d_v)
    logits = merged @ W_o @ W_r
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits = shares / shares.sum(axis=1, keepdims=True)
    d_logits[np.arange(batch), answers] -= 1
    d_merged = d_logits / batch @ W_r.T @ W_o.T
    return (d_merged.reshape(heads.shape) * heads).sum(axis=(0, 2))


@head_switches_backward.right
def einsum(heads, switches, W_o, W_r, answers):
    n_heads, d_v = heads.shape[1:]
    writes = (W_o @ W_r).reshape(n_heads, d_v, -1)
    parts = np.einsum("bhv,hvm->bhm", heads, writes)
    logits = np.einsum("h,bhm->bm", switches, parts)
    largest = logits.max(axis=1)[:, None]
    log_p = logits - largest - np.log(np.exp(logits - largest).sum(axis=1))[:, None]
    right = np.take_along_axis(parts, answers[:, None, None], axis=2)
    return np.einsum("bm,bhm->h", np.exp(log_p), parts - right) / np.float32(len(answers))


@head_switches_backward.right
def plain(heads, switches, W_o, W_r, answers):
    batch, n_heads, d_v = heads.shape
    rows = W_o.reshape(n_heads, d_v, -1)
    parts = np.swapaxes(heads, 0, 1) @ rows @ W_r
    logits = (switches[:, None, None] * parts).sum(axis=0)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    d_logits = shares / shares.sum(axis=1, keepdims=True)
    d_logits[np.arange(batch), answers] -= 1
    return (parts * d_logits).sum(axis=(1, 2)) / batch


head_switches_backward.wrong(
    "the sum over the batch",
    "If every sequence stands in the batch twice, does the loss change? Does your gradient?",
    plain.edit(" / batch", ""),
)
head_switches_backward.wrong(
    "the right answer forgotten",
    "Two batches differ only in their answers. Should their gradients differ?",
    plain.edit("d_logits[np.arange(batch), answers] -= 1", ""),
)
head_switches_backward.wrong(
    "the opposite sign",
    "A head speaks for the right answer only. If its switch rises, does the loss rise or fall?",
    plain.edit("return (parts", "return -(parts"),
)
head_switches_backward.wrong(
    "all switches taken to be on",
    "At which logits do you take the softmax: those with the switches that are given, or those of "
    "the whole layer?",
    plain.edit("(switches[:, None, None] * parts)", "parts"),
)
head_switches_backward.wrong(
    "each term times its switch",
    "What is the derivative of c * s with respect to c? Does a head with the switch 0 have the "
    "gradient 0?",
    plain.edit("(parts * d_logits)", "(switches[:, None, None] * parts * d_logits)"),
)
head_switches_backward.wrong(
    "the rise of the right logit only",
    "The cross-entropy depends on the other logits, too. What if a head raises all logits alike?",
    plain.edit(
        "return (parts * d_logits).sum(axis=(1, 2)) / batch",
        "return (parts * d_logits)[:, np.arange(batch), answers].sum(axis=1) / batch",
    ),
)
head_switches_backward.wrong(
    "rows of W_o dealt out in turn",
    "Merge two heads of three features: which rows of W_o meet the features of the first head?",
    plain.edit(
        "W_o.reshape(n_heads, d_v, -1)", "np.stack([W_o[h::n_heads] for h in range(n_heads)])"
    ),
)
head_switches_backward.wrong(
    "each head judged alone",
    "One softmax reads the sum of all heads' terms. How many softmaxes do you take?",
    plain.edit(
        "logits = (switches[:, None, None] * parts).sum(axis=0)\n"
        "shares = np.exp(logits - logits.max(axis=1, keepdims=True))\n"
        "d_logits = shares / shares.sum(axis=1, keepdims=True)\n"
        "d_logits[np.arange(batch), answers] -= 1",
        "logits = switches[:, None, None] * parts\n"
        "shares = np.exp(logits - logits.max(axis=-1, keepdims=True))\n"
        "d_logits = shares / shares.sum(axis=-1, keepdims=True)\n"
        "d_logits[:, np.arange(batch), answers] -= 1",
    ),
)
head_switches_backward.wrong(
    "a gradient for each sequence",
    "One switch serves all sequences. How many numbers should come back for two heads?",
    plain.edit(".sum(axis=(1, 2)) / batch", ".sum(axis=2).T / batch"),
)
head_switches_backward.wrong(
    "exponential overflows",
    "What is np.exp(1000)? What may you subtract from the logits of a sequence without changing "
    "their softmax?",
    plain.edit("np.exp(logits - logits.max(axis=1, keepdims=True))", "np.exp(logits)"),
)


@head_switches_backward.public
def _(rng):
    identity = np.eye(2)
    heads, on = np.array([[[1.0], [0.0]]]), np.ones(2)
    yield Case(
        "one sequence, two heads of one feature",
        (heads, on, np.diag([np.log(3), 1.0]), identity, np.array([0])),
    ).holds(
        "each multiplies what its head has found. The heads are merged, the first one first, and "
        "the output is the product with W_o, (n_heads * d_v, d_out)"
    )
    yield Case("three sequences, two heads", _inputs(rng, 3, 2, 3, 4, 5)).holds(
        "(batch, n_heads, d_v), what each head has found for the one token that asks",
        "The loss is the cross-entropy of the softmax of the logits, the mean over the batch",
        "(batch,), whole numbers from 0 to m - 1, the right ones",
    )
    yield Case("as many sequences as heads", _inputs(rng, 3, 3, 2, 4, 3)).holds(
        "an array of shape (n_heads,): the gradient of the loss with respect to `switches`"
    )
    heads, _, *rest = _inputs(rng, 4, 3, 2, 3, 4)
    yield Case("one head off, one turned round", (heads, np.array([0.0, 1.0, -0.8]), *rest)).holds(
        "switches: (n_heads,), the same for all sequences"
    )
    yield Case("one head only", _inputs(rng, 4, 1, 3, 2, 3)).holds("each multiplies…")
    yield Case("a batch of one, all sizes 1", _inputs(rng, 1, 1, 1, 1, 1)).holds(
        "All sizes are at least 1"
    )
    heads, switches, W_o, W_r, answers = _inputs(rng, 3, 2, 3, 4, 5)
    yield Case("large logits", (heads * 30, switches, W_o * 10, W_r * 10, answers)).holds(
        "The logits are the product of the output with W_r, (d_out, m), and may be large, above 0 "
        "or below"
    )
    yield Case("all logits far below 0", _shifted(rng, -1e5)).holds("The logits…")
    yield Case("all logits far above 0", _shifted(rng, 1e6)).holds("The logits…")
    yield Case("tiny terms", (heads * 1e-9, switches, W_o, W_r, answers)).holds("The loss…")
    yield Case("float32", _inputs(rng, 5, 4, 2, 6, 3, np.float32)).holds("(batch, n_heads…")


@head_switches_backward.hidden
def _(rng):
    batch, n_heads, d_v, d_out, m = (int(size) for size in rng.permutation([2, 3, 4, 5, 6]))
    yield Case("all sizes differ", _inputs(rng, batch, n_heads, d_v, d_out, m)).holds("The loss…")
    yield Case("other answers", _inputs(rng, batch, n_heads, d_v, d_out, m))
    yield Case("as many sequences as heads", _inputs(rng, n_heads, n_heads, d_v, d_out, m))
    heads, switches, *rest = _inputs(rng, batch, n_heads, d_v, d_out, m)
    switches[0] = 0
    yield Case("one head off", (heads, switches, *rest)).holds("switches: (…")
    yield Case("one sequence", _inputs(rng, 1, n_heads, d_v, d_out, m)).holds("All sizes…")
    heads, switches, W_o, W_r, answers = _inputs(rng, batch, n_heads, d_v, d_out, m)
    yield Case("large logits", (heads * 30, switches, W_o * 10, W_r * 10, answers))
    yield Case("all logits far below 0", _shifted(rng, -1e6)).holds("The logits…")
    yield Case("float32", _inputs(rng, batch, n_heads, d_v, d_out, m, np.float32))


def _inputs(
    rng: np.random.Generator,
    batch: int,
    n_heads: int,
    d_v: int,
    d_out: int,
    m: int,
    dtype: type = np.float64,
) -> tuple[Any, ...]:
    """Random heads, switches, W_o, W_r and answers; later heads have found more."""
    heads = rng.normal(size=(batch, n_heads, d_v)) * np.linspace(0.5, 1.5, n_heads)[:, None]
    W_o = rng.normal(size=(n_heads * d_v, d_out)) / np.sqrt(n_heads * d_v)
    arrays = heads, rng.uniform(0.2, 1.6, size=n_heads), W_o, rng.normal(size=(d_out, m))
    answers = rng.integers(m, size=batch)
    return (*(array.astype(dtype) for array in arrays), answers)


def _shifted(rng: np.random.Generator, shift: float) -> tuple[Any, ...]:
    """Inputs in which the first head adds about the same large number to all logits."""
    heads, switches, W_o, W_r, answers = _inputs(rng, 3, 2, 2, 4, 3)
    heads[:, 0, 0], W_o[0], W_r[0] = 1, [1, 0, 0, 0], shift
    W_o[1:, 0] = 0
    return heads, switches, W_o, W_r, answers
