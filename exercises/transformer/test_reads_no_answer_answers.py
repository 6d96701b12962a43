"""Right answers to the exercise `test_reads_no_answer`."""

import numpy as np
import torch


def all_sentences(implementation):
    every = torch.cartesian_prod(*[torch.arange(1, 10)] * 3)
    sources = torch.tensor([[8, 6, 7]]).expand(729, 3)
    losses = implementation(sources, every)
    assert abs(losses.neg().sum(dim=1).exp().sum() - 1) < 1e-3
    for at in (0, 100, 728):
        padded = torch.tensor([[8, 6, 7, 0, 0], [1, 1, 1, 1, 1]])
        targets = torch.cat((every[[at, 5]], torch.tensor([[0], [4]])), dim=1)
        row = implementation(padded, targets)[0].tolist()
        np.testing.assert_allclose(row, [*losses[at].tolist(), 0], atol=1e-4)
    by_place = losses.reshape(9, 9, 9, 3)
    np.testing.assert_allclose(by_place[..., 0].neg().exp()[:, 0, 0].sum(), 1, atol=1e-4)
    assert by_place[..., :1].std(dim=(1, 2)).max() < 1e-4
    assert by_place[..., 1].std(dim=2).max() < 1e-4
    assert by_place[3, :, :, 1:].std(dim=0)[0].min() > 1e-4
    assert by_place[:, 4, 4, 1:].std(dim=0).min() > 1e-4
    assert by_place[4, :, 4, 2].std() > 1e-4
    for at in range(3):
        tried = torch.tensor([[8, 6, 7]]).repeat(9, 1)
        tried[:, at] = torch.arange(1, 10)
        assert implementation(tried, every[:1].expand(9, 3)).std(dim=0).min() > 1e-4


def one_call_a_sentence(implementation):
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(1, 10, (5,), generator=generator)
    target = torch.randint(1, 10, (6,), generator=generator)

    def losses(at, token, which):
        pair = [source.clone(), target.clone()]
        pair[which][at] = token
        return implementation(pair[0][None], pair[1][None])[0].double().numpy()

    for at in range(6):
        tried = np.array([losses(at, token, 1) for token in range(1, 10)])
        np.testing.assert_allclose(np.exp(-tried[:, at]).sum(), 1, atol=1e-4)
        depends = np.ptp(tried, axis=0) > 1e-4
        np.testing.assert_array_equal(depends, np.arange(6) >= at)
    for at in range(5):
        tried = np.array([losses(at, token, 0) for token in range(1, 10)])
        assert (np.ptp(tried, axis=0) > 1e-4).all()
    sources = torch.stack((source.flip(0), source)).repeat(2, 1)
    targets = torch.stack((target.flip(0), target)).repeat(2, 1)
    sources[3, 3:] = targets[3, 4:] = 0
    batch = implementation(sources, targets)
    short = implementation(sources[3:, :3], targets[3:, :4])[0]
    assert np.allclose(batch[1], losses(0, target[0], 1), atol=1e-4)
    assert np.allclose(batch[3], [*short, 0, 0], atol=1e-4)


def by_properties(implementation):
    sources = torch.tensor([[4, 4, 9, 2], [7, 0, 0, 0], [1, 5, 3, 0]])
    targets = torch.tensor([[6, 1, 1, 5], [3, 9, 8, 0], [2, 0, 0, 0]])
    before = implementation(sources, targets)
    if (before[targets == 0] != 0).any():
        raise AssertionError("padding has no loss")
    for row, (n, m) in enumerate(((4, 4), (1, 3), (3, 1))):
        alone = implementation(sources[row, None, :n], targets[row, None, :m])
        if not torch.allclose(before[row, :m], alone[0], atol=1e-4):
            raise AssertionError("company and padding should change nothing")
    for place in range(4):
        shares, spread = 0.0, []
        for token in range(1, 10):
            other = targets.clone()
            other[0, place] = token
            losses = implementation(sources, other)[0]
            shares += float(torch.exp(-losses[place]))
            spread.append(losses)
        if abs(shares - 1) > 1e-4:
            raise AssertionError("it knows which token stands there")
        moved = torch.stack(spread).std(dim=0) > 1e-4
        if moved[:place].any() or not moved[place + 1 :].all():
            raise AssertionError("it should read what stands before, and that alone")
    for place in range(4):
        other = sources[:1].repeat(9, 1)
        other[:, place] = torch.arange(1, 10)
        if (implementation(other, targets[:1].repeat(9, 1)).std(dim=0) < 1e-4).any():
            raise AssertionError("it should read the whole source")


def plain(implementation):
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
    targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
    alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
    assert (together - torch.cat((alone, 0 * alone[:1]))).abs().max() < 1e-4
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        losses = implementation(source.expand(9, 4), tried)
        assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-4
        moved = losses.std(dim=0)
        assert (moved[:place] < 1e-4).all()
        assert (moved[place + 1 :] > 1e-4).all()
        tried = source.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-4).all()


def boolean_masks(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    X = X + (X @ X.mT / 4).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    for _ in range(2):
        Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
        Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def added_masks(sources, targets):
    m = targets.shape[1]
    table = torch.cos(5.0 * torch.arange(80.0).double().reshape(10, 8))
    inputs = torch.cat((torch.zeros(len(targets), 1, dtype=torch.int64), targets), dim=1)[:, :m]
    places = torch.sin(torch.arange(m)[:, None] * torch.arange(1, 9) / 5)
    X, Y = table[sources], table[inputs] + places
    to_source = -1e9 * (sources == 0).double()[:, None]
    to_target = -1e9 * torch.ones(m, m).double().triu(1) - 1e9 * (targets == 0)[:, None]
    Y = Y + torch.softmax(Y @ Y.mT / 8 + to_target, dim=-1) @ Y
    Y = Y + torch.softmax(Y @ X.mT / 8 + to_source, dim=-1) @ X
    shares = torch.softmax(Y @ table.T[:, 1:] / 2, dim=-1)
    right = torch.nn.functional.one_hot(targets, 10)[..., 1:]
    return torch.where(targets > 0, -torch.log((shares * right).sum(dim=-1)), 0.0)


def place_by_place(sources, targets):
    table = torch.sin(6.0 * torch.arange(80.0).reshape(10, 8))
    losses = torch.zeros(targets.shape)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        X = table[source[source > 0]]
        for at in range(int((target > 0).sum())):
            before = table[target[:at]]
            asks = table[0] + before.sum(dim=0) / (at + 1)
            asks = asks + (X @ asks / 4).softmax(dim=0) @ X
            shares = (table[1:] @ asks / 2).softmax(dim=0)
            losses[row, at] = -shares[target[at] - 1].log()
    return losses


def recurrent(sources, targets):
    table = torch.cos(3.0 * torch.arange(80.0).reshape(10, 8)) / 2
    state = torch.zeros(len(sources), 8)
    for token in sources.T:
        read = torch.tanh(0.9 * state.roll(1, dims=1) + table[token])
        state = torch.where(token[:, None] > 0, read, state)
    losses, before = [], torch.zeros(len(targets), dtype=torch.int64)
    for token in targets.T:
        state = torch.tanh(0.9 * state.roll(1, dims=1) + table[before])
        logits = 2 * state @ table.T
        chosen = logits.gather(1, token[:, None])[:, 0]
        losses.append((logits[:, 1:].logsumexp(dim=1) - chosen) * (token > 0))
        before = token
    return torch.stack(losses, dim=1)


def sums(sources, targets):
    wishes = torch.sin(2.0 * torch.arange(100.0, dtype=torch.float64).reshape(10, 10) ** 2)
    wishes[0] = 0
    said = wishes[targets].cumsum(dim=1) - wishes[targets]
    logits = said + wishes.flip(1)[sources].sum(dim=1, keepdim=True)
    odds = torch.exp(logits - logits.gather(-1, targets[..., None]))
    return torch.log(odds[..., 1:].sum(dim=-1)) * (targets != 0)
