"""The question `why_bert_cannot_write`, answered in words."""

from autograder.exercise.declaring import Written

why_bert_cannot_write = Written(
    name="why_bert_cannot_write",
    points=4,
    minutes=15,
    rubric=(
        "1 point: what each model learned: GPT's row i is trained to score the token after i "
        "from tokens up to i alone, so that its rows multiply to the probability of a whole text "
        "(chain rule); BERT's row is trained to restore a token from what stands on both sides "
        "of it, and no product of these rows is the probability of a text. 1 point: what the "
        "sentences look like: each word is drawn from what can be known when nothing is seen, "
        "and without regard to the other draws; so pronoun and noun agree in about one of four, "
        "and words of both forms are mixed. A perfect model gives exactly these shares: their "
        "product is not the probability of the whole. 1 point: a measurement that would show it, "
        "such as the share of texts that are sentences of the language, or in which pronoun and "
        "noun agree, for one pass, for some words per pass and for one word per pass, compared "
        "with a causal model of equal size and training. 1 point: a judgement that is not "
        "absolute: if each pass keeps one word, or a few, and the next one sees them, the "
        "answers are a chain again, in any order; models trained at all rates of masking (masked "
        "diffusion) write like this, with fewer passes for more mistakes. What is missing is the "
        "training, and the order, not a layer; the price is that every pass reads all tokens "
        "again, since a cache cannot be kept. No point for 'BERT is an encoder' without saying "
        "what follows from it."
    ),
)
