"""The smallest model that copies: two attention heads, in one layer or in two.

A text consists of random tokens, repeated once. So the second copy can only be predicted by looking
up the first. Models with only attention, in one layer and in two, are those of Elhage et al.
(2021), "A mathematical framework for Transformer circuits".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...gpt_and_bert import causal_language_model_loss
from ...positions import sinusoidal_positions
from ...transformer_block import MultiHeadAttention
from ...variants.language_models import induction_score
from .heads import map_of

VOCAB_SIZE, D_MODEL = 32, 64
PERIODS = range(8, 17)
"""Numbers of tokens before a text repeats.

With a single period, a fixed distance would be enough.
"""

STEPS, BATCH, RATE, WARM_UP = 400, 32, 1e-2, 50
TEXTS, EVERY = 24, 20
"""The test texts of each period, and the number of steps between two measurements."""

SHOWN = 12
"""The period of the text whose maps are shown."""

KINDS = {"side by side": False, "one above the other": True}


class TwoHeads(nn.Module):
    """Embeddings, sinusoids, two heads and a read-out: no feed-forward network and no norm."""

    positions: Tensor

    def __init__(self, *, stacked: bool) -> None:
        """stacked: whether the second head reads the first one's output instead of the tokens."""
        super().__init__()
        self.stacked = stacked
        self.embedding = nn.Embedding(VOCAB_SIZE, D_MODEL)
        rows = torch.from_numpy(sinusoidal_positions(2 * PERIODS[-1], D_MODEL)).float()
        self.register_buffer("positions", rows)
        self.heads = nn.ModuleList(MultiHeadAttention(D_MODEL, n_heads=1) for _ in range(2))
        self.read_out = nn.Linear(D_MODEL, VOCAB_SIZE)

    def forward(self, tokens: Tensor, masks: Tensor) -> Tensor:
        """tokens: ids (batch, n). masks: (2, n, n), one for each head. Returns logits."""
        X = start = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        for head, mask in zip(self.heads, masks, strict=True):
            X = X + head(X if self.stacked else start, mask=mask)
        return self.read_out(X)  # (batch, n, VOCAB_SIZE)

    def maps(self, tokens: Tensor, masks: Tensor) -> Tensor:
        """Return the weights of the two heads: (batch, 2, n, n)."""
        X = start = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        found = []
        for head, mask in zip(self.heads, masks, strict=True):
            read = X if self.stacked else start
            found.append(map_of(head, read, mask))
            X = X + head(read, mask=mask)
        return torch.cat(found, dim=1)


def causal(n: int) -> Tensor:
    """Return the causal masks of both heads, (2, n, n)."""
    return torch.ones(2, n, n, dtype=torch.bool).tril()


def repeated(batch: int, period: int, generator: torch.Generator) -> Tensor:
    """Return texts of distinct random tokens, repeated once: (batch, 2 period)."""
    once = torch.rand(batch, VOCAB_SIZE, generator=generator).argsort(dim=1)[:, :period]
    return torch.cat([once, once], dim=1)


def second_copy(logits: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logits and tokens of the second copy; its first token is unpredictable."""
    period = texts.shape[1] // 2
    return logits[:, period:], texts[:, period:]


@dataclass(frozen=True)
class Copied:
    """The behaviour of a model in the second copy of test texts of all periods.

    curve: (step, nats a token). right: the share of right tokens. scores: each head's
    `induction_score`. before: each head's weight on the previous token, a mean over the first copy.
    maps: of one text, (2, n, n). without: name of `looks` -> the share of right tokens if these
    looks are hidden.
    """

    curve: list[tuple[int, float]]
    right: float
    scores: tuple[float, ...]
    before: tuple[float, ...]
    maps: Tensor
    without: dict[str, float]


def looks(period: int) -> dict[str, Tensor]:
    """Return name -> both heads' causal masks, with some looks hidden from one of them.

    A head that is off may not look at any token. The "copy" is the current token one period
    earlier, and "what followed" is the token after it.
    """
    at = torch.arange(2 * period)
    back = at[:, None] - at
    hidden = {
        "first: off": (0, back >= 0),
        "first: token before": (0, back == 1),
        "first: two before": (0, back == 2),
        "second: off": (1, back >= 0),
        "second: what followed": (1, back == period - 1),
        "second: the copy": (1, back == period),
    }
    found = {}
    for name, (head, cells) in hidden.items():
        found[name] = causal(2 * period)
        found[name][head] &= ~cells
    return found


def run(seed: int) -> dict[str, Copied]:
    """Train both models on the same texts, and measure them."""
    return {name: measure(seed, stacked) for name, stacked in KINDS.items()}


def measure(seed: int, stacked: bool) -> Copied:
    """Train a model, and measure which head copies."""
    torch.manual_seed(seed)
    model = TwoHeads(stacked=stacked)
    generator = torch.Generator().manual_seed(1000 + seed)
    tests = {period: repeated(TEXTS, period, generator) for period in PERIODS}
    curve = train(model, list(tests.values()), seed)
    maps = {period: model.maps(some, causal(2 * period)).detach() for period, some in tests.items()}
    return Copied(
        curve,
        share_right(model, tests, {period: causal(2 * period) for period in PERIODS}),
        tuple(scores(maps, head) for head in (0, 1)),
        tuple(before(maps, head) for head in (0, 1)),
        maps[SHOWN][0],
        {
            name: share_right(model, tests, {period: looks(period)[name] for period in PERIODS})
            for name in looks(SHOWN)
        },
    )


def scores(maps: dict[int, Tensor], head: int) -> float:
    """Return the mean `induction_score` of a head over the maps, period -> (texts, 2, n, n)."""
    found = [
        induction_score(one[None], period)
        for period, some in maps.items()
        for one in some[:, head].double().numpy()
    ]
    return sum(found) / len(found)


def before(maps: dict[int, Tensor], head: int) -> float:
    """Return a head's mean weight on the previous token, in the first copies of all periods."""
    found = [
        some[:, head].diagonal(-1, -2, -1)[:, : period - 1].mean().item()
        for period, some in maps.items()
    ]
    return sum(found) / len(found)


def train(model: TwoHeads, tests: list[Tensor], seed: int) -> list[tuple[int, float]]:
    """Train on new texts in each step; a batch has one period. Returns the curve on tests."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    curve = []
    for step in range(1, STEPS + 1):
        share = min(step / WARM_UP, (STEPS - step) / (STEPS - WARM_UP))
        optimiser.param_groups[0]["lr"] = RATE * share
        period = PERIODS[int(torch.randint(len(PERIODS), (), generator=generator))]
        loss = loss_of(model, repeated(BATCH, period, generator))  # of (BATCH, 2 period)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % EVERY == 0 or step == 1:
            with torch.no_grad():
                found = sum(loss_of(model, texts).item() for texts in tests)
            curve.append((step, found / len(tests)))
    return curve


def loss_of(model: TwoHeads, texts: Tensor) -> Tensor:
    """Return the loss in the second copy, in nats per token."""
    logits = model(texts, causal(texts.shape[1]))
    return causal_language_model_loss(*second_copy(logits, texts))


@torch.no_grad()
def share_right(model: TwoHeads, tests: dict[int, Tensor], masks: dict[int, Tensor]) -> float:
    """Return the share of right tokens in the second copies, a mean over periods."""
    right = []
    for period, texts in tests.items():
        logits, tokens = second_copy(model(texts, masks[period]), texts)
        right.append((logits[:, :-1].argmax(dim=-1) == tokens[:, 1:]).float().mean().item())
    return sum(right) / len(right)


def without_order(periods: Sequence[int] = PERIODS) -> tuple[float, float]:
    """Return (share right, nats) if the remaining tokens are known, but not their order."""
    left = [torch.arange(1, period).double() for period in periods]  # remaining tokens
    right = sum((1 / one).mean().item() for one in left)
    nats = sum(one.log().mean().item() for one in left)
    return right / len(left), nats / len(left)


def by_place(periods: Sequence[int] = PERIODS) -> float:
    """Return the share right if the period is guessed from where in the text a token stands.

    The guess is the likeliest period, if each token of the second copy but the last asks for the
    next, and all periods are equally frequent.
    """
    right = 0.0
    for at in range(min(periods), 2 * max(periods) - 1):
        possible = [1 / (period - 1) for period in periods if period <= at <= 2 * period - 2]
        right += max(possible, default=0.0) / len(periods)
    return right
