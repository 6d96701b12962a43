"""The facts of the pictures of chapter 3, for the page in which a reader composes one.

The page knows the rules (`book/_web/live/pictures.mjs`, `painting.mjs`); the numbers, colours and
kinds are those of `solutions.data.pictures` alone.
"""

from __future__ import annotations

import json
from typing import Any

from solutions.data import pictures


def facts() -> dict[str, Any]:
    """Return what the page's rules are about."""
    return {
        "side": pictures.SIDE,
        "smallest": pictures.SMALLEST,
        "largest": pictures.LARGEST,
        "gap": pictures.GAP,
        "sway": pictures._SWAY,
        "noise": pictures.NOISE,
        "background": pictures.BACKGROUND,
        "colours": pictures.COLOURS,
        "kinds": pictures.KINDS,
    }


if __name__ == "__main__":
    print(json.dumps(facts()))
