"""The exercise `merge_lora`: write what LoRA has learned into the weights."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions.variants import filling_gaps as solutions

merge_lora = Declaration(
    solutions.merge_lora,
    points=2,
    difficulty=2,
    minutes=10,
    kind=Kind.TRANSFER,
    help=(
        "W x + c B A x is one matrix times x. Which?",
        "Copy the dictionary, not its arrays, and put a new array where there is an adapter: "
        "`+=` would change the old one.",
        "Section “Weights that others have trained”, part “Fine-tune it, a little”, on the page "
        "about BERT.",
    ),
)


@merge_lora.right
def comprehension(weights, adapters, alpha):
    for name in adapters:
        if name not in weights:
            raise ValueError(f"an adapter, but no weight: {name}")
    return {
        name: W + (alpha / adapters[name][0].shape[0]) * adapters[name][1] @ adapters[name][0]
        if name in adapters
        else W
        for name, W in weights.items()
    }


@merge_lora.right
def rank_by_rank(weights, adapters, alpha):
    merged = {name: W.copy() for name, W in weights.items()}
    for name, (A, B) in adapters.items():
        if name not in merged:
            raise ValueError(name)
        r = B.shape[1]
        for at in range(r):
            merged[name] += (alpha / r * np.outer(B[:, at], A[at])).astype(merged[name].dtype)
    return merged


@merge_lora.right
def plain(weights, adapters, alpha):
    unknown = set(adapters) - set(weights)
    if unknown:
        raise ValueError(f"no such weight: {sorted(unknown)}")
    merged = dict(weights)
    for name, (A, B) in adapters.items():
        merged[name] = merged[name] + B @ A * (alpha / A.shape[0])
    return merged


@merge_lora.right
def einsum(weights, adapters, alpha):
    merged = {}
    for name in [*weights, *adapters]:
        if name not in weights:
            raise ValueError(f"no weight {name!r}")
        merged[name] = weights[name]
        if name in adapters:
            A, B = adapters[name]
            merged[name] = weights[name] + alpha * np.einsum("or,ri->oi", B, A) / B.shape[-1]
    return merged


merge_lora.wrong(
    "not divided by r",
    "What does the layer multiply B A x by, before it adds it?",
    plain.edit("(alpha / A.shape[0])", "alpha"),
)
merge_lora.wrong(
    "divided by d_in",
    "A is (r, d_in). Which of its sizes is r?",
    plain.edit("A.shape[0]", "A.shape[1]"),
)
merge_lora.wrong(
    "divided by d_out",
    "B is (d_out, r). Which of its sizes is r?",
    plain.edit("A.shape[0]", "B.shape[0]"),
)
merge_lora.wrong(
    "in place of the weight",
    "With a B of zeros, what should the merged weight be?",
    plain.edit("merged[name] + B @ A", "B @ A"),
)
merge_lora.wrong(
    "taken off",
    "You have the arithmetic for undoing a merge. Which sign does the layer have?",
    plain.edit("merged[name] + B @ A", "merged[name] - B @ A"),
)
merge_lora.wrong(
    "without alpha",
    "Double alpha. Should the merged weights change?",
    plain.edit("alpha / A.shape[0]", "1 / A.shape[0]"),
)
merge_lora.wrong(
    "only the adapted weights",
    "What happens to the biases and to the weights that have no adapter?",
    plain.edit("merged = dict(weights)", "merged = {name: weights[name] for name in adapters}"),
)
merge_lora.wrong(
    "the weights themselves are changed",
    "Look at `weights` after the call. Did somebody else still need them?",
    plain.edit(
        "merged[name] = merged[name] + B @ A * (alpha / A.shape[0])",
        "weights[name][...] = weights[name] + B @ A * (alpha / A.shape[0])",
    ),
)
merge_lora.wrong(
    "an adapter without a weight is skipped",
    "An adapter's name is misspelt. Who will notice?",
    plain.edit(
        'raise ValueError(f"no such weight: {sorted(unknown)}")',
        "adapters = {name: pair for name, pair in adapters.items() if name in weights}",
    ),
)


@merge_lora.public
def _(rng):
    yield _case(rng, "one weight, one adapter", {"a": (3, 4)}, {"a": 2}).holds(
        "The layer of a weight W with an adapter computes W x + (alpha / r) B A x.",
        "Returns a new dictionary with the same names, with which the layers compute the same and "
        "need no adapters.",
    )
    sizes = {"blocks.0.W_q": (4, 5), "blocks.0.bias": (4,), "blocks.1.W_q": (5, 3), "norm": (6,)}
    yield _case(rng, "several weights, one adapter", sizes, {"blocks.1.W_q": 2}).holds(
        "weights: a model's arrays by name.", "for some of the weights (d_out, d_in)"
    )
    yield _case(
        rng, "two adapters of different r", sizes, {"blocks.0.W_q": 1, "blocks.1.W_q": 4}
    ).holds("A is (r, d_in) and B (d_out, r), and each may have an r of its own.")
    yield _case(rng, "all sizes equal", {"a": (3, 3), "b": (3, 3)}, {"b": 3}).holds("A is…")
    yield _case(rng, "float32", {"a": (4, 6), "b": (2,)}, {"a": 2}, dtype=np.float32).holds(
        "Neither `weights` nor any of its arrays is changed."
    )
    for note in ("two weights", "two other weights"):
        yield _case(rng, note, {"a": (3, 5), "b": (2,)}, {"a": 2}, alpha=6.0)
    yield _case(rng, "no adapter", {"a": (3, 4), "b": (2, 2)}, {}).holds("weights: a…")
    yield _case(rng, "everything 1", {"a": (1, 1)}, {"a": 1})
    yield _case(rng, "tiny weights", {"a": (3, 2)}, {"a": 1}, size=1e-12)
    yield _case(
        rng, "an adapter without a weight", {"a": (3, 2)}, {"a": 1}, stray="blocks.7"
    ).holds(
        "Raises ValueError, with the name in its message, for an adapter without a weight of its "
        "name."
    )


@merge_lora.hidden
def _(rng):
    m, n = (int(one) for one in rng.permutation([4, 5]))
    sizes = {"one": (m, n), "two": (n, m), "bias": (m,), "three": (m, 7)}
    yield _case(rng, "several weights, one adapter", sizes, {"two": 3}).holds("Returns a…")
    yield _case(rng, "several adapters", sizes, {"one": 1, "two": 2, "three": 3}).holds("A is…")
    yield _case(rng, "all sizes equal", {"a": (m, m), "b": (m, m)}, {"a": m})
    yield _case(rng, "float32", sizes, {"one": 2}, dtype=np.float32)
    for note in ("two weights", "two other weights"):
        yield _case(rng, note, {"a": (m, n), "b": (2,)}, {"a": 2}, alpha=6.0)
    yield _case(rng, "no adapter", sizes, {})
    yield _case(rng, "tiny weights", {"a": (m, n)}, {"a": 2}, size=1e-12)
    yield _case(rng, "an adapter without a weight", sizes, {"one": 2}, stray="blocks.9")


def _case(
    rng: np.random.Generator,
    note: str,
    sizes: dict[str, tuple[int, ...]],
    ranks: dict[str, int],
    size: float = 1.0,
    dtype: type = np.float64,
    stray: str = "",
    alpha: float | None = None,
) -> Case:
    weights = {name: (rng.normal(size=shape) * size).astype(dtype) for name, shape in sizes.items()}
    adapters = {
        name: (
            (rng.normal(size=(r, sizes[name][1])) * size).astype(dtype),
            rng.normal(size=(sizes[name][0], r)).astype(dtype),
        )
        for name, r in ranks.items()
    }
    if stray:
        adapters[stray] = (rng.normal(size=(2, 3)), rng.normal(size=(4, 2)))
    raises = Raises("ValueError", (stray,)) if stray else None
    alpha = float(rng.uniform(5, 9)) if alpha is None else alpha
    return Case(note, (weights, adapters, alpha), raises=raises)
