"""The question `merge_that_trains`, answered in words."""

from autograder.exercise.declaring import Written

merge_that_trains = Written(
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
