"""Training and search for whole batches, for exercises of chapter 9 that its page does not show."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch


def train_step(
    weights: list[torch.Tensor],
    loss_of: Callable[[list[torch.Tensor], Any], tuple[torch.Tensor, int]],
    batches: Sequence[Any],
    rate: float,
    max_norm: float,
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Take one step of gradient descent on several small batches as if they were a large one.

    weights: tensors of any shapes. loss_of(weights, batch) returns the sum of the losses of a
    batch's tokens, a scalar tensor, and the number of tokens that count. The loss of the step is
    the mean over the tokens of all batches together; a batch without any adds nothing, and the loss
    is 0 if no batch has one. max_norm: if the gradients of all weights, taken as one long vector,
    are longer than that, they are shortened to it, all by one factor. A millionth added to their
    length, as torch adds it, is no mistake: max_norm is 0.1 or more. The new weights are the old
    ones minus `rate` times these gradients. Returns the new weights, in their order, and the loss
    before the step, a scalar tensor. `weights` are not changed; a weight on which no loss depends
    keeps its values. Source: Pascanu et al. (2013).
    """
    leaves = [weight.detach().clone().requires_grad_() for weight in weights]
    total, tokens = torch.zeros_like(leaves[0]).sum(), 0
    for batch in batches:
        loss, counted = loss_of(leaves, batch)
        loss.backward()
        total, tokens = total.detach() + loss.detach(), tokens + int(counted)
    tokens = max(tokens, 1)
    gradients = [
        torch.zeros_like(leaf) if leaf.grad is None else leaf.grad / tokens for leaf in leaves
    ]
    length = float(torch.stack([one.square().sum() for one in gradients]).sum().sqrt())
    factor = rate * (max_norm / length if length > max_norm else 1.0)
    pairs = zip(leaves, gradients, strict=True)
    return [leaf.detach() - factor * gradient for leaf, gradient in pairs], total / tokens


def greedy_translate(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    sources: torch.Tensor,
    start: int,
    stop: int,
    pad: int,
    max_len: int,
) -> torch.Tensor:
    """Translate a batch of sentences side by side: at each step the likeliest token of each.

    model(sources, inputs) is a trained Transformer: of ids (batch, i) that begin with `start` it
    returns logits (batch, i, V), and row j scores what follows token j. sources: ids (batch, n);
    the batch may be empty. A sentence ends with its first `stop`, which belongs to it; behind it
    its row holds `pad`. The search is over when all sentences have ended, or when `max_len` tokens
    are written, 0 or more. Returns ids (batch, m), without `start`; m is the number of tokens of
    the longest sentence. A `pad` that is chosen before the end is a token like any other.
    """
    written = torch.full((len(sources), 1), start)
    ended = torch.zeros(len(sources), dtype=torch.bool)
    for _ in range(max_len):
        if ended.all():
            break
        following = model(sources, written)[:, -1].argmax(dim=-1)  # (batch,)
        following = torch.where(ended, pad, following)
        ended = ended | (following == stop)
        written = torch.cat([written, following[:, None]], dim=1)
    return written[:, 1:]


def beam_step(
    sums: torch.Tensor, log_probabilities: torch.Tensor, ended: torch.Tensor, pad: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Take one step of a beam search, for a batch of sentences at once.

    sums: (batch, beam), the sums of log-probabilities of the beginnings that are kept; -inf where
    there is none yet. log_probabilities: (batch, beam, V), of the token that follows each. ended:
    boolean (batch, beam), True where a beginning has its stop: it is continued by `pad` alone, at
    no cost, and keeps its place as long as its sum is among the best. Of all continuations of a
    sentence's beginnings the `beam` with the largest sums are kept, the largest first; no two that
    matter are equal, and there are as many. The batch may be empty. Returns the new sums, which
    beginning each continues, and the token that continues it, (batch, beam) each; the last two are
    ids.
    """
    size = log_probabilities.shape[-1]
    only_pad = torch.full_like(log_probabilities, -torch.inf)
    only_pad[..., pad] = 0
    gains = torch.where(ended[..., None], only_pad, log_probabilities)  # (batch, beam, V)
    best, index = (sums[..., None] + gains).flatten(1).topk(sums.shape[1])  # of beam * V sums
    return best, index // size, index % size


def tied_embedding_backward(E: np.ndarray, tokens: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the gradient of the loss with respect to a table that is used twice.

    E: (V, d), the embeddings. tokens: ids (n,), n at least 1; the vector of token i is row
    `tokens[i]` of `E`, and the logits of what follows it are the dot products of that row with
    every row of `E`. targets: ids (n,), what follows. The loss is the mean over the n tokens of the
    cross-entropy. The logits may be large. Returns the gradient, (V, d): what comes by the way in
    and what comes by the way out. Source: Press and Wolf (2017).
    """
    X = E[tokens]  # (n, d)
    logits = X @ E.T  # (n, V)
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = shares / shares.sum(axis=-1, keepdims=True)
    d_logits[np.arange(len(tokens)), targets] -= 1
    d_logits = d_logits / len(tokens)
    d_E = d_logits.T @ X  # the gradient of the output map
    np.add.at(d_E, tokens, d_logits @ E)  # of the embedding; tokens may repeat
    return d_E


def steps_at_rate(rate: float, d_model: int, warmup: int) -> tuple[int, int]:
    """Return the first and the last step at which the learning rate of 2017 is at least `rate`.

    rate: above 0. warmup: 1 or more. Steps count from 1, and the rate of a step is d_model^(-1/2)
    times the smaller of step^(-1/2) and step * warmup^(-3/2). Returns (first, last). Raises
    ValueError, with `warmup` in its message, if the rate is not reached at any step. Source:
    Vaswani et al. (2017), equation 3.
    """
    scaled = rate * d_model**0.5  # both numbers must be at least this
    first, last = math.ceil(scaled * warmup**1.5), math.floor(scaled**-2)
    if first > last:
        raise ValueError(f"with a warm-up of {warmup} steps the rate never reaches {rate}")
    return first, last
