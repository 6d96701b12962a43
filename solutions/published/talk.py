"""`make talk`: SmolLM2 answers in the terminal, token by token, and reports its speed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

import psutil
import torch

from .files import PublishedFileError
from .smollm2 import CONTEXT, SmolLM2

MOST = 400
"""The largest number of tokens in an answer."""

NEEDED = {torch.float32: 1_200, torch.bfloat16: 950}
"""The megabytes that the program needs while it loads weights of each type."""

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""The text of a character whose last bytes have not arrived yet."""


def precision(free: int) -> torch.dtype:
    """Choose the most exact type of weights that fits into `free` megabytes of memory.

    Raises MemoryError, with the megabytes needed in its message, if no type fits.
    """
    for kind, needed in NEEDED.items():
        if free >= needed:
            return kind
    least = NEEDED[torch.bfloat16]
    raise MemoryError(f"SmolLM2 needs {least:,} MB of memory, but only {free:,} MB are free")


def pieces(published: SmolLM2, ids: Iterable[int]) -> Iterator[str]:
    """Yield the text of tokens as they arrive, but a character only when it is complete."""
    found: list[int] = []
    shown = 0
    for token in ids:
        found.append(token)
        text = published.text(found)
        if not text.endswith(UNFINISHED):
            yield text[shown:]
            shown = len(text)
    if found:
        yield published.text(found)[shown:]


def answer(published: SmolLM2, turns: list[str]) -> str:
    """Print and return the answer to a conversation; print its length and speed too."""
    said = ""
    ids = published.question(turns)
    begun = time.perf_counter()
    tokens = 0

    def counted() -> Iterator[int]:
        nonlocal tokens
        for token in published.write(ids, MOST):
            tokens += 1
            yield token

    for piece in pieces(published, counted()):
        said += piece
        print(piece, end="", flush=True)
    seconds = time.perf_counter() - begun
    print(f"\n[{tokens} tokens, {tokens / seconds:.1f} a second]\n")
    return said


def main() -> None:
    """Answer questions until the input ends."""
    try:
        kind = precision(psutil.virtual_memory().available // 10**6)
        print("Loading SmolLM2-135M-Instruct.", flush=True)
        published = SmolLM2(dtype=kind)
    except (PublishedFileError, MemoryError) as error:
        sys.exit(str(error))
    if kind is torch.bfloat16:
        print("Memory is short, so its weights are loaded in half precision.")
    print("Ask something. It always takes the likeliest token. Ctrl+D ends.\n")
    turns: list[str] = []
    while True:
        try:
            asked = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if not asked:
            continue
        if len(published.question([*turns, asked])) + MOST > CONTEXT:
            if not turns or len(published.question([asked])) + MOST > CONTEXT:
                print(f"That is too long: the model reads {CONTEXT:,} tokens.\n")
                continue
            print("The conversation has become too long. A new one begins.\n")
            turns = []
        try:
            turns += [asked, answer(published, [*turns, asked])]
        except KeyboardInterrupt:
            print("\n")


if __name__ == "__main__":
    main()
