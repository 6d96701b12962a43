"""The exercise `mask_tokens`: what BERT is trained to restore.

The random generator of a case is made afresh from its seed at each call, and the docstring says
what to take from it in which order. So what is right is one answer and can be compared.
"""

from dataclasses import replace

import numpy as np

from autograder.exercise.declaring import Case, Declaration, SeededGenerator
from solutions import gpt_and_bert as solutions

mask_tokens = Declaration(
    solutions.mask_tokens,
    points=2,
    difficulty=2,
    minutes=15,
    help=(
        "Draw all three arrays first, then decide about each token by the numbers drawn at its "
        "place.",
        "One `np.where` may go inside another: the mask, or else a random id, or else the token. "
        "The targets depend on the first array alone.",
        "Section “Keep the encoder”.",
    ),
)


@mask_tokens.right
def by_boolean(tokens, vocab_size, mask_id, probability, generator):
    chosen = generator.random(tokens.shape) < probability
    fate = generator.random(tokens.shape)
    anything = generator.integers(vocab_size, size=tokens.shape)
    inputs, targets = tokens.copy(), np.full_like(tokens, -100)
    targets[chosen] = tokens[chosen]
    inputs[chosen & (fate < 0.8)] = mask_id
    at_random = chosen & (fate >= 0.8) & (fate < 0.9)
    inputs[at_random] = anything[at_random]
    return inputs, targets


@mask_tokens.right
def token_by_token(tokens, vocab_size, mask_id, probability, generator):
    first, second = generator.random(tokens.shape), generator.random(tokens.shape)
    anything = generator.integers(vocab_size, size=tokens.shape)
    inputs, targets = np.array(tokens), np.zeros_like(tokens) - 100
    for place in np.ndindex(tokens.shape):
        if first[place] >= probability:
            continue
        targets[place] = tokens[place]
        if second[place] < 0.8:
            inputs[place] = mask_id
        elif second[place] < 0.9:
            inputs[place] = anything[place]
    return inputs, targets


@mask_tokens.right
def selected(tokens, vocab_size, mask_id, probability, generator):
    kept = generator.random(tokens.shape) >= probability
    fate = generator.random(tokens.shape)
    anything = generator.integers(vocab_size, size=tokens.shape)
    masks = np.full(tokens.shape, mask_id)
    inputs = np.select([kept, fate < 0.8, fate < 0.9], [tokens, masks, anything], tokens)
    return inputs, np.choose(kept.astype(int), [tokens, np.full(tokens.shape, -100)])


@mask_tokens.right
def plain(tokens, vocab_size, mask_id, probability, generator):
    chosen = generator.random(tokens.shape) < probability
    fate = generator.random(tokens.shape)
    anything = generator.integers(vocab_size, size=tokens.shape)
    replaced = np.where(fate < 0.8, mask_id, np.where(fate < 0.9, anything, tokens))
    inputs = np.where(chosen, replaced, tokens)
    return inputs, np.where(chosen, tokens, -100)


mask_tokens.wrong(
    "always the mask",
    "Of ten chosen tokens, about how many become the mask? What happens to the others?",
    plain.edit("chosen, replaced, tokens", "chosen, mask_id, tokens"),
)
mask_tokens.wrong(
    "every token a target",
    "A token that was not chosen is unchanged in the input. What could be learned from restoring "
    "it?",
    plain.edit("np.where(chosen, tokens, -100)", "tokens.copy()"),
)
mask_tokens.wrong(
    "the others are the targets",
    "Which tokens must the model restore: those that were chosen, or all others?",
    plain.edit("chosen, tokens, -100", "chosen, -100, tokens"),
)
mask_tokens.wrong(
    "only what has changed is a target",
    "A chosen token that stays as it is: does it count in the loss?",
    plain.edit("chosen, tokens, -100", "inputs != tokens, tokens, -100"),
)
mask_tokens.wrong(
    "the others chosen",
    "With a probability of 0.15, what share of the tokens does your function choose?",
    plain.edit("< probability", "> probability"),
)
mask_tokens.wrong(
    "no chosen token left as it is",
    "What happens in your function to a chosen token with a second number of 0.95?",
    plain.edit("np.where(fate < 0.9, anything, tokens)", "anything"),
)
mask_tokens.wrong(
    "no chosen token replaced at random",
    "What happens in your function to a chosen token with a second number of 0.85?",
    plain.edit("np.where(fate < 0.9, anything, tokens)", "tokens"),
)
mask_tokens.wrong(
    "the targets taken from the inputs",
    "What is the target where the input is the mask? What should the model restore there?",
    plain.edit("chosen, tokens, -100", "chosen, inputs, -100"),
)
mask_tokens.wrong(
    "the tokens themselves changed",
    "The next epoch masks the same text again, in other places. Is the text still there?",
    by_boolean.edit("tokens.copy()", "tokens"),
)
mask_tokens.wrong(
    "0 where nothing is predicted",
    "0 is the id of a token. How does the loss know which places to skip?",
    plain.edit("-100", "0"),
)


mask_tokens.wrong(
    "nine in ten become the mask",
    "Of ten chosen tokens, about how many become the mask, and how many a random one?",
    plain.edit("fate < 0.8", "fate < 0.9").edit(
        "np.where(fate < 0.9, anything", "np.where(fate < 0.95, anything"
    ),
)
mask_tokens.wrong(
    "the random ones and those left as they are exchanged",
    "What happens in your function to a chosen token with a second number of 0.85, and what to "
    "one with 0.95?",
    plain.edit("anything, tokens))", "tokens, anything))"),
)


@mask_tokens.public
def _(rng):
    yield _case(rng, "one text of twenty tokens, half of them chosen", (20,), 8, 0.5).holds(
        "where a chosen token with a number below 0.8 becomes `mask_id`, one with a number from "
        "0.8 to below 0.9 becomes a random id, and any other stays as it is"
    )
    yield _case(rng, "a batch, 15 % chosen", (6, 30), 40, 0.15, 7).holds(
        "Three arrays of the shape of `tokens` are drawn, in this order: "
        "`generator.random(shape)`, where a number below `probability` chooses the token",
        "Returns the inputs, and the targets: the token that stood there where one was chosen, "
        "and -100 everywhere else.",
    )
    yield _case(rng, "every token chosen", (4, 25), 12, 1.0).holds(
        "Three arrays…",
        "where a chosen…",
        "`generator.integers(vocab_size, size=shape)`, the random ids.",
    )
    yield _case(rng, "no token chosen", (3, 5), 9, 0.0).holds("Three arrays…")
    yield _on_the_border(rng, (4, 10)).holds("Three arrays…")
    yield _case(rng, "two leading axes", (2, 5, 12), 10, 0.4).holds(
        "tokens: ids (..., n), n may be 0; not changed."
    )
    yield _case(rng, "three leading axes", (2, 1, 5, 12), 10, 0.6).holds("tokens: ids…")
    yield _case(rng, "a batch of one text", (1, 60), 7, 0.7).holds("tokens: ids…")
    yield _case(rng, "no token", (2, 0), 5, 0.5).holds("tokens: ids…")
    yield _case(rng, "texts of one token", (30, 1), 9, 0.6).holds("tokens: ids…")
    yield _case(rng, "another batch, 15 % chosen", (6, 30), 40, 0.15, 7)


@mask_tokens.hidden
def _(rng):
    batch, n, V = (int(one) for one in rng.permutation([12, 15, 18]))
    yield _case(rng, "one text", (60,), V, 0.5)
    yield _case(rng, "a batch, some tokens chosen", (batch, n), V, float(rng.uniform(0.2, 0.4)))
    yield _case(rng, "every token chosen", (batch, n), V, 1.0, 5)
    yield _on_the_border(rng, (batch, n))
    yield _case(rng, "as many texts as tokens", (n, n), V, 0.5).holds("Returns the…")
    yield _case(rng, "two leading axes", (2, batch, n), V, 0.3)
    yield _case(rng, "no token", (batch, 0), V, 0.5)
    yield _case(rng, "texts of one token", (40, 1), V, 0.7)
    yield _case(rng, "every token of another batch chosen", (batch, n), V, 1.0, 5)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    V: int,
    probability: float,
    mask_id: int | None = None,
) -> Case:
    """Tokens of `shape` below V, a mask_id that is one of the ids, and a generator."""
    mask_id = int(rng.integers(1, V)) if mask_id is None else mask_id
    seed = int(rng.integers(2**31))
    tokens = (mask_id + rng.integers(1, V, size=shape)) % V  # any but the mask
    return Case(note, (tokens, V, mask_id, probability, SeededGenerator(seed)))


def _on_the_border(rng: np.random.Generator, shape: tuple[int, ...]) -> Case:
    """A probability that one of the numbers equals."""
    case = _case(rng, "a number that is exactly the probability", shape, 9, 0.5)
    *others, generator = case.arguments
    numbers = np.sort(generator.load().random(shape), axis=None)
    return replace(case, arguments=(*others[:3], float(numbers[numbers.size // 2]), generator))


mask_tokens.mutant("a number that is the probability chooses", "< probability", "<= probability")
