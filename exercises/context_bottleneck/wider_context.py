"""The question `wider_context`, answered in words."""

from autograder.exercise.declaring import Written

wider_context = Written(
    name="wider_context",
    points=4,
    minutes=15,
    rubric=(
        "1 point: the room is fixed while the content grows: what must be kept of a sentence "
        "grows at least in proportion to its length (the number of clause combinations is a "
        "product, so its logarithm is a sum over the clauses), and some length passes what a "
        "fixed vector of inexact numbers holds. 1 point: describes the measured effect correctly: "
        "a wider vector may help, accuracy falls with the length for both of the chapter's "
        "widths, and more training helped more than width; a good answer quotes figures, of the "
        "translator or of the copier. 1 point: a cost that grows with the width although short "
        "sentences do not need it: the size of the recurrent matrix, and with it the time, grows "
        "with the square of the width; more parameters need more data; the same wide vector is "
        "spent on three words and on sixty. 1 point: width is not the only limit: the early words "
        "reach the vector through a product of many Jacobians, so they are hard to learn to keep; "
        "or: real numbers hold many bits in principle, but the network must learn to write them "
        "and to read them out again; or: what would scale is a memory that grows with the "
        "sentence, such as one vector a token. No point for the bare statement that the vector is "
        "too small."
    ),
)
