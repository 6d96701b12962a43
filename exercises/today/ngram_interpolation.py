"""The exercise `ngram_interpolation`: a language model that counts, and nothing else."""

import math

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions.variants import reading_models as solutions

ngram_interpolation = Declaration(
    solutions.ngram_interpolation,
    points=5,
    difficulty=4,
    minutes=35,
    help=(
        "Begin with order 1, that is, without a context. A token's probability is its share of "
        "the counts, plus a little that is reserved for tokens that were never seen.",
        "Go from the shortest context to the longest. Each step mixes the counts after this "
        "context with the probability from the step before. What should happen with a context "
        "that was never seen?",
        "Section “The rival that counts”.",
    ),
)


@ngram_interpolation.right
def recursive(train, text, order, vocab_size, weight=1.0):
    train, text = list(map(int, train)), list(map(int, text))

    def followers(context):
        k = len(context)
        return [train[i] for i in range(k, len(train)) if train[i - k : i] == context]

    def probability(token, context):
        shorter = probability(token, context[1:]) if context else 1 / vocab_size
        seen = followers(context)
        if not seen:
            return shorter
        kinds = weight * len(set(seen))
        return (seen.count(token) + kinds * shorter) / (len(seen) + kinds)

    found = []
    for i, token in enumerate(text):
        found.append(np.log(probability(token, text[max(0, i - order + 1) : i])))
    return np.array(found, dtype=float)


@ngram_interpolation.right
def whole_distributions(train, text, order, vocab_size, weight=1.0):
    result = np.zeros(len(text))
    for i in range(len(text)):
        p = np.full(vocab_size, 1 / vocab_size)
        for k in range(0, min(order - 1, i) + 1):
            context = text[i - k : i]
            starts = range(len(train) - k)
            after = [train[s + k] for s in starts if np.array_equal(train[s : s + k], context)]
            counts = np.bincount(np.array(after, dtype=int), minlength=vocab_size)
            kinds = weight * np.count_nonzero(counts)
            if counts.any():
                p = (counts + kinds * p) / (counts.sum() + kinds)
        result[i] = math.log(p[text[i]])
    return result


@ngram_interpolation.right
def by_shares(train, text, order, vocab_size, weight=1.0):
    tables = {}
    for end in range(len(train)):
        for k in range(min(order, end + 1)):
            table = tables.setdefault(tuple(train[end - k : end].tolist()), {})
            table[int(train[end])] = table.get(int(train[end]), 0) + 1
    logs = []
    for i in range(len(text)):
        p = 1.0 / vocab_size
        for start in range(i, max(i - order, -1), -1):
            table = tables.get(tuple(text[start:i].tolist()), {})
            total = sum(table.values())
            trust = total / (total + weight * len(table)) if total else 0.0
            share = table.get(int(text[i]), 0) / total if total else 0.0
            p = trust * share + (1 - trust) * p
        logs.append(math.log(p))
    return np.array(logs, dtype=np.float64)


@ngram_interpolation.right
def plain(train, text, order, vocab_size, weight=1.0):
    from collections import Counter, defaultdict

    follows = defaultdict(Counter)
    for k in range(order):
        for i in range(k, len(train)):
            follows[tuple(train[i - k : i])][train[i]] += 1
    found = np.zeros(len(text))
    for i, token in enumerate(text):
        p = 1 / vocab_size
        for k in range(min(order - 1, i) + 1):
            after = follows[tuple(text[i - k : i])]
            total, kinds = after.total(), weight * len(after)
            if total:
                p = (after[token] + kinds * p) / (total + kinds)
        found[i] = np.log(p)
    return found


ngram_interpolation.wrong(
    "one token of context too many",
    "With order 1, how many tokens does the prediction read?",
    plain.edit("for k in range(order):", "for k in range(order + 1):").edit(
        "min(order - 1, i)", "min(order, i)"
    ),
)
ngram_interpolation.wrong(
    "one token of context too few",
    "With order 2, from how many tokens is the next one predicted?",
    plain.edit("min(order - 1, i)", "min(max(order - 2, 0), i)"),
)
ngram_interpolation.wrong(
    "the count in place of the number of kinds",
    "The same token followed a hundred times, and no other. How many different tokens followed?",
    plain.edit("weight * len(after)", "weight * after.total()"),
)
ngram_interpolation.wrong(
    "one kind for all contexts",
    "After one context a single kind of token was seen, after another one twenty. After which of "
    "the two is something new more likely?",
    plain.edit("weight * len(after)", "weight"),
)
ngram_interpolation.wrong(
    "the weight ignored",
    "With a large weight, does your model trust its counts less?",
    plain.edit("weight * len(after)", "len(after)"),
)
ngram_interpolation.wrong(
    "nothing below the shortest context",
    "A token never occurred in the first text. What probability does your function give it?",
    plain.edit("p = 1 / vocab_size", "p = 1e-12"),
)
ngram_interpolation.wrong(
    "the longest context alone",
    "Nothing followed this context in the first text. What do the shorter contexts say?",
    plain.edit("if total:", "p = 1 / vocab_size\nif total:"),
)
ngram_interpolation.wrong(
    "mixed with an even guess",
    "What is a context's count mixed with: with an even guess, or with the prediction after the "
    "shorter context?",
    plain.edit("kinds * p)", "kinds / vocab_size)"),
)
ngram_interpolation.wrong(
    "counts divided by those of the whole text",
    "What is the token's share of everything that followed this context? What do you divide by?",
    plain.edit("(total + kinds)", "(len(train) + kinds)"),
)
ngram_interpolation.wrong(
    "contexts of the first text",
    "In which text are the tokens before the predicted one?",
    plain.edit(
        "after = follows[tuple(text[i - k : i])]", "after = follows[tuple(train[len(train) - k :])]"
    ),
)
ngram_interpolation.wrong(
    "the text learnt while it is read",
    "May the model learn from the text that it is tested on?",
    plain.edit(
        "found[i] = np.log(p)",
        "found[i] = np.log(p)\n"
        "for k in range(min(order - 1, i) + 1):\n"
        "    follows[tuple(text[i - k : i])][token] += 1",
    ),
)
ngram_interpolation.wrong(
    "bits for nats",
    "Which logarithm does the docstring ask for?",
    plain.edit("np.log(p)", "np.log2(p)"),
)
ngram_interpolation.wrong(
    "probabilities in place of logarithms",
    "Can your function return a number below 0? Can a logarithm of a probability be above 0?",
    plain.edit("np.log(p)", "p"),
)


@ngram_interpolation.public
def _(rng):
    train, text = np.array([0, 1, 0, 1, 0]), np.array([0, 1])
    yield Case("order 1, by hand", (train, text, 1, 3)).holds(
        "order: at least 1",
        "Here c(hw) says how often w followed h in `train`, c(h) how often anything followed h, "
        "and t(h) how many different tokens followed it",
        "Below the context of no token stands 1 / vocab_size.",
    )
    yield Case("order 2, by hand", (train, text, 2, 3)).holds(
        "a token is predicted from the order - 1 tokens before it in `text`, or from as many as "
        "there are.",
        "The probability of a token w after the context h of k tokens is mixed from what followed "
        "h in `train` and from the prediction after the shorter context h', which lacks the first "
        "token of h: (c(hw) + weight t(h) p(w|h')) / (c(h) + weight t(h)).",
    )
    yield Case("a token never seen", (train, np.array([0, 2, 1, 0]), 3, 4)).holds(
        "Where nothing followed h, it is p(w|h').", "vocab_size: ids go from 0 up to it."
    )
    yield _case(rng, "order 3", 40, 12, 3, 4).holds(
        "The probability…",
        "Returns the natural logarithms of the probabilities, (m,).",
        "method C, whose weight is 1",
    )
    yield _case(rng, "order 3, two other texts", 40, 12, 3, 4).holds("The probability…")
    yield _case(rng, "order 5, a longer text", 60, 20, 5, 3).holds("a token is…")
    yield _case(rng, "another weight", 40, 12, 3, 5, weight=0.25).holds("weight is above 0.")
    yield _case(rng, "a large weight, many kinds", 50, 12, 2, 12, weight=4.0).holds(
        "weight is above 0."
    )
    yield _case(rng, "as many tokens in one text as in the other", 15, 15, 2, 4).holds(
        "train: ids (N,), N at least 1."
    )
    yield _case(rng, "a higher order than the text is long", 12, 4, 9, 3).holds("a token is…")
    yield Case("one token in train", (np.array([1]), np.array([1, 0, 1]), 2, 2)).holds(
        "train: ids…", "Where nothing…"
    )
    yield _case(rng, "no token to predict", 9, 0, 2, 4).holds("text: ids (m,), m may be 0.")
    yield _case(rng, "a vocabulary of one token", 6, 3, 2, 1)
    yield _case(rng, "one token to predict", 9, 1, 2, 4).holds("text: ids…")
    repeated = np.array([0, 1, 2] * 8)
    yield Case("a text that repeats itself", (repeated, repeated[:9], 4, 5)).holds("Here c(hw)…")


@ngram_interpolation.hidden
def _(rng):
    V, order = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    yield _case(rng, "order 1", 30, 10, 1, V)
    yield _case(rng, "several orders", 60, 20, order, V)
    yield _case(rng, "a high order", 50, 20, 6, 3)
    yield _case(rng, "another weight", 50, 15, order, V, weight=float(rng.uniform(0.1, 0.6)))
    yield _case(rng, "a large weight, many kinds", 50, 15, 2, 15, weight=float(rng.integers(2, 6)))
    yield _case(rng, "as many tokens in one text as in the other", 16, 16, order, V)
    yield _case(rng, "few counts", 4, 12, 3, 6)
    yield _case(rng, "no token to predict", 9, 0, order, V)


def _case(
    rng: np.random.Generator,
    note: str,
    N: int,
    m: int,
    order: int,
    vocab_size: int,
    weight: float | None = None,
) -> Case:
    """Two texts in which some tokens are common, and the last one of a larger vocabulary is rare.

    In `train` a token often decides which one comes next; `text` is of the same kind.
    """
    shares = 1 / np.arange(1, vocab_size + 1)
    drawn = rng.choice(vocab_size, size=N + m, p=shares / shares.sum())
    for i in range(1, len(drawn)):
        if rng.random() < 0.5:
            drawn[i] = (3 * drawn[i - 1] + 1) % vocab_size
    keywords = {} if weight is None else {"weight": weight}
    return Case(note, (drawn[:N], drawn[N:], order, vocab_size), keywords)
