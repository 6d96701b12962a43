"""The exercise `delta_rule_step`: write into a state what it does not already answer."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercise.declaring import Case, Declaration, Tensor
from solutions import cost_of_today as solutions

delta_rule_step = Declaration(
    solutions.delta_rule_step,
    points=3,
    difficulty=2,
    minutes=20,
    help=(
        "Ask the state for its answer to the key before you write. How far is that from the value?",
        "With k a column of length 1, the state grows by k times a row: the share times (value "
        "less answer). `k[..., :, None] * change[..., None, :]` is that product.",
        "Section “Correct, then add” of the appendix.",
    ),
)


@delta_rule_step.right
def forget_then_add(state, k, v, share):
    k = (k / torch.linalg.vector_norm(k, dim=-1, keepdim=True))[..., None]
    share = share[..., None]
    return state - share * k @ (k.mT @ state) + share * k @ v[..., None, :]


@delta_rule_step.right
def with_einsum(state, k, v, share):
    k = k / torch.sqrt(torch.einsum("...i,...i->...", k, k))[..., None]
    answer = torch.einsum("...i,...ij->...j", k, state)
    return state + torch.einsum("...i,...j->...ij", k, share * (v - answer))


@delta_rule_step.right
def blend_of_answers(state, k, v, share):
    k = F.normalize(k, dim=-1)
    answer = (k[..., None] * state).sum(-2)
    wanted = torch.lerp(answer, v, share.expand_as(v))
    return state + torch.einsum("...i,...j->...ij", k, wanted - answer)


@delta_rule_step.right
def plain(state, k, v, share):
    k = k / k.norm(dim=-1, keepdim=True)
    answer = (k[..., None, :] @ state)[..., 0, :]
    change = share * (v - answer)
    return state + k[..., :, None] * change[..., None, :]


delta_rule_step.wrong(
    "added only",
    "Write the same value under the same key twice, with a share of 1. What does the state answer "
    "then, and what should it?",
    plain.edit("(v - answer)", "v"),
)
delta_rule_step.wrong(
    "the length of the key left in",
    "Make the key twice as long. The docstring says what that should change. What does it change "
    "for you?",
    plain.edit("k / k.norm(dim=-1, keepdim=True)", "k"),
)
delta_rule_step.wrong(
    "one length for all keys",
    "A batch has two keys. By which length do you divide each of them? Over which axis does `norm` "
    "sum if you do not say?",
    plain.edit("k.norm(dim=-1, keepdim=True)", "k.norm()"),
)
delta_rule_step.wrong(
    "the share ignored",
    "What should the new state be if the share is 0?",
    plain.edit("share * (v - answer)", "v - answer"),
)
delta_rule_step.wrong(
    "the whole answer taken out",
    "With a share of 0 nothing changes. With a share of a half, how much of the old answer stays?",
    plain.edit("share * (v - answer)", "share * v - answer"),
)
delta_rule_step.wrong(
    "the whole state fades",
    "What should become of what is stored under a key at right angles to the new one?",
    plain.edit("return state +", "return (1 - share[..., None]) * state +"),
)
delta_rule_step.wrong(
    "the difference the wrong way round",
    "The state answers too little. Should it grow or shrink?",
    plain.edit("(v - answer)", "(answer - v)"),
)


@delta_rule_step.wrong(
    "the state is changed in place",
    "Somebody needs the state of the token before, too. Is it still there?",
)
def _(state, k, v, share):
    k = k / k.norm(dim=-1, keepdim=True)
    answer = (k[..., None, :] @ state)[..., 0, :]
    change = share * (v - answer)
    state += k[..., :, None] * change[..., None, :]
    return state


@delta_rule_step.public
def _(rng):
    yield _case(rng, "one key, one value", (), 2, 1).holds("v: (..., d_v).")
    yield _case(rng, "the whole difference", (), 3, 2, share=1.0).holds(
        "share: (..., 1), from 0 to 1: which share of the difference between v and the answer is "
        "written; with 1 the state then answers v, with 0 it stays as it is."
    )
    yield _case(rng, "nothing is written", (), 3, 2, share=0.0).holds("share: (..., 1)…")
    yield _case(rng, "an empty state", (), 3, 2, empty=True).holds(
        "state: (..., d_k, d_v), read as q @ state; it is not changed."
    )
    yield _case(rng, "a long key", (), 4, 2, size=50.0).holds(
        "k: (..., d_k), not 0; its length does not matter, since the key is divided by it."
    )
    yield _case(rng, "a short key", (), 4, 3, size=1e-9).holds("k: (...…")
    yield _case(rng, "a batch", (2,), 3, 2).holds(
        "All have the same leading axes.", "Returns the new state."
    )
    yield _case(rng, "a batch of one", (1,), 2, 3).holds("All have…")
    yield _case(rng, "one of everything", (1,), 1, 1).holds("All have…")
    yield _case(rng, "float32, two leading axes", (2, 3), 3, 2, dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, 2), 2, 3).holds("All have…")
    yield _case(rng, "all sizes 2", (2,), 2, 2).holds("state: (...…")
    yield _case(rng, "tiny values", (), 3, 2, values=1e-14).holds("v: (...…")


@delta_rule_step.hidden
def _(rng):
    d_k, d_v = (int(one) for one in rng.permutation([3, 4]))
    yield _case(rng, "a key and a value", (), d_k, d_v).holds("state: (...…")
    yield _case(rng, "the whole difference, a batch", (3,), d_k, d_v, share=1.0)
    yield _case(rng, "nothing is written, a batch", (2,), d_k, d_v, share=0.0)
    yield _case(rng, "a long key", (2,), d_k, d_v, size=20.0).holds("k: (...…")
    yield _case(rng, "float32", (2,), d_k, d_v, dtype=np.float32).holds("Returns the…")
    yield _case(rng, "more features than values", (), 7, 2)
    yield _case(rng, "tiny values", (2,), d_k, d_v, values=1e-14)


def _case(
    rng: np.random.Generator,
    note: str,
    batch: tuple[int, ...],
    d_k: int,
    d_v: int,
    share: float | None = None,
    size: float = 1.5,
    values: float = 1.0,
    empty: bool = False,
    dtype: type = np.float64,
) -> Case:
    """A random state, key and value; `size` multiplies the key, `values` the state and value."""
    state = np.zeros((*batch, d_k, d_v)) if empty else values * rng.normal(size=(*batch, d_k, d_v))
    shares = (
        rng.uniform(0.2, 0.8, size=(*batch, 1)) if share is None else np.full((*batch, 1), share)
    )
    given = (state, size * rng.normal(size=(*batch, d_k)), values * rng.normal(size=(*batch, d_v)))
    return Case(note, tuple(Tensor(np.asarray(one, dtype=dtype)) for one in (*given, shares)))
