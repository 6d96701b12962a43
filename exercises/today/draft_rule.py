"""The exercise `draft_rule`: a small model drafts, and the large one's distribution stays exact."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import taking_apart as solutions

draft_rule = Declaration(
    solutions.draft_rule,
    points=4,
    difficulty=4,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "A token can be written in two ways: it is drafted and kept, or another draft is not kept "
        "and it is drawn instead. The two probabilities have to sum to p. Which tokens are drafted "
        "too often, and which too rarely?",
        "The first way writes a token with the probability q times keep. Make this as large as it "
        "may be, for each token. What is then missing of p has to come from the second way, and "
        "how often the second way is taken you know, too.",
        "Section “How fast can it be?”.",
    ),
)


@draft_rule.right
def token_by_token(p, q):
    keep, instead = np.empty(p.shape, p.dtype), np.empty(p.shape, p.dtype)
    rate = np.empty(p.shape[:-1], p.dtype)
    for at in np.ndindex(p.shape[:-1]):
        rest = np.zeros(p.shape[-1])
        kept = 0.0
        for token in range(p.shape[-1]):
            large, small = p[at][token], q[at][token]
            keep[at][token] = 1 if small <= large else large / small
            kept += small if small <= large else large
            rest[token] = large - small if large > small else 0
        instead[at] = rest / rest.sum() if rest.any() else p[at]
        rate[at] = kept
    return keep, instead, rate


@draft_rule.right
def by_the_smaller(p, q):
    both = np.minimum(p, q)
    keep = both / np.where(q > 0, q, 1) + (q == 0)
    rest = p - both
    same = ~rest.any(axis=-1, keepdims=True)
    instead = np.where(same, p, rest) / np.where(same, 1, rest.sum(axis=-1, keepdims=True))
    return keep, instead, both.sum(axis=-1)


@draft_rule.right
def by_what_is_refused(p, q):
    keep = np.where(p >= q, 1, p / np.maximum(q, 1e-300)).astype(p.dtype)
    refused = (q * (1 - keep)).sum(axis=-1)
    rest = np.clip(p - q, 0, None)
    total = rest.sum(axis=-1, keepdims=True)
    instead = rest / np.where(total > 0, total, 1) + p * (total == 0)
    return keep, instead, 1 - refused


@draft_rule.right
def plain(p, q):
    keep = np.where(q > p, p / np.where(q > 0, q, 1), 1)
    rest = np.maximum(p - q, 0)
    rest = np.where(rest.sum(axis=-1, keepdims=True) > 0, rest, p)
    instead = rest / rest.sum(axis=-1, keepdims=True)
    rate = np.minimum(p, q).sum(axis=-1)
    return keep, instead, rate


draft_rule.wrong(
    "drawn from the large model",
    "A token is drafted exactly as often as it should be written, so it is always kept. May it "
    "also be drawn in place of other drafts?",
    plain.edit("instead = rest / rest.sum(axis=-1, keepdims=True)", "instead = p"),
)
draft_rule.wrong(
    "every difference counts",
    "Some tokens are drafted too often. Should they be drawn in place of a draft, too?",
    plain.edit("np.maximum(p - q, 0)", "np.abs(p - q)"),
)
draft_rule.wrong(
    "what was drafted too often",
    "A token that the small model never drafts must be written all the same. Where does it come "
    "from in yours?",
    plain.edit("np.maximum(p - q, 0)", "np.maximum(q - p, 0)"),
)
draft_rule.wrong(
    "never normalised",
    "What do the probabilities of `instead` sum to?",
    plain.edit("instead = rest / rest.sum(axis=-1, keepdims=True)", "instead = rest"),
)
draft_rule.wrong(
    "kept by the ratio the wrong way round",
    "A token is drafted twice as often as it should be written. How often do you keep it?",
    plain.edit(
        "np.where(q > p, p / np.where(q > 0, q, 1), 1)",
        "np.where(p > q, q / np.where(p > 0, p, 1), 1)",
    ),
)
draft_rule.wrong(
    "kept with the large model's probability",
    "The two models agree in everything. Is there any reason not to keep a draft?",
    plain.edit("np.where(q > p, p / np.where(q > 0, q, 1), 1)", "np.where(q > 0, p, 1)"),
)
draft_rule.wrong(
    "kept or refused for good",
    "A token is drafted a little too often. If it is never kept, how often is it written?",
    plain.edit("np.where(q > p, p / np.where(q > 0, q, 1), 1)", "np.where(q > p, 0.0, 1.0)"),
)
draft_rule.wrong(
    "a ratio above 1",
    "Is the largest number in your `keep` a probability?",
    plain.edit(
        "np.where(q > p, p / np.where(q > 0, q, 1), 1)",
        "np.where(q > 0, p, 1) / np.where(q > 0, q, 1)",
    ),
)
draft_rule.wrong(
    "the mean of what is kept",
    "Are all tokens drafted equally often? How often is a token drafted at all that you keep?",
    plain.edit("np.minimum(p, q).sum(axis=-1)", "keep.mean(axis=-1)"),
)
draft_rule.wrong(
    "drafts from the large model",
    "Which of the two models drafts? How often does each token come from it?",
    plain.edit("np.minimum(p, q).sum(axis=-1)", "(p * keep).sum(axis=-1)"),
)
draft_rule.wrong(
    "how often a draft is not kept",
    "The two models agree in everything. What should your `rate` be?",
    plain.edit("rate = np.minimum(p, q).sum(axis=-1)", "rate = np.maximum(p - q, 0).sum(axis=-1)"),
)
draft_rule.wrong(
    "all distributions together",
    "There is a batch of distributions. What does each row of `instead` sum to?",
    plain.edit("rest / rest.sum(axis=-1, keepdims=True)", "rest / rest.sum()"),
)


@draft_rule.public
def _(rng):
    p, q = np.array([0.6, 0.4, 0.0]), np.array([0.3, 0.5, 0.2])
    yield Case("three tokens, by hand", (p, q)).holds(
        "p and q: (..., V), floating, the probabilities of the next token by the large model and "
        "by the small one; each sums to 1 along the last axis",
        "It is kept with a probability that depends on the token; if it is not kept, another token "
        "is drawn, from a distribution that does not depend on what was drafted.",
        "Returns the tuple (keep, instead, rate): keep (..., V), the probability of keeping each "
        "token if it is drafted",
    )
    yield _case(rng, "four tokens", (4,)).holds(
        "A token is drafted from q.",
        "The token that is written in the end must have exactly the distribution p, and drafts "
        "must be kept as often as that allows.",
        "rate (...), the probability that a draft is kept.",
    )
    yield _case(rng, "four other tokens", (4,)).holds("The token that…")
    yield _case(rng, "tokens that are never drafted", (2, 6), zeros="q").holds(
        "and some may be 0.", "and 1 where q is 0"
    )
    yield _case(rng, "tokens that must not be written", (2, 6), zeros="p").holds("and some…")
    yield _case(rng, "tokens that neither model writes", (3, 5), zeros="both").holds("and some…")
    yield _case(rng, "two models that agree", (3, 4), same="all").holds(
        "instead (..., V), the distribution of what is drawn in place of a draft, and p where "
        "every draft is kept"
    )
    yield _case(rng, "models that agree in one row", (2, 5), same="one").holds("instead (...…")
    yield _case(rng, "models with nothing in common", (2, 6), zeros="apart")
    yield _case(rng, "a batch of batches", (2, 3, 5))
    yield _case(rng, "three axes before the tokens", (2, 2, 3, 4))
    yield _case(rng, "a batch of one", (1, 5))
    yield _case(rng, "a vocabulary of one token", (1, 1), same="all")
    yield _case(rng, "as many rows as tokens", (4, 4))
    yield _case(rng, "float32", (3, 7), dtype=np.float32)
    yield _case(rng, "probabilities near 0", (2, 5), tiny=True).holds("p and q…")


@draft_rule.hidden
def _(rng):
    V = int(rng.integers(5, 9))
    yield _case(rng, "one distribution", (V,))
    yield _case(rng, "several distributions", (3, V))
    yield _case(rng, "tokens that are never drafted", (3, V), zeros="q")
    yield _case(rng, "tokens that must not be written", (3, V), zeros="p")
    yield _case(rng, "models that agree in one row", (3, V), same="one")
    yield _case(rng, "two models that agree", (2, V), same="all")
    yield _case(rng, "a batch of one", (1, V))
    yield _case(rng, "all axes of length 1", (1, 1, 1), same="all")
    yield _case(rng, "three axes before the tokens", (2, 3, 2, V))
    yield _case(rng, "float32", (4, V), dtype=np.float32)
    yield _case(rng, "probabilities near 0", (3, V), tiny=True)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    zeros: str = "",
    same: str = "",
    dtype: type = np.float64,
    tiny: bool = False,
) -> Case:
    """Two distributions in each row.

    zeros: where tokens have the probability 0, in "p", "q", "both", or in one or the other
    ("apart"). same: in which rows the models agree. tiny: the first two tokens are near 0.
    """
    p, q = rng.gamma(1.0, size=(2, *shape)) + 0.05
    V = shape[-1]
    if zeros in ("p", "both"):
        p[..., 1] = 0
    if zeros in ("q", "both"):
        q[..., 1] = 0
    if zeros == "apart":
        p[..., : V // 2] = q[..., V // 2 :] = 0
    if tiny:
        p[..., :2] *= 1e-14
        q[..., :2] *= 1e-14
    p, q = (one / one.sum(axis=-1, keepdims=True) for one in (p, q))
    if same == "all":
        q = p.copy()
    if same == "one":
        q[0] = p[0]
    return Case(note, (p.astype(dtype), q.astype(dtype)))
