"""The exercises of chapter 1, "One vector for a whole sentence"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="One vector for a whole sentence",
    exercises=(
        "test_reads_from_both_ends",
        "jacobian_norms",
        "gru_cell",
        "greedy_decode",
        "next_token_loss",
        "edit_accuracy",
        "clip_by_global_norm",
        "rnn_cell_backward",
        "critical_gain",
    ),
    written=("wider_context",),
)
