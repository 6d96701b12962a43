"""The exercises of chapter 12, "Bugs that train"."""

from __future__ import annotations

from ...judging.exercise import Assignment, Written
from .accumulated_loss import ACCUMULATED_LOSS
from .attend_then_transform import ATTEND_THEN_TRANSFORM
from .attention_pool import ATTENTION_POOL
from .continue_attention import CONTINUE_ATTENTION
from .fused_attention import FUSED_ATTENTION
from .test_multi_head import TEST_MULTI_HEAD
from .test_next_token_loss import TEST_NEXT_TOKEN_LOSS
from .test_norm_first import TEST_NORM_FIRST
from .test_padding import TEST_PADDING
from .test_sees_no_future import TEST_SEES_NO_FUTURE

__all__ = ["ASSIGNMENT"]

WHICH_SYMPTOM = Written(
    name="which_symptom",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says that the loss alone cannot tell, because the loss is computed by the same "
        "code, or because a network learns around the mistake. 1 point: names a measurement that "
        "does not go through the suspected code (writing an answer token by token, a sentence "
        "alone and in a padded batch, a token changed and what moves). 1 point: says what each of "
        "at least two bugs would show there, and what the right model would. 1 point: orders the "
        "steps so that a cheap one comes first and each rules something out, or says why one "
        "result would leave two bugs possible. No point for a longer training, or for looking at "
        "the loss curve more closely."
    ),
)

ASSIGNMENT = Assignment(
    name="bugs_that_train",
    title="Bugs that train",
    exercises=(
        ATTENTION_POOL,
        ACCUMULATED_LOSS,
        CONTINUE_ATTENTION,
        ATTEND_THEN_TRANSFORM,
        FUSED_ATTENTION,
        TEST_NEXT_TOKEN_LOSS,
        TEST_NORM_FIRST,
        TEST_MULTI_HEAD,
        TEST_SEES_NO_FUTURE,
        TEST_PADDING,
    ),
    written=(WHICH_SYMPTOM,),
)
