"""Answers to exercises of chapter 10 that its page does not show."""

import numpy as np


def causal_language_model_loss_backward(logits: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the gradient of `causal_language_model_loss` with respect to the logits.

    logits: (..., n, V), and may be large; row i scores what follows token i. tokens: ids (..., n),
    n at least 2. The loss is the mean of -log softmax(row i)[token i + 1] over all rows but the
    last, and over all leading axes. Returns the shape of `logits`.
    """
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    d_logits = shifted / shifted.sum(axis=-1, keepdims=True)
    right = np.arange(logits.shape[-1]) == tokens[..., 1:, None]  # (..., n - 1, V)
    d_logits[..., :-1, :] -= right
    d_logits[..., -1, :] = 0
    return d_logits / tokens[..., 1:].size


def prefix_mask(prefix: np.ndarray, n: int) -> np.ndarray:
    """Return the masks of texts whose beginning is read as by BERT, and whose rest as by GPT.

    prefix: (batch,), how many tokens of each text are its beginning, from 0 to n. Every token of
    the beginning may attend to the whole beginning, and to nothing else. Every later token may
    attend to the beginning, to the tokens before it, and to itself. Returns booleans (batch, n, n),
    True where the token of the row may attend to that of the column; n may be 0.
    Source: Raffel et al. (2020), section 3.2.1.
    """
    places = np.arange(n)
    past = places <= places[:, None]  # (n, n)
    return past | (places < np.asarray(prefix)[:, None, None])


def induction_score(weights: np.ndarray, period: int) -> float:
    """Measure how much the best head copies: it looks behind the earlier copy of its token.

    weights: (n_heads, n, n), attention of every head on a text of n tokens that repeats itself
    after `period` tokens, no token twice within a period; n is larger than period, and period at
    least 2. Row i is what token i attends to. A token of a later period asks for the token that
    followed its own copy one period earlier: the score of a head is the mean of these weights, over
    all tokens from the second period on. Returns the largest score of a head, a float.
    Source: Olsson et al. (2022).
    """
    later = np.arange(period, len(weights[0]))
    return float(weights[:, later, later - period + 1].mean(axis=-1).max())
