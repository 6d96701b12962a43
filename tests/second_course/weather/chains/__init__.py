"""The assignment on chains, in the order of its text."""

from autograder.exercise.declaring import assignment

ASSIGNMENT = assignment(
    __name__, title="Chains", exercises=("tomorrow", "in_the_long_run")
)
