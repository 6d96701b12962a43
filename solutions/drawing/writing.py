"""What it takes to write with published models: a roofline with a dot, and a table without scripts.

`book/_web/writing_costs.mjs` turns this HTML into the figure; `book/_web/writing.mjs` has the same
formulas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

BYTES = 2
"""The bytes of a number, of a weight and in the cache."""


@dataclass(frozen=True)
class Layers:
    """Layers of one kind. count: how many. numbers: what a token leaves in the cache of each.

    operations: what a new token needs for each token that it attends to. window: how many tokens
    the cache keeps, or 0 for all.
    """

    count: int
    numbers: int
    operations: int
    window: int = 0


@dataclass(frozen=True)
class Published:
    """A published model. parameters: all of them. active: those that one token uses.

    experts, used: how many experts a layer has, and how many of them a token uses, or 0. fixed: the
    numbers of all states of fixed size, for one text.
    """

    name: str
    parameters: float
    active: float
    layers: tuple[Layers, ...]
    experts: int = 0
    used: int = 0
    fixed: int = 0


@dataclass(frozen=True)
class Machine:
    """bandwidth: bytes a second. peak: operations a second. memory: bytes, or 0 if unknown."""

    name: str
    bandwidth: float
    peak: float
    memory: float = 0


MODELS = (
    Published("SmolLM2 135M", 134.5e6, 134.5e6, (Layers(30, 2 * 3 * 64, 4 * 9 * 64),)),
    Published("Llama 3.1 8B", 8.03e9, 8.03e9, (Layers(32, 2 * 8 * 128, 4 * 32 * 128),)),
    Published(
        "Gemma 3 12B",
        11.8e9,
        11.8e9,
        (
            Layers(8, 2 * 8 * 256, 4 * 16 * 256),
            Layers(40, 2 * 8 * 256, 4 * 16 * 256, window=1024),
        ),
    ),
    Published(
        "Qwen3-Next 80B",
        80e9,
        3e9,
        (Layers(12, 2 * 2 * 256, 4 * 16 * 256),),
        experts=512,
        used=10,
        fixed=36 * 32 * 128 * 128,
    ),
    Published(
        "DeepSeek-V3 671B",
        671e9,
        37e9,
        (Layers(61, 512 + 64, 2 * 128 * (512 + 64 + 512)),),
        experts=256,
        used=8,
    ),
)
"""From the published configurations and papers, which the chapter cites."""

H100 = Machine("an H100", 3.35e12, 989e12, 80e9)
CONTEXTS = tuple(2**power for power in range(10, 18))
BATCHES = tuple(2**power for power in range(10))


@dataclass(frozen=True)
class Step:
    """One step of writing, in which each of several texts gets a token.

    weights, caches: bytes that are read. operations: of all texts.
    """

    weights: float
    caches: float
    operations: float

    @property
    def intensity(self) -> float:
        """Return the operations per byte."""
        return self.operations / (self.weights + self.caches)

    def seconds(self, machine: Machine) -> float:
        """Return the least seconds: for the bytes or for the operations, whichever is more."""
        read = (self.weights + self.caches) / machine.bandwidth
        return max(read, self.operations / machine.peak)


def step(model: Published, context: int, batch: int) -> Step:
    """Compute a step of `batch` texts of `context` tokens each.

    If a token uses some experts of many, the texts together are assumed to choose independently.
    """
    reaches = [min(context, one.window or context) for one in model.layers]
    numbers = model.fixed + sum(
        one.count * one.numbers * reach for one, reach in zip(model.layers, reaches, strict=True)
    )
    meeting = sum(
        one.count * one.operations * reach for one, reach in zip(model.layers, reaches, strict=True)
    )
    weights = model.active
    if model.experts:
        part = model.used / model.experts
        routed = (model.parameters - model.active) / (1 - part)
        touched = 1 - (1 - part) ** batch
        weights = model.parameters - routed * (1 - touched)
    return Step(BYTES * weights, BYTES * batch * numbers, batch * (2 * model.active + meeting))


def writing_costs(roof: Mapping[str, Any]) -> str:
    """Return the HTML: a table of the models, and the data.

    roof: the measured machine: its bandwidth, its peak, and `measured`, pairs of operations per
    byte and operations a second.
    """
    here = Machine("a core of ours", roof["bandwidth"], roof["peak"])
    data = {
        "bytes": BYTES,
        "models": [asdict(one) for one in MODELS],
        "machines": [asdict(H100), asdict(here)],
        "measured": roof["measured"],
        "contexts": CONTEXTS,
        "batches": BATCHES,
    }
    head = "".join(
        f'<th scope="col">{text}</th>'
        for text in (
            "model",
            "weights, GB",
            "cache at 8,192 tokens, GB",
            "at 131,072, GB",
            "tokens a second at most, one text of 8,192 tokens, at the speed of one H100",
        )
    )
    rows = "".join(_row(one) for one in MODELS)
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return (
        '<div class="play writing-costs">'
        "<table><caption>Writing with published models, two bytes a number</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/writing_costs.mjs"></script>'
    )


def _row(model: Published) -> str:
    short, long = step(model, 8192, 1), step(model, 131_072, 1)
    cells = (
        BYTES * model.parameters / 1e9,
        short.caches / 1e9,
        long.caches / 1e9,
        1 / short.seconds(H100),
    )
    return f'<tr><th scope="row">{model.name}</th>' + "".join(
        f"<td>{f'{one:,.0f}' if one >= 100 else f'{one:.2g}'}</td>" for one in cells
    ) + "</tr>"  # fmt: skip
