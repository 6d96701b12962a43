"""The question `norm_before_or_after`, answered in words."""

from autograder.exercise.declaring import Written

norm_before_or_after = Written(
    name="norm_before_or_after",
    points=4,
    minutes=15,
    rubric=(
        "1 point: says where the norm is in each design: after, the sum of residual and sublayer "
        "is normalised, so that every norm lies on the path from input to output; before, only "
        "what a sublayer reads is normalised, and the path is a plain sum from the first block "
        "to the last. 1 point: what follows for gradients: with the norm after, the gradient "
        "passes one norm a sublayer on its way back and is rescaled each time, so that at the "
        "start of training its size differs between the blocks (the chapter measures by how much "
        "in 24 blocks; it is larger near the output), and a deep stack needs help, such as a "
        "warm-up of the learning rate or smaller first weights; with the norm before, it reaches "
        "every block through the sum as well, by a way that no norm rescales. 1 point: a price "
        "or limit of the norm before: the numbers on the path grow with depth, so that a norm is "
        "needed at the end of the stack, and what late blocks add is small beside them; or: with "
        "the norm after, a stack of moderate depth that trains often ends up as good or better. "
        "1 point: a choice for the case that the question describes, with a measurement that "
        "would show it wrong, such as how different the tokens of a sequence are after the last "
        "block, the gradient norms of first and last block at the start, or the loss without "
        "warm-up. No point for a choice without a reason."
    ),
)
