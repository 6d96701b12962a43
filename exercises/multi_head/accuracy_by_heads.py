"""The exercise `accuracy_by_heads`: an order of heads between its null and its ceiling."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import removing_heads as solutions

accuracy_by_heads = Declaration(
    solutions.accuracy_by_heads,
    points=4,
    difficulty=3,
    minutes=20,
    kind=Kind.TRANSFER,
    help=(
        "Write down the eight subsets of three heads with their numbers. Which numbers have one "
        "head, which have two? Which number belongs to the two most important heads?",
        "Head h is in the subset with the number s if `s >> h & 1` is 1. The k most important "
        "heads have the number that is the sum of 2 ** h over the first k of "
        "`np.argsort(-importance)`.",
        "Section “Removing heads”.",
    ),
)


@accuracy_by_heads.right
def with_combinations(accuracy, importance):
    from itertools import combinations

    heads = sorted(range(len(importance)), key=lambda h: importance[h], reverse=True)
    columns = []
    for k in range(len(heads) + 1):
        found = [accuracy[sum(2**h for h in some)] for some in combinations(heads, k)]
        columns.append([max(found), found[0], sum(found) / len(found)])
    return np.array(columns).T


@accuracy_by_heads.right
def an_axis_for_each_head(accuracy, importance):
    n = len(importance)
    # axis i counts whether head n - 1 - i is there
    table = accuracy.reshape((2,) * n)
    size = np.indices(table.shape).sum(axis=0)
    by_rank = table.transpose(n - 1 - np.argsort(importance)[::-1])
    rows = [
        [table[size == k].max() for k in range(n + 1)],
        [by_rank[(1,) * k + (0,) * (n - k)] for k in range(n + 1)],
        [table[size == k].mean() for k in range(n + 1)],
    ]
    return np.array(rows)


@accuracy_by_heads.right
def one_pass(accuracy, importance):
    n = len(importance)
    best, total, count = np.full(n + 1, -np.inf), np.zeros(n + 1), np.zeros(n + 1)
    for subset, reached in enumerate(accuracy):
        k = bin(subset).count("1")
        best[k] = max(best[k], reached)
        total[k] += reached
        count[k] += 1
    kept, in_order = 0, [accuracy[0]]
    for head in np.argsort(importance)[::-1]:
        kept |= 1 << int(head)
        in_order.append(accuracy[kept])
    return np.stack([best, np.array(in_order), total / count])


@accuracy_by_heads.right
def plain(accuracy, importance):
    n = len(importance)
    order = np.argsort(-importance)
    columns = []
    for k in range(n + 1):
        chosen = sum(2 ** int(h) for h in order[:k])
        group = [accuracy[s] for s in range(2**n) if bin(s).count("1") == k]
        columns.append([max(group), accuracy[chosen], sum(group) / len(group)])
    return np.array(columns).T


accuracy_by_heads.wrong(
    "the least important kept",
    "The most important head comes first in row 1. What does `np.argsort` put first?",
    plain.edit("np.argsort(-importance)", "np.argsort(importance)"),
)
accuracy_by_heads.wrong(
    "heads read from the other end of the number",
    "Head 0 counts 1 in the number of a subset, and head 1 counts 2. What do they count in yours?",
    plain.edit("2 ** int(h)", "2 ** (n - 1 - int(h))"),
)
accuracy_by_heads.wrong(
    "columns by the number of heads removed",
    "In which column is the accuracy of the whole layer, the first or the last?",
    plain.edit("np.array(columns).T", "np.array(columns).T[:, ::-1]"),
)
accuracy_by_heads.wrong(
    "the best order in place of the best subset",
    "Must the best two heads contain the best single head? Two heads may do the same thing.",
    plain.edit(
        'group = [accuracy[s] for s in range(2**n) if bin(s).count("1") == k]',
        'group = [accuracy[s] for s in range(2**n) if bin(s).count("1") == k]\n'
        "with_one_more = [best | 2**h for h in range(n) if not best >> h & 1] if k else [0]\n"
        "best = max(with_one_more, key=lambda s: accuracy[s])",
    ).edit("max(group), accuracy", "accuracy[best], accuracy"),
)
accuracy_by_heads.wrong(
    "the best subset of k heads or fewer",
    "May a subset of three heads be worse than every subset of two? What should row 0 say then?",
    plain.edit("max(group), accuracy", "max([*group, *(c[0] for c in columns)]), accuracy"),
)
accuracy_by_heads.wrong(
    "the median for the mean",
    "Row 2 is a mean. What is the mean of 0, 0 and 1?",
    plain.edit("sum(group) / len(group)", "np.median(group)"),
)
accuracy_by_heads.wrong(
    "without the layer of no head",
    "How many columns do three heads need, if k may be 0?",
    plain.edit("for k in range(n + 1)", "for k in range(1, n + 1)"),
)
accuracy_by_heads.wrong(
    "the first k heads in place of the most important",
    "If heads 0 and 2 are the two most important ones, what is the number of that subset?",
    plain.edit("sum(2 ** int(h) for h in order[:k])", "2**k - 1"),
)
accuracy_by_heads.wrong(
    "a row for each k",
    "Which of the two axes of the result counts k, and how long is it?",
    plain.edit("np.array(columns).T", "np.array(columns)"),
)


@accuracy_by_heads.public
def _(rng):
    accuracy = np.array([0.0, 0.1, 0.3, 0.6, 0.2, 0.9, 0.5, 1.0])
    yield Case("three heads", (accuracy, np.array([0.5, 0.7, 0.2]))).holds(
        "The number of a subset is the sum of 2 ** h over its heads h: accuracy[0] is without any "
        "head, and accuracy[5] with heads 0 and 2 only",
        "in row 0 the highest accuracy of a subset of k heads, in row 1 the accuracy of the k most "
        "important heads, and in row 2 the mean accuracy over all subsets of k heads",
    )
    yield Case("two heads", (np.array([0.0, 0.2, 0.5, 1.0]), np.array([0.4, 0.9]))).holds(
        "accuracy: (2 ** n_heads,), measured with every subset of the heads"
    )
    yield Case("five heads", _measured(rng, 5)).holds(
        "an array of shape (3, n_heads + 1), with a column for each k from 0 to n_heads"
    )
    yield Case("four heads, more of them help less", _unruly(rng, 4)).holds("in row 0…")
    yield Case("other four heads", _unruly(rng, 4)).holds("in row 0…")
    yield Case("one head", (np.array([0.1, 0.8]), np.array([1.0]))).holds("n_heads at least 1")
    twins = np.array([0.0, 0.6, 0.6, 0.6, 0.5, 1.0, 1.0, 1.0])
    yield Case("two heads that do the same", (twins, np.array([0.9, 0.8, 0.3])))
    greedy = np.array([0.0, 0.5, 0.4, 0.55, 0.3, 0.6, 0.9, 1.0])
    yield Case("the best head is not among the best two", (greedy, np.array([0.6, 0.5, 0.7])))
    accuracy, importance = _measured(rng, 3)
    yield Case("tiny importances", (accuracy, 1e-9 * importance)).holds("no two are equal")
    yield Case("tiny accuracies", (1e-9 * accuracy, importance)).holds("in row 0…")
    importance = np.array([0.3, 1.4, 1.2, 0.1])
    yield Case("importances above 1", (_measured(rng, 4)[0], importance)).holds("no two…")


@accuracy_by_heads.hidden
def _(rng):
    n_heads = int(rng.integers(4, 6))
    yield Case("a trained layer", _measured(rng, n_heads)).holds("in row 0…")
    yield Case("three heads", _measured(rng, 3)).holds("The number…")
    yield Case("more heads help less", _unruly(rng, n_heads))
    yield Case("four heads, unruly", _unruly(rng, 4)).holds("an array…")
    yield Case("one head", (rng.random(2), rng.random(1))).holds("n_heads at…")


def _measured(rng: np.random.Generator, n_heads: int) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies that rise with the heads' worths, and importances that know them roughly."""
    worth = rng.dirichlet(np.ones(n_heads))
    there = np.arange(2**n_heads)[:, None] >> np.arange(n_heads) & 1
    reached = (there @ worth) ** 1.5 * rng.uniform(0.8, 1, size=2**n_heads)
    return reached, worth + rng.uniform(0, 0.3, size=n_heads)


def _unruly(rng: np.random.Generator, n_heads: int) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies and importances that have nothing to do with each other."""
    return rng.random(2**n_heads), rng.permutation(n_heads) + rng.random()


COLUMNS = "the result has two columns or more"
accuracy_by_heads.lets_through("a last axis of length 1 squeezed", COLUMNS)
accuracy_by_heads.lets_through("axes of length 1 squeezed", COLUMNS)
