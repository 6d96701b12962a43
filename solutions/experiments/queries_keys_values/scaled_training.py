"""The effect of the scores' scale on training: on the first scores, and on a step of training.

Q, K, V learns "partner" at width WIDTH from PyTorch's start, with the scores divided and without. A
division by the square root of the width does to the scores what W_q and W_k do that are smaller by
its fourth root. Under Adam, whose steps do not depend on the size of a gradient, nothing else
differs between the two if the learning rate of W_q and W_k is smaller by the same factor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from ...alignment import softmax
from ...running.seeds import SEEDS
from .associative_recall import BATCH, TEST, USUAL, Recall, sample
from .scaling import FROZEN, query_gradients

WIDTH, STEPS, LONG_STEPS = 128, 400, 2000
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)
"""The learning rates; all of them are shown."""

FREEZING_RATE, FREEZING_STEPS = 0.001, (0, 100)
"""The learning rate and the steps at which `freezing` looks at the queries."""

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


@dataclass(frozen=True)
class Frozen:
    """The state of a model's test questions after a number of steps.

    score_std: the standard deviation of their scores. frozen: the share of them whose weights have
    a gradient with respect to the query below `scaling.FROZEN`. wrong: the share that is frozen and
    gets a wrong answer.
    """

    score_std: float
    frozen: float
    wrong: float


def training(arm: Arm, rate: float, seed: int, steps: int) -> Iterator[tuple[int, Recall]]:
    """Train on "partner", and yield the model after 0, 1, ..., `steps` steps.

    All but the rate of W_q and W_k is as in `associative_recall.train`.
    """
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(1000 + seed)
    recall = model(arm)
    optimiser = torch.optim.AdamW(_groups(recall, rate, arm.step), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    yield 0, recall
    for step in range(1, steps + 1):
        letters, numbers, asked, answer = sample(BATCH, "partner", data)
        loss = F.cross_entropy(recall(letters, numbers, asked)[0], answer)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        decay.step()
        yield step, recall


def train(arm: Arm, rate: float, seed: int, steps: int = STEPS) -> Result:
    """Train to the end and return the accuracy."""
    *_, (_, recall) = training(arm, rate, seed, steps)
    validation, test = (float(_right(recall, base + seed).mean()) for base in (3000, 2000))
    return Result(validation, test)


def freezing(names: Sequence[str], seed: int) -> dict[tuple[str, int], Frozen]:
    """Train the arms of these names at FREEZING_RATE; say what is frozen at FREEZING_STEPS."""
    return {
        (name, step): _frozen(recall, ARMS[name], 2000 + seed)
        for name in names
        for step, recall in training(ARMS[name], FREEZING_RATE, seed, STEPS)
        if step in FREEZING_STEPS
    }


def _groups(recall: Recall, rate: float, step: float) -> Iterator[dict[str, object]]:
    """Yield each parameter with its learning rate, as an optimiser takes them."""
    for name, parameter in recall.named_parameters():
        factor = step if name.startswith(("W_q", "W_k")) else 1.0
        yield {"params": [parameter], "lr": factor * rate}


def _test(seed: int) -> tuple[torch.Tensor, ...]:
    return sample(TEST, "partner", torch.Generator().manual_seed(seed))


@torch.no_grad()
def _right(recall: Recall, seed: int) -> np.ndarray:
    """Return for each of TEST questions whether its answer is right."""
    *inputs, answer = _test(seed)
    return (recall(*inputs)[0].argmax(dim=-1) == answer).numpy()


@torch.no_grad()
def _frozen(recall: Recall, arm: Arm, seed: int) -> Frozen:
    letters, _, asked, _ = _test(seed)
    divisor = WIDTH**arm.power
    Q = recall.W_q(recall.letter(asked)).numpy()  # (TEST, WIDTH)
    K = recall.W_k(recall.letter(letters)).numpy()  # (TEST, RECORDS, WIDTH)
    scores = np.einsum("qd,qkd->qk", Q, K) / divisor
    frozen = query_gradients(softmax(scores), K / divisor) < FROZEN
    wrong = frozen & ~_right(recall, seed)
    return Frozen(float(scores.std()), float(frozen.mean()), float(wrong.mean()))


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
