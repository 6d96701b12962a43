"""The question `wider_context`, answered in words."""

from autograder.exercise.declaring import Written

wider_context = Written(
    name="wider_context",
    points=4,
    minutes=15,
    rubric=(
        "1 point: a comparison in which the width of the context vector is what differs: the same "
        "pairs, the same held-out sentences sorted by length, several seeds, and for each width "
        "its own best rate or training until its curve is flat; a good answer says that a wider "
        "machine has more parameters, and keeps an eye on them. 1 point: both outcomes, decided "
        "before the run: the width is convicted if the wide machine does better on the long "
        "sentences, and the narrow one never catches up, however long it is trained; it is "
        "acquitted if the two curves meet. That a wider vector helps after few steps decides "
        "nothing. 1 point: what the chapter has shown and what not: at 1,000 steps a vector four "
        "times as wide lifted the curve, and it still fell; three times the training lifted it "
        "more; or the copier, for which the number that it holds grows with the width. Figures "
        "are right where they are quoted. 1 point: another explanation that such a run leaves "
        "open, or a run that tells them apart: the early words are reached through a product of "
        "many Jacobians, so what a width could hold is not learned; a wide machine learns faster "
        "in as many steps; or a machine of the same width that keeps all of its states. No point "
        "for the bare statement that the vector is too small."
    ),
)
