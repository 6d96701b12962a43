"""The question `read_the_heatmap`, answered in words."""

from autograder.exercise.declaring import Written

read_the_heatmap = Written(
    name="read_the_heatmap",
    points=4,
    minutes=15,
    rubric=(
        "1 point: (a) the word order in the noun phrase is reversed: “conseil” looks at “council” "
        "and “européen” at “European”, so in these two rows the large weights run against the "
        "diagonal, and elsewhere along it. 1 point: (b) “du” is de + le, two words in one, so it "
        "looks at “of” and at “the”; “le” looks at “the”, which it translates, and at "
        "“president”, whose French gender decides between le and la; “est” looks at “is”, which "
        "it translates, and at the full stop, which is question (c). 1 point: (c) the row “est”, "
        "with 0.45 on the full stop. Accept any sound reason: every encoder state has read its "
        "neighbours, so that of the full stop may know the verb; 0.31 still comes from “is”; the "
        "decoder can guess the word from what it has written. And what follows: a weight says "
        "where the context was taken from, not what the word was made from, so the table alone "
        "proves no cause. 1 point: (d) 8 links are claimed, 9 are sure, 7 of the claimed ones are "
        "sure: 1 - 14/17 = 0.18. The missed link of “du” to “the” is the fault of the measure: a "
        "row can claim only one link. With that link the rate would be 1 - 16/18 = 0.11. No point "
        "for reading columns as if they summed to 1."
    ),
)
