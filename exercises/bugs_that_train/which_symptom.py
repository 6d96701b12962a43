"""The question `which_symptom`, answered in words."""

from autograder.exercise.declaring import Written

which_symptom = Written(
    name="which_symptom",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says that the loss alone cannot tell, because the loss is computed by the same "
        "code, or because a network learns around the mistake. 1 point: names a measurement that "
        "does not go through the suspected code (writing an answer token by token, a sentence "
        "alone and in a padded batch, a token changed and what moves). 1 point: says what each "
        "of at least two bugs would show there, and what the right model would. 1 point: orders "
        "the steps so that a cheap one comes first and each rules something out, or says why one "
        "result would leave two bugs possible. No point for training longer, or for looking at "
        "the loss curve more closely."
    ),
)
