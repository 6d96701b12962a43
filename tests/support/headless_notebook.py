"""Do in this Python what tests/web/practise/headless.mjs does in Pyodide: `... STEPS.json`."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any


def main(path: str) -> None:
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(request["archive"]).extractall(folder)
        spec = importlib.util.spec_from_file_location("notebook", request["notebook"])
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        shown: list[Any] = []
        notebook = module.Notebook(
            f"{folder}/{request['assignment']}", lambda output: shown.append(json.loads(output))
        )
        ready, steps = time.perf_counter() - started, []
        for step in request["steps"]:
            shown.clear()
            start = time.perf_counter()
            check = step.get("check")
            answer = notebook.check(check) if check else notebook.run(step["run"], step["cell"])
            waited = time.perf_counter() - start
            steps.append({**json.loads(answer), "shown": [*shown], "waited": waited})
    print(json.dumps({"ready": ready, "steps": steps}))


if __name__ == "__main__":
    main(sys.argv[1])
