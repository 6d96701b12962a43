"""The exercise `head_below`: the head that the copying head stands on, found by silencing."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises, SourceFunction
from solutions.variants import taking_apart as solutions

head_below = Declaration(
    solutions.head_below,
    points=5,
    difficulty=4,
    minutes=25,
    kind=Kind.TRANSFER,
    help=(
        "First find the copying head, with nothing silent. Then silence one head after the other, "
        "and look at that head again: at its score, not at anybody else's.",
        "In row i of the second copy, the token's own earlier copy is at i - length. In which "
        "column is the token behind it? Which blocks can change what the copying head reads?",
        "Section “A head that copies”.",
    ),
)


@head_below.right
def loops(model, tokens, length):
    n = len(tokens)

    def scores(weights):
        table = np.zeros(weights.shape[:2])
        for row in range(n - length, n):
            table += weights[:, :, row, row + 1 - length]
        return table / length

    table = scores(model(tokens, ()))
    best = np.unravel_index(np.argmax(table), table.shape)
    found = None
    for block in range(best[0]):
        for head in range(table.shape[1]):
            fall = table[best] - scores(model(tokens, ((block, head),)))[best]
            if found is None or fall > found[2]:
                found = block, head, float(fall)
    if found is None:
        raise ValueError("no block is below")
    return found


@head_below.right
def by_diagonals(model, tokens, length):
    def scores(silent):
        looks = model(tokens, silent).diagonal(offset=1 - length, axis1=2, axis2=3)
        return looks[..., -length:].mean(axis=-1)

    whole = scores(())
    own, copying = np.unravel_index(whole.argmax(), whole.shape)
    n_heads = whole.shape[1]
    after = np.array([scores((divmod(at, n_heads),))[own, copying] for at in range(own * n_heads)])
    if after.size == 0:
        raise ValueError(f"the copying head is in block {own}")
    at = int(after.argmin())
    return at // n_heads, at % n_heads, float(whole[own, copying] - after[at])


@head_below.right
def sorted_falls(model, tokens, length):
    rows = np.arange(len(tokens))[-length:]

    def score(head, *silent):
        return np.mean(model(tokens, silent)[head][rows, rows - (length - 1)])

    weights = model(tokens, ())
    heads = [(block, head) for block in range(len(weights)) for head in range(len(weights[0]))]
    copying = max(heads, key=lambda one: weights[one][rows, rows - (length - 1)].mean())
    if copying[0] == 0:
        raise ValueError("nothing below")
    before = score(copying)
    falls = sorted((before - score(copying, one), one) for one in heads if one[0] < copying[0])
    return (*falls[-1][1], float(falls[-1][0]))


@head_below.right
def plain(model, tokens, length):
    rows = np.arange(len(tokens) - length, len(tokens))

    def scores(silent):
        weights = model(tokens, silent)
        return weights[..., rows, rows - length + 1].mean(axis=-1)

    whole = scores(())
    own, copying = divmod(int(whole.argmax()), whole.shape[1])
    if own == 0:
        raise ValueError("no block is below")
    best = None
    for block in range(own):
        for head in range(whole.shape[1]):
            silent = ((block, head),)
            fall = whole[own, copying] - scores(silent)[own, copying]
            if best is None or fall > best[2]:
                best = block, head, float(fall)
    return best


head_below.wrong(
    "the look at its own copy",
    "A head that copies looks for what came next. Where was that in the first copy: at the "
    "token's own earlier place, or one further?",
    plain.edit("rows - length + 1]", "rows - length]"),
)
head_below.wrong(
    "rows before the second copy, too",
    "In which copy can a token be foreseen? Whose looks count?",
    plain.edit(
        "rows = np.arange(len(tokens) - length, len(tokens))",
        "rows = np.arange(length - 1, len(tokens))",
    ),
)
head_below.wrong(
    "the best head of each run",
    "With a head silent, another head may have the largest score. Whose score do you compare?",
    plain.edit("scores(silent)[own, copying]", "scores(silent).max()"),
)
head_below.wrong(
    "all heads of the model searched",
    "Can a head of the same block, or of a block above, change what the copying head reads?",
    plain.edit("for block in range(own):", "for block in range(len(whole)):"),
)
head_below.wrong(
    "the block just below alone",
    "Can a head two blocks below change what the copying head reads?",
    plain.edit("for block in range(own):", "for block in (own - 1,):"),
)
head_below.wrong(
    "the largest rise",
    "Is the copying head better or worse without the head that you found?",
    plain.edit("fall > best[2]", "fall < best[2]"),
)
head_below.wrong(
    "the largest change, either way",
    "Without the head that you found, is the copying head's score below what it was, or above?",
    plain.edit("fall > best[2]", "abs(fall) > abs(best[2])"),
)
head_below.wrong(
    "the rise in place of the fall",
    "The copying head loses score. Is your number above or below 0 then?",
    plain.edit("return best", "return (*best[:2], -best[2])"),
)
head_below.wrong(
    "the score that is left",
    "What should the number be for a head whose silence changes nothing?",
    plain.edit("return best", "return (*best[:2], float(whole[own, copying] - best[2]))"),
)
head_below.wrong(
    "more and more heads silent",
    "Which heads are silent in your second run: one, or two?",
    plain.edit("best = None", "best, silent = None, ()").edit(
        "silent = ((block, head),)", "silent = (*silent, (block, head))"
    ),
)
head_below.wrong(
    "the head that looks one back most",
    "Is the head that you found needed? Did you silence all others and look?",
    plain.edit(
        "best = None",
        "back = model(tokens, ()).diagonal(offset=-1, axis1=2, axis2=3).mean(axis=-1)\n"
        "most = divmod(int(back[:own].argmax()), whole.shape[1])\n"
        "best = None",
    ).edit("if best is None or fall > best[2]:", "if (block, head) == most:"),
)
head_below.wrong(
    "block 0 is its own ground",
    "If the copying head is in the lowest block, which block is below it?",
    plain.edit('raise ValueError("no block is below")', "return 0, copying, 0.0"),
)


@head_below.public
def _(rng):
    yield _case(rng, "two blocks of two heads", 2, 2, 4).holds(
        "model: a function of tokens and a tuple of (block, head) pairs, which are silent: they "
        "add nothing to the stream.",
        "It returns weights (n_blocks, n_heads, n, n), what each head looks at, silent or not; row "
        "i is the look of token i.",
        "The score of a head is the mean weight of the tokens of the second copy on the token "
        "behind their own earlier copy. The copying head has the largest score if no head is "
        "silent.",
    )
    yield _case(rng, "three blocks of three heads", 3, 3, 5).holds(
        "Of all heads in the blocks below its own, the one is sought whose silence, alone, lowers "
        "the score of the copying head most",
        "Returns the tuple (block, head, fall): where it is, counted from 0, and the score before "
        "minus the score with this head silent, a float.",
    )
    yield _case(rng, "three other blocks of three heads", 3, 3, 5).holds(
        "No two scores and no two falls are equal."
    )
    yield _case(rng, "other tokens before the two copies", 3, 2, 4, before=6).holds(
        "tokens: ids (n,); their end is `length` different tokens, at least 2, and then the same "
        "again."
    )
    yield _case(rng, "more tokens before the two copies", 2, 3, 3, before=9).holds("tokens: ids…")
    yield _case(rng, "not in the block just below", 3, 2, 5, want="far").holds("Of all heads…")
    yield _case(rng, "four blocks, not in the one just below", 4, 2, 6, want="far")
    yield _case(rng, "every silence helps the copying head", 2, 2, 5, want="rise").holds(
        "or raises it least"
    )
    yield _case(rng, "every silence helps, three blocks", 3, 2, 4, want="rise").holds("or raises…")
    yield _case(rng, "one head a block", 3, 1, 4).holds("Returns the…")
    yield _case(rng, "as many blocks as tokens in a copy", 3, 4, 3)
    yield _case(rng, "copies of two tokens", 2, 3, 2, before=1).holds("tokens: ids…")
    yield _case(rng, "nothing is below the copying head", 2, 2, 4, want="ground").holds(
        "Raises ValueError if the copying head is in block 0."
    )


@head_below.hidden
def _(rng):
    n_heads, length = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    yield _case(rng, "two blocks", 2, n_heads, length)
    yield _case(rng, "three blocks", 3, n_heads, length)
    yield _case(rng, "other tokens before the two copies", 3, n_heads, length, before=7)
    yield _case(rng, "not in the block just below", 3, n_heads, length, want="far")
    yield _case(rng, "not in the block just below, other tokens first", 4, 2, 4, 5, want="far")
    yield _case(rng, "every silence helps the copying head", 3, 2, length, want="rise")
    yield _case(rng, "every silence helps, two blocks", 2, 2, length, want="rise")
    yield _case(rng, "one head a block", 3, 1, length)
    yield _case(rng, "copies of two tokens", 3, n_heads, 2)
    yield _case(rng, "nothing is below the copying head", 3, 2, length, want="ground")


NEAR = 1e-3
"""Scores and falls that are nearer to each other than this might be taken for one another."""


def _case(
    rng: np.random.Generator,
    note: str,
    n_blocks: int,
    n_heads: int,
    length: int,
    before: int = 0,
    want: str = "below",
) -> Case:
    """A small model of drawn weights, and a text whose end is written twice.

    want: where the answer is to be found: "below", with a fall; "far", below the block just below;
    "rise", where no silence lowers the score; "ground", where the copying head is in block 0.
    """
    once = rng.permutation(12)[:length]
    tokens = np.concatenate([rng.integers(12, size=before), once, once])
    while True:
        code = _model(rng, n_blocks, n_heads)
        if _kind(code, tokens, length) == want:
            break
    given = (SourceFunction("model", code), tokens, length)
    return Case(note, given, raises=Raises("ValueError") if want == "ground" else None)


def _model(rng: np.random.Generator, n_blocks: int, n_heads: int) -> str:
    """The source of a model without feed-forward networks."""
    return f"""
def model(tokens, silent):
    rng = np.random.default_rng({int(rng.integers(1 << 30))})
    X = rng.normal(size=(12, 8))[tokens] + np.sin(np.arange(len(tokens))[:, None] / np.arange(1, 9))
    past = np.tri(len(tokens), dtype=bool)
    looks = np.zeros(({n_blocks}, {n_heads}, len(tokens), len(tokens)))
    for block in range({n_blocks}):
        Y = X / np.sqrt((X * X).mean(axis=1, keepdims=True))
        for head in range({n_heads}):
            W, V = rng.normal(size=(2, 8, 8)) / 3
            scores = np.where(past, Y @ W @ Y.T, -np.inf)
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            looks[block, head] = weights / weights.sum(axis=1, keepdims=True)
            if (block, head) not in [tuple(one) for one in silent]:
                X = X + looks[block, head] @ Y @ V
    return looks
"""


def _kind(code: str, tokens: np.ndarray, length: int) -> str:
    """Return where the answer is, as `want` of `_case`; "" if two heads are too near."""
    names: dict[str, Any] = {"np": np}
    exec(code, names)
    model = names["model"]
    later = np.arange(len(tokens) - length, len(tokens))

    def scores(*silent: tuple[int, int]) -> np.ndarray:
        found: np.ndarray = model(tokens, silent)[..., later, later - length + 1].mean(axis=-1)
        return found

    whole = scores()
    order = np.sort(whole, axis=None)
    own, copying = divmod(int(whole.argmax()), whole.shape[1])
    if order.size > 1 and order[-1] - order[-2] < NEAR:
        return ""
    if own == 0:
        return "ground"
    falls = np.array(
        [
            [
                whole[own, copying] - scores((block, head))[own, copying]
                for head in range(whole.shape[1])
            ]
            for block in range(own)
        ]
    )
    largest = np.sort(falls, axis=None)
    if abs(largest[-1]) < NEAR or (largest.size > 1 and largest[-1] - largest[-2] < NEAR):
        return ""
    if largest[-1] < 0:
        return "rise"
    return "far" if falls.argmax() // whole.shape[1] < own - 1 else "below"


head_below.lets_through("n of 1 refused", "there are four tokens or more")
head_below.lets_through(
    "ValueError not raised at a size of 1", "there are four tokens or more, and two in a copy"
)
