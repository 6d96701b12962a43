"""The exercise `cross_entropy_to_bits_per_byte`: models with other tokens compare. To debug.

The function that is given exchanges tokens and bytes, so the model with the longer tokens loses.
"""

import math

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import reading_models as solutions

cross_entropy_to_bits_per_byte = Declaration(
    solutions.cross_entropy_to_bits_per_byte,
    points=2,
    difficulty=2,
    minutes=12,
    kind=Kind.DEBUG,
    help=(
        "Take a text for which you know the answer: one token that is two bytes long, and a "
        "model that gives it the probability 1/4.",
        "How many nats does the model spend on the whole text? What should they be divided among?",
        "Section “The rival that counts”.",
    ),
)


@cross_entropy_to_bits_per_byte.right
def whole_text_first(nats, n_tokens, n_bytes):
    whole = nats * n_tokens
    bits = whole / math.log(2)
    return bits / n_bytes


@cross_entropy_to_bits_per_byte.right
def length_of_a_token(nats, n_tokens, n_bytes):
    if n_tokens == 0:
        return 0.0
    bytes_of_a_token = n_bytes / n_tokens
    return nats * np.log2(np.e) / bytes_of_a_token


@cross_entropy_to_bits_per_byte.right
def by_perplexity(nats, n_tokens, n_bytes):
    bits_of_a_token = nats / np.log(2.0)
    shares = n_tokens / n_bytes
    return float(bits_of_a_token * shares)


@cross_entropy_to_bits_per_byte.right
def plain(nats, n_tokens, n_bytes):
    return nats * n_tokens / n_bytes / math.log(2)


@cross_entropy_to_bits_per_byte.wrong(
    "tokens and bytes exchanged",
    "Take the same text and the same nats in all, but tokens of twice as many bytes. Should a "
    "byte cost more than before, or the same?",
    released=True,
)
def exchanged(nats, n_tokens, n_bytes):
    bits = nats / math.log(2)  # of a token
    return bits * n_bytes / max(n_tokens, 1)


cross_entropy_to_bits_per_byte.wrong(
    "nats converted to bits the wrong way",
    "A fair coin costs one bit, and ln 2 nats. Which number is larger?",
    plain.edit("/ math.log(2)", "* math.log(2)"),
)
cross_entropy_to_bits_per_byte.wrong(
    "nats per byte",
    "How many bits does a fair coin cost? How many does your function give?",
    plain.edit(" / math.log(2)", ""),
)
cross_entropy_to_bits_per_byte.wrong(
    "bits per token",
    "Cut the same text into longer tokens. Which number says how good the model is, and which "
    "one grows just because the tokens are longer?",
    plain.edit(" * n_tokens / n_bytes", ""),
)
cross_entropy_to_bits_per_byte.wrong(
    "bits of the whole text",
    "A text is twice as long, and just as easy. Should your number be twice as large?",
    plain.edit(" / n_bytes", ""),
)
cross_entropy_to_bits_per_byte.wrong(
    "digits for bits",
    "A bit is a choice of how many? Which logarithm is that?",
    plain.edit("math.log(2)", "math.log(10)"),
)
cross_entropy_to_bits_per_byte.wrong(
    "bits per bit",
    "A byte has eight bits. Should you return the cost of a byte, or of one of its eight bits?",
    plain.edit("math.log(2)", "math.log(2) / 8"),
)
cross_entropy_to_bits_per_byte.wrong(
    "one token fewer",
    "Is `n_tokens` the number of predicted tokens, or one more?",
    plain.edit("* n_tokens", "* max(n_tokens - 1, 0)"),
)


@cross_entropy_to_bits_per_byte.public
def _(rng):
    yield Case("one coin per byte", (math.log(2), 3, 3)).holds("Returns bits a byte.")
    yield Case("four sides, two bytes per token", (math.log(4), 5, 10)).holds(
        "nats: the mean cross-entropy of a token, in nats. n_tokens: how many tokens were "
        "predicted."
    )
    yield Case("four bytes per token", (3.1, 250, 1000)).holds(
        "n_bytes: how many bytes of text these tokens are, at least 1."
    )
    yield Case("the same text in shorter tokens", (1.6, 500, 1000)).holds("n_bytes: how…")
    yield Case("a token for each letter of two bytes", (2.2, 40, 80)).holds("nats: the…")
    yield Case("one token of one byte", (1.25, 1, 1)).holds("n_bytes: how…")
    yield Case("half a byte per token", (0.5, 24, 12)).holds("nats: the…")
    yield Case("every token certain", (0.0, 7, 20))
    yield Case("a tiny loss", (1e-9, 7, 20))
    yield Case("no predicted token", (0.0, 0, 2))


@cross_entropy_to_bits_per_byte.hidden
def _(rng):
    for note in ("longer tokens", "shorter tokens", "a long text"):
        n_tokens = int(rng.integers(20, 90)) * (1000 if note == "a long text" else 1)
        n_bytes = int(n_tokens * rng.uniform(1.5, 6))
        yield Case(note, (float(rng.uniform(0.5, 6)), n_tokens, n_bytes))
    n = int(rng.integers(3, 90))
    yield Case("one token per byte", (float(rng.uniform(0.5, 5)), n, n))
    yield Case("one token", (float(rng.uniform(0.5, 5)), 1, int(rng.integers(2, 9))))
    yield Case("more tokens than bytes", (float(rng.uniform(0.2, 2)), 3 * n, 2 * n))
