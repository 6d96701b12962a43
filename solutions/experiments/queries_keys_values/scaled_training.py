"""The effect of the scores' scale on training: on the first scores, and on a step of training.

Q, K, V learns "partner" at width WIDTH from PyTorch's start, with the scores divided and without. A
division by the square root of the width does to the scores what W_q and W_k do that are smaller by
its fourth root. Under Adam, whose steps do not depend on the size of a gradient, nothing else
differs between the two if the learning rate of W_q and W_k is smaller by the same factor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from ...running.seeds import SEEDS
from .associative_recall import BATCH, TEST, USUAL, Recall, sample

WIDTH, STEPS, LONG_STEPS = 128, 400, 2000
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)
"""The learning rates; all of them are shown."""

MORE_SEEDS = range(2 * len(SEEDS))
"""The seeds of SMALLER_START, whose runs differ the most from seed to seed."""


@dataclass(frozen=True)
class Arm:
    """A way to scale scores.

    power: the power of the width by which the scores are divided. start: a factor of the initial
    W_q and W_k. step: a factor of their learning rate.
    """

    power: float = 0.0
    start: float = 1.0
    step: float = 1.0


FOURTH_ROOT = WIDTH**-0.25
UNSCALED, SMALLER_START, SMALLER_STEPS = "no scale", "smaller start", "smaller start, steps"
ROOT, WHOLE = "1 / sqrt(d)", "1 / d"
LONGER = "no scale, longer"
ARMS = {
    UNSCALED: Arm(),
    SMALLER_START: Arm(start=FOURTH_ROOT),
    SMALLER_STEPS: Arm(start=FOURTH_ROOT, step=FOURTH_ROOT),
    ROOT: Arm(power=0.5),
    WHOLE: Arm(power=1.0),
}


@dataclass(frozen=True)
class Result:
    """The accuracy of a run, on the sequences for choosing the rate and on others."""

    validation: float
    accuracy: float


def model(arm: Arm) -> Recall:
    """Return Q, K, V at width WIDTH, before its training."""
    return Recall("Q, K, V", USUAL, WIDTH, arm.power, arm.start)


def train(arm: Arm, rate: float, seed: int, steps: int = STEPS) -> Result:
    """Train on "partner"; all but the rate of W_q and W_k is as in `associative_recall.train`."""
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    recall = model(arm)
    optimiser = torch.optim.AdamW(_groups(recall, rate, arm.step), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for _ in range(steps):
        letters, numbers, asked, answer = sample(BATCH, "partner", data)
        loss = F.cross_entropy(recall(letters, numbers, asked)[0], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
    return Result(_accuracy(recall, 3000 + seed), _accuracy(recall, 2000 + seed))


def _groups(recall: Recall, rate: float, step: float) -> Iterator[dict[str, object]]:
    """Yield each parameter with its learning rate, as an optimiser takes them."""
    for name, parameter in recall.named_parameters():
        factor = step if name.startswith(("W_q", "W_k")) else 1.0
        yield {"params": [parameter], "lr": factor * rate}


@torch.no_grad()
def _accuracy(recall: Recall, seed: int) -> float:
    *inputs, answer = sample(TEST, "partner", torch.Generator().manual_seed(seed))
    return (recall(*inputs)[0].argmax(dim=-1) == answer).float().mean().item()


def compare(names: Sequence[str], seed: int) -> dict[tuple[str, float], Result]:
    """Train the arms of these names at every rate; beyond SEEDS, only SMALLER_START.

    UNSCALED is also trained for LONG_STEPS, at the best of its rates, under the name LONGER.
    """
    results = {
        (name, rate): train(ARMS[name], rate, seed)
        for name in names
        for rate in RATES
        if seed in SEEDS or name == SMALLER_START
    }
    if (UNSCALED, RATES[0]) in results:
        best = max(RATES, key=lambda rate: results[UNSCALED, rate].validation)
        results[LONGER, best] = train(ARMS[UNSCALED], best, seed, LONG_STEPS)
    return results
