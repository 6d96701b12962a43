"""The whole Transformer: an encoder and a decoder made of chapter 8's blocks.

The model is that of Vaswani et al. (2017), "Attention is all you need", with the norm before each
sublayer and one more at the end of each stack (Xiong et al. 2020, "On layer normalization in the
Transformer architecture"). Label smoothing is that of Szegedy et al. (2016), "Rethinking the
Inception architecture for computer vision"; the length penalty of the beam search is that of Wu et
al. (2016), "Google's neural machine translation system".
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from .positions import sinusoidal_positions
from .transformer_block import DecoderBlock, EncoderBlock, LayerNorm

TOKEN_SIZE = 0.4
"""The root mean square of a new embedding; that of a sinusoidal position is 0.71."""


class Stack(nn.Module):
    """What both stacks share: an `embedding`, n_layers `blocks` of the same kind, a last `norm`."""

    def __init__(
        self,
        block: type[EncoderBlock] | type[DecoderBlock],
        vocabulary_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
    ) -> None:
        """vocabulary_size: the number of ids. The other sizes are those of the blocks."""
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.embedding.weight, std=TOKEN_SIZE * d_model**-0.5)
        self.blocks = nn.ModuleList(
            block(d_model, n_heads, d_ff, norm="pre") for _ in range(n_layers)
        )
        self.norm = LayerNorm(d_model)

    def through(self, tokens: torch.Tensor, *others: torch.Tensor | None) -> torch.Tensor:
        """Return the states. tokens: ids (batch, n). others: further arguments of each block."""
        X = embed(tokens, self.embedding)
        for block in self.blocks:
            X = block(X, *others)
        return self.norm(X)


class EncoderStack(Stack):
    """Embed the tokens of a source, add their positions, and pass them through the blocks."""

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """See `Stack`."""
        super().__init__(EncoderBlock, vocabulary_size, d_model, n_heads, d_ff, n_layers)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Return the states (batch, n, d_model). tokens: ids (batch, n), n may be 0.

        mask: boolean, broadcastable to (batch, n, n), True where a token may attend, or None.
        """
        return self.through(tokens, mask)


class DecoderStack(Stack):
    """Read the target so far, attend to the source, and score the next token.

    Its last norm is followed by the map `to_logits`.
    """

    def __init__(
        self, vocabulary_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int
    ) -> None:
        """See `Stack`."""
        super().__init__(DecoderBlock, vocabulary_size, d_model, n_heads, d_ff, n_layers)
        self.to_logits = nn.Linear(d_model, vocabulary_size)

    def forward(
        self,
        tokens: torch.Tensor,
        context: torch.Tensor,
        context_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits (batch, m, vocabulary_size). tokens: ids (batch, m), m may be 0.

        Row i of the logits scores the token after token i, and does not depend on later tokens.
        context: (batch, n, d_model), the encoder's output for the source. context_mask: boolean,
        broadcastable to (batch, m, n), True where a token may attend, or None.
        """
        m = tokens.shape[1]
        causal = torch.ones(m, m, dtype=torch.bool, device=tokens.device).tril()
        return self.to_logits(self.through(tokens, context, causal, context_mask))


class Transformer(nn.Module):
    """An `encoder` that reads the source once, and a `decoder` that asks it at every place.

    Each is a stack: an `embedding` (`nn.Embedding`), n_layers `blocks`, and a last `norm`; the
    decoder ends in `to_logits`, a linear map with a bias. What enters a stack is the embedding of
    each token times sqrt(d_model), plus the sinusoids of its place. The blocks are chapter 8's,
    with the norm before each sublayer, and the parameters of block i are called as there, behind
    `encoder.blocks.i.` or `decoder.blocks.i.`. The last norm is one of the same kind.
    Source: Vaswani et al. (2017), figure 1; the norms as in Xiong et al. (2020).
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
    ) -> None:
        """source_size, target_size: of the vocabularies. n_layers: blocks in each stack, 0 or more.

        d_model, n_heads, d_ff: the sizes of the blocks; d_model is even and divisible by n_heads.
        """
        super().__init__()
        self.encoder = EncoderStack(source_size, d_model, n_heads, d_ff, n_layers)
        self.decoder = DecoderStack(target_size, d_model, n_heads, d_ff, n_layers)

    def forward(
        self, sources: torch.Tensor, inputs: torch.Tensor, source_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """sources: ids (batch, n). inputs: ids (batch, m), the targets shifted right.

        source_mask: boolean (batch, n), True where a token stands and False where a row is padded;
        None if no row is. No token attends to padding, neither in the encoder nor in the decoder;
        a source may be all padding. Returns logits (batch, m, target_size): row i scores what
        follows token i of `inputs`, and no later token has a part in it. n and m may be 0, and have
        no upper limit.
        """
        mask = None if source_mask is None else source_mask[:, None, :]  # the same for every query
        return self.decoder(inputs, self.encoder(sources, mask), mask)


def embed(tokens: torch.Tensor, embedding: nn.Embedding) -> torch.Tensor:
    """Embed ids: (batch, n) to (batch, n, d_model), embedding times sqrt(d_model), plus sinusoids.

    Source: Vaswani et al. (2017), sections 3.4 and 3.5.
    """
    X = embedding(tokens) * math.sqrt(embedding.embedding_dim)
    places = torch.from_numpy(sinusoidal_positions(*X.shape[1:]))
    return X + places.to(X)


def shift_right(targets: torch.Tensor, start: int) -> torch.Tensor:
    """Make the decoder's inputs of its targets: at every place, the token before.

    targets: ids (..., m), m may be 0; whether a row has a stop token makes no difference. start:
    the id that stands before the first token. Returns new ids of the same shape and dtype: `start`,
    and the targets without the last. `targets` itself is not changed.
    Source: Vaswani et al. (2017), section 3.1.
    """
    first = torch.full_like(targets[..., :1], start)
    return torch.cat([first, targets[..., :-1]], dim=-1)


def label_smoothed_loss(
    logits: torch.Tensor, targets: torch.Tensor, smoothing: float, ignore_index: int
) -> torch.Tensor:
    """Return the mean cross-entropy against targets that are not quite sure of themselves.

    logits: (..., m, V), and may be large. targets: ids (..., m), m may be 0; where they are
    `ignore_index`, an id or any other number, a place counts neither in the sum nor in the mean.
    smoothing: from 0 to 1, the share of the probability that is dealt out evenly to all V tokens,
    the right one among them. Returns a scalar tensor; 0 if no place counts.
    Source: Szegedy et al. (2016), section 7.
    """
    log_probabilities = logits.log_softmax(dim=-1)
    counts = targets != ignore_index  # (...)
    right = torch.where(counts, targets, 0)[..., None]  # any valid id for ignored targets
    sure = -log_probabilities.gather(-1, right)[..., 0]
    even = -log_probabilities.mean(dim=-1)
    losses = (1 - smoothing) * sure + smoothing * even  # (...)
    return losses[counts].sum() / counts.sum().clamp(min=1)


def warmup_learning_rate(step: int, d_model: int, warmup: int) -> float:
    """Return the learning rate of a step: it rises in a line, then falls with the root.

    step: counts from 1. warmup: the step at which the rate is highest, 1 or more. The rate is
    d_model^(-1/2) times the smaller of step^(-1/2) and step * warmup^(-3/2). Raises ValueError,
    with the step in its message, if it is below 1. Source: Vaswani et al. (2017), equation 3.
    """
    if step < 1:
        raise ValueError(f"steps count from 1, and this one is {step}")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def beam_search(
    step: Callable[[list[int]], np.ndarray],
    start: int,
    stop: int,
    beam: int,
    max_len: int,
    length_penalty: float,
) -> tuple[list[int], float]:
    """Write a sentence, with several beginnings kept at each step instead of one.

    step: given the tokens so far, a list of ints with `start` first, it returns the
    log-probabilities of the token that follows, (V,), however far below 0. beam: how many
    beginnings are kept, at least 1, and all of them where there are fewer. max_len: how often they
    are continued, at most; may be 0.
    Each kept beginning is continued by each of the V tokens, and of all these the `beam` with the
    largest sums of log-probabilities are kept; of equal ones, those of the beginning that was
    better, then those with the lower token. Those of them that were continued by `stop` have ended:
    they are put aside, and only the others are continued, to `beam` again at most. The search is
    over when at least `beam` have ended. The score of a sentence is its sum divided by
    ((5 + length) / 6)^length_penalty, where length counts the `stop` at its end, but not the
    `start` that was there before. Returns the tokens of the sentence with the highest score,
    without these two, and its score; but where `start` was chosen, it is a token like any other.
    Of equal scores the one that ended first wins, then the one with the better place among those
    kept. A sentence that has not ended is returned only if none has. With a beam of 1 the search is
    greedy.
    Source: Wu et al. (2016), section 7, equation 14.
    """
    kept: list[tuple[list[int], float]] = [([], 0.0)]
    ended: list[tuple[list[int], float]] = []

    def score(one: tuple[list[int], float]) -> float:
        return one[1] / ((5 + len(one[0])) / 6) ** length_penalty

    for _ in range(max_len):
        if not kept or len(ended) >= beam:
            break
        longer = [
            ([*tokens, token], total + float(gain))
            for tokens, total in kept
            for token, gain in enumerate(step([start, *tokens]))
        ]
        best = sorted(longer, key=lambda one: one[1], reverse=True)[:beam]  # ties keep their order
        ended += [one for one in best if one[0][-1] == stop]
        kept = [one for one in best if one[0][-1] != stop]
    chosen = max(ended or kept, key=score)
    return [token for token in chosen[0] if token != stop], score(chosen)
