"""The question `ten_times_longer`, answered in words."""

from autograder.exercise.declaring import Written

ten_times_longer = Written(
    name="ten_times_longer",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says what each scheme meets in a document ten times longer that it never met in "
        "training: rows without training (learned), absolute angles of the slow hands, and "
        "combinations of the fast ones, that no query has had (sinusoidal), distances, and so "
        "angles between query and key, that are new (rotary), the same slope carried on (linear "
        "bias), nothing new beyond the clipping distance "
        "(relative). At least three of them, correctly. 1 point: ties the choice to the task: "
        "does it need the latest, the near, an exact distance, or something far away? A linear "
        "bias fades what is far, and so does badly if the answer is in chapter 1; a clipped table "
        "cannot tell 20 places from 200. 1 point: a choice with a reason, and a fair statement of "
        "what it gives up. 1 point: a test that could prove the choice wrong (accuracy at the "
        "long length by the place of the answer, compared with the short length, several seeds), "
        "or a remedy in place of a choice (train with some long documents, with random offsets, "
        "or stretch the angles and train on a little longer), with its price. Any choice can earn "
        "full points. No point for “the sinusoids can be computed for any position” alone: that "
        "they can be computed does not mean that the model knows what to do with them."
    ),
)
