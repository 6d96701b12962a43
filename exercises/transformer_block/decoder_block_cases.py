"""The cases of the exercise `DecoderBlock`."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Raises, Setup, Tensor, draw_setup
from solutions import transformer_block as solutions

from .encoder_block import LONELY, ONE_EACH, lonely


def public(rng):
    yield _case(rng, "no masks, the norm after", (1, 3, 4), 2, 2, 5).holds(
        "Its parts are called `self_attention`, `cross_attention`, `feed_forward` (with ReLU), "
        "and `norm_1`, `norm_2`, `norm_3` in the order of the sublayers.",
        "d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.",
        'where the three norms stand: "post" for after each residual sum, as in 2017, or "pre" '
        "for at the input of each sublayer",
        "No norm touches `context`.",
        "X: (batch, n, d_model), the target's tokens. Returns the same shape.",
        "context: (batch, n_k, d_model), the source's tokens as the encoder left them.",
        "mask: boolean, broadcastable to (batch, n, n), for the attention of the target to "
        "itself: a causal mask, where it is to be causal.",
    )
    yield _case(rng, "no masks, the norm before", (1, 3, 4), 2, 2, 5, norm="pre").holds(
        "Its parts…",
        "where the…",
        "No norm touches…",
        "In both, True is where a token may attend, and None lets every token attend to every "
        "token.",
    )
    causal = np.tril(np.ones((3, 3), dtype=bool))
    yield _case(rng, "a causal mask", (2, 3, 4), 4, 2, 3, {"mask": causal}).holds(
        "context: (batch…", "mask: boolean…"
    )
    padding = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    masks = {"mask": causal, "context_mask": padding}
    yield _case(rng, "both masks, the norm before", (2, 3, 4), 4, 2, 3, masks, norm="pre").holds(
        "context_mask: boolean, broadcastable to (batch, n, n_k), such as (n_k,), for the "
        "attention of the target to the source.",
        "In both…",
    )
    yield _case(rng, "float32, both masks", (2, 3, 6), 4, 3, 4, masks, np.float32).holds(
        "context_mask: boolean…"
    )
    masks = {"mask": np.array([True, False, True]), "context_mask": np.array([False, True])}
    yield _case(rng, "masks of one axis", (2, 3, 4), 2, 2, 3, masks, norm="pre").holds(
        "mask: boolean…", "context_mask: boolean…"
    )
    masks = {"mask": causal & ~np.eye(3, dtype=bool), "context_mask": padding & ~padding[:1]}
    yield _case(rng, "tokens that may attend to nothing", (2, 3, 4), 4, 2, 3, masks).holds(
        "A token that may attend to nothing finds what `W_o` makes of zeros."
    )
    masks = {"context_mask": np.array([[True], [False], [True]])}
    yield _case(rng, "one token of the source, and a mask", (2, 3, 4), 1, 2, 3, masks).holds(
        "context_mask: boolean…"
    )
    masks = {"context_mask": np.array([[True, False], [True, True], [False, True]])}
    yield _case(rng, "a context mask with a row for each token", (2, 3, 4), 2, 2, 3, masks).holds(
        "context_mask: boolean…"
    )
    note = "one token here, one there, one feature, a batch of one"
    yield _case(rng, note, (1, 1, 1), 1, 1, 1, norm="pre").holds("d_model, n_heads…")
    yield from _nothing(rng, 4, 2, 3)
    yield _case(rng, "large tokens", (1, 3, 4), 2, 2, 3, size=40.0).holds("X: (batch…")
    masks = {"mask": ONE_EACH}
    yield lonely(_case(rng, LONELY, (1, 3, 4), 2, 2, 3, masks), "self_attention").holds(
        "X: (batch…"
    )
    yield _refused("neither after nor before", (4, 2, 3), "none").holds("ValueError for any other")
    masks = {"mask": causal, "context_mask": np.tril(np.ones((3, 4), dtype=bool))}
    case = _case(rng, "as many sequences as tokens, masks for all", (3, 3, 4), 4, 2, 3, masks)
    case.arguments[1].array[:, 0] = 0
    yield case
    masks = {"context_mask": np.array([True, True, False])}
    yield _case(rng, "as many tokens here as there, a mask of one axis", (2, 3, 4), 3, 2, 3, masks)


def hidden(rng):
    n_heads, d_head, n, n_k, d_ff = (int(one) for one in rng.permutation([2, 3, 4, 5, 6]))
    sizes = (2, n, n_heads * d_head), n_k, n_heads, d_ff
    causal = np.tril(np.ones((n, n), dtype=bool))
    masks = {
        "mask": causal,
        "context_mask": np.arange(n_k) < rng.permutation([1, n_k])[:, None, None],
    }
    yield _case(rng, "no masks, the norm after", *sizes)
    yield _case(rng, "no masks, the norm before", *sizes, norm="pre")
    yield _case(rng, "a causal mask", *sizes, {"mask": causal})
    yield _case(rng, "both masks, the norm before", *sizes, masks, norm="pre")
    yield _case(rng, "float32, both masks", *sizes, masks, np.float32)
    masks = {"mask": rng.permutation(n) < n - 1, "context_mask": rng.permutation(n_k) < n_k - 1}
    yield _case(rng, "masks of one axis", *sizes, masks)
    masks = {
        "mask": causal & ~np.eye(n, dtype=bool),
        "context_mask": np.arange(n_k) < rng.permutation([0, n_k])[:, None, None],
    }
    yield _case(rng, "tokens that may attend to nothing", *sizes, masks, norm="pre")
    parts = (n_heads * d_head, n_heads, d_ff)
    yield from _nothing(rng, *parts)
    yield _case(rng, "large tokens", *sizes, size=40.0)
    sizes = (2, 3, n_heads * d_head), n_k, n_heads, d_ff
    yield lonely(_case(rng, LONELY, *sizes, {"mask": ONE_EACH}), "self_attention")
    yield _refused("neither after nor before", parts, str(rng.choice(["both", "middle", "layer"])))


def _nothing(rng: np.random.Generator, d_model: int, n_heads: int, d_ff: int) -> Iterator[Case]:
    """No tokens in the target, in the source, or in both, with masks and without."""
    for norm, note in (("post", "no tokens in the"), ("pre", "masks, and no tokens in the")):
        for n, n_k, where in ((0, 3, "target"), (3, 0, "source")):
            masks = {
                "mask": np.tril(np.ones((n, n), dtype=bool)),
                "context_mask": np.ones((1, 1, n_k), dtype=bool),
            }
            given = masks if norm == "pre" else None
            shape = (2, n, d_model)
            case = _case(rng, f"{note} {where}", shape, n_k, n_heads, d_ff, given, norm=norm)
            yield case.holds("n and n_k may be 0")


def _refused(note: str, sizes: tuple[int, ...], norm: str) -> Case:
    """A block that must not be made."""
    X = Tensor(np.zeros((1, 2, sizes[0])))
    return Case(note, (X, X), {}, Setup(sizes, {"norm": norm}, {}), Raises("ValueError"))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_k: int,
    n_heads: int,
    d_ff: int,
    masks: dict[str, np.ndarray] | None = None,
    dtype: type = np.float64,
    size: float = 1.0,
    **keywords: Any,
) -> Case:
    """A case with target tokens of `shape`, and a context of `n_k` tokens that are no norm's."""
    sizes = (shape[-1], n_heads, d_ff)
    setup = draw_setup(rng, solutions.DecoderBlock, *sizes, dtype=dtype, **keywords)
    X = size * rng.normal(size=shape)
    context = 1 + 2 * rng.normal(size=(shape[0], n_k, shape[-1]))
    arguments = (Tensor(X.astype(dtype)), Tensor(context.astype(dtype)))
    return Case(note, arguments, {name: Tensor(one) for name, one in (masks or {}).items()}, setup)
