"""Alignment by counting: a step of IBM Model 1, for an exercise of chapter 2.

Source: Brown et al. (1993), "The mathematics of statistical machine translation".
"""

import numpy as np


def expected_counts(
    table: np.ndarray, source: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Share each target word out among the source words of its sentence, and count the shares.

    table: (E, F), not negative, the probability of each of F target words given each of E source
    words; some numbers may be tiny. source: (n,), the ids of a sentence's words, n at least 1;
    a word may stand in it several times. target: (m,), those of its translation, m may be 0; a word
    may stand in it several times. Each target word has a probability above 0 given some word of the
    source. Returns (weights, counts). weights: (m, n), row i is target word i, shared out in
    proportion to its probability given each source word; a row sums to 1. counts: (E, F), for each
    two words the sum of the weights between them, and 0 for words that are not in the sentence.
    """
    likely = table[np.ix_(source, target)].T  # (m, n)
    weights = likely / np.sum(likely, axis=1, keepdims=True)
    counts = np.zeros_like(table)
    np.add.at(counts, (source[None, :], target[:, None]), weights)  # counts repeated words too
    return weights, counts
