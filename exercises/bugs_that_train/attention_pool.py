"""The exercise `attention_pool`: a softmax, and the axis that it runs over. To debug."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions.variants import mended as solutions

attention_pool = Declaration(
    solutions.attention_pool,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Add up the weights of one sequence. With a batch of one, what is each of them?",
        "The scores have two axes, sequences and tokens. Three lines name one of them.",
        "Section “Ten wrong lines”, the row of the softmax.",
    ),
)


@attention_pool.right
def one_by_one(H, w, mask):
    rows = []
    for tokens, real in zip(H, mask, strict=True):
        own = tokens[real]
        rows.append((own @ w).softmax(dim=0) @ own)
    return torch.stack(rows)


@attention_pool.right
def exponentials(H, w, mask):
    H = torch.where(mask[..., None], H, torch.zeros_like(H))
    scores = torch.where(mask, H @ w, torch.full(mask.shape, -1e30, dtype=H.dtype))
    powers = torch.exp(scores - scores.amax(dim=1, keepdim=True).detach()) * mask
    total = powers.sum(dim=1, keepdim=True)
    return torch.einsum("bn,bnd->bd", powers / total.where(total > 0, 1.0), H)


@attention_pool.right
def columns(H, w, mask):
    H = H.masked_fill(~mask.unsqueeze(-1), 0.0)
    scores = torch.einsum("bnd,d->nb", H, w)
    scores = scores.masked_fill(~mask.T, -1e30)
    weights = torch.nn.functional.softmax(scores, dim=0).T * mask
    return (H * weights.unsqueeze(-1)).sum(dim=1)


@attention_pool.right
def plain(H, w, mask):
    scores = (H @ w).masked_fill(~mask, -torch.inf)
    scores = scores.masked_fill(~mask.any(dim=1, keepdim=True), 0)
    weights = scores.softmax(dim=1) * mask
    return (weights[:, None] @ H.masked_fill(~mask[..., None], 0))[:, 0]


attention_pool.wrong(
    "a softmax over the batch",
    "Which numbers should sum to 1? Add up the weights of one sequence.",
    plain.edit("dim=1", "dim=0", times=2),
    released=True,
)
attention_pool.wrong(
    "masked after the softmax",
    "What do the weights of the real tokens sum to?",
    plain.edit(
        "scores = (H @ w).masked_fill(~mask, -torch.inf)\n"
        "scores = scores.masked_fill(~mask.any(dim=1, keepdim=True), 0)",
        "scores = H.masked_fill(~mask[..., None], 0) @ w",
    ),
)
attention_pool.wrong(
    "the mask is ignored",
    "What does the padding add to the blend?",
    plain.edit("scores = (H @ w)", "mask = torch.ones_like(mask)\nscores = (H @ w)"),
)


@attention_pool.wrong("a plain mean", "What part does `w` have in the result?")
def _(H, w, mask):
    count = mask.sum(dim=1, keepdim=True).clamp(min=1)
    return H.masked_fill(~mask[..., None], 0).sum(dim=1) / count


attention_pool.wrong(
    "NaN for a sequence without a real token",
    "What is the softmax of a row of minus infinities?",
    plain.edit("scores = scores.masked_fill(~mask.any(dim=1, keepdim=True), 0)", ""),
)
attention_pool.wrong(
    "scores divided by the root of d",
    "Does the task divide the scores by anything?",
    plain.edit("(H @ w)", "(H @ w / H.shape[-1] ** 0.5)"),
)


@attention_pool.public
def _(rng):
    yield Case("one sequence, two of three tokens real", _inputs(rng, [2], 3, 2))
    yield Case("two sequences, one without padding", _inputs(rng, [4, 2], 4, 3)).holds(
        "the weights of a sequence are the softmax of the scores of its real tokens"
    )
    yield Case("as many sequences as tokens", _inputs(rng, [1, 3, 2], 3, 2)).holds("the weights…")
    yield Case("a sequence without a real token", _inputs(rng, [0, 2], 3, 4)).holds(
        "0 for a sequence that has no real token"
    )
    yield Case("padding in front", _inputs(rng, [2, 1], 4, 3, front=True)).holds(
        "boolean, (batch, n), True at real tokens"
    )
    yield Case("one token each", _inputs(rng, [1, 1], 1, 3)).holds("w: (d,).", "n at least 1")
    yield Case("float32", _inputs(rng, [3, 1], 5, 4, dtype=np.float32))
    yield Case("large scores", _inputs(rng, [3, 4], 4, 3, size=40.0)).holds("may be large")
    yield Case("infinities in the padding", _loud(rng)).holds(
        "What stands in the padding changes nothing"
    )
    yield Case("one tiny feature", _tiny(rng)).holds("w: (d,).")
    H, w, mask = _inputs(rng, [3, 4], 4, 3)
    H.array[0, 1] = H.array[1, 3] = 0
    yield Case("real tokens of zeros", (H, w, mask))
    yield Case("scores below any stand-in for infinity", _lowest(rng))


@attention_pool.hidden
def _(rng):
    n, d = (int(one) for one in rng.permutation([4, 5]))
    yield Case("sequences of several lengths", _inputs(rng, rng.integers(1, n, 3), n, d))
    yield Case("as many sequences as tokens", _inputs(rng, rng.integers(1, n, n), n, d))
    yield Case("a sequence without a real token", _inputs(rng, rng.permutation([0, n, 2]), n, d))
    yield Case("padding in front", _inputs(rng, rng.integers(1, n, 3), n, d, front=True))
    yield Case("one sequence", _inputs(rng, [n - 1], n, d))
    yield Case("float32", _inputs(rng, rng.integers(1, n, 3), n, d, dtype=np.float32))
    yield Case("large scores", _inputs(rng, rng.integers(2, n, 3), n, d, size=40.0))
    yield Case("infinities in the padding", _loud(rng))


def _inputs(
    rng: np.random.Generator,
    lengths: list[int] | np.ndarray,
    n: int,
    d: int,
    size: float = 1.5,
    front: bool = False,
    dtype: type = np.float64,
) -> tuple[Tensor, ...]:
    """H, w and the mask; `size` multiplies w, and the padding may stand in `front`."""
    H, w = rng.normal(size=(len(lengths), n, d)), size * rng.normal(size=d)
    mask = np.arange(n) < np.asarray(lengths)[:, None]
    mask = mask[:, ::-1].copy() if front else mask
    return Tensor(H.astype(dtype)), Tensor(w.astype(dtype)), Tensor(mask)


def _tiny(rng: np.random.Generator) -> tuple[Tensor, ...]:
    H, w, mask = _inputs(rng, [2, 4], 4, 1)
    return Tensor(H.array * 1e-9), w, mask


def _loud(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """Something in the padding that no product with 0 takes away; its gradient is not asked for."""
    H, w, mask = _inputs(rng, [2, 3], 4, 3)
    H.array[~mask.array] = np.inf
    return Tensor(H.array, gradient=False), Tensor(np.abs(w.array), gradient=False), mask


def _lowest(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """All scores below -1e11, and far from one another."""
    H, w, mask = _inputs(rng, [2, 3], 4, 3)
    H, w = Tensor(np.abs(H.array) + 0.1, gradient=False), Tensor(-1e12 * np.abs(w.array), False)
    return H, w, mask


attention_pool.mutant("-100 for a hidden score", "torch.finfo(H.dtype).min", "-100.0")
attention_pool.mutant("-10000 for a hidden score", "torch.finfo(H.dtype).min", "-1e4")
attention_pool.mutant("-1e9 for a hidden score", "torch.finfo(H.dtype).min", "-1e9")
