"""The exercises of the course, a package for each chapter."""

from autograder.exercise.course_package import CoursePackage

COURSE = CoursePackage(
    __name__,
    assignments=(
        "context_bottleneck",
        "alignment",
        "captioning",
        "self_attention",
        "queries_keys_values",
        "multi_head",
        "positions",
        "transformer_block",
        "transformer",
        "gpt_and_bert",
        "cost",
        "today",
        "bugs_that_train",
    ),
    with_torch=(
        "transformer_block",
        "transformer",
        "gpt_and_bert",
        "cost",
        "today",
        "bugs_that_train",
    ),
    uses=("solutions",),
)
