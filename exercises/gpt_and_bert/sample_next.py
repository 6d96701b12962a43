"""The exercise `sample_next`: temperature, top-k and top-p.

The random generator of a case is made afresh from its seed at each call. A right answer draws one
number per row, so there is a single right result to compare with.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, SeededGenerator
from solutions import gpt_and_bert as solutions

sample_next = Declaration(
    solutions.sample_next,
    points=4,
    difficulty=4,
    minutes=30,
    help=(
        "Rank the candidates. Cut the ranking after top_k, turn the rest into probabilities, cut "
        "again where they sum to top_p, and draw.",
        "`np.argsort(-logits, kind='stable')` ranks, and `np.take_along_axis` brings the logits "
        "into that order, and turns the drawn place back into an id. A candidate stays if the "
        "probabilities before it sum to less than top_p.",
        "Section “Drawing the next token”.",
    ),
)


@sample_next.right
def row_by_row(logits, temperature, top_k, top_p, generator):
    if temperature == 0:
        return np.argmax(logits, axis=-1)
    rows = logits.reshape(-1, logits.shape[-1])
    draws = np.atleast_1d(generator.random(logits.shape[:-1])).reshape(-1)
    found = []
    for row, u in zip(rows, draws, strict=True):
        ranked = sorted(range(len(row)), key=lambda one: (-row[one], one))[:top_k]
        shares = [float(np.exp((row[one] - row[ranked[0]]) / temperature)) for one in ranked]
        total = sum(shares)
        if top_p is not None:
            kept, so_far = 0, 0.0
            while so_far < top_p and kept < len(shares):
                so_far += shares[kept] / total
                kept += 1
            shares = shares[:kept]
            total = sum(shares)
        so_far = 0.0
        last = -1
        while so_far <= u * total and last + 1 < len(shares):
            last += 1
            so_far += shares[last]
        found.append(ranked[last])
    return np.array(found, dtype=int).reshape(logits.shape[:-1])


@sample_next.right
def threshold(logits, temperature, top_k, top_p, generator):
    if not temperature:
        return np.argmax(logits, axis=-1)
    order = np.lexsort((np.broadcast_to(np.arange(logits.shape[-1]), logits.shape), -logits))
    logits = np.take_along_axis(logits / temperature, order, axis=-1)
    if top_k is not None:
        logits = np.where(np.arange(logits.shape[-1]) < top_k, logits, -np.inf)
    shares = np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))
    if top_p is not None:
        sums = np.cumsum(shares, axis=-1)
        enough = np.argmax((sums >= top_p) | (np.arange(sums.shape[-1]) == sums.shape[-1] - 1), -1)
        shares = np.where(np.arange(logits.shape[-1]) <= enough[..., None], shares, 0)
        shares = shares / shares.sum(axis=-1, keepdims=True)
    u = np.asarray(generator.random(logits.shape[:-1]))
    reached = np.cumsum(shares, axis=-1) > u[..., None] * shares.sum(axis=-1, keepdims=True)
    return np.take_along_axis(order, np.argmax(reached, axis=-1)[..., None], axis=-1)[..., 0]


@sample_next.right
def searched(logits, temperature, top_k, top_p, generator):
    shape, V = logits.shape[:-1], logits.shape[-1]
    logits = logits.reshape(-1, V)
    ranking = np.argsort(-logits, axis=1, kind="stable")
    if temperature > 0:
        draws = np.reshape(generator.random(shape), -1)
        for row, u in enumerate(draws):
            order = ranking[row, : V if top_k is None else top_k]
            scores = (logits[row, order] - logits[row, order[0]]) / temperature
            sums = np.cumsum(np.exp(scores))
            if top_p is not None:
                sums = sums[: np.searchsorted(sums, top_p * sums[-1]) + 1]
            ranking[row, 0] = order[np.searchsorted(sums, u * sums[-1], side="right")]
    return ranking[:, 0].reshape(shape)


@sample_next.right
def plain(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)
    sums = np.cumsum(weights, axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None] * sums[..., -1:]
    place = np.sum(sums <= draws, axis=-1, keepdims=True)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


@sample_next.wrong(
    "always the likeliest",
    "Call it many times with different generators. How often is a candidate with a probability "
    "of one third drawn?",
)
def _(logits, temperature, top_k, top_p, generator):
    return np.argmax(logits, axis=-1)


sample_next.wrong(
    "the temperature ignored",
    "What does your function do with a temperature of 0.5, and what does it do with one of 2?",
    plain.edit(" / temperature", ""),
)
sample_next.wrong(
    "multiplied by the temperature",
    "A high temperature should make the shares more equal. Does it in your function?",
    plain.edit(" / temperature", " * temperature"),
)
sample_next.wrong(
    "the temperature after the cut",
    "Which probabilities should sum to top_p: those before the temperature is applied, or those "
    "after it?",
    plain.edit(
        "weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)",
        "shares = np.exp(ranked - ranked[..., :1])\n"
        "shares = shares / shares.sum(axis=-1, keepdims=True)\n"
        "weights = np.where(np.cumsum(shares, axis=-1) - shares < top_p, weights, 0)",
    ),
)
sample_next.wrong(
    "top_k ignored",
    "With top_k of 1, what can be drawn? What does your function draw?",
    plain.edit("[..., :top_k]", ""),
)
sample_next.wrong(
    "top_p ignored",
    "With a tiny top_p, what can be drawn? What does your function draw?",
    plain.edit("np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)", "weights"),
)
sample_next.wrong(
    "top_p of all the candidates",
    "top_k cuts first. Over which candidates, then, should you take the softmax whose shares you "
    "sum?",
    plain.edit("[..., :top_k]", "").edit(
        "sums = np.cumsum(weights, axis=-1)", "sums = np.cumsum(weights[..., :top_k], axis=-1)"
    ),
)
sample_next.wrong(
    "one too many where the sum is exactly top_p",
    "Shares of 0.5, 0.25, 0.25, and a top_p of 0.5: how few candidates sum to top_p or more?",
    plain.edit("- weights < top_p", "- weights <= top_p"),
)
sample_next.wrong(
    "less than top_p kept",
    "Shares of 0.5, 0.3, 0.2, and a top_p of 0.7: how many candidates does it take?",
    plain.edit(
        "weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)",
        "kept = np.cumsum(weights, axis=-1) <= top_p\n"
        "kept[..., 0] = True\n"
        "weights = np.where(kept, weights, 0)",
    ),
)


@sample_next.wrong(
    "not rescaled after a cut",
    "After a cut the running sum ends below 1. What happens to a u above that?",
)
def _(logits, temperature, top_k, top_p, generator):
    ranking = np.argsort(-logits, axis=-1, kind="stable")
    if temperature == 0:
        return ranking[..., 0]
    ranked = np.take_along_axis(logits, ranking, axis=-1)
    weights = np.exp((ranked - ranked[..., :1]) / temperature)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    kept = np.arange(logits.shape[-1]) < (logits.shape[-1] if top_k is None else top_k)
    if top_p is not None:
        of_top_k = np.where(kept, weights, 0)
        of_top_k = of_top_k / of_top_k.sum(axis=-1, keepdims=True)
        kept = kept & (np.cumsum(of_top_k, axis=-1) - of_top_k < top_p)
    sums = np.cumsum(np.where(kept, weights, 0), axis=-1)
    draws = np.asarray(generator.random(logits.shape[:-1]))[..., None]
    last = np.broadcast_to(kept, logits.shape).sum(axis=-1, keepdims=True) - 1
    place = np.minimum(np.sum(sums <= draws, axis=-1, keepdims=True), last)
    return np.take_along_axis(ranking, place, axis=-1)[..., 0]


sample_next.wrong(
    "summed in the order of the ids",
    "In which order does the docstring take the running sum: that of the ids, or that of the "
    "ranking?",
    plain.edit(
        "sums = np.cumsum(weights, axis=-1)",
        "by_id = np.zeros_like(logits)\n"
        "np.put_along_axis(by_id, ranking[..., :top_k], weights, axis=-1)\n"
        "sums = np.cumsum(by_id, axis=-1)",
    ).edit(
        "place = np.sum(sums <= draws, axis=-1, keepdims=True)\n"
        "return np.take_along_axis(ranking, place, axis=-1)[..., 0]",
        "return np.sum(sums <= draws, axis=-1)",
    ),
)
sample_next.wrong(
    "ranked from the rarest on",
    "At temperature 0, which token do you return? In which direction does `argsort` sort?",
    plain.edit("np.argsort(-logits", "np.argsort(logits"),
)
sample_next.wrong(
    "summed from the rarest on",
    "You keep the right candidates. With which of them does the running sum of the docstring "
    "begin: the likeliest or the rarest?",
    plain.edit(
        "sums = np.cumsum(weights, axis=-1)",
        "weights, ranking = weights[..., ::-1], ranking[..., : weights.shape[-1]][..., ::-1]\n"
        "sums = np.cumsum(weights, axis=-1)",
    ),
)
sample_next.wrong(
    "a place in the ranking returned",
    "Is place 0 of the ranking token 0?",
    plain.edit(
        "place = np.sum(sums <= draws, axis=-1, keepdims=True)\n"
        "return np.take_along_axis(ranking, place, axis=-1)[..., 0]",
        "return np.sum(sums <= draws, axis=-1)",
    ),
)
sample_next.wrong(
    "one draw for all rows",
    "Two rows have the same logits. May they get different tokens?",
    plain.edit("np.asarray(generator.random(logits.shape[:-1]))[..., None]", "generator.random()"),
)


sample_next.wrong(
    "the tail measured, not the head",
    "With a top_p of 0.9, how much of the probability do you keep: nine tenths, or one tenth?",
    plain.edit(
        "weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)",
        "kept = np.cumsum(weights, axis=-1) - weights < 1 - top_p\n"
        "kept[..., 0] = True\n"
        "weights = np.where(kept, weights, 0)",
    ),
)
sample_next.wrong(
    "each share compared with top_p",
    "Is top_p a limit for one share, or for a sum of them?",
    plain.edit(
        "weights = np.where(np.cumsum(weights, axis=-1) - weights < top_p, weights, 0)",
        "kept = weights > top_p\nkept[..., 0] = True\nweights = np.where(kept, weights, 0)",
    ),
)
sample_next.wrong(
    "more than top_k, where logits are equal",
    "There are four equal logits, and top_k is 2. How many candidates can be drawn?",
    plain.edit(
        "ranked = np.take_along_axis(logits, ranking, axis=-1)[..., :top_k]",
        "ranked = np.take_along_axis(logits, ranking, axis=-1)\n"
        "least = ranked[..., :top_k][..., -1:]\n"
        "ranked = np.where(ranked >= least, ranked, -np.inf)",
    ),
)
sample_next.wrong(
    "the probabilities divided by the temperature",
    "What does the docstring divide by the temperature: logits, or probabilities?",
    plain.edit(
        "weights = np.exp((ranked - ranked[..., :1]) / temperature)",
        "weights = np.exp(ranked - ranked[..., :1])\n"
        "weights = weights / weights.sum(axis=-1, keepdims=True)\n"
        "weights = np.exp(weights / temperature - weights[..., :1] / temperature)",
    ),
)


@sample_next.public
def _(rng):
    yield _case(rng, "thirty rows of four candidates", (30, 4), 1.0).holds(
        "generator: one number u a row, `generator.random(logits.shape[:-1])`.",
        "The drawn token is the first of the ranking at which the running sum of the "
        "probabilities that are left is larger than u times their total.",
    )
    yield _case(rng, "a temperature below 1", (30, 5), 0.6).holds(
        "at 0 each row takes the first of its ranking, whatever is drawn; above 0 the logits are "
        "divided by it before the softmax."
    )
    yield _case(rng, "a temperature above 1", (30, 5), 1.7).holds("at 0 each…")
    yield _case(rng, "top_k", (40, 6), 1.2, top_k=3).holds(
        "only the first top_k of the ranking, at least 1, can be drawn, and the softmax is over "
        "these; None for all.",
        "The drawn…",
    )
    yield _case(rng, "top_p", (40, 6), 1.3, top_p=0.7).holds(
        "then only the fewest of the ranking whose probabilities sum to top_p or more, above 0 "
        "and at most 1; None for all.",
        "The drawn…",
    )
    yield _case(rng, "top_k and top_p", (60, 8), 1.6, top_k=4, top_p=0.6).holds(
        "only the…", "then only…"
    )
    yield _halves(rng, "a sum that is exactly top_p", 0.5).holds("then only…")
    yield _halves(rng, "another sum that is exactly top_p", 0.75).holds("then only…")
    yield _halves(rng, "a sum just above top_p", 0.499).holds("then only…")
    yield _halves(rng, "a sum just below top_p", 0.501).holds("then only…")
    yield _case(rng, "temperature 0", (20, 5), 0, top_k=3, top_p=0.9).holds("at 0 each…")
    yield _case(rng, "equal logits", (40, 5), 0.8, 3, whole=True).holds(
        "Tokens are ranked by their logits; of equal ones the lower id comes first."
    )
    yield _case(rng, "equal logits, temperature 0", (20, 5), 0, whole=True).holds("Tokens are…")
    yield _case(rng, "large logits", (30, 5), 0.9, top_p=0.95, far=2000.0).holds(
        "they may be large, and -inf for a token that is never drawn, but not for a whole row."
    )
    yield Case(
        "candidates that are never drawn", (_barred(rng, 30, 6), 1.1, None, 0.9, _u(rng))
    ).holds("they may…")
    yield _case(rng, "float32, two leading axes", (5, 6, 5), 1.1, top_k=9, dtype=np.float32).holds(
        "logits: (..., V), V at least 1", "only the…"
    )
    yield _case(rng, "one row, top_p of 1", (40,), 1.5, top_p=1.0).holds("then only…")
    yield _case(rng, "one candidate, a batch of one", (1, 1), 2.0, 1, 0.1).holds(
        "logits: (...…", "then only…"
    )
    yield _case(rng, "thirty other rows", (30, 4), 1.0).holds("generator: one…")
    tiny = rng.normal(size=(40, 5)) * 1e-11
    yield Case(
        "tiny logits, and an equally small temperature", (tiny, 1e-11, None, 0.9, _u(rng))
    ).holds("at 0 each…")


@sample_next.hidden
def _(rng):
    V = int(rng.integers(6, 10))
    yield _case(rng, "several rows", (40, V), 1.0).holds(
        "generator: one…", "Returns ids (...), integers."
    )
    yield _case(rng, "a temperature below 1", (40, V), float(rng.uniform(0.4, 0.7)))
    yield _case(rng, "a temperature above 1", (40, V), float(rng.uniform(1.5, 2.0)))
    yield _case(rng, "top_k", (50, V), 1.3, top_k=int(rng.integers(2, 5)))
    yield _case(rng, "top_p", (50, V), 1.4, top_p=float(rng.uniform(0.5, 0.8)))
    yield _case(rng, "top_k and top_p", (70, V), 1.6, 4, float(rng.uniform(0.5, 0.7)))
    yield _halves(rng, "a sum that is exactly top_p", 0.5)
    yield _halves(rng, "another sum that is exactly top_p", 0.75)
    yield _halves(rng, "a sum just above top_p", float(rng.uniform(0.49, 0.499)))
    yield _halves(rng, "a sum just below top_p", float(rng.uniform(0.501, 0.51)))
    yield _case(rng, "temperature 0", (20, V), 0.0)
    yield _case(rng, "equal logits", (50, V), 0.8, 3, whole=True)
    yield _case(rng, "equal logits, temperature 0", (20, V), 0, whole=True)
    yield _case(rng, "large logits", (40, V), 0.9, top_p=0.95, far=2000.0)
    yield Case("candidates that are never drawn", (_barred(rng, 40, V), 1.2, None, None, _u(rng)))
    yield _case(rng, "float32, two leading axes", (6, 7, V), 1.1, dtype=np.float32)
    yield _case(rng, "one row of many candidates", (90,), 1.5, top_k=60).holds(
        "logits: (...…", "Returns ids…"
    )
    yield _case(rng, "three leading axes", (2, 1, 7, V), 1.2).holds("logits: (...…")
    yield _case(rng, "several other rows", (40, V), 1.0)


def _u(rng: np.random.Generator) -> SeededGenerator:
    return SeededGenerator(int(rng.integers(2**31)))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    temperature: float,
    top_k: int | None = None,
    top_p: float | None = None,
    dtype: type = np.float64,
    whole: bool = False,
    far: float = 0.0,
) -> Case:
    """Logits of `shape`, `far` from 0, and where they are `whole`, many of them equal."""
    logits = rng.normal(size=shape) * 1.3
    logits = np.round(logits) if whole else logits
    return Case(note, ((logits + far).astype(dtype), temperature, top_k, top_p, _u(rng)))


def _halves(rng: np.random.Generator, note: str, top_p: float) -> Case:
    """Shares of 1/2 and 1/4 alone, in any order: sums of them are exact in any right formula."""
    shares = np.array([[0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]])
    shares = rng.permuted(np.repeat(shares, 15, axis=0), axis=1)
    with np.errstate(divide="ignore"):
        return Case(note, (np.log(4 * shares), 1.0, None, top_p, _u(rng)))


def _barred(rng: np.random.Generator, rows: int, V: int) -> np.ndarray:
    """Logits of which about a third are -inf, but never a whole row."""
    logits = np.where(rng.random((rows, V)) < 0.35, -np.inf, rng.normal(size=(rows, V)))
    logits[:, V // 2] = 0.3
    return logits


sample_next.mutant("one more where the sum is top_p", "sum_before < top_p", "sum_before <= top_p")
sample_next.mutant("a little less is enough", "sum_before < top_p", "sum_before < top_p - 0.01")
sample_next.mutant("a little more is needed", "sum_before < top_p", "sum_before < top_p + 0.01")
