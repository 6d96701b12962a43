"""The exercises of chapter 2, "Looking back: alignment"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="Looking back: alignment",
    exercises=(
        "additive_scores",
        "masked_softmax",
        "attention_decoder_step",
        "test_looks_back",
        "looks_with_coverage",
        "alignment_error_rate",
        "expected_counts",
        "words_lost",
        "words_kept",
        "scores_backward",
    ),
    written=("read_the_heatmap",),
)
