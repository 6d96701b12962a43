"""The exercise `mean_pool`: one vector for a text, padding left out."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import gpt_and_bert as solutions

mean_pool = Declaration(
    solutions.mean_pool,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Sum the real tokens, and divide by the number of them.",
        "Use `masked_fill`, with one more axis for the mask; `clamp` keeps the count from being 0.",
        "Section “Weights that others have trained”, on one vector for a sentence.",
    ),
)


@mean_pool.right
def weights(hidden, mask):
    shares = mask.to(hidden) / mask.sum(-1, keepdim=True).clamp(min=1).to(hidden)
    kept = torch.where(mask[..., None], hidden, torch.zeros_like(hidden))
    return (shares[..., None, :] @ kept)[..., 0, :]


@mean_pool.right
def einsum(hidden, mask):
    kept = hidden.masked_fill(mask.logical_not().unsqueeze(-1), 0)
    total = torch.einsum("...nd->...d", kept)
    count = mask.sum(-1)[..., None]
    return total / torch.where(count > 0, count, 1)


@mean_pool.right
def text_by_text(hidden, mask):
    n, d = hidden.shape[-2:]
    number = hidden.shape[:-2].numel()
    texts, masks = hidden.reshape(number, n, d), mask.reshape(number, n)
    if len(texts) == 0:
        return hidden.sum(-2)
    rows = [
        text[real].mean(0) if real.any() else text[:0].sum(0)
        for text, real in zip(texts, masks, strict=True)
    ]
    return torch.stack(rows).reshape(*hidden.shape[:-2], d)


@mean_pool.right
def plain(hidden, mask):
    kept = hidden.masked_fill(~mask[..., None], 0)
    return kept.sum(dim=-2) / mask.sum(dim=-1, keepdim=True).clamp(min=1)


padding_counted = mean_pool.wrong(
    "padding counted",
    "Pad a text with ten more tokens. Should its vector become shorter?",
    plain.edit("mask.sum(dim=-1, keepdim=True).clamp(min=1)", "max(mask.shape[-1], 1)"),
)
mean_pool.wrong(
    "padding in the mean",
    "What does your function do with the argument `mask`?",
    padding_counted.edit("hidden.masked_fill(~mask[..., None], 0)", "hidden.nan_to_num()"),
)
mean_pool.wrong(
    "padding summed",
    "You divide by the number of real tokens. Does your sum contain only these?",
    plain.edit("hidden.masked_fill(~mask[..., None], 0)", "hidden.nan_to_num()"),
)


@mean_pool.wrong(
    "the first token alone", "Change the last token of a text. Does its vector change?"
)
def _(hidden, mask):
    if hidden.shape[-2] == 0:
        return hidden.sum(-2)
    return torch.where(mask[..., :1], hidden[..., 0, :], 0)


mean_pool.wrong(
    "the sum in place of the mean",
    "A text says the same thing twice. Should its vector be twice as long?",
    plain.edit(" / mask.sum(dim=-1, keepdim=True).clamp(min=1)", ""),
)
mean_pool.wrong(
    "divided by the tokens of all texts",
    "Put another text into the batch. Should the vector of the first one change?",
    plain.edit("mask.sum(dim=-1, keepdim=True)", "mask.sum()"),
)
mean_pool.wrong(
    "padding multiplied by 0",
    "What is 0 times NaN?",
    plain.edit("hidden.masked_fill(~mask[..., None], 0)", "hidden * mask[..., None]"),
)
mean_pool.wrong(
    "nothing divided by nothing",
    "What is the mean of a text without any token? What does the docstring ask for?",
    plain.edit(".clamp(min=1)", ""),
)


@mean_pool.wrong(
    "the largest in place of the mean",
    "Your function pools by the maximum. What does the docstring ask for?",
)
def _(hidden, mask):
    if hidden.shape[-2] == 0:
        return hidden.sum(-2)
    kept = torch.where(mask[..., None], hidden, -1e30)
    return torch.where(mask.any(-1, keepdim=True), kept.amax(-2), 0)


@mean_pool.public
def _(rng):
    yield _case(rng, "one text of three tokens, one of them padding", 3, 2, [2], squeeze=True)
    yield _case(rng, "two texts, one padded", 4, 3, [4, 2]).holds(
        "mask: boolean (..., n), True where a token stands."
    )
    yield _case(rng, "as many texts as tokens and features", 3, 3, [1, 3, 2]).holds(
        "Returns (..., d)"
    )
    yield _case(rng, "padding that holds NaN", 4, 3, [3, 1], fill=np.nan).holds(
        "where a row is padded it may hold anything, NaN too."
    )
    yield _case(rng, "padding that holds large numbers", 4, 2, [3, 1], fill=1e6).holds(
        "where a row…"
    )
    yield _case(rng, "a text of padding only", 3, 2, [0, 2]).holds(
        "zeros for a text without a token."
    )
    yield _case(
        rng, "float32, padding on the left", 4, 3, [3, 2], dtype=np.float32, left=True
    ).holds("mask: boolean…")
    yield _case(rng, "one token, one feature, a batch of one", 1, 1, [1]).holds(
        "hidden: (..., n, d), n may be 0"
    )
    yield _case(rng, "no token", 0, 3, [0, 0]).holds("hidden: (...…", "zeros for…")
    yield _case(rng, "tiny numbers", 4, 3, [3, 2], size=1e-9).holds("Returns (...…")
    hidden, mask = rng.normal(size=(2, 1, 2, 3, 4)), rng.random((2, 1, 2, 3)) < 0.6
    yield Case("three leading axes", (Tensor(hidden), Tensor(mask))).holds("hidden: (...…")
    hidden, mask = rng.normal(size=(2, 4, 3)), np.arange(4) < np.array([[4], [3]])
    hidden[0, 1] = hidden[1, 2] = 0
    yield Case("real tokens of zeros", (Tensor(hidden), Tensor(mask)))


@mean_pool.hidden
def _(rng):
    n, d = (int(one) for one in rng.permutation([4, 5, 6])[:2])
    lengths = rng.permutation([1, n - 1, n]).tolist()
    yield _case(rng, "several texts", n, d, lengths).holds("Returns (...…")
    yield _case(rng, "as many texts as tokens", 3, d, [2, 1, 2])
    yield _case(rng, "padding that holds NaN", n, d, lengths, fill=np.nan)
    yield _case(rng, "padding that holds large numbers", n, d, lengths, fill=1e6)
    yield _case(rng, "a text of padding only", n, d, rng.permutation([0, n - 1]).tolist())
    yield _case(rng, "float32, padding on the left", n, d, lengths, dtype=np.float32, left=True)
    yield _case(rng, "no token", 0, d, [0])
    yield _case(rng, "tiny numbers", n, d, lengths, size=1e-9)


def _case(
    rng: np.random.Generator,
    note: str,
    n: int,
    d: int,
    lengths: list[int],
    fill: float | None = None,
    dtype: type = np.float64,
    left: bool = False,
    squeeze: bool = False,
    size: float = 1.0,
) -> Case:
    """A text for each of `lengths`, padded to n tokens, with `fill` in the padding."""
    hidden = (rng.normal(size=(len(lengths), n, d)) + 0.5) * size
    mask = np.arange(n) < np.array(lengths)[:, None]
    mask = mask[:, ::-1].copy() if left else mask
    if fill is not None:
        hidden[~mask] = fill
    hidden = hidden.astype(dtype)
    return Case(
        note, (Tensor(hidden[0] if squeeze else hidden), Tensor(mask[0] if squeeze else mask))
    )
