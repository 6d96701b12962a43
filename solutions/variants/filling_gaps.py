"""Answers to exercises on the second page of chapter 10 that the page does not show."""

import numpy as np


def masked_diffusion_loss(
    logits: np.ndarray, tokens: np.ndarray, hidden: np.ndarray, share: np.ndarray
) -> float:
    """Return what a model of masked diffusion pays for texts that were partly hidden from it.

    logits: (..., n, V), and may be large; row i scores what stands at place i. tokens: ids
    (..., n), the texts. hidden: boolean (..., n), True where the model saw a mask. share: (...),
    above 0 and at most 1, the probability with which each token of a text was hidden; how many
    were is another matter. A hidden token costs -log softmax(row i)[token i], divided by the share
    of its text, and a token that was not hidden costs nothing. Returns the mean over the texts of
    what their tokens cost together, in nats, a float; 0 if there is no text.
    Source: Sahoo et al. (2024), equation 10.
    """
    if share.size == 0:
        return 0.0
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    right = np.take_along_axis(log_p, tokens[..., None], axis=-1)[..., 0]  # (..., n)
    costs = np.where(hidden, -right, 0).sum(axis=-1) / share  # (...)
    return float(costs.mean())


def lora_linear(
    X: np.ndarray, W: np.ndarray, A: np.ndarray, B: np.ndarray, task: np.ndarray, alpha: float
) -> np.ndarray:
    """Apply one frozen layer to a batch whose texts have different small additions to it.

    X: (batch, n, d_in), the texts, n may be 0. W: (d_out, d_in), the frozen weight, as
    `nn.Linear` stores it. A: (k, r, d_in) and B: (k, d_out, r), r at least 1: what each of k tasks
    has learned in addition. task: (batch,), for each text the number of its task, counted from 0,
    or -1 for none. A token x becomes W x + (alpha / r) B A x, with A and B of its text's task, and
    W x without a task. Returns (batch, n, d_out). Source: Hu et al. (2022), section 4.1.
    """
    r = A.shape[1]
    factor = np.where(task < 0, 0, alpha / r)[:, None, None]
    inner = X @ A[task].swapaxes(-1, -2)  # (batch, n, r)
    return np.asarray(X @ W.T + factor * (inner @ B[task].swapaxes(-1, -2)))


def merge_lora(
    weights: dict[str, np.ndarray],
    adapters: dict[str, tuple[np.ndarray, np.ndarray]],
    alpha: float,
) -> dict[str, np.ndarray]:
    """Write what LoRA has learned into the weights, so that using it costs nothing.

    weights: a model's arrays by name. adapters: name -> (A, B), for some of the weights (d_out,
    d_in): A is (r, d_in) and B (d_out, r), and each may have an r of its own. The layer of a
    weight W with an adapter computes W x + (alpha / r) B A x. Returns a new dictionary with the
    same names, with which the layers compute the same and need no adapters. Neither `weights` nor
    any of its arrays is changed. Raises ValueError, with the name in its message, for an adapter
    without a weight of its name. Source: Hu et al. (2022), section 4.1.
    """
    merged = dict(weights)
    for name, (A, B) in adapters.items():
        if name not in weights:
            raise ValueError(f"no weight is called {name!r}")
        merged[name] = weights[name] + alpha / len(A) * (B @ A)
    return merged


def beyond_topic(vectors: np.ndarray, nulls: np.ndarray, kinds: np.ndarray) -> float:
    """Measure how much better vectors of a word are sorted by meaning than vectors that cannot be.

    vectors: (n, d), one of the word in each of n sentences, n at least 2, none of length 0. nulls:
    (k, n, d), k at least 1, k other vectors of the same sentences, such as that of the full stop.
    kinds: (n,), which meaning the word has in each sentence, as whole numbers. A sentence is
    sorted if, of all other sentences, the one whose vector has the largest cosine with its own has
    the same meaning; no two of its cosines are equal. Returns the share of sentences that are
    sorted by `vectors`, minus the largest such share of a null, a float; below 0 if a null does
    better.
    """

    def sorted_share(some: np.ndarray) -> float:
        unit = some / np.linalg.norm(some, axis=1, keepdims=True)
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        return float((kinds[cosines.argmax(axis=1)] == kinds).mean())

    return sorted_share(vectors) - max(sorted_share(null) for null in nulls)
