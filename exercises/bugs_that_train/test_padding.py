"""The exercise `test_padding`: write the test that finds what a padded batch does to a sequence.

It tells encoders of padded batches apart, right ones and mutants. Each stands alone: only its own
lines reach the process in which it runs. All are two layers of attention with no weights of their
own; each takes the mean of what it found and of what was there. Scores are divided by 8, so that
every real token keeps the influence that the docstring of `test_padding` promises.
"""

import numpy as np
import torch

from autograder.exercise.declaring import Declaration, Kind
from solutions.variants import tests_of_bugs as solutions

test_padding = Declaration(
    solutions.test_padding,
    points=5,
    difficulty=5,
    minutes=30,
    kind=Kind.TEST,
    imports=("import torch",),
    help=(
        "You do not know what the encoder makes of a sequence, but you can find out: give it the "
        "sequence alone, without padding. In a batch, the result should be the same.",
        "Use three sequences of three lengths, two heads, and noise as padding. Then change one "
        "real token at a time, to see that it is read.",
        "The section “Change one thing, and see what moves”, and chapter 6 on folded heads.",
    ),
)


@test_padding.right
def in_two_batches(implementation):
    torch.manual_seed(0)
    X = torch.randn(1, 3, 4)
    right = implementation(X, torch.tensor([3]), 2)
    for padding, others in ((1, 6), (4, 5)):
        batch = 3 * torch.randn(3, 3 + padding, 4)
        batch[2, :3] = X[0]
        mine = implementation(batch, torch.tensor([others - 2, 3 + padding, 3]).clamp(max=4), 2)
        assert torch.allclose(mine[2, :3], right[0], atol=1e-4)
        mine = implementation(batch.flip(0), torch.tensor([3, 1, 3 + padding]), 2)
        assert torch.allclose(mine[0, :3], right[0], atol=1e-4)
    for token in range(3):
        other = X.clone()
        other[0, token] -= 0.7
        moved = implementation(other, torch.tensor([3]), 2) - right
        assert moved.abs().amax(dim=-1).min() > 1e-4


@test_padding.right
def all_lengths(implementation):
    generator = torch.Generator().manual_seed(5)
    X = torch.randn(4, 4, 6, generator=generator)
    lengths = torch.tensor([3, 1, 4, 2])
    whole = implementation(X, lengths, 3)
    for at in range(4):
        own = X[at, : lengths[at]][None]
        alone = implementation(own, lengths[at, None], 3)
        np.testing.assert_allclose(whole[at, : lengths[at]], alone[0], atol=1e-4)
        for token in range(int(lengths[at])):
            other = own.clone()
            other[0, token] *= -1
            moved = np.abs(implementation(other, lengths[at, None], 3) - alone).numpy()
            assert moved.max(axis=-1).min() > 1e-4


@test_padding.right
def by_noise(implementation):
    torch.manual_seed(1)
    X, lengths = torch.randn(3, 6, 4), torch.tensor([4, 2, 6])
    real = torch.arange(6) < lengths[:, None]
    before = implementation(X, lengths, 2)
    noise = torch.where(real[..., None], X, 5 * torch.randn(3, 6, 4))
    if not torch.allclose(implementation(noise, lengths, 2)[real], before[real], atol=1e-4):
        raise AssertionError("it reads the padding")
    longer = torch.cat((X, torch.randn(3, 3, 4)), dim=1)
    if not torch.allclose(implementation(longer, lengths, 2)[:, :6][real], before[real], atol=1e-4):
        raise AssertionError("it matters how long the padding is")
    for at in range(3):
        for token in range(int(lengths[at])):
            other = X.clone()
            other[at, token] += 2
            moved = (implementation(other, lengths, 2) - before).abs().amax(-1) > 1e-4
            rows = torch.arange(3)[:, None] == at
            if not torch.equal(moved[real], rows.expand(3, 6)[real]):
                raise AssertionError("it should move its own sequence, and no other")


@test_padding.right
def plain(implementation):
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths, n_heads = torch.tensor([2, 5, 3]), 2
    together = implementation(X, lengths, n_heads)
    for at, length in enumerate(lengths):
        own = X[at, None, :length]
        alone = implementation(own, length[None], n_heads)
        assert torch.allclose(together[at, :length], alone[0], atol=1e-4)
        for token in range(length):
            other = own.clone()
            other[0, token] += 1
            moved = (implementation(other, length[None], n_heads) - alone).abs().amax(dim=-1)
            assert (moved > 1e-4).all()


test_padding.wrong(
    "one head only",
    "If sequences and heads are folded into one axis, in which order are they?",
    plain.edit("torch.tensor([2, 5, 3]), 2", "torch.tensor([2, 5, 3]), 1"),
)
test_padding.wrong(
    "sequences of equal length",
    "If all sequences need the same mask, how would you notice that one got the mask of another?",
    plain.edit("[2, 5, 3]", "[3, 3, 3]"),
)


@test_padding.wrong(
    "what the padding holds, not how long it is",
    "Padding that is 0 still takes part in a softmax. What would show that?",
)
def _(implementation):
    X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([2, 5, 3])
    real = torch.arange(5) < lengths[:, None]
    loud = torch.where(real[..., None], X, 9.0)
    right = implementation(X, lengths, 2)[real]
    assert torch.allclose(implementation(loud, lengths, 2)[real], right, atol=1e-4)
    for at, token in ((0, 0), (0, 1), (1, 4), (2, 2)):
        other = X.clone()
        other[at, token] += 1
        changed = implementation(other, lengths, 2) - implementation(X, lengths, 2)
        assert (changed[at, : lengths[at]].abs().amax(dim=-1) > 1e-4).all()


@test_padding.wrong("no padding", "How would you notice that the lengths are never read?")
def _(implementation):
    X = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([4, 4])
    before = implementation(X, lengths, 2)
    for token in range(4):
        other = X.clone()
        other[0, token] += 1
        moved = (implementation(other, lengths, 2) - before).abs().amax(dim=-1) > 1e-4
        assert moved[0].all()
        assert not moved[1].any()


@test_padding.wrong(
    "zeros required in the padding", "What does the task say about the rows of the padding?"
)
def _(implementation):
    X = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    output = implementation(X, torch.tensor([4, 2]), 2)
    alone = implementation(X[1:, :2], torch.tensor([2]), 2)
    assert torch.allclose(output[1, :2], alone[0], atol=1e-4)
    assert not output[1, 2:].any()


@test_padding.accepts(
    "heads as an axis",
    holds=(
        "It is called `implementation(X, lengths, n_heads)`",
        "The least influence: with at most 8 tokens of at most 8 features",
        "tensor of shape (batch, n, d)",
    ),
)
def heads_as_an_axis(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2
    return X


@test_padding.accepts(
    "one sequence at a time, and zeros for the padding",
    holds=("What stands in the rows of the padding does not matter",),
)
def one_sequence_at_a_time(X, lengths, n_heads):
    output = torch.zeros_like(X)
    for at, length in enumerate(lengths.tolist()):
        own = X[at, :length]
        for _ in range(2):
            parts = [H @ H.T / 8 for H in own.chunk(n_heads, dim=-1)]
            found = [s.softmax(-1) @ H for s, H in zip(parts, own.chunk(n_heads, -1), strict=True)]
            own = (own + torch.cat(found, dim=-1)) / 2
        output[at, :length] = own
    return output


@test_padding.accepts("heads folded into the batch")
def folded(X, lengths, n_heads):
    batch, n, d = X.shape
    hidden = torch.arange(n) >= lengths[:, None]
    hidden = hidden[:, None].repeat_interleave(n_heads, dim=0)
    for _ in range(2):
        H = X.reshape(batch, n, n_heads, d // n_heads).transpose(1, 2)
        H = H.reshape(batch * n_heads, n, d // n_heads)
        weights = (torch.bmm(H, H.mT) / 8 - 1e9 * hidden).softmax(dim=-1)
        found = torch.bmm(weights, H).reshape(batch, n_heads, n, d // n_heads)
        X = (X + found.transpose(1, 2).reshape(batch, n, d)) / 2
    return X


@test_padding.accepts(
    "exponentials of the real scores",
    holds=(
        "behind them stand any numbers, up to a thousand in size",
        "may differ in the fifth digit",
    ),
)
def exponentials(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1))
        scores = torch.einsum("bqhc,bkhc->bhqk", H, H) / 8
        scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        shares = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        shares = shares / shares.sum(dim=-1, keepdim=True)
        X = (X + torch.einsum("bhqk,bkhc->bqhc", shares, H).flatten(2)) / 2 * real[..., None]
    return X


@test_padding.accepts(
    "the last half of the keys added to the first, and again, until one is left",
    holds=("may differ in the fifth digit",),
)
def by_halves(X, lengths, n_heads):
    real = torch.arange(X.shape[1]) < lengths[:, None]
    for _ in range(2):
        H = X.unflatten(-1, (n_heads, -1)).transpose(1, 2)
        scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)
        terms = scores.softmax(-1)[..., None] * H[:, :, None]  # (batch, n_heads, n, n, d_head)
        terms = terms.flip(-2)
        while terms.shape[-2] > 1:
            first, second = terms.chunk(2, dim=-2)
            more = first[..., second.shape[-2] :, :]
            terms = torch.cat([first[..., : second.shape[-2], :] + second, more], dim=-2)
        X = (X + terms[..., 0, :].transpose(1, 2).flatten(2)) / 2
    return X


nothing_hidden = heads_as_an_axis.edit(
    "scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)\n"
    "X = (X + (scores.softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2",
    "X = (X + ((H @ H.mT / 8).softmax(-1) @ H).transpose(1, 2).flatten(2)) / 2",
)
test_padding.rejects(
    "the mask is ignored",
    nothing_hidden.edit("real = torch.arange(X.shape[1]) < lengths[:, None]", ""),
    holds=("X: (batch, n, d)", "behind them…"),
)
test_padding.rejects(
    "the mask is not passed on to the second layer",
    heads_as_an_axis.edit("for _ in range(2):", "for layer in range(2):").edit(
        "scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)",
        "scores = H @ H.mT / 8\n"
        "if layer == 0:\n"
        "    scores = scores.masked_fill(~real[:, None, None], -torch.inf)",
    ),
    holds=("has two layers",),
)
test_padding.rejects(
    "masks in another order than the heads",
    folded.edit(
        "hidden[:, None].repeat_interleave(n_heads, dim=0)", "hidden[:, None].repeat(n_heads, 1, 1)"
    ),
    holds=("n_heads: 1 or more",),
)
test_padding.rejects(
    "the longest sequence's mask for all",
    heads_as_an_axis.edit("lengths[:, None]", "lengths.max()").edit(
        "~real[:, None, None]", "~real"
    ),
    holds=("whole numbers from 1 to n: so many tokens of each sequence are real, and come first",),
)
test_padding.rejects(
    "the padding is set to 0, and attended to",
    nothing_hidden.edit("H = X", "X = X * real[..., None]\nH = X"),
    holds=("that depends on every real token of it, and on nothing else",),
)
test_padding.rejects(
    "the last real token is hidden too",
    heads_as_an_axis.edit("lengths[:, None]", "(lengths - 1).clamp(min=1)[:, None]"),
    holds=("that depends…",),
)
test_padding.rejects(
    "a penalty that leaves the padding a four-hundredth of its weight",
    heads_as_an_axis.edit(
        "(H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)",
        "H @ H.mT / 8 - 6.0 * ~real[:, None, None]",
    ),
    holds=("that depends…",),
)
test_padding.rejects(
    "one position of the padding is seen",
    heads_as_an_axis.edit("< lengths[:, None]", "<= lengths[:, None]"),
    shown=False,
    holds=("whole numbers…",),
)
test_padding.rejects(
    "the queries are hidden, and not the keys",
    heads_as_an_axis.edit("~real[:, None, None], -torch.inf", "~real[:, None, :, None], -1e9"),
    shown=False,
)
test_padding.rejects(
    "only the first head has a mask",
    heads_as_an_axis.edit(
        "scores = (H @ H.mT / 8).masked_fill(~real[:, None, None], -torch.inf)",
        "scores = H @ H.mT / 8\n"
        "scores[:, 0] = scores[:, 0].masked_fill(~real[:, None], -torch.inf)",
    ),
    shown=False,
)


@test_padding.rejects(
    "no token reads another", shown=False, holds=("The least…", "Raises AssertionError")
)
def _(X, lengths, n_heads):
    return 2 * X


test_padding.rejects(
    "masks in the order of the lengths",
    heads_as_an_axis.edit(
        "real = torch.arange(X.shape[1]) < lengths[:, None]",
        "order = lengths.argsort(descending=True)\n"
        "real = torch.arange(X.shape[1]) < lengths[order][:, None]",
    ),
    shown=False,
)
