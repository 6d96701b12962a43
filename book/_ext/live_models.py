"""The trained machines that run in a page: their weights, made ready to be fetched.

A safetensors file of half-precision numbers becomes smaller when the upper bytes of all numbers
stand together, and compress well, before all the lower ones. Nothing is lost.
"""

from __future__ import annotations

import gzip

LENGTH = 8
"""Bytes of the number with which a safetensors file begins: how long its header is."""


def packed(safetensors: bytes) -> bytes:
    """Return the file as the page fetches it: its bytes in two planes, compressed.

    The same file gives the same bytes. Raises ValueError if the numbers are not of two bytes each.
    """
    start = LENGTH + int.from_bytes(safetensors[:LENGTH], "little")
    numbers = safetensors[start:]
    if len(numbers) % 2 or b'"dtype":"F16"' not in safetensors[:start]:
        raise ValueError("the weights of a machine that runs in a page are kept as F16")
    return gzip.compress(safetensors[:start] + numbers[1::2] + numbers[::2], 9, mtime=0)
