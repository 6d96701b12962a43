"""The cases of the exercise `Transformer`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Tensor, draw_setup
from solutions import transformer as solutions


def public(rng):
    yield _case(
        rng, "no blocks yet: the way in and the way out", 1, 3, 2, (5, 6, 4, 2, 3, 0)
    ).holds(
        "Each is a stack: an `embedding` (`nn.Embedding`), n_layers `blocks`, and a last `norm`; "
        "the decoder ends in `to_logits`, a linear map with a bias.",
        "What enters a stack is the embedding of each token times sqrt(d_model), plus the "
        "sinusoids of its place.",
        "source_size, target_size: of the vocabularies. n_layers: blocks in each stack, 0 or more.",
    )
    yield _case(rng, "one block in each stack", 1, 3, 2, (5, 6, 4, 2, 3, 1)).holds(
        "Each is a…",
        "The blocks are chapter 8's, with the norm before each sublayer, and the parameters of "
        "block i are called as there, behind `encoder.blocks.i.` or `decoder.blocks.i.`.",
        "source_size, target_size…",
        "sources: ids (batch, n). inputs: ids (batch, m), the targets shifted right.",
        "Returns logits (batch, m, target_size): row i scores what follows token i of `inputs`, "
        "and no later token has a part in it.",
    )
    yield _case(rng, "two blocks in each stack", 2, 4, 3, (7, 5, 6, 3, 4, 2)).holds(
        "The blocks…",
        "The last norm is one of the same kind.",
        "source_size, target_size…",
        "d_model, n_heads, d_ff: the sizes of the blocks; d_model is even and divisible by "
        "n_heads.",
        "source_mask: boolean (batch, n), True where a token stands and False where a row is "
        "padded; None if no row is.",
        "Returns logits…",
    )
    yield _case(rng, "a padded source", 2, 4, 3, (7, 5, 4, 2, 6, 2), (2, 4)).holds(
        "source_mask: boolean…",
        "No token attends to padding, neither in the encoder nor in the decoder",
    )
    yield _case(
        rng, "as many sources as targets, padded", 2, 3, 3, (6, 7, 4, 2, 3, 1), (3, 1)
    ).holds("d_model, n_heads…", "No token…")
    sizes = (6, 8, 6, 3, 5, 1)
    yield _case(
        rng, "float32, one source is all padding", 3, 4, 2, sizes, (2, 0, 4), np.float32
    ).holds("a source may be all padding")
    yield _case(rng, "one block, other sentences", 1, 3, 2, (5, 6, 4, 2, 3, 1)).holds(
        "sources: ids…"
    )
    yield from _edges(rng, (5, 4, 4, 2, 3), 520)


def hidden(rng):
    n_heads, d_head = rng.permutation([(2, 4), (3, 2), (3, 4)])[0].tolist()
    d_ff, source_size, target_size = (int(one) for one in rng.permutation([5, 7, 9]))
    n, m = (int(one) for one in rng.permutation([3, 4, 5])[:2])
    sizes = (source_size, target_size, n_heads * d_head, n_heads, d_ff)
    lengths = tuple(rng.permutation([1, n - 1]).tolist())
    yield _case(rng, "no blocks yet: the way in and the way out", 2, n, m, (*sizes, 0))
    yield _case(rng, "one block in each stack", 2, n, m, (*sizes, 1))
    yield _case(rng, "two blocks in each stack, one token in, one out", 2, 1, 1, (*sizes, 2)).holds(
        "sources: ids…"
    )
    yield _case(rng, "a padded source", 2, n, m, (*sizes, 2), lengths)
    yield _case(rng, "as many sources as targets, padded", 2, n, n, (*sizes, 1), lengths)
    lengths = tuple(rng.permutation([0, n - 1, n]).tolist())
    note = "float32, one source is all padding"
    yield _case(rng, note, 3, n, m, (*sizes, 1), lengths, np.float32)
    yield from _edges(rng, sizes, int(rng.integers(1100, 1200)))


def _edges(rng: np.random.Generator, sizes: tuple[int, ...], far: int) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden; `far` is a place in a target."""
    yield _case(rng, "no token in the source", 2, 0, 3, (*sizes, 1), (0, 0)).holds(
        "n and m may be 0"
    )
    yield _case(rng, "no token in the target", 2, 3, 0, (*sizes, 1), (3, 1)).holds("n and m may…")
    case = _case(rng, "large scores", 1, 3, 3, (*sizes, 1), (2,)).holds("The blocks…")
    assert case.setup
    weights = {
        name: Tensor(one.array * 2000 if name.endswith("W_q.weight") else one.array)
        for name, one in case.setup.weights.items()
    }
    yield replace(case, setup=replace(case.setup, weights=weights))
    short = (sizes[0], 1, 4, 2, 3, 0)
    yield _case(rng, "a target longer than most tables", 1, 1, far, short, dtype=np.float32).holds(
        "What enters…", "have no upper limit"
    )


def _case(
    rng: np.random.Generator,
    note: str,
    batch: int,
    n: int,
    m: int,
    sizes: tuple[int, ...],
    lengths: tuple[int, ...] | None = None,
    dtype: type = np.float64,
) -> Case:
    """A case with `batch` sources of n tokens, of `lengths` where they are padded, and m targets.

    sizes: the arguments of `Transformer`, in their order.
    """
    setup = draw_setup(rng, solutions.Transformer, *sizes, dtype=dtype)
    sources, inputs = (
        Tensor(rng.integers(size, size=(batch, length)))
        for size, length in zip(sizes[:2], (n, m), strict=True)
    )
    keywords: dict[str, Any] = {}
    if lengths is not None:
        keywords["source_mask"] = Tensor(np.arange(n) < np.array(lengths)[:, None])
    return Case(note, (sources, inputs), keywords, setup)
