"""Two halves of the Transformer: GPT, which writes, and BERT, which reads.

GPT is that of Radford et al. (2019), "Language models are unsupervised multitask learners"; BERT
that of Devlin et al. (2019), "BERT: pre-training of deep bidirectional Transformers for language
understanding".
"""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from .transformer_block import EncoderBlock, LayerNorm

IGNORED = -100
"""The target that marks a token as ignored by the loss."""

_EMBEDDINGS = {
    "embeddings.word_embeddings": "embedding",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
}
_LAYER = {
    "attention.self.query": "attention.W_q",
    "attention.self.key": "attention.W_k",
    "attention.self.value": "attention.W_v",
    "attention.output.dense": "attention.W_o",
    "attention.output.LayerNorm": "norm_1",
    "intermediate.dense": "feed_forward.W_1",
    "output.dense": "feed_forward.W_2",
    "output.LayerNorm": "norm_2",
}


class GPT(nn.Module):
    """Read the tokens so far, and score what may come next: encoder blocks under a causal mask.

    Its parts are called `embedding`, `positions`, `blocks` and `norm`.
    Source: Radford et al. (2019), section 2.3.
    """

    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_len: int
    ) -> None:
        """vocab_size: the ids go from 0 up to it. max_len: as many positions are learned.

        d_model, n_heads, d_ff: the sizes of the blocks, which have the norm before. n_layers: how
        many blocks there are, 0 or more.
        """
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.02)
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, n_heads, d_ff, norm="pre") for _ in range(n_layers)
        )
        self.norm = LayerNorm(d_model)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: ids (batch, n), n may be 0. Returns logits (batch, n, vocab_size).

        A token's embedding and that of its position are added, pass through the blocks, and are
        normalised once more. Row i of the logits scores what follows token i, and depends on no
        later token. The logit of a candidate is the dot product with its embedding: the matrix
        that reads is the one that writes. Raises ValueError, with both numbers in its message, if n
        is larger than max_len.
        """
        n = tokens.shape[1]
        if n > self.positions.num_embeddings:
            raise ValueError(f"{n} tokens, and there are {self.positions.num_embeddings} positions")
        causal = tokens.new_ones(n, n, dtype=torch.bool).tril()
        X = self.embedding(tokens) + self.positions.weight[:n]  # (batch, n, d_model)
        for block in self.blocks:
            X = block(X, causal)
        return self.norm(X) @ self.embedding.weight.T


def causal_language_model_loss(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of each token, given those before it.

    logits: (..., n, V), and may be large; row i scores what follows token i. tokens: ids (..., n),
    the text that was read. So the first token is not predicted, and the last row of logits counts
    for nothing. Returns a scalar tensor; 0 if no token is predicted: n is below 2, or a leading
    axis is 0. Source: Radford et al. (2019), equation 1.
    """
    log_probabilities = logits[..., :-1, :].log_softmax(dim=-1)
    losses = -log_probabilities.gather(-1, tokens[..., 1:, None])  # (..., n - 1, 1)
    return losses.sum() / max(losses.numel(), 1)


def sample_next(
    logits: np.ndarray,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    generator: np.random.Generator,
) -> np.ndarray:
    """Draw a token for each row of logits, from a distribution made sharper or flatter, and cut.

    logits: (..., V), V at least 1; they may be large, and -inf for a token that is never drawn, but
    not for a whole row. Tokens are ranked by their logits; of equal ones the lower id comes first.
    temperature: at 0 each row takes the first of its ranking, whatever is drawn; above 0 the
    logits are divided by it before the softmax. top_k: only the first top_k of the ranking, at
    least 1, can be drawn, and the softmax is over these; None for all. top_p: then only the fewest
    of the ranking whose probabilities sum to top_p or more, above 0 and at most 1; None for all.
    generator: one number u a row, `generator.random(logits.shape[:-1])`. The drawn token is the
    first of the ranking at which the running sum of the probabilities that are left is larger than
    u times their total. Returns ids (...), integers.
    Source: Holtzman et al. (2020), section 3.
    """
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)  # (..., top_k)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        sum_before = np.cumsum(weights, axis=-1) - weights
        weights = np.where(sum_before < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place)[..., 0]


def mask_tokens(
    tokens: np.ndarray,
    vocab_size: int,
    mask_id: int,
    probability: float,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Hide some tokens of a text, and keep what stood there as targets.

    tokens: ids (..., n), n may be 0; not changed. Three arrays of the shape of `tokens` are drawn,
    in this order: `generator.random(shape)`, where a number below `probability` chooses the token;
    `generator.random(shape)`, where a chosen token with a number below 0.8 becomes `mask_id`, one
    with a number from 0.8 to below 0.9 becomes a random id, and any other stays as it is; and
    `generator.integers(vocab_size, size=shape)`, the random ids. Returns the inputs, and the
    targets: the token that stood there where one was chosen, and -100 everywhere else.
    Source: Devlin et al. (2019), section 3.1.
    """
    chosen = generator.random(tokens.shape) < probability
    fate = generator.random(tokens.shape)
    anything = generator.integers(vocab_size, size=tokens.shape)
    replaced = np.where(fate < 0.8, mask_id, np.where(fate < 0.9, anything, tokens))
    return np.where(chosen, replaced, tokens), np.where(chosen, tokens, IGNORED)


def rename_weights(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give the weights of a published BERT the names that they have in this course.

    state: the weights by their published names, of any number of layers, in any order. The layer
    `encoder.layer.3` becomes `blocks.3`. What `BERT` has no place for is left out:
    `embeddings.position_ids`, and all that begins with `pooler.`. The arrays themselves are not
    changed. Raises ValueError, with the name in its message, for a name that no BERT has.
    """
    renamed = {}
    for name, array in state.items():
        if name == "embeddings.position_ids" or name.startswith("pooler."):
            continue
        part, _, kind = name.rpartition(".")  # kind: weight or bias
        layer = re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)", part)
        if layer and layer[2] in _LAYER:
            renamed[f"blocks.{layer[1]}.{_LAYER[layer[2]]}.{kind}"] = array
        elif part in _EMBEDDINGS:
            renamed[f"{_EMBEDDINGS[part]}.{kind}"] = array
        else:
            raise ValueError(f"no part of BERT is called {name!r}")
    return renamed


def mean_pool(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Make one vector of a text: the mean of its tokens, padding left out.

    hidden: (..., n, d), n may be 0; where a row is padded it may hold anything, NaN too. mask:
    boolean (..., n), True where a token stands. Returns (..., d); zeros for a text without a token.
    Source: Reimers and Gurevych (2019), section 3.
    """
    kept = hidden.masked_fill(~mask[..., None], 0.0)  # (..., n, d)
    return kept.sum(dim=-2) / mask.sum(dim=-1, keepdim=True).clamp(min=1)


def byte_pair_merges(words: dict[str, int], n_merges: int) -> list[tuple[str, str]]:
    """Learn which neighbouring tokens to merge into one, the commonest pair first.

    words: how often each word stands in a text; a word begins as its characters, one a token. At
    each of n_merges steps, every pair of neighbours within a word is counted, as often as the word
    stands in the text; pairs may overlap: "aaa" holds a, a twice. The commonest pair is merged into
    one token wherever it stands, from left to right; of equally common pairs the first in the order
    of Python's tuples. Returns the merged pairs in their order, fewer than n_merges if no word has
    two tokens any more. `words` is not changed.
    Source: Sennrich, Haddow and Birch (2016), section 3.2.
    """
    split = {word: list(word) for word in words}
    counts: Counter[tuple[str, str]] = Counter()
    for word, tokens in split.items():
        for pair in pairwise(tokens):
            counts[pair] += words[word]
    merges: list[tuple[str, str]] = []
    while counts and len(merges) < n_merges:
        pair = min(counts, key=lambda one: (-counts[one], one))
        merges.append(pair)
        for word in [word for word in split if "".join(pair) in word]:  # only these can change
            before, split[word] = split[word], merge_pair(split[word], pair)
            for sign, tokens in ((-1, before), (1, split[word])):
                for one in pairwise(tokens):
                    counts[one] += sign * words[word]
        counts = Counter({one: often for one, often in counts.items() if often > 0})
    return merges


def merge_pair(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    """Return `tokens` with each occurrence of `pair` merged into one token, from left to right."""
    merged: list[str] = []
    place = 0
    while place < len(tokens):
        both = tuple(tokens[place : place + 2]) == pair
        merged.append("".join(pair) if both else tokens[place])
        place += 2 if both else 1
    return merged
