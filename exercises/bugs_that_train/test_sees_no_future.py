"""The exercise `test_sees_no_future`: write the test that finds a leak in an unknown model.

The answer must tell causal language models from mutants that see later tokens. Each of them is
complete in itself: only its own lines reach the process in which it runs. The weights of a model
are arbitrary numbers that differ.
"""

import numpy as np
import torch

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_bugs as solutions

test_sees_no_future = Declaration(
    solutions.test_sees_no_future,
    points=5,
    difficulty=4,
    minutes=30,
    kind=Kind.TEST,
    imports=("import torch",),
    help=(
        "You do not know the logits, but you know which of them may change. Change one token, "
        "call the model again, and look where the logits have changed and where they have not.",
        "Change every position in turn, in sequences of the greatest length, in a batch of two. "
        "Check both: no logits before the change move, and at every position from there on some "
        "do.",
        "The section “Change one thing, and see what moves”, and the leak of chapter 9.",
    ),
)


@test_sees_no_future.right
def prefixes(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (3, 12))
    whole = implementation(tokens)
    assert torch.allclose(implementation(tokens[:1]), whole[:1], atol=1e-4)
    for n in range(1, 12):
        assert torch.allclose(implementation(tokens[:, :n]), whole[:, :n], atol=1e-4)
        other = tokens[:1].clone()
        other[0, n - 1] = 9 - other[0, n - 1]
        moved = (implementation(other) - whole[:1]).abs().sum(dim=-1)
        assert moved[0, n - 1 :].min() > 1e-4


@test_sees_no_future.right
def table(implementation):
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(10, (1, 11), generator=generator).expand(11, 11)
    changed = (tokens + torch.eye(11, dtype=torch.int64)) % 10
    moved = (implementation(changed) - implementation(tokens)).abs().amax(dim=-1)
    depends = moved > 1e-4  # of the change at j, position i
    np.testing.assert_array_equal(depends.numpy(), np.triu(np.ones((11, 11), dtype=bool)))


@test_sees_no_future.right
def suffixes(implementation):
    torch.manual_seed(4)
    for n in range(1, 13):
        one = torch.randint(10, (2, 12))
        other = one.clone()
        other[1, n:] = (other[1, n:] + torch.randint(1, 10, (12 - n,))) % 10
        moved = (implementation(one) - implementation(other)).abs().amax(dim=-1)
        if (moved[0] > 1e-4).any() or (moved[1, :n] > 1e-4).any():
            raise AssertionError("it sees the future, or another sequence")
        other = one.clone()
        other[0, n - 1] = (other[0, n - 1] + 5) % 10
        moved = (implementation(one) - implementation(other)).abs().amax(dim=-1)
        if (moved[0, n - 1 :] < 1e-4).any():
            raise AssertionError("it does not see what it should")


@test_sees_no_future.right
def plain(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (2, 12))
    before = implementation(tokens)
    for position in range(12):
        changed = tokens.clone()
        changed[0, position] = (changed[0, position] + 3) % 10
        moved = (implementation(changed) - before).abs().amax(dim=-1)
        assert (moved[0, :position] < 1e-4).all()
        assert (moved[1] < 1e-4).all()
        assert (moved[0, position:] > 1e-4).all()


test_sees_no_future.wrong(
    "short sequences only",
    "How long can sequences be? What if the mask was made once, for fewer positions?",
    plain.edit("(2, 12)", "(2, 6)").edit("range(12)", "range(6)"),
)


@test_sees_no_future.wrong(
    "only the last token is changed",
    "Information may leak from the second position to the first. Would your test notice?",
)
def _(implementation):
    torch.manual_seed(0)
    tokens = torch.randint(10, (1, 12))
    changed = tokens.clone()
    changed[0, -1] = (changed[0, -1] + 3) % 10
    before, after = implementation(tokens), implementation(changed)
    assert torch.allclose(before[:, :-1], after[:, :-1], atol=1e-4)


test_sees_no_future.wrong(
    "checks what is hidden, never what is seen",
    "A model that reads nothing at all has no leak. Would your test accept it?",
    plain.edit("assert (moved[0, position:] > 1e-4).all()", ""),
)
test_sees_no_future.wrong(
    "one sequence at a time",
    "What else is in the batch, and may it change the logits of this sequence?",
    plain.edit("(2, 12)", "(1, 12)").edit("assert (moved[1] < 1e-4).all()", ""),
)
test_sees_no_future.wrong(
    "equal to the last bit",
    "May two sums of the same numbers differ in the last digit?",
    plain.edit("< 1e-4", "== 0", times=2),
)


@test_sees_no_future.accepts("attention with a causal mask")
def masked_attention(tokens):
    n = tokens.shape[1]
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    X = X + torch.cos(torch.arange(n)[:, None] * torch.arange(1, 9) / 3)
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    weights = (X @ X.mT / 8).masked_fill(future, -torch.inf).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


@test_sees_no_future.accepts(
    "the sum of all, less what comes after", holds=("may differ in the fifth digit",)
)
def all_but_the_rest(tokens):
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9))
    after = X.flip(1).cumsum(1).flip(1) - X
    before = X.sum(dim=1, keepdim=True) - after
    return torch.tanh(before) @ torch.sin(torch.arange(80.0).reshape(8, 10))


@test_sees_no_future.accepts(
    "position by position", holds=("It is called `implementation(tokens)`",)
)
def position_by_position(tokens):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    logits = torch.zeros(*tokens.shape, 10)
    for at in range(tokens.shape[1]):
        seen = table[tokens[:, : at + 1]]
        weights = (seen @ seen[:, -1:].mT).softmax(dim=1)
        logits[:, at] = (seen * weights).sum(dim=1) @ table.T
    return logits


@test_sees_no_future.accepts("a recurrent network")
def recurrent(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    state = torch.zeros(len(tokens), 8)
    logits = []
    for token in tokens.T:
        state = torch.tanh(0.9 * state.roll(1, dims=1) + table[token])
        logits.append(state @ table.T)
    return torch.stack(logits, dim=1)


test_sees_no_future.rejects(
    "the mask the wrong way round",
    masked_attention.edit(
        "future = torch.ones(n, n, dtype=torch.bool).triu(1)",
        "past = torch.ones(n, n, dtype=torch.bool).tril(-1)",
    ).edit("masked_fill(future", "masked_fill(past"),
    holds=("Raises AssertionError",),
)
without_positions = masked_attention.edit(
    "X = X + torch.cos(torch.arange(n)[:, None] * torch.arange(1, 9) / 3)", ""
)
test_sees_no_future.rejects(
    "each position sees one token ahead",
    without_positions.edit("triu(1)", "triu(2)"),
    holds=("logits of shape (batch, n, 10)",),
)
test_sees_no_future.rejects(
    "a norm over the positions of a sequence",
    masked_attention.edit(
        "X + torch.cos(torch.arange(n)[:, None] * torch.arange(1, 9) / 3)",
        "(X - X.mean(dim=1, keepdim=True)) / (X.var(dim=1, keepdim=True, correction=0) + "
        "1e-5).sqrt()",
    ),
)
test_sees_no_future.rejects(
    "a token does not see itself",
    all_but_the_rest.edit(
        "after = X.flip(1).cumsum(1).flip(1) - X\nbefore = X.sum(dim=1, keepdim=True) - after",
        "before = X.cumsum(dim=1) - X",
    ),
    holds=("tokens of their own sequence up to and with position i, and on each of these",),
)


@test_sees_no_future.rejects("the last token reaches every position")
def _(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens]
    X = X.cumsum(dim=1) + 0.3 * X[:, -1:]
    return torch.tanh(X) @ table.T


test_sees_no_future.rejects(
    "a mask that is made for eight positions, and there are more",
    without_positions.edit(
        "future = torch.ones(n, n, dtype=torch.bool).triu(1)",
        "future = torch.zeros(n, n, dtype=torch.bool)\n"
        "future[:8, :8] = torch.ones(8, 8, dtype=torch.bool).triu(1)[:n, :n]\n"
        "future[:8, 8:] = True",
    ),
    holds=("n up to 12",),
)


test_sees_no_future.rejects(
    "a penalty that leaves the future a four-hundredth of its weight",
    without_positions.edit("torch.ones(n, n, dtype=torch.bool)", "torch.ones(n, n)").edit(
        "(X @ X.mT / 8).masked_fill(future, -torch.inf)", "(X @ X.mT / 8 - 6 * future)"
    ),
)


@test_sees_no_future.rejects("sequences of a batch see each other", holds=("tokens of…",))
def _(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens].cumsum(dim=1)
    X = X - X.mean(dim=0, keepdim=True) / 2
    return torch.tanh(X) @ table.T


@test_sees_no_future.rejects("no mask at all", shown=False, holds=("you know none of the logits",))
def _(tokens):
    X = torch.sin(3.0 * (tokens[..., None] + 1) * torch.arange(1, 9)) / 2
    weights = (X @ X.mT / 8).softmax(dim=-1)
    return (X + weights @ X) @ torch.sin(torch.arange(80.0).reshape(8, 10))


test_sees_no_future.rejects(
    "of what comes after, the last token alone is hidden",
    without_positions.edit(
        "torch.ones(n, n, dtype=torch.bool).triu(1)",
        "torch.ones(n, n, dtype=torch.bool).triu(1) & (torch.arange(n) == n - 1)",
    ),
)
test_sees_no_future.rejects(
    "four positions back, and no farther",
    masked_attention.edit("triu(1)", "triu(1) | torch.ones(n, n, dtype=torch.bool).tril(-4)"),
)
test_sees_no_future.rejects(
    "the first token is read by itself alone",
    masked_attention.edit("triu(1)", "triu(1)\nfuture[1:, 0] = True"),
    shown=False,
)
test_sees_no_future.rejects(
    "hidden by too small a penalty",
    without_positions.edit("torch.ones(n, n, dtype=torch.bool)", "torch.ones(n, n)").edit(
        "(X @ X.mT / 8).masked_fill(future, -torch.inf)", "(X @ X.mT / 8 - 5 * future)"
    ),
    shown=False,
)
test_sees_no_future.rejects(
    "a softmax over the queries",
    without_positions.edit("-torch.inf", "-1e9").edit("softmax(dim=-1)", "softmax(dim=-2)"),
    shown=False,
)


@test_sees_no_future.rejects(
    "nothing is remembered for longer than one position", shown=False, holds=("tokens of…",)
)
def _(tokens):
    table = torch.cos(5.0 * torch.arange(80.0).reshape(10, 8))
    X = table[tokens]
    last = X + 0.5 * torch.cat((torch.zeros_like(X[:, :1]), X[:, :-1]), dim=1)
    return torch.tanh(last) @ table.T
