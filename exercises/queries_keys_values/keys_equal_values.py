"""The question `keys_equal_values`, answered in words."""

from autograder.exercise.declaring import Written

keys_equal_values = Written(
    name="keys_equal_values",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says what each is for: a key decides whether a token is found, a value is what "
        "is passed on once it is. 1 point: names the harm when one vector must do both. Then "
        "whatever makes a token easy to find (the letter, the grammatical role, the name of a "
        "field) fills the answer, and what it should pass on (the number, the meaning) disturbs "
        "the matching; or: a change that improves the matching changes every answer, so the two "
        "pull the same parameters in different directions; or: the width of the output is tied to "
        "the width of the comparison. 1 point: a concrete example in which key and value must "
        "differ (a telephone book, the recall task of the chapter, a verb that is found by its "
        "tense and passes on its meaning). 1 point: a fair limit of the claim: it still runs and "
        "still trains, with wide vectors the two can share the room and a later layer can pick "
        "out what it needs, and additive attention before 2016 did use one vector for both; or: "
        "equal keys and values save parameters and memory. No point for the statement that the "
        "shapes would not fit: they would."
    ),
)
