"""The exercise `merge_attention`: one answer from two sets of keys. Nowhere in the chapter."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, Tensor
from solutions import cost as solutions

merge_attention = Declaration(
    solutions.merge_attention,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Write attention to all keys as one fraction: the sum of exp(score) times value, over "
        "the sum of exp(score). Which part of it does each set give you?",
        "The output of a set is its own fraction, so its numerator is the output times its sum. "
        "You need only quotients of sums, and torch has `logaddexp`.",
        "Section “Exact, without the table”: the running softmax merges in the same way.",
    ),
)


@merge_attention.right
def softmax_of_two(output_1, log_sum_1, output_2, log_sum_2):
    both = torch.stack([log_sum_1, log_sum_2], dim=-1)
    weights = both.softmax(dim=-1).nan_to_num(0.0)
    output = weights[..., :1] * output_1 + weights[..., 1:] * output_2
    return output, torch.logsumexp(both, dim=-1)


@merge_attention.right
def by_the_larger(output_1, log_sum_1, output_2, log_sum_2):
    largest = torch.maximum(log_sum_1, log_sum_2)
    largest = torch.where(torch.isfinite(largest), largest, 0.0)
    sum_1, sum_2 = torch.exp(log_sum_1 - largest), torch.exp(log_sum_2 - largest)
    total = sum_1 + sum_2
    blend = sum_1[..., None] * output_1 + sum_2[..., None] * output_2
    return blend / torch.where(total > 0, total, 1.0)[..., None], torch.log(total) + largest


@merge_attention.right
def sigmoid(output_1, log_sum_1, output_2, log_sum_2):
    share = torch.sigmoid(log_sum_1 - log_sum_2)[..., None]
    none = torch.isneginf(log_sum_1) & torch.isneginf(log_sum_2)
    output = torch.where(none[..., None], 0.0, output_1 * share + output_2 * (1 - share))
    return output, torch.logaddexp(log_sum_1, log_sum_2)


@merge_attention.right
def plain(output_1, log_sum_1, output_2, log_sum_2):
    shares = torch.stack([log_sum_1, log_sum_2]).softmax(0).nan_to_num(0.0)[..., None]
    return shares[0] * output_1 + shares[1] * output_2, torch.logaddexp(log_sum_1, log_sum_2)


merge_attention.wrong(
    "the mean of the two",
    "One set holds a key with a very large score, and all other scores are small. Should both "
    "sets count the same?",
    plain.edit("shares[0] * output_1 + shares[1] * output_2", "(output_1 + output_2) / 2"),
)
merge_attention.wrong(
    "the sum of the two",
    "Let both sets hold the same keys and values. What should the output be, compared with that "
    "of one set?",
    plain.edit("shares[0] * output_1 + shares[1] * output_2", "output_1 + output_2"),
)


@merge_attention.wrong(
    "weighed by the logarithms",
    "Add 100 to every score of both sets. Should the output change? Do your weights?",
)
def _(output_1, log_sum_1, output_2, log_sum_2):
    share = (log_sum_1 / (log_sum_1 + log_sum_2)).nan_to_num(0.5)[..., None]
    return share * output_1 + (1 - share) * output_2, torch.logaddexp(log_sum_1, log_sum_2)


@merge_attention.wrong(
    "exponentials that overflow",
    "What is the exponential of 2000? Do you need it, or only the quotient of two such numbers?",
)
def _(output_1, log_sum_1, output_2, log_sum_2):
    sum_1, sum_2 = log_sum_1.exp()[..., None], log_sum_2.exp()[..., None]
    output = (sum_1 * output_1 + sum_2 * output_2) / (sum_1 + sum_2)
    return output.where(sum_1 + sum_2 > 0, 0), torch.logaddexp(log_sum_1, log_sum_2)


@merge_attention.wrong(
    "a query without any key forgotten",
    "A query had no key in either set. What is minus infinity minus minus infinity?",
)
def _(output_1, log_sum_1, output_2, log_sum_2):
    log_sum = torch.logaddexp(log_sum_1, log_sum_2)
    share_1 = torch.exp(log_sum_1 - log_sum)[..., None]
    share_2 = torch.exp(log_sum_2 - log_sum)[..., None]
    return share_1 * output_1 + share_2 * output_2, log_sum


merge_attention.wrong(
    "the logarithms added",
    "The sum over all keys is the sum of two sums. Is its logarithm the sum of the two "
    "logarithms, or is that the logarithm of a product?",
    plain.edit("torch.logaddexp(log_sum_1, log_sum_2)", "log_sum_1 + log_sum_2"),
)
merge_attention.wrong(
    "the larger logarithm",
    "Both sets have a sum of 10. What is the sum over all keys?",
    plain.edit("torch.logaddexp", "torch.maximum"),
)
merge_attention.wrong(
    "the weights exchanged",
    "Which of the two outputs should dominate if the first set has the larger sum?",
    plain.edit("[log_sum_1, log_sum_2]", "[log_sum_2, log_sum_1]"),
)


@merge_attention.public
def _(rng):
    yield _case(rng, "one query, one key in each set", (), 1, 1, 1, 1).holds(
        "Returns (output, log_sum) of the same shapes: what attention to all keys at once would "
        "have returned, and its own logarithm of a sum, so that a third set can be merged."
    )
    yield _case(rng, "two queries, sets of two and three keys", (), 2, 2, 3, 2).holds(
        "output_1 and output_2: (..., n_q, d_v), what attention to the keys of one set alone "
        "returned."
    )
    yield _case(rng, "sets of one and six keys", (), 2, 1, 6, 3).holds(
        "log_sum_1 and log_sum_2: (..., n_q), the logarithm of the sum of the exponentials of a "
        "query's scores there; they may be large, above 0 or below."
    )
    yield _case(rng, "logarithms above 1000, near each other", (), 3, 2, 4, 2, lift=1000.0).holds(
        "log_sum_1 and…"
    )
    yield _case(rng, "logarithms below -1000", (), 3, 4, 2, 2, lift=-1000.0).holds("log_sum_1 and…")
    yield _case(rng, "logarithms far apart", (), 4, 3, 3, 2, spread=900.0).holds("log_sum_1 and…")
    yield _case(rng, "a query without a key in the first set", (), 2, 0, 3, 2).holds(
        "A query that had no key in a set has there the output 0 and the logarithm minus infinity."
    )
    yield _case(rng, "a query without a key in the second set", (2,), 2, 3, 0, 2).holds(
        "A query that…"
    )
    yield _case(rng, "no key in either set", (), 2, 0, 0, 3).holds("A query that…")
    yield _case(rng, "some queries without keys", (), 5, 2, 3, 2, without=True).holds(
        "A query that…"
    )
    yield _case(rng, "float32, two leading axes", (2, 3), 2, 2, 4, 3, np.float32).holds(
        "output_1 and…"
    )
    yield _case(rng, "three leading axes", (2, 1, 2), 3, 2, 2, 2).holds(
        "All have the same leading axes."
    )
    yield _case(rng, "no query", (2,), 0, 2, 2, 2).holds("n_q may be 0.")
    yield _case(rng, "tiny values", (), 2, 3, 2, 2, values=1e-9).holds("output_1 and…")
    yield _case(rng, "a batch of one, one query", (1,), 1, 2, 5, 3).holds("All have…")


@merge_attention.hidden
def _(rng):
    n_q, one, other = (int(size) for size in rng.permutation([3, 4, 6]))
    yield _case(rng, "two sets", (), n_q, one, other, 2).holds("Returns (output…")
    yield _case(rng, "a batch", (2,), n_q, other, one, 3).holds("All have…")
    yield _case(rng, "logarithms above 1000, near each other", (2,), n_q, one, other, 2, lift=2e3)
    yield _case(rng, "logarithms below -1000", (), n_q, one, other, 2, lift=-3e3)
    yield _case(rng, "logarithms far apart", (), n_q, one, other, 2, spread=900.0)
    yield _case(rng, "some queries without keys", (2,), 5, one, other, 2, without=True)
    yield _case(rng, "float32, three leading axes", (2, 1, 2), n_q, one, other, 2, np.float32)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    n_q: int,
    first: int,
    second: int,
    d_v: int,
    dtype: type = np.float64,
    lift: float = 0.0,
    spread: float = 0.0,
    values: float = 1.0,
    without: bool = False,
) -> Case:
    """What n_q queries found among `first` keys, and among `second`; both may be 0.

    `lift` is added to all scores, `spread` takes the two sets apart. With `without`, three of five
    queries have no key in one set, in the other, in both.
    """
    given: list[np.ndarray] = []
    for at, (n_k, sign) in enumerate(((first, 1), (second, -1))):
        scores = rng.normal(size=(*batch, n_q, n_k)) + lift
        scores += sign * spread * rng.uniform(-1, 1, size=(n_q, 1))
        if without:
            scores[..., [at, 2], :] = -np.inf
        output, log_sum = _attended(scores, values * rng.normal(size=(*batch, n_k, d_v)))
        given += [output, log_sum]
    return Case(note, tuple(Tensor(one.astype(dtype), gradient=False) for one in given))


def _attended(scores: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The output for scores that may be minus infinity, and the logarithm of their sum."""
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)
    shares = np.exp(scores - largest)
    total = shares.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_sum = (np.log(total) + largest)[..., 0]
    return shares @ V / np.where(total > 0, total, 1), log_sum
