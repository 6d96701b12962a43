"""The question `where_parallelism_ends`, answered in words."""

from autograder.exercise.declaring import Written

where_parallelism_ends = Written(
    name="where_parallelism_ends",
    points=4,
    minutes=15,
    rubric=(
        "1 point: training: all target places are known beforehand, so shifted inputs and a causal "
        "mask let one pass of the decoder score every place at once; the steps that must follow "
        "one another are the layers, and their number does not grow with the length (a recurrent "
        "decoder needs one after another for every place, in training too). "
        "1 point: writing: a token must be chosen before the next one can be asked for, so m "
        "tokens take m passes of the decoder one after another; the source is read once, all its "
        "places at once, and keys and values of what is written already can be kept, which saves "
        "work but not one of the m steps. "
        "1 point: beam search: the beginnings of one step are independent and can be continued "
        "side by side, as a batch, so a beam costs several times the work and about the same "
        "number of sequential steps; it does not make writing parallel. "
        "1 point: a judgement of the colleague's claim: true of training and of reading the "
        "source, false of writing, with a measurement that would show which, such as seconds per "
        "sentence against the target's length, in training and in writing, with more cores or "
        "without. No point for 'it is parallel' or 'it is sequential' without saying which part."
    ),
)
