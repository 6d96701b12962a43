"""The exercise `decode_tokens_per_second`: the bound that the memory sets on writing."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions.variants import reading_models as solutions

decode_tokens_per_second = Declaration(
    solutions.decode_tokens_per_second,
    points=3,
    difficulty=2,
    minutes=15,
    help=(
        "Begin with the time of one step: which bytes does it read, and how often? Then ask how "
        "many tokens the step has added.",
        "One part of the bytes is the same for any number of texts. The other grows with it.",
        "Section “How fast can it be?”.",
    ),
)


@decode_tokens_per_second.right
def step_by_step(weight_bytes, cache_bytes, context, bandwidth, batch=1):
    seconds = weight_bytes / bandwidth
    for _ in range(batch):
        seconds += context * cache_bytes / bandwidth
    return batch / seconds


@decode_tokens_per_second.right
def bytes_of_a_token(weight_bytes, cache_bytes, context, bandwidth, batch=1):
    each = weight_bytes / batch + cache_bytes * context
    return float(bandwidth / each)


@decode_tokens_per_second.right
def in_arrays(weight_bytes, cache_bytes, context, bandwidth, batch=1):
    read = np.array([weight_bytes, *[context * cache_bytes] * batch], dtype=float)
    return float(batch / (read / bandwidth).sum())


@decode_tokens_per_second.right
def plain(weight_bytes, cache_bytes, context, bandwidth, batch=1):
    read = weight_bytes + batch * context * cache_bytes
    seconds = read / bandwidth
    return batch / seconds


decode_tokens_per_second.wrong(
    "the weights read once per text",
    "Two texts are written side by side. How often do the weights have to be read from memory in "
    "a step?",
    plain.edit(
        "weight_bytes + batch * context * cache_bytes",
        "batch * (weight_bytes + context * cache_bytes)",
    ),
)
decode_tokens_per_second.wrong(
    "one cache for all texts",
    "Two texts are written side by side. Do they have the same keys?",
    plain.edit("batch * context * cache_bytes", "context * cache_bytes"),
)
decode_tokens_per_second.wrong(
    "the tokens of one text",
    "A step adds one token to every text. How many is that in all?",
    plain.edit("batch / seconds", "1 / seconds"),
)
decode_tokens_per_second.wrong(
    "the newest token's cache alone",
    "Which keys does a new token's query meet: only its own, or those of all tokens before it, "
    "too?",
    plain.edit("batch * context * cache_bytes", "batch * cache_bytes"),
)
decode_tokens_per_second.wrong(
    "no cache",
    "Double the context. Does a step read as many bytes as before?",
    plain.edit(" + batch * context * cache_bytes", ""),
)
decode_tokens_per_second.wrong(
    "the weights for every token of the context",
    "The tokens before are in the cache. Do they have to go through the weights once more?",
    plain.edit("weight_bytes + batch", "weight_bytes * max(context, 1) + batch"),
)
decode_tokens_per_second.wrong(
    "seconds per token",
    "With twice the bandwidth, does your number become larger or smaller?",
    plain.edit("batch / seconds", "seconds / batch"),
)
decode_tokens_per_second.wrong(
    "bits for bytes",
    "Which unit does the bandwidth have?",
    plain.edit("seconds = read / bandwidth", "seconds = 8 * read / bandwidth"),
)


@decode_tokens_per_second.public
def _(rng):
    yield Case("nothing cached, one text", (100, 5, 0, 1000.0)).holds(
        "weight_bytes: of all weights together.",
        "bandwidth: bytes that are read in a second.",
        "nothing else takes time",
    )
    yield Case("ten tokens cached, one text", (100, 5, 10, 1000.0)).holds(
        "cache_bytes: of the keys and values of one token, in all blocks together. context: how "
        "many tokens of each text are cached, 0 or more."
    )
    yield Case("ten tokens cached, four texts", (100, 5, 10, 1000.0, 4)).holds(
        "batch: how many texts are written side by side, at least 1.",
        "A step adds one token to every text. It reads the weights once, for all texts, and of "
        "every text the whole cache",
        "Returns the tokens a second of all texts together, a float.",
    )
    yield Case("nothing cached, four texts", (100, 5, 0, 1000.0, 4)).holds("A step adds…")
    yield Case("the model of the chapter, in 2 bytes", (269_030_016, 46_080, 1000, 2e10)).holds(
        "weight_bytes: of…", "cache_bytes: of…"
    )
    yield Case("the same for 64 texts", (269_030_016, 46_080, 1000, 2e10, 64)).holds("A step adds…")
    yield Case("a cache larger than the weights", (1000, 40, 500, 12_500.0, 3)).holds("A step…")
    yield Case("one token cached, two texts", (7, 3, 1, 4.0, 2)).holds("Returns the…")
    yield Case("no bytes of cache", (640, 0, 9, 3200.0), {"batch": 2})


@decode_tokens_per_second.hidden
def _(rng):
    def drawn(context: int, batch: int) -> tuple[int, int, int, float, int]:
        weights, cache = int(rng.integers(1e6, 1e9)), int(rng.integers(1e3, 1e5))
        return weights, cache, context, float(rng.uniform(1e9, 1e11)), batch

    context, batch = int(rng.integers(500, 9000)), int(rng.integers(2, 60))
    yield Case("one text, its batch not given", drawn(context, 1)[:4])
    yield Case("several texts", drawn(context, batch))
    yield Case("several texts, nothing cached", drawn(0, batch))
    yield Case("a long context", drawn(100 * context, batch))
    yield Case("one text", drawn(context, 1))
