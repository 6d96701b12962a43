"""Recall from a list of pairs: what a layer remembers with a cache, and with a state of fixed size.

A sequence has pairs of a key and a value, and then questions: every key once, in another order. The
answer to a question is the value that was last paired with its key. Recall of many pairs at once as
a test of models without a softmax comes from Arora et al. (2024), "Zoology: measuring and improving
recall in efficient language models".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...running.progress import say
from .reading import Kind, Reader

KEYS, VALUES = 128, 16
"""The numbers of different keys and values; the chance level is 1 / VALUES."""

D_MODEL = 64
PAIRS = (4, 16, 64)
WRITES = 4
"""The number of times that each key is written in the task with corrections."""

STEPS, BATCH, TEST = 200, 32, 256
RATES = (0.03, 0.1)
LONGER = 10
"""The longer training of the layer with elu + 1, in multiples of STEPS."""

SOFTMAX, SUMS, PLAIN, DELTA = "softmax", "elu + 1", "as they are", "delta rule"
LAYERS = {
    SOFTMAX: Kind("softmax"),
    SUMS: Kind("share", features="elu"),
    PLAIN: Kind("sum"),
    "both signs": Kind("share", features="relu"),
    "elu + 1, mapped": Kind("share", features="random elu"),
    "both signs, mapped": Kind("share", features="random relu"),
    "elu + 1, wide": Kind("share", 64, "elu"),
    "as they are, wide": Kind("sum", 64),
    DELTA: Kind("delta"),
}
"""Name -> a layer that recalls PAIRS[-1] pairs."""

CONTROLS = {
    "half": Kind("share", features="half"),
    "centred": Kind("sum", features="centred"),
    "not divided": Kind("sum", features="relu"),
}
"""Layers that say what about elu + 1 matters: no right angles, no sign, or the division."""

NARROW, STACK_RATE = 8, 0.01
"""The width of queries and keys, and the rate, in STACKS."""

_SOFTMAX, _DELTA = Kind("softmax", NARROW), Kind("delta", NARROW)
STACKS: dict[str, tuple[Kind, ...]] = {
    "softmax": (_SOFTMAX,),
    "softmax, distance": (Kind("near", NARROW),),
    "sums": (Kind("sum", NARROW),),
    "delta": (_DELTA,),
    "four delta": (_DELTA,) * 4,
    "hybrid": (_DELTA,) * 3 + (_SOFTMAX,),
}
"""Name -> the layers of a model, in order."""


def sample(batch: int, pairs: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Draw keys, values, and the order of the questions, (batch, pairs) each."""
    keys = torch.rand(batch, KEYS, generator=generator).argsort(dim=1)[:, :pairs]
    values = torch.randint(VALUES, (batch, pairs), generator=generator)
    order = torch.rand(batch, pairs, generator=generator).argsort(dim=1)
    return keys, values, order


@dataclass(frozen=True)
class Task:
    """keys: how many different keys a sequence has. writes: how often each is written."""

    keys: int
    writes: int = 1

    def draw(self, batch: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        """Return the written keys and values, (batch, keys * writes), and questions and answers.

        Questions and answers are (batch, keys) each. Every key is written once in each round; only
        the value of the last round is right.
        """
        keys, values, order = sample(batch, self.keys, generator)
        rounds = [(keys, values)]
        for _ in range(1, self.writes):
            _, earlier, again = sample(batch, self.keys, generator)
            rounds.insert(0, (keys.gather(1, again), earlier))
        written, told = (torch.cat(one, dim=1) for one in zip(*rounds, strict=True))
        return written, told, keys.gather(1, order), values.gather(1, order)


class Recall(nn.Module):
    """Embeddings, layers from questions to pairs, and a linear read-out.

    The layers' keys come from the pairs' keys alone, without positions. What a layer finds is added
    to the questions of the next one; the read-out gets the sum of all that was found.
    """

    def __init__(self, kinds: Sequence[Kind]) -> None:
        """kinds: one for each layer."""
        super().__init__()
        self.key, self.value = nn.Embedding(KEYS, D_MODEL), nn.Embedding(VALUES, D_MODEL)
        self.layers = nn.ModuleList(Reader(kind, D_MODEL) for kind in kinds)
        self.read_out = nn.Linear(D_MODEL, VALUES)

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """keys, values: (batch, n). asked: (batch, q). Returns logits (batch, q, VALUES)."""
        K, V = self.key(keys), self.value(values)  # (batch, n, D_MODEL)
        stream = first = self.key(asked)  # (batch, q, D_MODEL)
        for layer in self.layers:
            stream = stream + layer(stream, K, V)
        return self.read_out(stream - first)


@dataclass(frozen=True)
class Run:
    """A training run: its rate, and its accuracy on validation and on test sequences."""

    rate: float
    validation: float
    accuracy: float


def train(kinds: Sequence[Kind], task: Task, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train a model; all models with the same seed and task see the same sequences."""
    torch.manual_seed(seed)
    return fitted(Recall(kinds), task, rate, seed, steps)


@dataclass(frozen=True)
class Ages:
    """The accuracy of a delta layer on the first and the last pairs; the mean share it writes."""

    first: float
    last: float
    share: float


def by_age(rate: float, seed: int, part: int = 8) -> Ages:
    """Train the delta layer with PAIRS[-1] pairs; ask for its first and last pairs, a part each."""
    torch.manual_seed(seed)
    model = Recall([LAYERS[DELTA]])
    fitted(model, Task(PAIRS[-1]), rate, seed)
    keys, values, _ = sample(4 * TEST, PAIRS[-1], torch.Generator().manual_seed(40 + seed))
    with torch.no_grad():
        right = (model(keys, values, keys).argmax(dim=-1) == values).float().mean(dim=0)
        (layer,) = model.layers
        share = layer.get_submodule("gate")(model.key.weight).sigmoid().mean()
    n = PAIRS[-1] // part
    return Ages(right[:n].mean().item(), right[-n:].mean().item(), share.item())


def fitted(model: nn.Module, task: Task, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train a model from keys, values and questions to logits."""
    data, validation, test = (torch.Generator().manual_seed(base + seed) for base in (10, 20, 30))
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for _ in range(steps):
        keys, values, asked, answers = task.draw(BATCH, data)
        loss = F.cross_entropy(model(keys, values, asked).flatten(0, 1), answers.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        decay.step()
    return Run(rate, _accuracy(model, task, validation), _accuracy(model, task, test))


@torch.no_grad()
def _accuracy(model: nn.Module, task: Task, generator: torch.Generator) -> float:
    keys, values, asked, answers = task.draw(TEST, generator)
    right: Tensor = model(keys, values, asked).argmax(dim=-1) == answers
    return right.float().mean().item()


@dataclass(frozen=True)
class Recalled:
    """The accuracies of one seed.

    layers: name -> run with PAIRS[-1] pairs. fewer: number of pairs -> accuracy of elu + 1, at the
    rate that is best for the most pairs. longer: its accuracy after LONGER * STEPS steps. stacks:
    name -> accuracy with PAIRS[-1] keys written once, and with a WRITES-th of them written WRITES
    times. controls: name -> accuracy with PAIRS[-1] pairs. ages: of the delta rule. runs: how many
    models were trained.
    """

    layers: dict[str, Run]
    fewer: dict[int, float]
    longer: float
    stacks: dict[str, tuple[float, float]]
    controls: dict[str, float]
    ages: Ages
    runs: int


def compare(seed: int) -> Recalled:
    """Train all models with a seed. A layer's rate is the best on validation sequences."""
    once, corrected = Task(PAIRS[-1]), Task(PAIRS[-1] // WRITES, WRITES)
    best = {}
    for name, kind in (LAYERS | CONTROLS).items():
        runs = [train([kind], once, rate, seed) for rate in RATES]
        best[name] = max(runs, key=lambda run: run.validation)
        say(f"recall, seed {seed}: {name} done")
    layers = {name: best[name] for name in LAYERS}
    controls = {name: best[name].accuracy for name in CONTROLS}
    first, rate = [LAYERS[SUMS]], layers[SUMS].rate
    fewer = {n: train(first, Task(n), rate, seed).accuracy for n in PAIRS[:-1]}
    longer = train(first, once, rate, seed, LONGER * STEPS).accuracy
    stacks = {
        name: (
            train(kinds, once, STACK_RATE, seed).accuracy,
            train(kinds, corrected, STACK_RATE, seed).accuracy,
        )
        for name, kinds in STACKS.items()
    }
    ages = by_age(layers[DELTA].rate, seed)
    trained = len(RATES) * len(best) + len(fewer) + 1 + 2 * len(stacks) + 1
    return Recalled(layers, fewer, longer, stacks, controls, ages, trained)
