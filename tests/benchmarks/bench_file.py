"""Write `_build/bench.json`, which has the latest figures of every benchmark."""

import json
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "_build" / "bench.json"


def record(measured: dict[str, Any], path: Path = BENCH) -> None:
    """Write the figures of a benchmark, and keep those of the other benchmarks."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(before | measured, indent=1) + "\n", encoding="utf-8")
