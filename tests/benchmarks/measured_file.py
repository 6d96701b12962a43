"""Write what was measured for the pages of the book, with the day, the machine and the versions."""

from __future__ import annotations

import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

import torch


def write(path: Path, found: dict[str, Any]) -> None:
    """Write what was found, below where and when."""
    about = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": "make bench",
    }
    path.write_text(json.dumps(about | found, indent=1) + "\n", encoding="utf-8")
