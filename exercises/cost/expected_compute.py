"""The exercise `expected_compute`: the operations of a training step, and the bytes that wait."""

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import cost_of_today as solutions

expected_compute = Declaration(
    solutions.expected_compute,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "Count the products of one block for one token, forwards: how many have two sides of "
        "d_model, and how many make tokens meet? Then multiply by blocks, tokens and 3.",
        "Attention has four matrices of d_model by d_model, the feed-forward network two of "
        "d_model by four times d_model. Scores and blends take 4 n d_model a token. The logits "
        "are one more product, outside the blocks.",
        "Section “What waits for the way back” of the appendix.",
    ),
)


@expected_compute.right
def six_n_d(vocab_size, d_model, n_heads, n_layers, n, batch, again):
    tokens = n * batch
    block_weights = 12 * d_model * d_model * n_layers
    meeting = 4 * n * d_model * n_layers * tokens
    blocks = 2 * block_weights * tokens + meeting
    total = 6 * (block_weights + vocab_size * d_model) * tokens + 3 * meeting
    if not again:
        return total, 4 * batch * n_layers * n_heads * n**2
    return total + blocks, 4 * tokens * n_layers * d_model


@expected_compute.right
def product_by_product(vocab_size, d_model, n_heads, n_layers, n, batch, again):
    d, forwards, inside = d_model, 0, 0
    for _ in range(n_layers):
        products = [(batch * n, d, d)] * 4 + [(batch * n, d, 4 * d), (batch * n, 4 * d, d)]
        products += [(batch * n, d, n), (batch * n, n, d)]  # all heads together
        inside += sum(2 * a * b * c for a, b, c in products)
    forwards = inside + 2 * batch * n * d * vocab_size
    numbers = n_layers * batch * n * (d if again else n_heads * n)
    return 3 * forwards + (inside if again else 0), 4 * numbers


@expected_compute.right
def by_text(vocab_size, d_model, n_heads, n_layers, n, batch, again):
    block = 24 * n * d_model**2 + 4 * n**2 * d_model
    once = n_layers * block + 2 * n * vocab_size * d_model
    waits = n * d_model if again else n_heads * n * n
    step = once * 3 + n_layers * block * int(again)
    return batch * step, batch * n_layers * waits * 4


@expected_compute.right
def plain(vocab_size, d_model, n_heads, n_layers, n, batch, again):
    tokens = batch * n
    blocks = n_layers * tokens * (24 * d_model**2 + 4 * n * d_model)
    logits = 2 * tokens * d_model * vocab_size
    more = blocks if again else 0
    waits = d_model if again else n_heads * n
    return 3 * (blocks + logits) + more, 4 * n_layers * tokens * waits


expected_compute.wrong(
    "the way back as dear as the way forwards",
    "A product has two factors, and the way back needs the gradient of each. How many products "
    "is that?",
    plain.edit("3 * (blocks + logits)", "2 * (blocks + logits)"),
)
expected_compute.wrong(
    "forwards only",
    "A training step goes back as well. Where is that in your sum?",
    plain.edit("3 * (blocks + logits)", "(blocks + logits)"),
)
expected_compute.wrong(
    "tokens do not meet",
    "Make the texts twice as long, and the batch half as large. Does your count stay the same? "
    "Should it?",
    plain.edit("24 * d_model**2 + 4 * n * d_model", "24 * d_model**2"),
)
expected_compute.wrong(
    "the logits forgotten",
    "Which product turns the last block's output into a score for each word?",
    plain.edit("2 * tokens * d_model * vocab_size", "0"),
)
expected_compute.wrong(
    "the feed-forward network forgotten",
    "A block has attention, and what else?",
    plain.edit("24 * d_model**2", "8 * d_model**2"),
)
expected_compute.wrong(
    "the logits computed again, too",
    "With `again`, which products are computed a second time, those of the blocks or all?",
    plain.edit("blocks if again else 0", "blocks + logits if again else 0"),
)
expected_compute.wrong(
    "again costs nothing",
    "With `again`, each block runs forwards twice. Is the second run in your count?",
    plain.edit("blocks if again else 0", "0"),
)
expected_compute.wrong(
    "one table for all heads",
    "How many tables of weights does a layer have?",
    plain.edit("d_model if again else n_heads * n", "d_model if again else n"),
)
expected_compute.wrong(
    "one block waits",
    "When the way back begins, at the last block, which blocks' tables must still be there?",
    plain.edit("4 * n_layers * tokens * waits", "4 * tokens * waits"),
)
expected_compute.wrong(
    "numbers in place of bytes",
    "How many bytes does a number take?",
    plain.edit("4 * n_layers * tokens * waits", "n_layers * tokens * waits"),
)


@expected_compute.public
def _(rng):
    yield Case("one of everything", (1, 1, 1, 1, 1, 1, False)).holds(
        "The GPT has n_layers blocks, at least 1, with a feed-forward network four times as wide "
        "as d_model, and writes by its embedding, (vocab_size, d_model)."
    )
    yield Case("one of everything, again", (1, 1, 1, 1, 1, 1, True)).holds(
        "With `again`, the input of each block waits in their place, and the products of all "
        "blocks are computed forwards once more, those of the logits are not."
    )
    yield Case("two heads", (5, 4, 2, 1, 3, 1, False)).holds(
        "What waits are the tables of weights of all heads of all blocks, 4 bytes a number, and "
        "nothing else."
    )
    yield Case("three blocks", (7, 4, 2, 3, 5, 2, False)).holds("What waits…")
    yield Case("three blocks, again", (7, 4, 2, 3, 5, 2, True)).holds("With `again`…")
    yield Case("long texts", (50, 16, 4, 2, 1000, 1, False)).holds(
        "Only matrix products count, 2abc each, with none of them skipped; on the way back each "
        "takes twice as many as forwards."
    )
    yield Case("short texts, many", (50, 16, 4, 2, 10, 100, False)).holds(
        "It reads `batch` texts of n tokens each; both may be 0."
    )
    yield Case("many words", (50_000, 8, 2, 1, 4, 2, True)).holds("The GPT…")
    yield Case("no tokens", (10, 8, 2, 2, 0, 3, False)).holds("It reads…")
    yield Case("no text", (10, 8, 2, 2, 5, 0, True)).holds("It reads…")
    yield Case("chapter 10's GPT", (384, 96, 4, 2, 64, 12, False)).holds(
        "Returns (operations, stored), two ints."
    )
    yield Case("numbers beyond 32 bits", (50_257, 1600, 25, 48, 1024, 512, False)).holds(
        "Returns (op…"
    )


@expected_compute.hidden
def _(rng):
    heads, width, layers = (int(one) for one in rng.integers(2, 9, size=3))
    vocab, n, batch = (int(one) for one in rng.integers(20, 90, size=3))
    for again in (False, True):
        also = ", again" if again else ""
        sizes = (vocab, heads * width, heads, layers, n, batch, again)
        yield Case(f"a GPT{also}", sizes).holds("With `again`…" if again else "What waits…")
        yield Case(f"one head{also}", (vocab, heads * width, 1, layers, n, batch, again))
        yield Case(f"one block{also}", (vocab, width, 1, 1, n, batch, again)).holds("The GPT…")
        yield Case(f"one long text{also}", (vocab, heads * width, heads, layers, 40 * n, 1, again))
        yield Case(f"many words{also}", (5000 + vocab, heads * width, heads, 2, n, batch, again))
    yield Case("no tokens", (vocab, width, 1, layers, 0, batch, False)).holds("It reads…")
    yield Case("beyond 32 bits", (vocab, 64 * width, width, layers, 100 * n, batch, True))
