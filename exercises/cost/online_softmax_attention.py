"""The exercise `online_softmax_attention`: exact attention, a block of keys at a time."""

import math

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import cost as solutions

from .. import forbidden

online_softmax_attention = Declaration(
    solutions.online_softmax_attention,
    points=5,
    difficulty=4,
    minutes=35,
    forbidden=(*forbidden.ATTENTION, *forbidden.SOFTMAX),
    help=(
        "Keep three things for each query, and update them with each block: the largest score so "
        "far, the sum of the exponentials, and the same sum with each exponential times its "
        "value.",
        "When the maximum rises from a to b, the sums so far are too large by a factor of exp(b "
        "- a). Begin with minus infinity: its exponential is exactly 0.",
        "Section “Exact, without the table”.",
    ),
)


@online_softmax_attention.right
def logarithms(Q, K, V, block):
    output = torch.zeros(*Q.shape[:-1], V.shape[-1], dtype=V.dtype)
    log_total = torch.full(Q.shape[:-1], -math.inf, dtype=Q.dtype)
    for start in range(0, K.shape[-2], block):
        scores = Q @ K[..., start : start + block, :].mT * Q.shape[-1] ** -0.5
        longer = torch.logaddexp(log_total, scores.logsumexp(-1))
        output = output * (log_total - longer).exp()[..., None]
        output += (scores - longer[..., None]).exp() @ V[..., start : start + block, :]
        log_total = longer
    return output


@online_softmax_attention.right
def two_passes(Q, K, V, block):
    starts = range(0, K.shape[-2], block)
    Q = Q / math.sqrt(Q.shape[-1])
    largest = torch.stack([(Q @ K[..., s : s + block, :].mT).amax(-1) for s in starts]).amax(0)
    total, output = 0, 0
    for s in starts:
        shares = torch.exp(Q @ K[..., s : s + block, :].mT - largest[..., None])
        total = total + shares.sum(-1, keepdim=True)
        output = output + shares @ V[..., s : s + block, :]
    return output / total


@online_softmax_attention.right
def query_by_query(Q, K, V, block):
    result = torch.empty(*Q.shape[:-1], V.shape[-1], dtype=V.dtype)
    for place in np.ndindex(*Q.shape[:-1]):
        keys, values = K[place[:-1]], V[place[:-1]]
        largest, total, blend = -math.inf, 0.0, 0.0
        for s in range(0, len(keys), block):
            scores = keys[s : s + block] @ Q[place] / math.sqrt(Q.shape[-1])
            larger = max(largest, scores.max().item())
            shares, shrink = torch.exp(scores - larger), math.exp(largest - larger)
            total = shrink * total + shares.sum()
            blend = shrink * blend + shares @ values[s : s + block]
            largest = larger
        result[place] = blend / total
    return result


@online_softmax_attention.right
def plain(Q, K, V, block):
    largest = torch.full((*Q.shape[:-1], 1), -math.inf, dtype=Q.dtype)
    total, blend = 0, 0
    for keys, values in zip(K.split(block, -2), V.split(block, -2), strict=True):
        scores = Q @ keys.mT / math.sqrt(Q.shape[-1])
        larger = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, shares = torch.exp(largest - larger), torch.exp(scores - larger)
        total = shrink * total + shares.sum(-1, keepdim=True)
        blend = shrink * blend + shares @ values
        largest = larger
    return blend / total


online_softmax_attention.wrong(
    "each block's own maximum",
    "Two blocks hold one key each, with the scores 0 and 5. What share does your sum give to "
    "each of them? What did you subtract in each block?",
    plain.edit(
        "torch.maximum(largest, scores.amax(-1, keepdim=True))", "scores.amax(-1, keepdim=True)"
    ).edit("torch.exp(largest - larger)", "1"),
)


@online_softmax_attention.wrong(
    "the mean of the blocks",
    "One block holds a key with a very large score, and all other scores are small. Should both "
    "blocks count the same?",
)
def _(Q, K, V, block):
    found = []
    for keys, values in zip(K.split(block, -2), V.split(block, -2), strict=True):
        scores = Q @ keys.mT / math.sqrt(Q.shape[-1])
        shares = torch.exp(scores - scores.amax(-1, keepdim=True))
        found.append(shares @ values / shares.sum(-1, keepdim=True))
    return torch.stack(found).mean(0)


online_softmax_attention.wrong(
    "the blend not rescaled",
    "When a larger score comes, the exponentials that you summed before are too large. You "
    "correct the total. What else did you sum?",
    plain.edit("shrink * blend", "blend"),
)
online_softmax_attention.wrong(
    "the total not rescaled",
    "When a larger score comes, you shrink the blend of the values. What about the sum that you "
    "divide by in the end?",
    plain.edit("shrink * total", "total"),
)
online_softmax_attention.wrong(
    "divided after each block",
    "You divide the blend by the total after each block. By what have you divided the first block "
    "at the end?",
    plain.edit("largest = larger", "blend, largest = blend / total, larger").edit(
        "return blend / total", "return blend"
    ),
)
online_softmax_attention.wrong(
    "scaled by the width of the values",
    "Over which axis does the dot product of a query and a key sum? How long is that axis?",
    plain.edit("math.sqrt(Q.shape[-1])", "math.sqrt(V.shape[-1])"),
)
online_softmax_attention.wrong(
    "nothing subtracted",
    "What is the exponential of 3000?",
    plain.edit("scores - larger", "scores").edit("torch.exp(largest - larger)", "1"),
)


@online_softmax_attention.wrong(
    "the rest left out", "Seven keys come in blocks of three. Which keys do your blocks hold?"
)
def _(Q, K, V, block):
    whole = K.shape[-2] // block * block
    if whole == 0:
        return torch.zeros(*Q.shape[:-1], V.shape[-1], dtype=Q.dtype)
    scores = Q @ K[..., :whole, :].mT / math.sqrt(Q.shape[-1])
    shares = torch.exp(scores - scores.amax(-1, keepdim=True))
    return shares @ V[..., :whole, :] / shares.sum(-1, keepdim=True)


online_softmax_attention.wrong(
    "the last block alone",
    "What does your result still contain from the first block?",
    plain.edit(
        "zip(K.split(block, -2), V.split(block, -2), strict=True)",
        "[(K.split(block, -2)[-1], V.split(block, -2)[-1])]",
    ),
)


@online_softmax_attention.wrong("not scaled", "What are dot products divided by to become scores?")
def _(Q, K, V, block):
    scores = Q @ K.mT
    shares = torch.exp(scores - scores.amax(-1, keepdim=True))
    return shares @ V / shares.sum(-1, keepdim=True)


online_softmax_attention.wrong(
    "a maximum that forgets",
    "The first block has a score of 1000, the second only scores near 0. What do you multiply "
    "the old sum by?",
    plain.edit(
        "torch.maximum(largest, scores.amax(-1, keepdim=True))", "scores.amax(-1, keepdim=True)"
    ),
)


@online_softmax_attention.public
def _(rng):
    yield _case(rng, "one query, two keys in blocks of one", (), 1, 2, 2, 2, 1).holds(
        "Returns (..., n_q, d_v): what attention to all keys at once would return."
    )
    yield _case(rng, "two queries, four keys in blocks of two", (), 2, 4, 2, 3, 2).holds(
        "Q: (..., n_q, d_k).", "K: (..., n_k, d_k).", "V: (..., n_k, d_v)."
    )
    yield _case(rng, "a last block that is shorter", (), 3, 7, 4, 2, 3).holds(
        "block: how many keys are scored at once, at least 1; the last block may be shorter, and "
        "`block` may be more than n_k."
    )
    yield _case(rng, "one block for all", (), 2, 4, 2, 2, 4).holds("block: how…")
    yield _case(rng, "a block larger than the number of keys", (), 2, 4, 3, 2, 9).holds(
        "block: how…"
    )
    yield _case(rng, "large scores that rise", (), 2, 6, 2, 2, 2, order="rising").holds(
        "Scores are dot products divided by the square root of d_k, and may be large, above 0 or "
        "below."
    )
    yield _case(rng, "large scores that fall", (), 2, 6, 2, 2, 2, order="falling").holds(
        "Scores are…"
    )
    yield _case(rng, "large scores below 0, which fall", (), 2, 6, 2, 2, 2, order="below 0").holds(
        "Scores are…"
    )
    yield _case(rng, "float32, a batch", (2,), 3, 5, 4, 2, 2, np.float32).holds(
        "There is at least one query and one key, and all three have the same leading axes."
    )
    yield _case(rng, "three leading axes", (2, 1, 2), 2, 3, 2, 2, 2).holds("There is…")
    yield _case(rng, "one query and one key in a batch of one", (1,), 1, 1, 1, 1, 1).holds(
        "There is…"
    )
    yield _case(rng, "tiny values", (), 2, 4, 2, 2, 2, size=1e-9).holds("Returns (...…")
    yield _case(rng, "many blocks of one", (), 2, 12, 2, 2, 1).holds("block: how…")
    lowest = "scores below any stand-in for infinity"
    yield _case(rng, lowest, (), 2, 6, 2, 2, 2, order="lowest")


@online_softmax_attention.hidden
def _(rng):
    n_q, d_k, d_v = (int(one) for one in rng.permutation([2, 3, 5]))
    n_k = int(rng.integers(8, 12))
    yield _case(rng, "in threes", (), n_q, n_k, d_k, d_v, 3).holds("Returns (...…")
    yield _case(rng, "one at a time", (), n_q, n_k, d_k, d_v, 1)
    yield _case(rng, "two blocks, the second shorter", (), n_q, n_k, d_k, d_v, n_k - 2)
    yield _case(rng, "one block", (), n_q, n_k, d_k, d_v, n_k + int(rng.integers(3)))
    yield _case(rng, "large scores that rise", (), n_q, n_k, d_k, d_v, 2, order="rising")
    yield _case(rng, "large scores that fall", (), n_q, n_k, d_k, d_v, 2, order="falling")
    yield _case(rng, "large scores below 0, which fall", (), n_q, n_k, d_k, d_v, 4, order="below 0")
    yield _case(rng, "float32, two leading axes", (2, 3), n_q, n_k, d_k, d_v, 2, np.float32).holds(
        "There is…"
    )


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    n_q: int,
    n_k: int,
    d_k: int,
    d_v: int,
    block: int,
    dtype: type = np.float64,
    size: float = 1.0,
    order: str = "",
) -> Case:
    """A case with random Q, K and V; `size` multiplies V; with `order`, scores go by thousands."""
    Q, K = rng.normal(size=(*batch, n_q, d_k)) * 1.5, rng.normal(size=(*batch, n_k, d_k)) * 1.5
    if order == "lowest":
        Q, K = 1e6 * (np.abs(Q) + 0.1), -1e6 * (np.abs(K) + 0.1)
    elif order:
        Q[..., 0] = 1000 * math.sqrt(d_k)
        steps = np.arange(n_k) - n_k / 2 + rng.uniform(-0.2, 0.2, size=n_k)
        K[..., 0] = {"rising": steps, "falling": -steps, "below 0": -n_k - steps}[order]
    V = size * rng.normal(size=(*batch, n_k, d_v))
    given = (Tensor(one.astype(dtype), gradient=False) for one in (Q, K, V))
    return Case(note, (*given, block))
