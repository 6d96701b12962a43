"""`make talk`: SmolLM2 answers in the terminal, token by token, and says how fast it was."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

import psutil
import torch

from .files import PublishedFileError
from .smollm2 import CONTEXT, SmolLM2

MOST = 400
"""Tokens of an answer, at most."""

NEEDED = {torch.float32: 1_200, torch.bfloat16: 950}
"""Megabytes that the program takes up with weights of each kind, while it loads them."""

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What the first bytes of a character look like before the last have come."""


def precision(free: int) -> torch.dtype:
    """Choose how exact the weights can be where `free` megabytes of memory are left.

    Raises MemoryError, which says how much is needed, where there is not enough for any.
    """
    for kind, needed in NEEDED.items():
        if free >= needed:
            return kind
    least = NEEDED[torch.bfloat16]
    raise MemoryError(f"SmolLM2 needs {least:,} MB of memory, and {free:,} MB are free")


def pieces(published: SmolLM2, ids: Iterable[int]) -> Iterator[str]:
    """The text of some tokens as they come, no character before it is whole."""
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
    """Print the answer to a talk, and what it took; return it."""
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
    """Ask, and answer, until the input ends."""
    try:
        kind = precision(psutil.virtual_memory().available // 10**6)
        print("SmolLM2-135M-Instruct is on its way into the memory.", flush=True)
        published = SmolLM2(dtype=kind)
    except (PublishedFileError, MemoryError) as error:
        sys.exit(str(error))
    if kind is torch.bfloat16:
        print("There is little memory: its weights are in half precision.")
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
            print("The talk has become too long, and begins anew.\n")
            turns = []
        try:
            turns += [asked, answer(published, [*turns, asked])]
        except KeyboardInterrupt:
            print("\n")


if __name__ == "__main__":
    main()
