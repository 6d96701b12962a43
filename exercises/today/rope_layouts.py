"""The exercise `rope_layouts`: which features a published head turns together. To transfer."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions.variants import reading_models as solutions

rope_layouts = Declaration(
    solutions.rope_layouts,
    points=4,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "You have everything that the published model had: work out its scores yourself, once "
        "with each layout. Which of the two gives the published scores?",
        "For the new order, ask about each row of the new matrix: which pair is it in, and is it "
        "the first or the second of the pair? Which old row has this role?",
        "Section “One piece at a time”, and chapter 7's rotary positions.",
    ),
)


@rope_layouts.right
def written_out(W_q, W_k, X, scores, base):
    d, n = len(W_q), len(X)

    def turned(Y, first, second):
        result = np.zeros(Y.shape)
        for p in range(n):
            for i in range(d // 2):
                angle = p / base ** (2 * i / d)
                x, y = Y[p, first[i]], Y[p, second[i]]
                result[p, first[i]] = x * np.cos(angle) - y * np.sin(angle)
                result[p, second[i]] = x * np.sin(angle) + y * np.cos(angle)
        return result

    def error(*pairs):
        found = turned(X @ W_q.T, *pairs) @ turned(X @ W_k.T, *pairs).T / np.sqrt(d)
        return np.abs(found - scores).max() / np.abs(scores).max()

    evens, odds = list(range(0, d, 2)), list(range(1, d, 2))
    if error(evens, odds) < 0.01:
        return "neighbours", W_q[evens + odds], W_k[evens + odds]
    if error(list(range(d // 2)), list(range(d // 2, d))) < 0.01:
        order = [i // 2 + (i % 2) * (d // 2) for i in range(d)]
        return "halves", W_q[order], W_k[order]
    raise ValueError("neither")


@rope_layouts.right
def by_distance(W_q, W_k, X, scores, base):
    d, n = W_q.shape[0], X.shape[0]
    Q, K = X @ W_q.T, X @ W_k.T
    apart = np.arange(n)[:, None] - np.arange(n)
    angles = apart[..., None] / base ** (2 * np.arange(d // 2) / d)
    fits = {}
    for layout in ("halves", "neighbours"):
        if layout == "halves":
            (a, b), (c, e) = np.split(Q, 2, axis=1), np.split(K, 2, axis=1)
        else:
            (a, b), (c, e) = (Q[:, ::2], Q[:, 1::2]), (K[:, ::2], K[:, 1::2])
        along = np.einsum("ip,jp->ijp", a, c) + np.einsum("ip,jp->ijp", b, e)
        across = np.einsum("ip,jp->ijp", a, e) - np.einsum("ip,jp->ijp", b, c)
        found = (along * np.cos(angles) + across * np.sin(angles)).sum(axis=-1) / d**0.5
        fits[layout] = np.max(np.abs(found - scores))
    layout = "halves" if fits["halves"] < fits["neighbours"] else "neighbours"
    if fits[layout] > np.max(np.abs(scores)) / 100:
        raise ValueError(fits)
    if layout == "halves":
        moved = [W.reshape(2, d // 2, -1).swapaxes(0, 1).reshape(W.shape) for W in (W_q, W_k)]
    else:
        moved = [np.concatenate([W[::2], W[1::2]]) for W in (W_q, W_k)]
    return layout, *moved


@rope_layouts.right
def by_matrices(W_q, W_k, X, scores, base):
    d = len(W_q)
    to_halves = np.zeros((d, d))
    for i in range(d // 2):
        to_halves[i, 2 * i] = to_halves[d // 2 + i, 2 * i + 1] = 1
    blocks = []
    for p in range(len(X)):
        turn = np.zeros((d, d))
        for i in range(d // 2):
            angle = p * base ** (-2 * i / d)
            turn[2 * i, 2 * i] = turn[2 * i + 1, 2 * i + 1] = np.cos(angle)
            turn[2 * i + 1, 2 * i] = np.sin(angle)
            turn[2 * i, 2 * i + 1] = -np.sin(angle)
        blocks.append(turn)
    for layout, P in (("neighbours", np.eye(d)), ("halves", to_halves.T)):
        Q = np.stack([turn @ P @ W_q @ x for turn, x in zip(blocks, X, strict=True)])
        K = np.stack([turn @ P @ W_k @ x for turn, x in zip(blocks, X, strict=True)])
        gap = np.abs(Q @ K.T / np.sqrt(d) - scores).max()
        if gap <= 0.01 * np.abs(scores).max():
            M = to_halves if layout == "neighbours" else to_halves.T
            return layout, M @ W_q, M @ W_k
    raise ValueError("no layout")


@rope_layouts.right
def plain(W_q, W_k, X, scores, base):
    d, n = len(W_q), len(X)
    order = np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])
    back = np.argsort(order)
    angles = np.arange(n)[:, None] * base ** (-np.arange(d // 2) * 2 / d)
    cosine, sine = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)

    def turned(Y):
        half = d // 2
        return Y * cosine + np.concatenate([-Y[:, half:], Y[:, :half]], axis=1) * sine

    for layout, own, other in (("neighbours", order, order), ("halves", np.arange(d), back)):
        Q, K = turned(X @ W_q[own].T), turned(X @ W_k[own].T)
        gap = np.abs(Q @ K.T / d**0.5 - scores).max()
        if gap < 0.01 * np.abs(scores).max():
            return layout, W_q[other], W_k[other]
    raise ValueError("neither layout")


rope_layouts.wrong(
    "the layout that the weights fit now",
    "Which layout did the published model have: the one that made the scores, or the one that you "
    "made new weights for?",
    plain.edit(
        '("neighbours", order, order), ("halves",', '("halves", order, order), ("neighbours",'
    ),
)
rope_layouts.wrong(
    "the order the wrong way",
    "Number the rows by their features, and reorder six of them. Is the first pair where the "
    "other layout looks for it?",
    plain.edit("order, order)", "order, back)").edit("np.arange(d), back)", "np.arange(d), order)"),
)
rope_layouts.wrong(
    "the keys left as they were",
    "A query and a key are compared feature by feature. What happens if only one of the two has "
    "its features in a new order?",
    plain.edit("W_k[other]", "W_k.copy()"),
)
rope_layouts.wrong(
    "the second of a pair first",
    "Both layouts rotate from the first feature of a pair towards the second. Which one is the "
    "first in your new order?",
    plain.edit(
        "return layout, W_q[other], W_k[other]",
        "swap = np.roll(np.arange(d), d // 2)\n"
        'if layout == "halves":\n'
        "    swap = np.arange(d) ^ 1\n"
        "return layout, W_q[other][swap], W_k[other][swap]",
    ),
)
rope_layouts.wrong(
    "halves exchanged, not pairs",
    "In your new order, how far apart are the two features of a pair? And how far apart should "
    "they be?",
    plain.edit(
        "return layout, W_q[other], W_k[other]",
        "return layout, np.roll(W_q, d // 2, axis=0), np.roll(W_k, d // 2, axis=0)",
    ),
)
rope_layouts.wrong(
    "always the halves",
    "Does your function look at the scores? What does it return for a model that rotates "
    "neighbours?",
    plain.edit("if gap < 0.01 * np.abs(scores).max():", 'if layout == "halves":'),
)
rope_layouts.wrong(
    "no layout found",
    "At position 0 nothing is rotated. Is your score of the first token on itself the published "
    "one? If it is, which is the first score that differs?",
    plain.edit(" / d**0.5", ""),
)
rope_layouts.wrong(
    "a guess where nothing fits",
    "These scores come from a model without any rotation. What should your function do?",
    plain.edit(
        'raise ValueError("neither layout")',
        "return layout, W_q[other], W_k[other]",
    ),
)


@rope_layouts.public
def _(rng):
    yield _case(rng, "six features, neighbours are rotated", "neighbours", 6, 5, 4, 100.0).holds(
        'There are two layouts. In "neighbours" the features 2i and 2i + 1 are pair i, in "halves" '
        "the features i and i + d_head/2.",
        "the same rows in the order in which they make them with the other layout",
    )
    yield _case(rng, "six features, halves are rotated", "halves", 6, 5, 4, 100.0).holds(
        "There are…",
        "Either way, pair i is turned from its first feature towards its second, by position / "
        "base^(2i/d_head).",
        "Returns the tuple (layout, W_q, W_k): the name of the layout with which these weights "
        "make these scores, and two new arrays",
    )
    yield _case(rng, "another six features, halves", "halves", 6, 5, 4, 100.0)
    yield _case(rng, "eight features, a large base", "neighbours", 8, 3, 12, 100_000.0).holds(
        "Either way…"
    )
    yield _case(rng, "ten features, a large base", "halves", 10, 4, 12, 100_000.0).holds(
        "scores: (n, n), from the published model",
    )
    yield _case(rng, "as many features as tokens, and as wide", "halves", 6, 6, 6, 50.0).holds(
        "W_q and W_k: (d_head, d_model), d_head even and at least 4, of one head, as published "
        "files store them: the query of a token x is W_q x."
    )
    yield _case(rng, "all sizes equal, neighbours", "neighbours", 8, 8, 8, 50.0).holds(
        "W_q and W_k…"
    )
    yield _case(rng, "scores of four digits", "halves", 6, 4, 5, 100.0, digits=4).holds(
        "rounded to four digits perhaps"
    )
    yield _case(rng, "scores of four digits, neighbours", "neighbours", 6, 4, 5, 100.0, digits=4)
    yield _case(rng, "four features, three tokens", "halves", 4, 3, 3, 100.0).holds(
        "n at least 3, the tokens at the positions 0 to n - 1"
    )
    yield _case(rng, "float32, neighbours", "neighbours", 6, 5, 7, 1000.0, dtype=np.float32)
    yield _case(rng, "tokens of one feature, tiny", "halves", 6, 1, 7, 1000.0, size=1e-9).holds(
        "X: (n, d_model), floating"
    )
    yield _case(rng, "a model that rotates nothing", "nothing", 6, 5, 6, 100.0).holds(
        "Raises ValueError if neither layout comes within a hundredth of the largest score in size."
    )
    yield _case(rng, "tokens of one feature that are not rotated", "nothing", 6, 1, 6, 100.0)
    yield _case(rng, "a model with another base", "neighbours", 8, 5, 6, 3.0, given=100.0).holds(
        "Raises ValueError…"
    )
    yield from _near_the_limit(rng, 6, 4, 5)


@rope_layouts.hidden
def _(rng):
    d_head, d_model, n = (2 * int(rng.integers(3, 6)), int(rng.integers(3, 9)), 6)
    for layout in rng.permutation(["neighbours", "halves"]).tolist():
        yield _case(rng, f"{layout} are rotated", layout, d_head, d_model, n, 100.0)
        yield _case(rng, f"{layout}, a large base", layout, 8, d_model, 12, 100_000.0)
        note = f"{layout}, scores of four digits"
        yield _case(rng, note, layout, d_head, d_model, n, 200.0, digits=4)
        note = f"float32, {layout}, all sizes equal"
        yield _case(rng, note, layout, 6, 6, 6, 50.0, dtype=np.float32)
    yield _case(rng, "a model that rotates nothing", "nothing", d_head, d_model, n, 100.0)
    yield _case(rng, "a model with another base", "halves", 8, d_model, n, 3.0, given=200.0)
    yield from _near_the_limit(rng, d_head, d_model, n)


def _case(
    rng: np.random.Generator,
    note: str,
    layout: str,
    d_head: int,
    d_model: int,
    n: int,
    base: float,
    digits: int | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
    given: float | None = None,
) -> Case:
    """A head of one layout, whose scores the other is far from; `given` is the base of the call."""
    while True:
        W_q, W_k = rng.normal(size=(2, d_head, d_model)) / d_model**0.5
        X = size * rng.normal(size=(n, d_model))
        by_layout = {one: _scores(W_q, W_k, X, one, base) for one in ("neighbours", "halves")}
        by_layout["nothing"] = (X @ W_q.T) @ (X @ W_k.T).T / math.sqrt(d_head)
        scores = by_layout.pop(layout)
        largest = np.abs(scores).max()
        if all(np.abs(scores - one).max() > 0.2 * largest for one in by_layout.values()):
            break
    if digits:
        step = 10 ** (np.floor(np.log10(largest)) - digits + 1)
        scores = np.round(scores / step) * step
    arrays = (one.astype(dtype) for one in (W_q, W_k, X, scores))
    fails = Raises("ValueError") if layout == "nothing" or given else None
    return Case(note, (*arrays, given or base), raises=fails)


def _scores(
    W_q: np.ndarray, W_k: np.ndarray, X: np.ndarray, layout: str, base: float
) -> np.ndarray:
    """What a published model of this layout makes of its queries and keys."""
    half = len(W_q) // 2
    angles = np.arange(len(X))[:, None] * base ** (-np.arange(half) / half)

    def turned(Y: np.ndarray) -> np.ndarray:
        if layout == "halves":
            first, second = Y[:, :half], Y[:, half:]
        else:
            first, second = Y[:, ::2], Y[:, 1::2]
        return (first + 1j * second) * np.exp(1j * angles)

    found: np.ndarray = (turned(X @ W_q.T) @ turned(X @ W_k.T).conj().T).real
    return found / math.sqrt(2 * half)


def _near_the_limit(rng: np.random.Generator, d_head: int, d_model: int, n: int) -> Iterator[Case]:
    """Scores that are off by just under or over 1 % of the largest absolute score."""
    for layout in ("neighbours", "halves"):
        case = _below_0(_case(rng, "", layout, d_head, d_model, n, 100.0))
        limit = 0.01 * np.abs(case.arguments[3]).max()
        off = 0.95 * limit * rng.choice([-1, 1], size=(n, n))
        note = f"{layout}, each score off by nearly a hundredth"
        yield _off(case, note, off).holds("Raises ValueError…")
        for row, column, sign in ((0, n - 2, 1), (n - 2, 0, -1)):
            off = np.zeros((n, n))
            off[row, column] = 1.1 * sign * limit
            where = "too high" if sign > 0 else "too low"
            note = f"{layout}, one score {where} by more than a hundredth"
            refused = replace(_off(case, note, off), raises=Raises("ValueError"))
            yield refused.holds("nothing is hidden", "Raises ValueError…")


def _below_0(case: Case) -> Case:
    """The same, where the largest absolute score is negative: the keys point the other way."""
    W_q, W_k, X, scores, base = case.arguments
    sign = -1 if scores.max() > -scores.min() else 1
    return replace(case, arguments=(W_q, sign * W_k, X, sign * scores, base))


def _off(case: Case, note: str, off: np.ndarray) -> Case:
    W_q, W_k, X, scores, base = case.arguments
    return replace(case, note=note, arguments=(W_q, W_k, X, scores + off, base))


rope_layouts.mutant("a limit of an eightieth", "<= 0.01 *", "<= 0.0125 *")
rope_layouts.mutant("a limit of a hundred-and-tenth", "<= 0.01 *", "<= 0.009 *")
rope_layouts.mutant("the largest score, not in size", "np.abs(scores).max()", "scores.max()")
rope_layouts.mutant("scores too high alone", "np.abs(found - scores)", "(scores - found)")
rope_layouts.mutant("scores too low alone", "np.abs(found - scores)", "(found - scores)")
rope_layouts.mutant(
    "half of the scores", "np.abs(found - scores)", "np.tril(np.abs(found - scores))"
)
rope_layouts.mutant("the other half", "np.abs(found - scores)", "np.triu(np.abs(found - scores))")
rope_layouts.mutant("the mean", "np.abs(found - scores).max()", "np.abs(found - scores).mean()")
rope_layouts.mutant(
    "another norm",
    "np.abs(found - scores).max() <= 0.01 * np.abs(scores).max()",
    "np.linalg.norm(found - scores) <= 0.01 * np.linalg.norm(scores)",
)
rope_layouts.lets_through("n of 1 refused", "there are three tokens or more")
