"""What chapter 12 measures of language models, its own and published ones, and their rival.

The rival is the n-gram of Shannon (1948), interpolated as by Witten and Bell (1991), "The
zero-frequency problem: estimating the probabilities of novel events in adaptive text compression".
"""

import math
from collections import Counter, defaultdict

import numpy as np


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
        for k in range(min(order - 1, at) + 1):
            after = follows.get(tuple(read[at - k : at]))
            if after is None:  # nor did anything follow a longer context
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
