"""The exercises of chapter 6, "Many heads"."""

from __future__ import annotations

from ...judging.exercise import Assignment, Written
from .folded_heads_attention import FOLDED_HEADS_ATTENTION
from .fuse_projections import FUSE_PROJECTIONS
from .head_importance import HEAD_IMPORTANCE
from .head_scales_backward import HEAD_SCALES_BACKWARD
from .merge_heads import MERGE_HEADS
from .multi_head_attention import MULTI_HEAD_ATTENTION
from .multi_head_cross_attention import MULTI_HEAD_CROSS_ATTENTION
from .prune_heads import PRUNE_HEADS
from .split_heads import SPLIT_HEADS
from .unfuse_projections import UNFUSE_PROJECTIONS

__all__ = ["ASSIGNMENT"]

MERGE_THAT_TRAINS = Written(
    name="merge_that_trains",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says what the missing transpose does: a row of the result no longer holds all "
        "heads of one token but one head's findings for several neighbouring tokens, so row i "
        "mixes tokens and a token's own findings land in other rows. 1 point: why nothing "
        "protests: the shape is right, the operation is a fixed permutation of the entries, it "
        "is linear and loses nothing, and gradients flow through it to every weight. 1 point: "
        "why the loss still falls: the weights adapt to whatever wiring they find, the residual "
        "path (where there is one) carries each token past the mistake, later layers mix tokens "
        "again, and many tasks can be solved in part from the wrong neighbours or from an "
        "average; or: with a fixed length the scramble is the same in every sequence, so it can "
        "be learned around. 1 point: a test that finds it, with what would be seen: compare with "
        "a loop over the heads; change one token and see which rows change under a mask that "
        "isolates it (causal mask: the past must not change); permute the tokens and see whether "
        "the output is permuted; merge after split must give back the input; another length "
        "breaks what was learned. No point for “the loss would be higher” alone: one has nothing "
        "to compare it with."
    ),
)

ASSIGNMENT = Assignment(
    name="multi_head",
    title="Many heads",
    exercises=(
        SPLIT_HEADS,
        MERGE_HEADS,
        MULTI_HEAD_ATTENTION,
        MULTI_HEAD_CROSS_ATTENTION,
        FUSE_PROJECTIONS,
        UNFUSE_PROJECTIONS,
        FOLDED_HEADS_ATTENTION,
        HEAD_IMPORTANCE,
        PRUNE_HEADS,
        HEAD_SCALES_BACKWARD,
    ),
    written=(MERGE_THAT_TRAINS,),
)
