"""Train the correct decoder and those with a bug on two tasks, from the same initial weights.

A question of letters is followed by its answer. In the task "copy", the answer is the question. In
the task "pair", each letter of the answer depends on a letter of the question and the letter before
it. Pairs have two budgets: a model that is still slow after `SOON` steps may be done after `LATE`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from ...bugs_that_train import BUGS, PAD, RIGHT, SEP, STOP, Attention, Decoder, Parts
from ...running.seeds import SEEDS
from .writing import in_company, written

LETTERS, FIRST = 6, 3
SHORTEST, LONGEST = 3, 6
VOCABULARY = FIRST + LETTERS
D_MODEL, HEADS, LAYERS, DEEP = 32, 4, 2, 12
SHORT, SOON, LATE = 300, 500, 2000
"""The steps of copies, and the two budgets of pairs."""
BATCH, RATE, WARM_UP, CLIP = 32, 6e-3, 40, 1.0
VALIDATION, EVERY = 256, 10
HELD = 10**6 + 1  # rate, steps and lengths were chosen with seed 10**6
NAMES = ("right", *BUGS)
OF_HEADS = ("merged_without_transpose", "shared_projection", "values_from_keys")
"""The bugs of projections and heads, which are also tried on the easy task."""


class Filled(Attention):
    """Attention whose hidden scores are set to -10,000 instead of a number that none can pass."""

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, d_model). mask: (batch, n, n), True where a token may attend."""
        Q, K, V = self.project(X)  # (batch, n_heads, n, d_head)
        scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
        weights = self.normalise(scores.masked_fill(~self.for_heads(mask), -1e4))
        return self.W_o(self.merge(weights @ V))


PARTS: dict[str, Parts] = {
    "right": RIGHT,
    **BUGS,
    "filled": replace(RIGHT, attention=Filled),
}
"""Name -> the parts of every model that is trained."""


class Training(NamedTuple):
    """A training run: the model's name, its task, its steps and its blocks."""

    name: str
    task: str = "pair"
    steps: int = SOON
    layers: int = LAYERS


TRAININGS = (
    *(Training(name, layers=DEEP) for name in ("right", "norm_on_residual")),
    *(Training(name, steps=LATE) for name in PARTS),
    *(Training(name) for name in NAMES),
    *(Training(name, "copy", SHORT) for name in ("right", *OF_HEADS)),
)
"""Every training of a seed, the longest first, so that no core is idle at the end."""
RUNS = [(seed, training) for training in TRAININGS for seed in SEEDS]


@dataclass(frozen=True)
class Run:
    """The result of training one model.

    `losses` are the training losses, every EVERY steps. `loss` and `accuracy` are computed by the
    model's own code on validation questions: on the answers' tokens, and on their letters, without
    the stop. `blind` is that accuracy if, for each letter, those that follow are replaced by
    others. `written` is the share of answers that the model writes completely right by itself;
    `padded` the same if the padding of a batch in training is left in front of each question,
    `halved` with half of it, `stretched` with three more; `company` the same if questions of all
    lengths are in a batch; `doubled` if the separator is given twice. `apart` is the largest
    difference between the logits of a question alone and in a batch with longer questions.
    """

    losses: list[float]
    loss: float
    accuracy: float
    blind: float
    written: float
    padded: float
    halved: float
    stretched: float
    company: float
    doubled: float
    apart: float


def questions(rng: np.random.Generator, count: int, task: str) -> list[list[int]]:
    """Return questions with their answers, as tokens."""
    table = np.random.default_rng(7).permutation(LETTERS * LETTERS) % LETTERS
    made = []
    for length in rng.integers(SHORTEST, LONGEST + 1, count):
        letters = rng.integers(LETTERS, size=length)
        answer = letters
        if task == "pair":
            answer = table[letters * LETTERS + np.roll(letters, 1)]
        made.append([*(letters + FIRST).tolist(), SEP, *(answer + FIRST).tolist(), STOP])
    return made


def batch(sequences: list[list[int]]) -> torch.Tensor:
    """Return the sequences as a tensor (batch, n), padded at the front."""
    n = max(map(len, sequences))
    return torch.tensor([[PAD] * (n - len(one)) + one for one in sequences])


def answered(tokens: torch.Tensor) -> torch.Tensor:
    """Return a mask that is True at the answers' tokens, the only ones that are scored."""
    after = (tokens == SEP).cumsum(dim=1) - (tokens == SEP).long()
    return after.bool()


def in_front(n: int) -> int:
    """Return the padding of a question and answer of n tokens in a batch with the longest."""
    return 2 * LONGEST + 2 - n


def scored(model: Decoder, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits and the targets of the answers' tokens, as the model's code pairs them."""
    which, by = model.parts.scored(tokens)
    where = answered(tokens)[:, by]
    return model(tokens)[:, which][where], tokens[:, by][where]


@lru_cache(maxsize=1)
def lessons(task: str, steps: int, seed: int) -> list[torch.Tensor]:
    """Return the batches of all steps of a training run."""
    rng = np.random.default_rng(seed)
    return [batch(questions(rng, BATCH, task)) for _ in range(steps)]


def train(training: Training, seed: int) -> Run:
    """Train one model; all models get the same questions and the same initial weights."""
    name, task, steps, layers = training
    torch.manual_seed(seed)
    model = Decoder(PARTS[name], VOCABULARY, D_MODEL, HEADS, layers, 2 * LONGEST + 2)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / WARM_UP) * (1 - step / steps)
    )
    losses = []
    for step, tokens in enumerate(lessons(task, steps, seed)):
        loss = F.cross_entropy(*scored(model, tokens))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        rate.step()
        if step % EVERY == 0:
            losses.append(loss.item())
    return _validated(model, losses, task)


@torch.no_grad()
def _validated(model: Decoder, losses: list[float], task: str) -> Run:
    model.eval()
    held = questions(np.random.default_rng(HELD), VALIDATION, task)
    tokens = batch(held)
    logits, targets = scored(model, tokens)
    short, long = ([one for one in held if len(one) == 2 * n + 2][:16] for n in (SHORTEST, LONGEST))
    alone, mixed = model(batch(short)), model(batch(short + long))[: len(short)]
    apart = float((mixed[:, -alone.shape[1] :] - alone).abs().max())
    letters = targets != STOP
    return Run(
        losses=losses,
        loss=float(F.cross_entropy(logits, targets)),
        accuracy=float((logits.argmax(-1) == targets)[letters].float().mean()),
        blind=blind(model, tokens),
        written=written(model, held),
        padded=written(model, held, in_front),
        halved=written(model, held, lambda n: in_front(n) // 2),
        stretched=written(model, held, lambda n: in_front(n) + 3),
        company=in_company(model, held, BATCH),
        doubled=written(model, held, separators=2),
        apart=apart,
    )


def blind(model: Decoder, tokens: torch.Tensor) -> float:
    """Return the share of right letters if all that follow are replaced by wrong ones."""
    rng = np.random.default_rng(HELD)
    letters = answered(tokens) & (tokens != STOP)
    shift = torch.from_numpy(rng.integers(1, LETTERS, size=tuple(tokens.shape)))
    exchanged = torch.where(letters, (tokens - FIRST + shift) % LETTERS + FIRST, tokens)
    which, by = model.parts.scored(tokens)
    right = torch.stack(
        [
            model(torch.cat([tokens[:, : at + 1], exchanged[:, at + 1 :]], 1))[:, at].argmax(-1)
            for at in range(tokens.shape[1])[which]
        ],
        dim=1,
    )
    return float((right == tokens[:, by])[letters[:, by]].float().mean())


def run(number: int) -> Run:
    """Run the training RUNS[number]."""
    seed, training = RUNS[number]
    return train(training, seed)
