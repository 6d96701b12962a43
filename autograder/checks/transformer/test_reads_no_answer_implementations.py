"""What `test_reads_no_answer` tells apart: machines that foretell the target, or read it.

Each is written out, because only its own lines reach the process in which it runs. The weights of a
machine are any numbers that differ; row 0 of its table is the token that stands before the first.
"""

from __future__ import annotations

import torch

from ...judging.written_tests import mutant, right

TORCH = "import torch"


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


def not_shifted(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[targets]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def last_in_front(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    last = targets.gather(1, (targets > 0).sum(dim=1, keepdim=True) - 1)
    X, Y = table[sources], table[torch.cat((last, targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def one_ahead(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(2)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def only_the_answer_hidden(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    hidden = torch.eye(Y.shape[1], dtype=torch.bool) | (targets == 0)[:, None]
    weights = (Y @ table[targets].mT / 8).masked_fill(hidden, -1e9).softmax(dim=-1)
    Y = Y + weights.masked_fill(hidden, 0) @ table[targets]
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def second_block_open(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    for hidden in (later, (targets == 0)[:, None]):
        Y = Y + (Y @ Y.mT / 8).masked_fill(hidden, -torch.inf).softmax(dim=-1) @ Y
        Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def not_itself(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(0)
    Y = (Y @ Y.mT / 8).masked_fill(later, -1e9).softmax(dim=-1).masked_fill(later, 0) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def padding_asked(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    X = X + (X @ X.mT / 4).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def source_as_it_comes(sources, targets):
    n, m = sources.shape[1], targets.shape[1]
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    later = torch.ones(m, m, dtype=torch.bool).triu(1)
    hidden = torch.ones(m, n, dtype=torch.bool).triu(1) | (sources == 0)[:, None]
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(hidden, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def padding_counted(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    return losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]


def no_mask(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    Y = Y + (Y @ Y.mT / 8).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def first_in_front(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def padding_read(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    X = X + (X @ X.mT / 4).softmax(dim=-1) @ X
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def last_token_only(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    for _ in range(2):
        Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def weighed_by_the_future(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).softmax(dim=-1).masked_fill(later, 0) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


def company(sources, targets):
    table = torch.sin(7.0 * torch.arange(80.0).reshape(10, 8))
    X, Y = table[sources], table[torch.cat((0 * targets[:, :1], targets[:, :-1]), dim=1)]
    padding = (sources == 0)[:, None]
    later = torch.ones(Y.shape[1], Y.shape[1], dtype=torch.bool).triu(1)
    Y = Y + (Y @ Y.mT / 8).masked_fill(later, -torch.inf).softmax(dim=-1) @ Y
    Y = Y + (Y @ X.mT / 8).masked_fill(padding, -torch.inf).softmax(dim=-1) @ X
    Y = Y - Y.mean(dim=0) / 2
    losses = -(Y @ table[1:].T / 4).log_softmax(dim=-1)
    losses = losses.gather(-1, (targets - 1).clamp(min=0)[..., None])[..., 0]
    return losses.masked_fill(targets == 0, 0)


STYLES = (
    right("attention with boolean masks", boolean_masks, TORCH),
    right("masks that are added, in float64", added_masks, TORCH),
    right("place by place, without padding", place_by_place, TORCH),
    right("a recurrent network", recurrent, TORCH),
    right("sums, in float64", sums, TORCH),
)
PUBLIC = (
    mutant("the targets are not shifted", not_shifted, TORCH),
    mutant("the last token stands where the start should", last_in_front, TORCH),
    mutant("the causal mask lets one place too many through", one_ahead, TORCH),
    mutant("a place sees the whole target but its own token", only_the_answer_hidden, TORCH),
    mutant("the second block has no causal mask", second_block_open, TORCH),
    mutant("the causal mask hides the token just before, too", not_itself, TORCH),
    mutant("the cross-attention sees the source's padding", padding_asked, TORCH),
    mutant("the cross-attention has a causal mask", source_as_it_comes, TORCH),
    mutant("the loss counts the target's padding", padding_counted, TORCH),
)
UNSEEN = (
    mutant("no causal mask at all", no_mask, TORCH),
    mutant("the first token stands where the start should", first_in_front, TORCH),
    mutant("the encoder sees the source's padding", padding_read, TORCH),
    mutant("only the token just before is read", last_token_only, TORCH),
    mutant("hidden after the softmax: later tokens still weigh", weighed_by_the_future, TORCH),
    mutant("the sentences of a batch see each other", company, TORCH),
)
