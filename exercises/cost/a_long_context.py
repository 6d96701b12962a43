"""The question `a_long_context`, answered in words."""

from autograder.exercise.declaring import Written

a_long_context = Written(
    name="a_long_context",
    points=5,
    minutes=25,
    rubric=(
        "The numbers, with 2 bytes each: a cache of 100,000 tokens takes 100,000 x 32 layers x 2 "
        "(keys and values) x 4096 features x 2 bytes = 52 GB. One table of scores takes "
        "100,000^2 x 2 bytes = 20 GB for a head, 640 GB for the 32 heads of a layer. The n^2 "
        "part of attention, 4 n^2 d, is 100,000 / (4 x 4096) = 6 times the feed-forward "
        "network's 16 n d^2; with a causal mask about half of it is needed. 1 point: finds that "
        "the table of scores does not fit, with its size (right to a factor of 2), and that "
        "attention in blocks with a running softmax removes it, exactly, and saves no "
        "operations. 1 point: the size of the cache for one user (right to a factor of 2), and "
        "that it does not fit beside the weights. 1 point: a remedy for the cache with its "
        "factor: grouped queries (8 heads of keys for 32 divide it by 4), windows in some "
        "layers, fewer bits; says what the remedy may cost in quality and that it has to be "
        "measured. 1 point: the operations: compares the n^2 part with the rest and says what, "
        "if anything, to do about it (windows in most layers with a few full ones, or nothing); "
        "an answer that takes linear attention says what it loses. 1 point: a measurement that "
        "would show the plan wrong, such as recall of a fact by its distance, the loss by "
        "position, or seconds and peak memory at 100,000 tokens. No point for a remedy without "
        "the number that it changes."
    ),
)
