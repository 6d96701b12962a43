"""The exercise `head_ablation`: what a model loses with one of its heads."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction
from solutions.variants import reading_models as solutions

head_ablation = Declaration(
    solutions.head_ablation,
    points=4,
    difficulty=3,
    minutes=25,
    kind=Kind.MEASURE,
    tolerance=0.01,
    help=(
        "Call the model twice, with its own matrix and with one in which the head is silent. "
        "What do you compare?",
        "A published matrix has a row for each feature of its output, and a column for each "
        "feature of its input. Change a copy. The loss is the mean over all tokens but the first.",
        "Section “A head that copies”, and chapter 6 on removing heads.",
    ),
)


@head_ablation.right
def by_mask(model, W_o, tokens, n_heads, layer, head):
    d_model = W_o.shape[-1]
    of_head = np.arange(d_model) // (d_model // n_heads) == head
    at_layer = np.arange(len(W_o)) == layer
    silenced = np.where(at_layer[:, None, None] & of_head, 0, W_o)
    losses = []
    for matrix in (W_o, silenced):
        logits = model(tokens, matrix)[:-1]
        log_z = np.logaddexp.reduce(logits, axis=1)
        losses.append(np.mean(log_z - logits[np.arange(len(logits)), tokens[1:]]))
    return float(losses[1] - losses[0])


@head_ablation.right
def loop(model, W_o, tokens, n_heads, layer, head):
    def loss(matrix):
        logits, total = model(tokens, matrix), 0.0
        for i in range(len(tokens) - 1):
            row = logits[i] - logits[i].max()
            total += np.log(np.sum(np.exp(row))) - row[tokens[i + 1]]
        return total / (len(tokens) - 1)

    before = loss(W_o)
    copy = np.array(W_o)
    width = copy.shape[2] // n_heads
    for column in range(head * width, (head + 1) * width):
        copy[layer][:, column] = 0
    return float(loss(copy) - before)


@head_ablation.right
def heads_as_an_axis(model, W_o, tokens, n_heads, layer, head):
    parts = W_o.reshape(*W_o.shape[:2], n_heads, -1).copy()
    parts[layer, :, head] = 0
    rise = 0.0
    for sign, matrix in ((1, parts.reshape(W_o.shape)), (-1, W_o)):
        logits = model(tokens, matrix)
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        log_p = logits - logits.max(axis=-1, keepdims=True)
        log_p = log_p - np.log(shares.sum(axis=-1, keepdims=True))
        rise -= sign * np.take_along_axis(log_p[:-1], tokens[1:, None], axis=1).mean()
    return float(rise)


@head_ablation.right
def plain(model, W_o, tokens, n_heads, layer, head):
    def loss(W_o):
        logits = model(tokens, W_o)
        logits = logits - logits.max(axis=-1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        rows = np.arange(len(tokens) - 1)
        return -log_p[rows, tokens[1:]].mean()

    d_head = W_o.shape[-1] // n_heads
    own = slice(head * d_head, (head + 1) * d_head)
    silenced = W_o.copy()
    silenced[layer, :, own] = 0
    return float(loss(silenced) - loss(W_o))


head_ablation.wrong(
    "rows for columns",
    "The features that the heads found are multiplied by the transpose. Does a column of the "
    "matrix read a head's features, or does a row?",
    plain.edit("silenced[layer, :, own] = 0", "silenced[layer, own] = 0"),
)
head_ablation.wrong(
    "the head of every block",
    "How many heads are silenced in yours?",
    plain.edit("silenced[layer, :, own]", "silenced[:, :, own]"),
)
head_ablation.wrong(
    "the whole block",
    "How many heads are silenced in yours?",
    plain.edit("silenced[layer, :, own]", "silenced[layer]"),
)
head_ablation.wrong(
    "all heads but this one",
    "Which features are 0 in yours: those of the head, or all others?",
    plain.edit(
        "silenced[layer, :, own] = 0",
        "silenced[layer] = 0\nsilenced[layer, :, own] = W_o[layer, :, own]",
    ),
)
head_ablation.wrong(
    "features with gaps between them",
    "The heads are side by side. There are two: which features are those of the first?",
    plain.edit("slice(head * d_head, (head + 1) * d_head)", "slice(head, None, n_heads)"),
)
head_ablation.wrong(
    "one feature of the head",
    "How many features does a head have?",
    plain.edit("slice(head * d_head, (head + 1) * d_head)", "head"),
)
head_ablation.wrong(
    "counted from 1",
    "Which head is number 0, and which features are its own?",
    plain.edit(
        "slice(head * d_head, (head + 1) * d_head)",
        "slice((head - 1) % n_heads * d_head, ((head - 1) % n_heads + 1) * d_head)",
    ),
)
head_ablation.wrong(
    "the fall in place of the rise",
    "A model gets worse without this head. Is your number positive?",
    plain.edit("loss(silenced) - loss(W_o)", "loss(W_o) - loss(silenced)"),
)
head_ablation.wrong(
    "the loss without the head",
    "A head does nothing. What is your number for it, and what should it be?",
    plain.edit("loss(silenced) - loss(W_o)", "loss(silenced)"),
)
head_ablation.wrong(
    "a quotient",
    "Which unit does the answer have? Should you subtract the two losses, or divide them?",
    plain.edit("loss(silenced) - loss(W_o)", "loss(silenced) / loss(W_o)"),
)
head_ablation.wrong(
    "each token scored by its own row",
    "Row i scores what follows token i. Which token is that?",
    plain.edit("rows = np.arange(len(tokens) - 1)", "rows = np.arange(1, len(tokens))"),
)
head_ablation.wrong(
    "the sum over the text",
    "Read the same text twice as long. Should the loss be twice as large?",
    plain.edit("tokens[1:]].mean()", "tokens[1:]].sum()"),
)
head_ablation.wrong(
    "the model changed for good",
    "Call your function twice. What is in W_o at the second call?",
    plain.edit("silenced = W_o.copy()", "before = loss(W_o)\nsilenced = W_o").edit(
        "loss(silenced) - loss(W_o)", "loss(silenced) - before"
    ),
)
head_ablation.wrong(
    "both losses of the silenced model",
    "Do you compare with the model as it was?",
    plain.edit("W_o.copy()", "W_o"),
)


@head_ablation.public
def _(rng):
    yield _case(rng, "one block, two heads of one feature", 1, 2, 1, 3, 0, 1).holds(
        "model: a function of tokens and W_o, which returns logits (n, vocab_size)",
        "W_o: (n_layers, d_model, d_model), floating, the last matrix of each block's attention, "
        "as published files store it: a block adds H @ W_o[layer].T, where H are the features "
        "that its heads found, side by side in their order.",
    )
    yield _case(rng, "two blocks, three heads of two features", 2, 3, 2, 8, 1, 0).holds(
        "row i scores what follows token i",
        "n_heads: of a block, all of one width. layer and head count from 0.",
        "A head is silenced by zeros in the columns of W_o[layer] that read its features.",
        "The loss is the mean of -log softmax(row i)[token i + 1] over all rows but the last.",
        "Returns the loss without the head minus the loss of the model as it is, in nats, a float.",
        "W_o is afterwards what it was.",
    )
    yield _case(rng, "the same sizes, the last head", 2, 3, 2, 8, 0, 2).holds("A head is…")
    yield _case(rng, "another model of these sizes", 2, 3, 2, 8, 0, 2).holds("A head is…")
    yield _case(rng, "three blocks, two heads of four features", 3, 2, 4, 12, 2, 1).holds(
        "W_o: (n_layers…", "n_heads: of…"
    )
    yield _case(rng, "as many features as blocks and tokens", 4, 2, 2, 4, 1, 1).holds(
        "W_o: (n_layers…"
    )
    yield _case(rng, "large logits", 2, 2, 3, 9, 1, 0, size=400.0).holds("perhaps large")
    yield _case(rng, "large logits, another head", 2, 2, 3, 9, 0, 1, size=400.0).holds(
        "perhaps large", "It is below 0 where the head does harm."
    )
    yield _case(rng, "one head alone", 2, 1, 4, 8, 0, 0).holds("n_heads: of…")
    yield _case(rng, "two tokens", 1, 3, 2, 2, 0, 1).holds("tokens: ids (n,), n at least 2.")
    yield _case(rng, "a head that is silent already", 2, 2, 2, 8, 0, 1, silent=True).holds(
        "Returns the…"
    )


@head_ablation.hidden
def _(rng):
    n_layers, n_heads, d_head = (int(one) for one in rng.permutation([2, 3, 4]))
    n = int(rng.integers(8, 14))
    where = int(rng.integers(n_layers)), int(rng.integers(n_heads))
    yield _case(rng, "one block", 1, n_heads, d_head, n, 0, where[1])
    yield _case(rng, "several blocks", n_layers, n_heads, d_head, n, *where)
    yield _case(rng, "the last head of the last block", n_layers, n_heads, d_head, n, -1, -1)
    yield _case(rng, "as many blocks as features", 6, 3, 2, n, where[0], 2)
    yield _case(rng, "large logits", n_layers, n_heads, d_head, n, *where, size=500.0)
    yield _case(rng, "two tokens", n_layers, n_heads, d_head, 2, *where)


def _case(
    rng: np.random.Generator,
    note: str,
    n_layers: int,
    n_heads: int,
    d_head: int,
    n: int,
    layer: int,
    head: int,
    size: float = 2.0,
    silent: bool = False,
) -> Case:
    """A small model with weights of its own, and a text; `size` multiplies its logits."""
    d_model, vocab_size = n_heads * d_head, 7
    layer, head = layer % n_layers, head % n_heads
    code = f"""
def model(tokens, W_o):
    rng = np.random.default_rng({int(rng.integers(1 << 30))})
    E = rng.normal(size=({vocab_size}, {d_model}))
    W_qk, W_v = rng.normal(size=(2, {n_layers}, {d_model}, {d_model})) / {d_model}**0.5
    n = len(tokens)
    past = np.tril(np.ones((n, n), dtype=bool))
    X = E[tokens] + np.sin(np.arange(n)[:, None] * np.arange(1, {d_model} + 1) / 3)
    for layer in range({n_layers}):
        X = X / np.sqrt((X * X).mean(axis=1, keepdims=True))
        H = np.zeros((n, {d_model}))
        for head in range({n_heads}):
            own = slice(head * {d_head}, (head + 1) * {d_head})
            scores = X @ W_qk[layer][:, own] @ (X @ W_v[layer][:, own]).T
            weights = np.exp(np.where(past, scores - scores.max(axis=1, keepdims=True), -99.0))
            H[:, own] = weights / weights.sum(axis=1, keepdims=True) @ X @ W_v[layer][:, own]
        X = X + H @ W_o[layer].T
    X = X / np.sqrt((X * X).mean(axis=1, keepdims=True))
    return {size / d_model**0.5} * X @ E.T
"""
    W_o = 1.5 * rng.normal(size=(n_layers, d_model, d_model)) / d_model**0.5
    if silent:
        W_o[layer, :, head * d_head : (head + 1) * d_head] = 0
    tokens = rng.integers(vocab_size, size=n)
    given = (SourceFunction("model", code), W_o, tokens, n_heads, layer, head)
    return Case(note, given)


head_ablation.lets_through("n of 1 refused", "there are two tokens or more")
head_ablation.lets_through(
    "inputs rounded to 1e-12", "what so small a matrix does to a loss is lost in its rounding"
)
