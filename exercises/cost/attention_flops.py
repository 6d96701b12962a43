"""The exercise `attention_flops`: how many operations the matrix products of a layer take."""

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import cost as solutions

attention_flops = Declaration(
    solutions.attention_flops,
    points=3,
    difficulty=2,
    minutes=15,
    help=(
        "List the matrix products of the layer, each with its three sizes, and add up 2abc.",
        "There are four products for the whole layer, and two for each head. A head has d_model / "
        "n_heads features.",
        "Section “Count before you measure”.",
    ),
)


@attention_flops.right
def factored(n, d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError(f"d_model = {d_model} is not divisible by n_heads = {n_heads}")
    return 4 * n * d_model * (2 * d_model + n)


@attention_flops.right
def head_by_head(n, d_model, n_heads):
    d_head, left = divmod(d_model, n_heads)
    if left:
        raise ValueError(f"{n_heads} heads do not divide {d_model} features")
    total = 0
    for _ in range(n_heads):
        total += 3 * (2 * n * d_model * d_head)
        total += 2 * n * d_head * n
        total += 2 * n * n * d_head
    return total + 2 * n * d_model * d_model


@attention_flops.right
def list_of_products(n, d_model, n_heads):
    if d_model // n_heads * n_heads != d_model:
        raise ValueError("cannot split", d_model, n_heads)
    d_head = d_model // n_heads
    products = [(n, d_model, d_model)] * 4
    products += [(n, d_head, n), (n, n, d_head)] * n_heads
    return sum(2 * a * b * c for a, b, c in products)


@attention_flops.right
def plain(n, d_model, n_heads):
    if d_model % n_heads:
        raise ValueError(f"{d_model} features, {n_heads} heads")
    projections, heads = 8 * n * d_model**2, 4 * n * n * d_model
    return projections + heads


attention_flops.wrong(
    "additions not counted",
    "How many multiplications does the dot product of two vectors of length 10 take? And what "
    "happens to the ten results?",
    plain.edit("projections + heads", "(projections + heads) // 2"),
)
attention_flops.wrong(
    "W_o forgotten",
    "What happens to the heads' results after they have been merged?",
    plain.edit("8 * n * d_model**2", "6 * n * d_model**2"),
)
attention_flops.wrong(
    "every head as wide as the model",
    "Eight heads share 512 features. How many of them does one head's dot product sum over?",
    plain.edit("4 * n * n * d_model", "4 * n * n * d_model * n_heads"),
)
attention_flops.wrong(
    "one head counted",
    "Each head has its own table of scores. How many tables are there?",
    plain.edit("4 * n * n * d_model", "4 * n * n * (d_model // n_heads)"),
)
attention_flops.wrong(
    "the blend of the values forgotten",
    "There are two products with n² in them. One makes the scores. What are they then used for?",
    plain.edit("4 * n * n", "2 * n * n"),
)
attention_flops.wrong(
    "the projections forgotten",
    "Where do the queries, keys and values come from? For one token alone, what is left to count?",
    plain.edit("projections + heads", "heads"),
)
attention_flops.wrong(
    "only the past counted",
    "The docstring lets every query meet every key. Which part of the table of scores did you "
    "leave out?",
    plain.edit("4 * n * n", "2 * n * (n + 1)"),
)
attention_flops.wrong(
    "the softmax counted",
    "Is an exponential part of a matrix product? What does the docstring count?",
    plain.edit("projections + heads", "projections + heads + 3 * n_heads * n * n"),
)


@attention_flops.public
def _(rng):
    yield Case("one token, one feature, one head", (1, 1, 1)).holds(
        "Its matrix products count alone: one multiplication is one operation, and one addition "
        "is another, so that (a, b) @ (b, c) takes 2abc."
    )
    yield Case("two tokens, one feature", (2, 1, 1))
    yield Case("one token, two features", (1, 2, 1))
    yield Case("three tokens, four features, two heads", (3, 4, 2)).holds(
        "n: the number of tokens, 0 or more.",
        "d_model: the features of a token, before the layer, within it for all heads together, "
        "and after it.",
    )
    yield Case("the base model of 2017", (512, 512, 8)).holds(
        "The layer makes queries, keys and values, lets every head score every query on every "
        "key and blend the values, and mixes what the heads found by W_o."
    )
    yield Case("many tokens, few features", (10_000, 16, 4)).holds("Its matrix…")
    yield Case("no token", (0, 8, 2)).holds("n: the number…")
    yield Case("a number beyond 32 bits", (10**6, 1024, 16)).holds("Returns an int.")
    yield Case(
        "heads that do not divide", (4, 10, 3), raises=Raises("ValueError", ("10", "3"))
    ).holds(
        "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
        "n_heads."
    )
    yield Case("two heads, one feature", (3, 1, 2), raises=Raises("ValueError", ("1", "2")))


@attention_flops.hidden
def _(rng):
    d_head, n_heads = (int(one) for one in rng.integers(2, 40, size=2))
    n, width = int(rng.integers(50, 5000)), d_head * n_heads
    yield Case("a layer", (n, width, n_heads)).holds("The layer…")
    yield Case("one head", (n, width, 1)).holds("n_heads: at least 1.")
    yield Case("as many heads as features", (n, width, width)).holds("n_heads: at…")
    yield Case("more features than tokens", (int(rng.integers(2, 9)), width, n_heads)).holds(
        "d_model: the…"
    )
    yield Case("no token", (0, width, n_heads))
    yield Case("a number beyond 32 bits", (10**6 + n, width, n_heads))
    message = (str(width + 1), str(n_heads))
    yield Case(
        "heads that do not divide", (n, width + 1, n_heads), raises=Raises("ValueError", message)
    )
