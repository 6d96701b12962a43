"""The exercise `test_cache`: write the test that tells a right cache from wrong ones.

It is given attention layers with a cache. Each stands alone: only its own lines reach the process
in which it runs. All have two heads of two features, turned queries and keys, and no weights but a
fixed number or two; each takes the mean of what it found and of what was there.
"""

import numpy as np
import torch

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_caches as solutions

test_cache = Declaration(
    solutions.test_cache,
    points=5,
    difficulty=5,
    minutes=35,
    kind=Kind.TEST,
    imports=("import torch",),
    help=(
        "You do not know what the layer makes of a text. But you can let it read the same text "
        "twice: at once, and in parts. What must agree?",
        "Which parts? If they all have one token, no mask is ever needed, and if there are only "
        "two, no cache ever grows twice. Then use an old cache again, read each text of a batch "
        "alone, and change one token at a time.",
        "Section “Assembled from your own pieces”; chapter 13 has more tests of this kind.",
    ),
)


@test_cache.right
def all_splits(implementation):
    torch.manual_seed(0)
    X = torch.randn(2, 6, 4).clamp(-2, 1)
    whole = implementation(X, None)[0]
    for first in range(1, 6):
        for second in range(first + 1, 7):
            one, cache = implementation(X[:, :first], None)
            two, after = implementation(X[:, first:second], cache)
            rows = [one, two]
            if second < 6:
                rows.append(implementation(X[:, second:], after)[0])
            assert torch.allclose(torch.cat(rows, dim=1), whole, atol=1e-4)
            assert torch.allclose(
                implementation(X[:, first:], cache)[0], whole[:, first:], atol=1e-4
            )
    for row in range(2):
        mine = implementation(X[row, None], None)[0]
        assert torch.allclose(mine[0], whole[row], atol=1e-4)
        for token in range(6):
            other = X[row, None].clone()
            other[0, token] += 1
            moved = (implementation(other, None)[0] - mine).abs().amax(dim=-1)[0]
            assert (moved > 1e-4).tolist() == [i >= token for i in range(6)]


@test_cache.right
def alone_token_by_token(implementation):
    generator = torch.Generator().manual_seed(3)
    X = torch.randn(3, 8, 4, generator=generator).clamp(-2, 1)
    texts = []
    for text in X:
        cache, rows = None, []
        for token in text:
            output, cache = implementation(token[None, None], cache)
            rows.append(output[0, 0])
        texts.append(torch.stack(rows))
    right = torch.stack(texts)
    np.testing.assert_allclose(implementation(X, None)[0], right, atol=1e-4)
    start, cache = implementation(X[:, :2], None)
    implementation(X[:, 6:], cache)
    middle, longer = implementation(X[:, 2:5], cache)
    end, _ = implementation(X[:, 5:], longer)
    np.testing.assert_allclose(torch.cat([start, middle, end], dim=1), right, atol=1e-4)
    for token in range(8):
        other = X[:1].clone()
        other[0, token] += 1
        moved = (implementation(other, None)[0][0] - right[0]).abs().amax(dim=-1)
        assert moved[token:].min() > 1e-4


@test_cache.right
def against_prefixes(implementation):
    torch.manual_seed(2)
    X = torch.rand(2, 7, 4) * 3 - 2
    prefixes = [implementation(X[:, :n], None) for n in range(1, 8)]
    last = [output[:, -1] for output, _ in prefixes]
    for n, (output, cache) in enumerate(prefixes[:-1], start=1):
        if not torch.allclose(output, torch.stack(last[:n], dim=1), atol=1e-4):
            raise AssertionError("a token's row changes with what comes after it")
        for m in range(1, 8 - n):
            rows, longer = implementation(X[:, n : n + m], cache)
            if n + m < 7:
                rows = torch.cat([rows, implementation(X[:, n + m :], longer)[0]], dim=1)
            if not torch.allclose(rows, torch.stack(last[n : n + rows.shape[1]], 1), atol=1e-4):
                raise AssertionError("read in parts, it is another text")
    alone = implementation(X[1:], None)[0][0]
    if not torch.allclose(alone, torch.stack(last, dim=1)[1], atol=1e-4):
        raise AssertionError("the texts of a batch are mixed")
    for token in range(7):
        other = X.clone()
        other[1, token] += 1
        moved = (implementation(other, None)[0][1] - alone).abs().amax(dim=-1)
        if not (moved[token:] > 1e-4).all():
            raise AssertionError("a token is not read")


@test_cache.right
def plain(implementation):
    X = torch.randn(2, 7, 4, generator=torch.Generator().manual_seed(1)).clamp(-2, 1)
    whole = implementation(X, None)[0]
    for parts in ([1] * 7, [2, 3, 2], [4, 2, 1]):
        cache = None
        for rows, right in zip(X.split(parts, dim=1), whole.split(parts, dim=1), strict=True):
            output, cache = implementation(rows, cache)
            assert torch.allclose(output, right, atol=1e-4)
    _, cache = implementation(X[:, :2], None)
    implementation(X[:, 4:], cache)
    assert torch.allclose(implementation(X[:, 2:], cache)[0], whole[:, 2:], atol=1e-4)
    for text in range(2):
        alone = implementation(X[text, None], None)[0][0]
        assert torch.allclose(alone, whole[text], atol=1e-4)
        for token in range(7):
            other = X[text, None].clone()
            other[0, token] += 1
            moved = (implementation(other, None)[0][0] - alone).abs().amax(dim=-1)
            assert (moved[token:] > 1e-4).all()


test_cache.wrong(
    "one token at a time",
    "If every part has one token, which mistake in a mask could you see?",
    plain.edit("([1] * 7, [2, 3, 2], [4, 2, 1])", "([1] * 7,)").edit(
        "_, cache = implementation(X[:, :2], None)\n"
        "implementation(X[:, 4:], cache)\n"
        "assert torch.allclose(implementation(X[:, 2:], cache)[0], whole[:, 2:], atol=1e-4)",
        "",
    ),
)
test_cache.wrong(
    "two parts only",
    "How often does a cache grow in your test? What if it is right only the first time?",
    plain.edit("([1] * 7, [2, 3, 2], [4, 2, 1])", "([3, 4], [5, 2])"),
)
test_cache.wrong(
    "one text",
    "Would you notice if a text were continued with the keys of another one?",
    plain.edit("torch.randn(2, 7, 4", "torch.randn(1, 7, 4").edit("range(2)", "range(1)"),
)
test_cache.wrong(
    "each cache used once",
    "Suppose that you keep the cache of a beginning and write two continuations of it. Would "
    "your test notice if the second one went wrong?",
    plain.edit("implementation(X[:, 4:], cache)", ""),
)
test_cache.wrong(
    "never in parts",
    "Which of your calls is given a cache?",
    plain.edit("([1] * 7, [2, 3, 2], [4, 2, 1])", "([7],)")
    .edit(
        "_, cache = implementation(X[:, :2], None)\n"
        "implementation(X[:, 4:], cache)\n"
        "assert torch.allclose(implementation(X[:, 2:], cache)[0], whole[:, 2:], atol=1e-4)",
        "",
    )
    .edit(
        "assert (moved[token:] > 1e-4).all()",
        "assert (moved[token:] > 1e-4).all()\nassert (moved[:token] < 1e-4).all()",
    ),
)


@test_cache.wrong(
    "a certain form of cache required",
    "What does the task say about the contents of a cache?",
)
def _(implementation):
    X = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(1))
    whole, cache = implementation(X, None)
    assert isinstance(cache, tuple | list)
    assert cache[0].shape[-2] == 5
    output, cache = implementation(X[:, :3], None)
    rest, _ = implementation(X[:, 3:], cache)
    assert torch.allclose(torch.cat([output, rest], dim=1), whole, atol=1e-4)


@test_cache.accepts(
    "keys and values in a tuple",
    holds=(
        "It is called `implementation(X, cache)`.",
        "X: (batch, m, 4), the next m tokens of each text of a batch, m at least 1.",
        "It should return the tuple (output, cache). The output is a tensor (batch, m, 4).",
    ),
)
def keys_and_values(X, cache):
    V = X.unflatten(-1, (2, 2)).transpose(1, 2)
    c = 0 if cache is None else cache[0].shape[2]
    angles = 0.7 * torch.arange(c, c + X.shape[1])[:, None]
    x, y = V[..., :1], V[..., 1:]
    Q = torch.cat(
        [x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()], dim=-1
    )
    K = Q
    if cache is not None:
        K = torch.cat([cache[0], K], dim=2)
        V = torch.cat([cache[1], V], dim=2)
    scores = Q @ K.mT / 4
    seen = torch.ones(scores.shape[2:], dtype=torch.bool).tril(c)
    found = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ V
    return (X + found.transpose(1, 2).flatten(2)) / 2, (K, V)


@test_cache.accepts(
    "the tokens themselves as the cache",
    holds=("What a cache is made of is not known", "not on the parts in which the text was read."),
)
def tokens_themselves(X, cache):
    m = X.shape[1]
    whole = X if cache is None else torch.cat([cache, X], dim=1)
    n = whole.shape[1]
    angles = 0.7 * torch.arange(n)
    turns = torch.polar(torch.ones(n), angles)[:, None]
    points = torch.view_as_complex(whole.reshape(len(X), n, 2, 2)) * turns  # a point a head
    scores = torch.einsum("bih,bjh->bhij", points, points.conj()).real / 4
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
    found = torch.einsum("bhij,bjhc->bihc", weights, whole.reshape(len(X), n, 2, 2)).flatten(2)
    return ((whole + found) / 2)[:, n - m :], whole


@test_cache.accepts(
    "one token after the other, and a dict of lists",
    holds=("it is to be handed back as it is, and as often as one likes",),
)
def one_after_the_other(X, cache):
    seen = [] if cache is None else list(cache["seen"])
    rows = []
    for x in X.unbind(1):
        pair = x.unflatten(-1, (2, 2))
        angle = torch.tensor(0.7 * len(seen))
        x_0, x_1 = pair.unbind(-1)
        key = torch.stack(
            [x_0 * angle.cos() - x_1 * angle.sin(), x_0 * angle.sin() + x_1 * angle.cos()], dim=-1
        )
        seen.append((key, pair))
        scores = torch.stack([(key * other).sum(-1) / 4 for other, _ in seen], dim=-1)
        weights = scores.softmax(dim=-1)  # (batch, 2, tokens)
        found = sum(weights[..., at, None] * value for at, (_, value) in enumerate(seen))
        rows.append((x + found.flatten(1)) / 2)
    return torch.stack(rows, dim=1), {"seen": seen}


@test_cache.accepts(
    "unturned keys, turned at every call",
    holds=("It may differ in the fifth digit.", "cache: None at the beginning of the texts"),
)
def turned_at_every_call(X, cache):
    pairs = X.unflatten(-1, (2, 2)).transpose(1, 2)
    whole = pairs if cache is None else torch.cat([cache[0], pairs], dim=2)
    n, m = whole.shape[2], X.shape[1]
    angles = 0.7 * torch.arange(n)
    rotations = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=-1)
    K = (whole[..., None, :] @ rotations.unflatten(-1, (2, 2)))[..., 0, :]
    Q = K[:, :, n - m :]
    scores = (Q @ K.mT / 4) + torch.full((m, n), -torch.inf).triu(n - m + 1)
    shares = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    found = shares / shares.sum(dim=-1, keepdim=True) @ whole
    return (X + found.transpose(1, 2).flatten(2)) / 2, (whole,)


test_cache.accepts(
    "half of the keys added to the other half, and again, until one is left",
    keys_and_values.edit(
        "found = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ V",
        "weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)\n"
        "found = weights[..., None] * V[:, :, None]\n"
        "while found.shape[-2] > 1:\n"
        "    first, second = found.chunk(2, dim=-2)\n"
        "    more = first[..., second.shape[-2] :, :]\n"
        "    found = torch.cat([first[..., : second.shape[-2], :] + second, more], dim=-2)\n"
        "found = found[..., 0, :]",
    ),
    holds=("It may differ in the fifth digit.",),
)
test_cache.rejects(
    "positions begin at 0 in every part",
    keys_and_values.edit("torch.arange(c, c + X.shape[1])", "torch.arange(X.shape[1])"),
    holds=("not on the parts…",),
)
test_cache.rejects(
    "keys turned again at every call",
    turned_at_every_call.edit("(whole,)", "(K,)"),
    holds=("and after that what the last call returned with the output",),
)
test_cache.rejects(
    "the mask begins at the cache",
    keys_and_values.edit(".tril(c)", ".tril()"),
    holds=("A token's row depends on the tokens of its own text up to and with itself",),
)
test_cache.rejects(
    "a token sees the next one of its part",
    keys_and_values.edit(".tril(c)", ".tril(c + 1)"),
    holds=("not on what comes after",),
)
test_cache.rejects(
    "the cache does not grow",
    keys_and_values.edit("/ 2, (K, V)", "/ 2, cache or (K, V)"),
    holds=("on each of them and on their order",),
)
test_cache.rejects(
    "the texts of a batch exchanged",
    keys_and_values.edit("[cache[0], K]", "[cache[0].flip(0), K]").edit(
        "[cache[1], V]", "[cache[1].flip(0), V]"
    ),
    holds=("not on the other texts",),
)
test_cache.rejects(
    "the newest keys in front of the cache",
    keys_and_values.edit("[cache[0], K]", "[K, cache[0]]").edit("[cache[1], V]", "[V, cache[1]]"),
)
test_cache.rejects(
    "a cache of its own in place of the one it is given",
    tokens_themselves.edit(
        "def tokens_themselves(X, cache):\n    m = X.shape[1]",
        "def tokens_themselves(X, cache, kept=[]):\n"
        "    m = X.shape[1]\n"
        "    cache = None if cache is None else kept[-1]",
    ).edit("n = whole.shape[1]", "kept.append(whole)\nn = whole.shape[1]"),
    holds=("it is to be handed back as it is…",),
)
test_cache.rejects(
    "the cache kept in sixteen bits",
    keys_and_values.edit("/ 2, (K, V)", "/ 2, tuple(one.bfloat16().float() for one in (K, V))"),
    holds=("not on the parts…",),
)
test_cache.rejects(
    "the values of the last part lost",
    keys_and_values.edit(
        "/ 2, (K, V)", "/ 2, (K, V if c == 0 else torch.cat([V[:, :, :c], 0 * V[:, :, c:]], dim=2))"
    ),
    shown=False,
)
test_cache.rejects(
    "only the last token of a part kept",
    keys_and_values.edit(
        "/ 2, (K, V)",
        "/ 2, tuple(torch.cat([one[:, :, :c], one[:, :, -1:]], dim=2) for one in (K, V))",
    ),
    shown=False,
)
test_cache.rejects(
    "positions count the calls",
    one_after_the_other.edit(
        'seen = [] if cache is None else list(cache["seen"])',
        'seen = [] if cache is None else list(cache["seen"])\n'
        'calls = 0 if cache is None else cache["calls"]',
    )
    .edit("for x in X.unbind(1):", "for at, x in enumerate(X.unbind(1)):")
    .edit("0.7 * len(seen)", "0.7 * (calls + at)")
    .edit('{"seen": seen}', '{"seen": seen, "calls": calls + 1}'),
    shown=False,
)
test_cache.rejects(
    "a cache that is longer after each use",
    one_after_the_other.edit('list(cache["seen"])', 'cache["seen"]')
    .edit("def one_after_the_other(X, cache):", "def one_after_the_other(X, cache, boxes=[]):")
    .edit(
        "rows = []",
        "rows = []\n"
        "if cache is not None:\n"
        '    seen = boxes[cache["box"]]\n'
        "else:\n"
        "    boxes.append(seen)",
    )
    .edit(
        '{"seen": seen}', '{"seen": [], "box": len(boxes) - 1 if cache is None else cache["box"]}'
    ),
    shown=False,
)


@test_cache.rejects(
    "no token reads another",
    shown=False,
    holds=("Its weights are its own.", "The least influence", "Raises AssertionError"),
)
def _(X, cache):
    return 2 * X, (X,)


test_cache.rejects(
    "the mean over the texts of a batch",
    keys_and_values.edit(
        "scores = Q @ K.mT / 4", "scores = (Q @ K.mT / 4).mean(dim=0, keepdim=True)"
    ),
    shown=False,
)
test_cache.rejects(
    "four tokens back, and no farther",
    keys_and_values.edit(".tril(c)", ".tril(c).triu(c - 3)"),
    shown=False,
)
