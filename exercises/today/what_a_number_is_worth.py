"""The question `what_a_number_is_worth`, answered in words."""

from autograder.exercise.declaring import Written

what_a_number_is_worth = Written(
    name="what_a_number_is_worth",
    points=5,
    minutes=25,
    rubric=(
        "The numbers: the weights are 1.7e9 x 2 = 3.4 GB, so one text without a cache is bounded "
        "by 100 / 3.4 = 29 tokens a second. A token's cache is 24 x 2 (keys and values) x 32 x "
        "64 x 2 bytes = 197 kB; with 4000 tokens that is 0.79 GB a text, and one text is bounded "
        "by 100 / 4.2 = 24 tokens a second. Sixteen texts: 16 x 100 / (3.4 + 12.6) = 100 tokens "
        "a second together, 6 for each reader. 1 point: finds that 640 tokens a second cannot be "
        "those of one text on this machine, with the bound (right to a factor of 2). 1 point: "
        "names at least two conditions that the number needs and the sentence leaves out: batch, "
        "context, bits of a weight, reading or writing, the length of what is written, the first "
        "token or the later ones. 1 point: works one of them through to a number: with short "
        "contexts 640 is within the bound from about 22 texts on; with 4 bits per weight one "
        "text is bounded by about 118; with 4000 tokens each, no batch reaches more than about "
        "127, because the caches grow with it; or the number is one of reading, which is not "
        "bound by the weights. 1 point: says that a bound is not a measurement, names a "
        "measurement, and what it would decide: the time of a step over the batch and over the "
        "context, in the median of several runs, on a machine whose bandwidth was measured too. "
        "A straight line over the batch whose intercept is the weights' time would confirm the "
        "bound. 1 point: a judgement for the reader: tokens a second of one text, and seconds to "
        "the first one, are what a reader waits for; those of all texts together are what a text "
        "costs. Tokens of different tokenisers do not have the same length, so bytes or "
        "characters a second compare better. No point for 'it depends' without saying on what, "
        "and how much."
    ),
)
