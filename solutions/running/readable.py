"""JSON that a person can compare line by line: a short list has one line, a long list several."""

import json
import textwrap
from typing import Any

WIDTH = 100


def readable(data: Any) -> str:
    """Return `data` as JSON text, one item a line, but with plain values of a list side by side.

    Raises ValueError for a number that is not finite, because JSON cannot represent it.
    """
    return _text(data, 0) + "\n"


def _text(data: Any, depth: int) -> str:
    inner = " " * (depth + 1)
    if isinstance(data, dict) and data:
        items = [f"{_plain(str(name))}: {_text(value, depth + 1)}" for name, value in data.items()]
        return _block("{", [inner + item for item in items], "}", depth)
    if isinstance(data, list | tuple) and any(isinstance(one, dict | list | tuple) for one in data):
        return _block("[", [inner + _text(one, depth + 1) for one in data], "]", depth)
    if isinstance(data, list | tuple):
        words = [_plain(one) for one in data]
        line = f"[{', '.join(words)}]"
        if depth + len(line) <= WIDTH or len(words) < 2:
            return line
        if any(isinstance(one, str) for one in data):  # lines of text stay lines
            return _block("[", [inner + word for word in words], "]", depth)
        filled = textwrap.wrap(", ".join(words), WIDTH - depth - 1)
        return "[\n" + "\n".join(inner + line for line in filled) + f"\n{' ' * depth}]"
    return _plain(data)


def _block(opening: str, lines: list[str], closing: str, depth: int) -> str:
    return f"{opening}\n" + ",\n".join(lines) + f"\n{' ' * depth}{closing}"


def _plain(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
