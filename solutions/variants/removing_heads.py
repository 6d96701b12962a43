"""What a layer does without some of its heads, and what a linear reader makes of their blends.

They are the references of exercises of chapter 6.
"""

import numpy as np

from ..alignment import softmax
from ..multi_head import merge_heads


def pairs_answered(values: np.ndarray, shares: np.ndarray, readers: np.ndarray) -> np.ndarray:
    """Count the sentences "x gave something to y" that a linear reader understands.

    values: (m, d), the vector of each of m names, m at least 2. shares: (n_heads, 2), n_heads at
    least 1: the weights that each head gives to the giver and to the receiver, in every sentence.
    What a head finds is the sum of the two names' vectors, each times its weight, and what all
    heads find is laid side by side, the first head first. readers: (2, n_heads * d, m). The product
    with the first matrix gives a logit to each name as the giver, and that with the second a logit
    as the receiver. The answer is the name with the largest logit, which no other name shares.
    There is a sentence for each ordered pair of different names. Returns three whole numbers, of
    shape (3,): the sentences with both answers right, those with the giver right, and those with
    the receiver right.
    """
    pairs = np.array(np.nonzero(~np.eye(len(values), dtype=bool)))  # (2, sentences)
    heads = np.tensordot(shares, values[pairs], 1)  # (n_heads, sentences, d)
    answers = (merge_heads(heads) @ readers).argmax(axis=-1)  # (2, sentences)
    right = answers == pairs
    return np.array([right.all(axis=0).sum(), *right.sum(axis=1)])


def accuracy_by_heads(accuracy: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Measure what a layer can still do with k of its heads, chosen in three ways.

    accuracy: (2 ** n_heads,), measured with every subset of the heads. The number of a subset is
    the sum of 2 ** h over its heads h: accuracy[0] is without any head, and accuracy[5] with heads
    0 and 2 only. importance: (n_heads,), n_heads at least 1; no two are equal. Returns an array of
    shape (3, n_heads + 1), with a column for each k from 0 to n_heads: in row 0 the highest
    accuracy of a subset of k heads, in row 1 the accuracy of the k most important heads, and in row
    2 the mean accuracy over all subsets of k heads.
    """
    n_heads = len(importance)
    there = np.arange(2**n_heads)[:, None] >> np.arange(n_heads) & 1  # (2 ** n_heads, n_heads)
    size = there.sum(axis=1)
    by_size = [accuracy[size == k] for k in range(n_heads + 1)]
    most_important = np.cumsum([0, *2 ** np.argsort(-importance)])  # (n_heads + 1,) subsets
    best, mean = ([pick(group) for group in by_size] for pick in (np.max, np.mean))
    return np.array([best, accuracy[most_important], mean])


def head_switches_backward(
    heads: np.ndarray, switches: np.ndarray, W_o: np.ndarray, W_r: np.ndarray, answers: np.ndarray
) -> np.ndarray:
    """Differentiate the loss with respect to a switch for each head.

    heads: (batch, n_heads, d_v), what each head has found for the one token that asks. switches:
    (n_heads,), the same for all sequences; each multiplies what its head has found. The heads are
    merged, the first one first, and the output is the product with W_o, (n_heads * d_v, d_out). The
    logits are the product of the output with W_r, (d_out, m), and may be large, above 0 or below.
    answers: (batch,), whole numbers from 0 to m - 1, the right ones. All sizes are at least 1. The
    loss is the cross-entropy of the softmax of the logits, the mean over the batch. Returns an
    array of shape (n_heads,): the gradient of the loss with respect to `switches`.
    """
    batch, n_heads, d_v = heads.shape
    rows = W_o.reshape(n_heads, d_v, W_o.shape[1])  # the rows of W_o that read each head
    terms = np.swapaxes(heads, 0, 1) @ rows @ W_r  # (n_heads, batch, m): parts of the logits
    d_logits = softmax(np.tensordot(switches, terms, 1))  # (batch, m)
    d_logits[np.arange(batch), answers] -= 1
    gradient: np.ndarray = np.sum(terms * d_logits, axis=(1, 2)) / batch
    return gradient
