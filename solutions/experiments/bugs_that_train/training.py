"""Train the correct decoder and those with a bug on two tasks, from the same initial weights.

A question of letters is followed by its answer. In the task "copy", the answer is the question. In
the task "pair", each letter of the answer depends on a letter of the question and the letter before
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F

from ...bugs_that_train import BUGS, PAD, RIGHT, SEP, STOP, Decoder
from ...running.seeds import SEEDS

LETTERS, FIRST = 6, 3
SHORTEST, LONGEST = 3, 6
VOCABULARY = FIRST + LETTERS
D_MODEL, HEADS, LAYERS = 32, 4, 2
STEPS = {"copy": 300, "pair": 500}
BATCH, RATE, WARM_UP, CLIP = 32, 6e-3, 40, 1.0
VALIDATION, EVERY = 256, 10
HELD = 10**6 + 1  # rate, steps and lengths were chosen with seed 10**6
NAMES = ("right", *BUGS)
OF_HEADS = ("merged_without_transpose", "shared_projection", "values_from_keys")
"""The bugs of projections and heads, which are also tried on the easy task."""
MODELS = {"pair": NAMES, "copy": ("right", *OF_HEADS)}
"""Task -> the models that are trained on it."""
RUNS = [(seed, task, name) for seed in SEEDS for task in MODELS for name in MODELS[task]]
"""Every training run: seed, task and model."""


@dataclass(frozen=True)
class Run:
    """The result of training one model.

    `losses` are the training losses, every EVERY steps. `loss` and `accuracy` are computed by the
    model's own code on the answers' tokens of validation questions. `blind` is that accuracy if,
    for each token, the letters that follow are replaced by others. `written` is the share of
    answers that the model writes completely right by itself. `apart` is the largest difference
    between the logits of a question alone and in a batch with longer questions.
    """

    losses: list[float]
    loss: float
    accuracy: float
    blind: float
    written: float
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


def scored(model: Decoder, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits and the targets of the answers' tokens, as the model's code pairs them."""
    which, by = model.parts.scored(tokens)
    where = answered(tokens)[:, by]
    return model(tokens)[:, which][where], tokens[:, by][where]


@lru_cache(maxsize=1)
def lessons(task: str, seed: int) -> list[torch.Tensor]:
    """Return the batches of all steps of a training run."""
    rng = np.random.default_rng(seed)
    return [batch(questions(rng, BATCH, task)) for _ in range(STEPS[task])]


def train(name: str, task: str, seed: int) -> Run:
    """Train one model; all models get the same questions and the same initial weights."""
    torch.manual_seed(seed)
    parts = RIGHT if name == "right" else BUGS[name]
    model = Decoder(parts, VOCABULARY, D_MODEL, HEADS, LAYERS, 2 * LONGEST + 2)
    steps = STEPS[task]
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / WARM_UP) * (1 - step / steps)
    )
    losses = []
    for step, tokens in enumerate(lessons(task, seed)):
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
    return Run(
        losses,
        float(F.cross_entropy(logits, targets)),
        float((logits.argmax(-1) == targets).float().mean()),
        blind(model, tokens),
        written(model, held),
        apart,
    )


def blind(model: Decoder, tokens: torch.Tensor) -> float:
    """Return the accuracy if all letters after the current position are replaced by wrong ones."""
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
    return float((right == tokens[:, by])[answered(tokens)[:, by]].float().mean())


def written(model: Decoder, sequences: list[list[int]]) -> float:
    """Return the share of answers that the model writes right, token by token, without padding."""
    right = 0
    for n in sorted({len(one) for one in sequences}):
        whole = torch.tensor([one for one in sequences if len(one) == n])
        tokens = whole[:, : n // 2]  # the question and the separator
        while tokens.shape[1] < n:
            tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], dim=1)
        right += int((tokens == whole).all(dim=1).sum())
    return right / len(sequences)


def run(number: int) -> Run:
    """Run the training RUNS[number]."""
    seed, task, name = RUNS[number]
    return train(name, task, seed)
