"""The loss without a token, an n-gram model, and bits a byte, of chapter 12.

The n-gram model is that of Shannon (1948), interpolated as by Witten and Bell (1991), "The
zero-frequency problem: estimating the probabilities of novel events in adaptive text compression".
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

Model = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A model reads tokens (n,) under a mask (n, n), and returns logits (n, vocab_size)."""


def loss_without_token(model: Model, tokens: np.ndarray, at: int) -> float:
    """Measure how much worse later tokens are predicted when none of them may see the one at `at`.

    model: a function of tokens and a mask, which returns logits (n, vocab_size), perhaps large; row
    i scores what follows token i. Its mask is boolean (n, n), True where the token of the row may
    see that of the column; each token has to see one at least. tokens: ids (n,). at: from 0 to
    n - 3. The model reads all n tokens twice: under a causal mask, and under the same mask but that
    no later token sees the one at `at`; that one still sees itself. The losses of the rows that
    have lost sight of it are compared: those from at + 1 to n - 2, each -log softmax(row i)[token
    i + 1]. Returns their mean where the token is hidden minus their mean where it is not, in nats,
    a float.
    """
    n = len(tokens)
    causal = np.tri(n, dtype=bool)
    hidden = causal.copy()
    hidden[at + 1 :, at] = False
    without, whole = (_losses(model(tokens, one), tokens)[at + 1 :] for one in (hidden, causal))
    return float(without.mean() - whole.mean())


def _losses(logits: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the loss of each row except the last on the next token: (n - 1,), in nats."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(-log_p[np.arange(len(tokens) - 1), tokens[1:]])


def ngram_interpolation(
    train: np.ndarray, text: np.ndarray, order: int, vocab_size: int, weight: float = 1.0
) -> np.ndarray:
    """Predict each token of a text from those before it, by counts in another text.

    train: ids (N,), N at least 1. text: ids (m,), m may be 0. vocab_size: ids go from 0 up to it.
    order: at least 1; a token is predicted from the order - 1 tokens before it in `text`, or from
    as many as there are. The probability of a token w after the context h of k tokens is mixed from
    what followed h in `train` and from the prediction after the shorter context h', which lacks the
    first token of h: (c(hw) + weight t(h) p(w|h')) / (c(h) + weight t(h)). Here c(hw) says how
    often w followed h in `train`, c(h) how often anything followed h, and t(h) how many different
    tokens followed it; weight is above 0. Where nothing followed h, it is p(w|h'). Below the
    context of no token stands 1 / vocab_size. Returns the natural logarithms of the probabilities,
    (m,). Source: Witten and Bell (1991), method C, whose weight is 1.
    """
    follows: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    tokens = train.tolist()
    for k in range(order):
        for at in range(k, len(tokens)):
            follows[tuple(tokens[at - k : at])][tokens[at]] += 1
    found = []
    read = text.tolist()
    for at, token in enumerate(read):
        probability = 1 / vocab_size
        for k in range(order):
            after = follows.get(tuple(read[at - k : at])) if k <= at else None
            if after is None:  # longer contexts have no continuation either
                break
            kinds, times = weight * len(after), after.total()
            probability = (after[token] + kinds * probability) / (times + kinds)
        found.append(math.log(probability))
    return np.array(found)


def cross_entropy_to_bits_per_byte(nats: float, n_tokens: int, n_bytes: int) -> float:
    """Say how many bits a model spends on a byte, so that models with other tokens compare.

    nats: the mean cross-entropy of a token, in nats. n_tokens: how many tokens were predicted.
    n_bytes: how many bytes of text these tokens are, at least 1. Returns bits a byte.
    """
    return nats * n_tokens / n_bytes / math.log(2)
