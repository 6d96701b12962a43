"""A task with two relations at once, and an attention layer with one head, two, or more.

The sequences are those of `associative_recall`: records that bind a letter to a number, and a
question that names a letter. Now the answer consists of two numbers: the number stored under the
letter itself, and the number stored under its partner.
"""

import copy
from collections.abc import Iterable

import torch
from torch import nn

from ...multi_head import head_importance
from ..queries_keys_values.associative_recall import (
    D_MODEL,
    LETTERS,
    NUMBERS,
    own,
    partner,
    sample,
)

Sequences = tuple[torch.Tensor, ...]
"""Letters and numbers (batch, records), asked (batch,), and both answers (batch, 2)."""

RELATIONS = ("own", "partner")
SHARES = (2 / 3, 1 / 3)
"""The weights of the own record and of the partner's in `GivenShares`."""


def places(letters: torch.Tensor, asked: torch.Tensor) -> torch.Tensor:
    """Return the positions (batch, 2) of a question's own record and its partner's.

    letters: (batch, records). asked: (batch,), letters whose own and partner's records are present.
    """
    wanted = torch.stack([relation(asked) for relation in (own, partner)], dim=1)  # (batch, 2)
    return (letters[:, None] == wanted[..., None]).int().argmax(dim=-1)


class TwoRelations(nn.Module):
    """One attention layer and a read-out of two numbers, linear or with one hidden layer.

    Queries and keys are computed from letters and values from numbers, so the weights cannot depend
    on the numbers. All sizes, and so the number of parameters, are the same for every number of
    heads.
    """

    def __init__(self, n_heads: int, hidden: int = 0) -> None:
        """Build the model; D_MODEL must be divisible by n_heads. hidden: units of the read-out."""
        super().__init__()
        self.letter = nn.Embedding(LETTERS, D_MODEL)
        self.number = nn.Embedding(NUMBERS, D_MODEL)
        self.attend = nn.MultiheadAttention(D_MODEL, n_heads, bias=False, batch_first=True)
        logits = len(RELATIONS) * NUMBERS
        self.read_out: nn.Module = nn.Linear(hidden or D_MODEL, logits)
        if hidden:
            self.read_out = nn.Sequential(nn.Linear(D_MODEL, hidden), nn.ReLU(), self.read_out)

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, 2, NUMBERS) and weights (batch, n_heads, records)."""
        question = self.letter(asked)[:, None]  # (batch, 1, d)
        keys, values = self.letter(letters), self.number(numbers)  # (batch, records, d)
        output, weights = self.attend(question, keys, values, average_attn_weights=False)
        logits = self.read_out(output[:, 0])  # (batch, 2 * NUMBERS)
        return logits.unflatten(-1, (len(RELATIONS), NUMBERS)), weights[:, :, 0]

    @torch.no_grad()
    def importance(self, sequences: Sequences) -> torch.Tensor:
        """Return the importance of each head, (n_heads,): the mean of `head_importance`."""
        letters, numbers, asked = sequences[:3]
        _, weights = self(letters, numbers, asked)
        W_v = self.attend.in_proj_weight.chunk(3)[2].T
        values = self.number(numbers) @ W_v  # (batch, records, d)
        values = values.unflatten(-1, (weights.shape[1], -1)).transpose(1, 2)
        W_o = self.attend.out_proj.weight.T
        found = head_importance(weights[:, :, None].numpy(), values.numpy(), W_o.numpy())
        return torch.from_numpy(found).mean(dim=0)

    @torch.no_grad()
    def without(self, heads: Iterable[int]) -> "TwoRelations":
        """Return a copy without the contributions of `heads` to the output."""
        rest = copy.deepcopy(self)
        columns = rest.attend.out_proj.weight.unflatten(-1, (self.attend.num_heads, -1))
        columns[:, list(heads)] = 0  # (d, n_heads, d_head): the columns of each head
        return rest


class GivenShares(TwoRelations):
    """The model with one head whose weights are fixed: SHARES, and 0 elsewhere."""

    def forward(
        self, letters: torch.Tensor, numbers: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (batch, 2, NUMBERS) and weights (batch, 1, records)."""
        shares = torch.tensor(SHARES, dtype=self.number.weight.dtype).expand(len(letters), -1)
        weights = self.number.weight.new_zeros(letters.shape)
        weights = weights.scatter(1, places(letters, asked), shares)[:, None]  # (batch, 1, records)
        values = self.number(numbers) @ self.attend.in_proj_weight.chunk(3)[2].T
        output = self.attend.out_proj(weights @ values)  # (batch, 1, d)
        return self.read_out(output[:, 0]).unflatten(-1, (len(RELATIONS), NUMBERS)), weights


def sequences(batch: int, generator: torch.Generator) -> Sequences:
    """Draw sequences, each with the answers to its question."""
    letters, numbers, asked, _ = sample(batch, RELATIONS[0], generator)
    return letters, numbers, asked, numbers.gather(1, places(letters, asked))


@torch.no_grad()
def accuracies(model: TwoRelations, test: Sequences) -> list[float]:
    """Return the shares of sequences with both numbers right, the own right, the partner's."""
    *inputs, answers = test
    right = model(*inputs)[0].argmax(dim=-1) == answers  # (batch, 2)
    return [right.all(dim=1).float().mean().item(), *right.float().mean(dim=0).tolist()]
