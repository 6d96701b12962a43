"""Constants of the pictures of chapter 3, for the page on which a reader composes a picture.

The page implements the rules (`book/_web/live/pictures.mjs`, `painting.mjs`). Their numbers,
colours and kinds come only from `solutions.data.pictures`.
"""

from __future__ import annotations

import json
from typing import Any

from solutions.data import pictures


def facts() -> dict[str, Any]:
    """Return the constants that the page's rules use, by name."""
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
