"""`make bench`: silence each head of the published model alone, for the last part of chapter 12.

All heads are silenced on the passages that rank them, and the half that mattered least on others,
which did not choose it. This takes about five minutes on two cores, which is too long for the page.
"""

from __future__ import annotations

import datetime
import json
import platform
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from solutions.experiments.today.above import Kept
from solutions.experiments.today.inside import ALL_HEADS, N_LAYERS, passages
from solutions.published.looking_inside import N_HEADS, Head
from solutions.published.smollm2 import SmolLM2

RESULT = Path("book/measured/single_silences.json")
RUNS = Path("_build/silences")
RANKING, OTHERS, LENGTH = 2, 4, 128
"""The passages that rank the heads, the passages after these, and the tokens of each."""
AT_ONCE = 2
"""How many passages are read at once."""


def rises(published: SmolLM2, texts: Tensor, heads: list[Head], name: str) -> list[float]:
    """Return by how many nats a token the loss rises without each of the heads, one at a time."""
    kept = [Kept(published, some) for some in texts.split(AT_ONCE)]
    whole = [one.loss() for one in kept]
    found: dict[Head, float] = {}
    for block in range(N_LAYERS):
        file = RUNS / f"{name}-{block}.json"
        mine = [head for head in heads if head[0] == block]
        if not file.exists():
            mean = [
                sum(one.loss([head]) - loss for one, loss in zip(kept, whole, strict=True))
                / len(kept)
                for head in mine
            ]
            file.write_text(json.dumps(mean), encoding="utf-8")
            print(f"{name}: block {block} done", flush=True)
        found |= zip(mine, json.loads(file.read_text(encoding="utf-8")), strict=True)
    return [found[head] for head in heads]


def main() -> None:
    """Measure what has not been measured, and write what the page reads."""
    RUNS.mkdir(parents=True, exist_ok=True)
    published = SmolLM2()
    texts = passages(published, RANKING + OTHERS, LENGTH)
    ranking = rises(published, texts[:RANKING], ALL_HEADS, "ranking")
    order = sorted(range(len(ALL_HEADS)), key=ranking.__getitem__)
    least = sorted(order[: len(order) // 2])
    elsewhere = rises(published, texts[RANKING:], [ALL_HEADS[at] for at in least], "elsewhere")
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
        "ranking_passages": RANKING,
        "other_passages": OTHERS,
        "tokens": LENGTH,
        "rises": [ranking[at : at + N_HEADS] for at in range(0, len(ranking), N_HEADS)],
        "least": [ALL_HEADS[at] for at in least],
        "rises_elsewhere": elsewhere,
    }
    RESULT.write_text(json.dumps(result) + "\n", encoding="utf-8")
    here = sum(ranking[at] for at in least)
    print(f"the least: {here:.3f} where they were chosen, {sum(elsewhere):.3f} elsewhere")


if __name__ == "__main__":
    main()
