"""The exercise `label_smoothed_loss`: cross-entropy with a share dealt out to all tokens."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import transformer as solutions

from .. import forbidden

label_smoothed_loss = Declaration(
    solutions.label_smoothed_loss,
    points=4,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.CROSS_ENTROPY,
    help=(
        "The cross-entropy of a place is a mean of the surprises -log p of all tokens. Each has "
        "the weight `smoothing / V`, and the right one has `1 - smoothing` more. Then take the "
        "mean over the places that count.",
        "`log_softmax` never overflows. `gather` picks one token's number at each place, but "
        "fails if a target is not an id: put any valid id there first, and leave the place out "
        "afterwards. What do you divide by if no place counts?",
        "Section “The loss and the learning rate”.",
    ),
)


@label_smoothed_loss.right
def log_sum(logits, targets, smoothing, ignore_index):
    counts = targets != ignore_index
    right = logits.gather(-1, torch.where(counts, targets, 0)[..., None])[..., 0]
    losses = logits.logsumexp(-1) - (1 - smoothing) * right - smoothing * logits.mean(-1)
    return torch.where(counts, losses, 0).sum() / counts.sum().clamp(min=1)


@label_smoothed_loss.right
def against_a_distribution(logits, targets, smoothing, ignore_index):
    V = logits.shape[-1]
    counts = targets != ignore_index
    logits, targets = logits[counts], targets[counts]
    if len(targets) == 0:
        return logits.sum()
    wanted = F.one_hot(targets, V) * (1 - smoothing) + smoothing / V
    return -(wanted.to(logits.dtype) * F.log_softmax(logits, -1)).sum() / len(targets)


@label_smoothed_loss.right
def place_by_place(logits, targets, smoothing, ignore_index):
    total, count = logits.sum() * 0, 0
    for scores, target in zip(logits.flatten(0, -2), targets.flatten().tolist(), strict=True):
        if target == ignore_index:
            continue
        surprise = torch.logsumexp(scores, dim=0) - scores
        total = total + (1 - smoothing) * surprise[target] + smoothing * surprise.mean()
        count += 1
    return total / max(count, 1)


@label_smoothed_loss.right
def plain(logits, targets, smoothing, ignore_index):
    surprise = -logits.log_softmax(dim=-1)
    counts = targets != ignore_index
    sure = surprise.gather(-1, (targets * counts)[..., None])[..., 0]
    losses = (1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "the share dealt to the others only",
    "Does the right token get its part of the share that is dealt out? With smoothing = 1, what "
    "should its weight be?",
    plain.edit("surprise.mean(dim=-1)", "((surprise.sum(dim=-1) - sure) / (logits.shape[-1] - 1))"),
)
label_smoothed_loss.wrong(
    "not smoothed",
    "What does your function do with the argument `smoothing`?",
    plain.edit("(1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)", "sure"),
)
label_smoothed_loss.wrong(
    "the two shares exchanged",
    "With smoothing = 0, which tokens should matter?",
    plain.edit(
        "(1 - smoothing) * sure + smoothing * surprise.mean(dim=-1)",
        "smoothing * sure + (1 - smoothing) * surprise.mean(dim=-1)",
    ),
)
label_smoothed_loss.wrong(
    "the whole share for every token",
    "What should the weights of all tokens add up to? Add up yours: do they?",
    plain.edit("surprise.mean", "surprise.sum"),
)
label_smoothed_loss.wrong(
    "nothing taken from the right token",
    "The share that is dealt out must come from somewhere. Add up your weights: do they make 1?",
    plain.edit("(1 - smoothing) * sure", "sure"),
)
label_smoothed_loss.wrong(
    "mean over all places",
    "Add ten ignored places to a row. Should the mean change?",
    plain.edit(
        "losses[counts].sum() / counts.sum().clamp(min=1)",
        "(losses * counts).sum() / max(counts.numel(), 1)",
    ),
)
label_smoothed_loss.wrong(
    "nothing ignored",
    "What does your function do with the argument `ignore_index`?",
    plain.edit("targets != ignore_index", "torch.ones_like(targets, dtype=torch.bool)"),
)
label_smoothed_loss.wrong(
    "ignored places still smoothed",
    "Your loss has two parts. Is an ignored place left out of both?",
    plain.edit("[..., 0]", "[..., 0] * counts").edit("losses[counts].sum()", "losses.sum()"),
)
label_smoothed_loss.wrong(
    "the sum in place of the mean",
    "Double the batch. Should the loss double?",
    plain.edit(" / counts.sum().clamp(min=1)", ""),
)
label_smoothed_loss.wrong(
    "mean of the rows' means",
    "A short sentence and a long one: does each of their places weigh the same in your mean?",
    plain.edit(
        "losses[counts].sum() / counts.sum().clamp(min=1)",
        "((losses * counts).sum(dim=-1) / counts.sum(dim=-1).clamp(min=1)).mean()",
    ),
)
label_smoothed_loss.wrong(
    "no logarithm",
    "The right token has a probability near 0. How large should the loss be, and how large can "
    "yours get?",
    plain.edit("logits.log_softmax", "logits.softmax"),
)
label_smoothed_loss.wrong(
    "softmax twice",
    "`log_softmax`, like `F.cross_entropy`, takes logits. What do you pass to it?",
    plain.edit("logits.log_softmax", "logits.softmax(dim=-1).log_softmax"),
)
label_smoothed_loss.wrong(
    "logarithm of a rounded zero",
    "A logit lies 1000 below the largest. What is its softmax in floating point, and what is the "
    "logarithm of that?",
    plain.edit("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()"),
)
label_smoothed_loss.wrong(
    "divided by nothing",
    "What is your mean if no place counts?",
    plain.edit(".clamp(min=1)", ""),
)


@label_smoothed_loss.wrong(
    "dealt to all but the right token and the ignored one",
    "To how many tokens does the docstring deal out the share: V, or V - 2?",
)
def _(logits, targets, smoothing, ignore_index):
    V = logits.shape[-1]
    counts = targets != ignore_index
    wanted = torch.full_like(logits, smoothing / max(V - 2, 1))
    wanted = wanted.scatter(-1, (targets * counts)[..., None], 1 - smoothing)
    if 0 <= ignore_index < V:
        wanted[..., ignore_index] = 0
    losses = -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1)
    return losses[counts].sum() / counts.sum().clamp(min=1)


@label_smoothed_loss.wrong(
    "a divergence in place of the cross-entropy",
    "If the model gives exactly the wanted probabilities, is its cross-entropy 0? What does "
    "`F.kl_div` subtract from it?",
)
def _(logits, targets, smoothing, ignore_index):
    V = logits.shape[-1]
    counts = targets != ignore_index
    wanted = torch.full_like(logits, smoothing / V)
    sure = torch.full_like(logits[..., :1], 1 - smoothing)
    wanted = wanted.scatter_add(-1, (targets * counts)[..., None], sure)
    losses = torch.xlogy(wanted, wanted) - wanted * logits.log_softmax(dim=-1)
    return losses.sum(dim=-1)[counts].sum() / counts.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "nothing dealt to the ignored token",
    "If `ignore_index` is the number of a token, does the docstring deal out a part of the share "
    "to it?",
    plain.edit(
        "surprise.mean(dim=-1)",
        "((surprise.sum(dim=-1) - surprise[..., ignore_index]) / logits.shape[-1]"
        " if 0 <= ignore_index < logits.shape[-1] else surprise.mean(dim=-1))",
    ),
)
label_smoothed_loss.wrong(
    "a softmax over the second axis",
    "Axis 1 holds the tokens of a table of logits. Which axis holds them if there is a batch?",
    plain.edit("logits.log_softmax(dim=-1)", "logits.log_softmax(dim=1)"),
)
label_smoothed_loss.wrong(
    "a small number in the logarithm",
    "Where the right token's logit lies 1000 below the largest, the loss is about 1000. How large "
    "can yours get?",
    plain.edit("logits.log_softmax(dim=-1)", "(logits.softmax(dim=-1) + 1e-9).log()"),
)


@label_smoothed_loss.public
def _(rng):
    yield _case(rng, "one place, three tokens, no smoothing", (1, 3), 0.0, -100, 0).holds(
        "smoothing: from 0 to 1, the share of the probability that is dealt out evenly to all V "
        "tokens, the right one among them."
    )
    yield _case(rng, "two places, a share of 0.3", (2, 4), 0.3, -100, 0).holds(
        "logits: (..., m, V)",
        "targets: ids (..., m)",
        "smoothing: from…",
        "Returns a scalar tensor",
    )
    yield _case(rng, "padding (0) is ignored", (4, 5), 0.2, 0, 2).holds(
        "where they are `ignore_index`, an id or any other number, a place counts neither in the "
        "sum nor in the mean"
    )
    yield _case(rng, "large logits", (3, 5), 0.1, 0, 1, size=800.0).holds("and may be large")
    yield _case(
        rng, "float32, a batch, -100 is ignored", (2, 3, 6), 0.1, -100, 2, np.float32
    ).holds("logits: (...…", "where they…")
    yield _case(rng, "nothing counts", (2, 2, 3), 0.1, 0, 4).holds("0 if no place counts")
    yield _case(rng, "all dealt out", (2, 3), 1.0, -100, 0).holds("smoothing: from…")
    yield _case(rng, "a number beyond the ids is ignored", (4, 3), 0.2, 99, 2).holds("where they…")
    yield _case(rng, "no place", (2, 0, 3), 0.1, -100, 0).holds("m may be 0", "0 if no place…")
    yield _case(rng, "a batch of one, one place, one token", (1, 1, 1), 0.1, -100, 0).holds(
        "logits: (...…"
    )
    yield _case(rng, "three leading axes", (2, 1, 3, 4), 0.1, 0, 2).holds(
        "logits: (...…", "targets: ids…"
    )


@label_smoothed_loss.hidden
def _(rng):
    batch, m, V = (int(one) for one in rng.permutation([3, 4, 5]))
    share = float(rng.uniform(0.05, 0.4))
    ignored = int(rng.integers(V))
    yield _case(rng, "nothing to ignore", (batch * m, V), share, -100, 0)
    yield _case(rng, "one token is ignored", (batch, m, V), share, ignored, 4)
    yield _case(rng, "large logits", (m, V), share, ignored, 1, size=800.0)
    yield _case(rng, "more than half dealt out", (m, V), 1 - share, ignored, 1).holds(
        "smoothing: from…"
    )
    yield _case(rng, "float32, two leading axes", (batch, m, V), share, -100, 3, np.float32).holds(
        "logits: (...…"
    )
    yield _case(rng, "nothing counts", (batch, m, V), share, ignored, batch * m)
    yield _case(rng, "nothing dealt out", (batch, m, V), 0.0, ignored, 2).holds("smoothing: from…")
    yield _case(rng, "all dealt out", (batch, m, V), 1.0, ignored, 2)
    beyond = V + int(rng.integers(20))
    yield _case(rng, "a number beyond the ids is ignored", (batch, m, V), share, beyond, 3)
    yield _case(rng, "no place", (0, V), share, -100, 0)
    yield _case(rng, "three leading axes", (2, batch, 1, m, V), share, ignored, 3)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    smoothing: float,
    ignore_index: int,
    n_ignored: int,
    dtype: type = np.float64,
    size: float = 2.0,
) -> Case:
    """Logits of `shape`, and targets of which `n_ignored` are `ignore_index`, drawn where."""
    logits: np.ndarray = (rng.normal(size=shape) * size).astype(dtype)
    tokens = [token for token in range(shape[-1]) if token != ignore_index]
    targets = rng.choice(tokens, size=shape[:-1])
    targets.flat[rng.permutation(targets.size)[:n_ignored]] = ignore_index
    return Case(note, (Tensor(logits), Tensor(targets), smoothing, ignore_index))


label_smoothed_loss.mutant("the mean over nothing", ".clamp(min=1)", "")
label_smoothed_loss.lets_through(
    "inputs rounded to 1e-12", "of logits that small the loss is log V, to the tolerance"
)
