"""Two questions to a language model of today: what a head stands on, and when to keep a draft."""

from collections.abc import Callable

import numpy as np

Head = tuple[int, int]
"""A block and one of its heads, both counted from 0."""

Looks = Callable[[np.ndarray, tuple[Head, ...]], np.ndarray]
"""A model reads tokens (n,), with some heads silent, and returns what its heads look at."""


def head_below(model: Looks, tokens: np.ndarray, length: int) -> tuple[int, int, float]:
    """Find the head on which the head that copies best stands.

    model: a function of tokens and a tuple of (block, head) pairs, which are silent: they add
    nothing to the stream. It returns weights (n_blocks, n_heads, n, n), what each head looks at,
    silent or not; row i is the look of token i. tokens: ids (n,); their end is `length` different
    tokens, at least 2, and then the same again. The score of a head is the mean weight of the
    tokens of the second copy on the token behind their own earlier copy. The copying head has the
    largest score if no head is silent. Of all heads in the blocks below its own, the one is sought
    whose silence, alone, lowers the score of the copying head most, or raises it least. Returns the
    tuple (block, head, fall): where it is, counted from 0, and the score before minus the score
    with this head silent, a float. No two scores and no two falls are equal. Raises ValueError if
    the copying head is in block 0.
    """
    later = np.arange(len(tokens) - length, len(tokens))

    def scores(*silent: Head) -> np.ndarray:
        found: np.ndarray = model(tokens, silent)[..., later, later - length + 1].mean(axis=-1)
        return found  # (n_blocks, n_heads)

    whole = scores()
    n_heads = whole.shape[1]
    own, copying = divmod(int(whole.argmax()), n_heads)
    if own == 0:
        raise ValueError("the copying head is in block 0, and no block is below")
    below = [(block, head) for block in range(own) for head in range(n_heads)]
    falls = {head: float(whole[own, copying] - scores(head)[own, copying]) for head in below}
    block, head = max(falls, key=falls.__getitem__)
    return block, head, falls[block, head]


def draft_rule(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the rule by which a large model keeps or replaces the token that a small one drafted.

    p and q: (..., V), floating, the probabilities of the next token by the large model and by the
    small one; each sums to 1 along the last axis, and some may be 0. A token is drafted from q. It
    is kept with a probability that depends on the token; if it is not kept, another token is drawn,
    from a distribution that does not depend on what was drafted. The token that is written in the
    end must have exactly the distribution p, and drafts must be kept as often as that allows.
    Returns the tuple (keep, instead, rate): keep (..., V), the probability of keeping each token if
    it is drafted, and 1 where q is 0; instead (..., V), the distribution of what is drawn in place
    of a draft, and p where every draft is kept; rate (...), the probability that a draft is kept.
    Source: Leviathan et al. (2023), section 2.3.
    """
    keep = np.ones_like(p)
    np.divide(p, q, out=keep, where=q > p)
    missing = np.maximum(p - q, 0)  # what drafts alone write too rarely
    total = missing.sum(axis=-1, keepdims=True)
    instead = np.array(p)
    np.divide(missing, total, out=instead, where=total > 0)
    return keep, instead, 1 - total[..., 0]
