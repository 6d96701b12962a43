"""The exercise `sample_next`: temperature, top-k and top-p.

The random generator of a case is made afresh from its seed at each call. A right answer takes one
number a row from it, so what is right is one answer and can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import gpt_and_bert as solutions

from ...judging.exercise import Case, Exercise, Promise, SeededGenerator
from .sample_next_wrong import WRONG


def sample_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "thirty rows of four candidates", (30, 4), 1.0)
    yield _case(rng, "a temperature below 1", (30, 5), 0.6)
    yield _case(rng, "a temperature above 1", (30, 5), 1.7)
    yield _case(rng, "top_k", (40, 6), 1.2, top_k=3)
    yield _case(rng, "top_p", (40, 6), 1.3, top_p=0.7)
    yield _case(rng, "top_k and top_p", (60, 8), 1.6, top_k=4, top_p=0.6)
    yield _case(rng, "temperature 0", (20, 5), 0, top_k=3, top_p=0.9)
    yield _case(rng, "equal logits", (40, 5), 0.8, 3, whole=True)
    yield _case(rng, "equal logits, temperature 0", (20, 5), 0, whole=True)
    yield _case(rng, "large logits", (30, 5), 0.9, top_p=0.95, far=2000.0)
    yield Case("candidates that are never drawn", (_barred(rng, 30, 6), 1.1, None, 0.9, _u(rng)))
    yield _case(rng, "float32, two leading axes", (5, 6, 5), 1.1, top_k=9, dtype=np.float32)
    yield _case(rng, "one row, top_p of 1", (40,), 1.5, top_p=1.0)
    yield _case(rng, "one candidate, a batch of one", (1, 1), 2.0, 1, 0.1)
    yield _case(rng, "thirty other rows", (30, 4), 1.0)
    tiny = rng.normal(size=(40, 5)) * 1e-11
    yield Case("tiny logits, and a temperature as small", (tiny, 1e-11, None, 0.9, _u(rng)))


def sample_hidden(rng: np.random.Generator) -> Iterator[Case]:
    V = int(rng.integers(6, 10))
    yield _case(rng, "several rows", (40, V), 1.0)
    yield _case(rng, "a temperature below 1", (40, V), float(rng.uniform(0.4, 0.7)))
    yield _case(rng, "a temperature above 1", (40, V), float(rng.uniform(1.5, 2.0)))
    yield _case(rng, "top_k", (50, V), 1.3, top_k=int(rng.integers(2, 5)))
    yield _case(rng, "top_p", (50, V), 1.4, top_p=float(rng.uniform(0.5, 0.8)))
    yield _case(rng, "top_k and top_p", (70, V), 1.6, 4, float(rng.uniform(0.5, 0.7)))
    yield _case(rng, "temperature 0", (20, V), 0.0)
    yield _case(rng, "equal logits", (50, V), 0.8, 3, whole=True)
    yield _case(rng, "equal logits, temperature 0", (20, V), 0, whole=True)
    yield _case(rng, "large logits", (40, V), 0.9, top_p=0.95, far=2000.0)
    yield Case("candidates that are never drawn", (_barred(rng, 40, V), 1.2, None, None, _u(rng)))
    yield _case(rng, "float32, two leading axes", (6, 7, V), 1.1, dtype=np.float32)
    yield _case(rng, "one row of many candidates", (90,), 1.5, top_k=60)
    yield _case(rng, "three leading axes", (2, 1, 7, V), 1.2)
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


def _barred(rng: np.random.Generator, rows: int, V: int) -> np.ndarray:
    """Logits of which about a third are -inf, but never a whole row."""
    logits = np.where(rng.random((rows, V)) < 0.35, -np.inf, rng.normal(size=(rows, V)))
    logits[:, V // 2] = 0.3
    return logits


def sample_next__row_by_row(logits, temperature, top_k, top_p, generator):
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


def sample_next__threshold(logits, temperature, top_k, top_p, generator):
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


def sample_next__searched(logits, temperature, top_k, top_p, generator):
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


SAMPLE_NEXT = Exercise(
    name="sample_next",
    points=4,
    difficulty=4,
    minutes=30,
    reference=solutions.sample_next,
    cases=sample_cases,
    hidden=sample_hidden,
    misconceptions=WRONG,
    alternatives=(sample_next__row_by_row, sample_next__threshold, sample_next__searched),
    help=(
        "Rank the candidates. Cut the ranking after top_k, make probabilities of what is left, cut "
        "again where they sum to top_p, and draw.",
        "`np.argsort(-logits, kind='stable')` ranks, and `np.take_along_axis` brings logits into "
        "that order and the drawn place back to an id. A candidate stays if what stands before it "
        "sums to less than top_p.",
        "Chapter 10, the section on drawing the next token.",
    ),
    promises=(
        Promise(
            "logits: (..., V), V at least 1",
            (
                "float32, two leading axes",
                "three leading axes",
                "one row of many candidates",
                "one candidate, a batch of one",
            ),
        ),
        Promise(
            "they may be large, and -inf for a token that is never drawn, but not for a whole row.",
            ("large logits", "candidates that are never drawn"),
        ),
        Promise(
            "Tokens are ranked by their logits; of equal ones the lower id comes first.",
            ("equal logits", "equal logits, temperature 0"),
        ),
        Promise(
            "at 0 each row takes the first of its ranking, whatever is drawn; above 0 the "
            "logits are divided by it before the softmax.",
            (
                "temperature 0",
                "a temperature below 1",
                "a temperature above 1",
                "tiny logits, and a temperature as small",
            ),
        ),
        Promise(
            "only the first top_k of the ranking, at least 1, can be drawn, and the softmax is "
            "over these; None for all.",
            ("top_k", "top_k and top_p", "float32, two leading axes"),
        ),
        Promise(
            "then only the fewest of the ranking whose probabilities sum to top_p or more, above 0 "
            "and at most 1; None for all.",
            ("top_p", "top_k and top_p", "one row, top_p of 1", "one candidate, a batch of one"),
        ),
        Promise(
            "generator: one number u a row, `generator.random(logits.shape[:-1])`.",
            ("thirty rows of four candidates", "thirty other rows", "several rows"),
        ),
        Promise(
            "The drawn token is the first of the ranking at which the running sum of the "
            "probabilities that are left is larger than u times their total.",
            ("thirty rows of four candidates", "top_k", "top_p"),
        ),
        Promise("Returns ids (...), integers.", ("several rows", "one row of many candidates")),
    ),
)
