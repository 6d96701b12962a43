"""The exercises of chapter 9, "The whole machine"."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__,
    title="The whole machine",
    exercises=(
        "label_smoothed_loss",
        "steps_at_rate",
        "transformer",
        "train_step",
        "greedy_translate",
        "beam_search",
        "beam_step",
        "tied_embedding_backward",
        "test_reads_no_answer",
    ),
    written=("where_parallelism_ends",),
)
