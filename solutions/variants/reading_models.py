"""Measurements of chapter 12 on its own and on published language models, and an n-gram model.

The n-gram model is that of Shannon (1948), interpolated as by Witten and Bell (1991), "The
zero-frequency problem: estimating the probabilities of novel events in adaptive text compression".
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

Model = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A model reads tokens (n,), with head weights or a mask, and returns logits (n, vocab_size)."""


def rope_layouts(
    W_q: np.ndarray, W_k: np.ndarray, X: np.ndarray, scores: np.ndarray, base: float
) -> tuple[str, np.ndarray, np.ndarray]:
    """Find out which features a published head turns together, and fit its weights to the others.

    W_q and W_k: (d_head, d_model), d_head even and at least 4, of one head, as published files
    store them: the query of a token x is W_q x. X: (n, d_model), floating, n at least 3, the tokens
    at the positions 0 to n - 1. scores: (n, n), from the published model, rounded to four digits
    perhaps: the dot product of each turned query (row) with each turned key (column), divided by
    the root of d_head; nothing is hidden. There are two layouts. In "neighbours" the features 2i
    and 2i + 1 are pair i, in "halves" the features i and i + d_head/2. Either way, pair i is turned
    from its first feature towards its second, by position / base^(2i/d_head). Returns the tuple
    (layout, W_q, W_k): the name of the layout with which these weights make these scores, and two
    new arrays, the same rows in the order in which they make them with the other layout. Raises
    ValueError if neither layout comes within a hundredth of the largest score in size.
    """
    half = len(W_q) // 2
    orders = {
        "neighbours": np.arange(2 * half).reshape(half, 2),  # row i: the features of pair i
        "halves": np.arange(2 * half).reshape(2, half).T,
    }
    angles = np.arange(len(X))[:, None] * base ** (-np.arange(half) / half)  # (n, half)
    for layout, pairs in orders.items():
        Q, K = (
            ((X @ W.T)[:, pairs] @ np.array([1, 1j])) * np.exp(1j * angles)  # (n, half), in a plane
            for W in (W_q, W_k)
        )
        found = (Q @ K.conj().T).real / math.sqrt(2 * half)
        if np.abs(found - scores).max() <= 0.01 * np.abs(scores).max():
            other = orders["halves" if layout == "neighbours" else "neighbours"]
            order = np.empty(2 * half, dtype=int)
            order[other] = pairs
            return layout, W_q[order], W_k[order]
    raise ValueError("neither layout makes these scores")


def head_ablation(
    model: Model, W_o: np.ndarray, tokens: np.ndarray, n_heads: int, layer: int, head: int
) -> float:
    """Measure how much worse a language model predicts when one of its heads is silenced.

    model: a function of tokens and W_o, which returns logits (n, vocab_size), perhaps large; row i
    scores what follows token i. W_o: (n_layers, d_model, d_model), floating, the last matrix of
    each block's attention, as published files store it: a block adds H @ W_o[layer].T, where H are
    the features that its heads found, side by side in their order. tokens: ids (n,), n at least 2.
    n_heads: of a block, all of one width. layer and head count from 0. A head is silenced by zeros
    in the columns of W_o[layer] that read its features. The loss is the mean of
    -log softmax(row i)[token i + 1] over all rows but the last. Returns the loss without the head
    minus the loss of the model as it is, in nats, a float. It is below 0 where the head does harm.
    W_o is afterwards what it was.
    """
    d_head = len(W_o[layer]) // n_heads
    silenced = W_o.copy()
    silenced[layer, :, head * d_head : (head + 1) * d_head] = 0
    without, whole = (_losses(model(tokens, one), tokens).mean() for one in (silenced, W_o))
    return float(without - whole)


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


def copying_score(weights: np.ndarray, length: int) -> tuple[np.ndarray, int, int]:
    """Measure how much each head of a model copies, beyond what a look at everything would give.

    weights: (n_layers, n_heads, n, n), what the heads of each block attend to, under a causal mask;
    row i is the look of token i. The text: `length` different tokens, at least 2, and then the same
    again; before these, other tokens may stand, or none. A token of the second copy finds itself in
    the first, and a head that copies looks at what followed there. The score of a head is the mean
    weight of these looks over the second copy, minus the mean of what an even look at all visible
    tokens would leave there: 1 / (i + 1) in row i. Returns the tuple (scores, layer, head): scores
    (n_layers, n_heads), below 0 for a head that looks elsewhere, and where the largest stands,
    counted from 0. No two scores are equal. Source: Olsson et al. (2022).
    """
    n = weights.shape[-1]
    later = np.arange(n - length, n)
    scores = (weights[..., later, later - length + 1] - 1 / (later + 1)).mean(axis=-1)
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return scores, int(layer), int(head)


def decode_tokens_per_second(
    weight_bytes: int, cache_bytes: int, context: int, bandwidth: float, batch: int = 1
) -> float:
    """Bound how many tokens a second a model writes that waits for its memory and nothing else.

    weight_bytes: of all weights together. cache_bytes: of the keys and values of one token, in all
    blocks together. context: how many tokens of each text are cached, 0 or more. bandwidth: bytes
    that are read in a second. batch: how many texts are written side by side, at least 1. A step
    adds one token to every text. It reads the weights once, for all texts, and of every text the
    whole cache; nothing else takes time. Returns the tokens a second of all texts together, a
    float.
    """
    return batch * bandwidth / (weight_bytes + batch * context * cache_bytes)


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
