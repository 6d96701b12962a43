"""`make bench`: train chapter 10's GPT and its modernised form for seven times as many steps.

This takes about ten minutes on two cores, which is too long for the page that reads the result.
"""

from __future__ import annotations

import datetime
import json
import platform
from pathlib import Path
from typing import Any

import torch

from solutions.experiments.today.ablation import LONG, for_long
from solutions.running.seeds import SEEDS, over_seeds

RESULT = Path("book/measured/today_for_long.json")


def main() -> None:
    """Train, and write the curves that the appendix to chapter 12 reads."""
    runs = over_seeds(for_long)
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
        "seeds": list(SEEDS),
        "steps": LONG,
        "curves": {
            name: [[[s, round(v, 4)] for s, _, v in run[name].curve] for run in runs]
            for name in runs[0]
        },
    }
    RESULT.write_text(json.dumps(result) + "\n", encoding="utf-8")
    for name, curves in result["curves"].items():
        for curve in curves:
            step, best = min(curve, key=lambda point: point[1])
            print(f"{name}: best {best:.3f} at step {step}, {curve[-1][1]:.3f} at the end")


if __name__ == "__main__":
    main()
