"""The question `worth_its_variance`, answered in words."""

from autograder.exercise.declaring import Written

worth_its_variance = Written(
    name="worth_its_variance",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says what hard attention costs: no gradient passes the draw, so it must be "
        "estimated, and the estimate has a variance that soft attention does not have (more "
        "draws, more steps, a baseline that must be found, seeds that differ). 1 point: says what "
        "a baseline can and cannot do: it removes variance without adding bias, but some variance "
        "stays, most of it where the reward really depends on the draw. 1 point: names a case in "
        "which hard attention is worth it, with the reason: looking is expensive and only one "
        "place is to be computed (a high-resolution picture, a memory too large to read, a camera "
        "or a database that must be moved or asked); or a blend means nothing (the mean of two "
        "file names, of two actions); or the place itself is the answer and must be one. 1 point: "
        "names a case in which it is not, again with the reason: few places that are all computed "
        "anyway, as on the chapter's grid of 64, or information that is spread over several "
        "places. No point for the statement that hard attention is more accurate or more like "
        "people's."
    ),
)
