"""Compression of the weights of the trained machines that run in a page.

A safetensors file of half-precision numbers compresses better when the upper bytes of all numbers,
which are similar, come before all the lower bytes. The compression is lossless.
"""

from __future__ import annotations

import gzip

LENGTH = 8
"""Size in bytes of the first number in a safetensors file, which is the length of its header."""


def packed(safetensors: bytes) -> bytes:
    """Return the file as the page fetches it: split into two byte planes and compressed.

    The result is deterministic. Raises ValueError if the numbers are not two bytes each.
    """
    start = LENGTH + int.from_bytes(safetensors[:LENGTH], "little")
    numbers = safetensors[start:]
    if len(numbers) % 2 or b'"dtype":"F16"' not in safetensors[:start]:
        raise ValueError("the weights of a machine that runs in a page must be stored as F16")
    return gzip.compress(safetensors[:start] + numbers[1::2] + numbers[::2], 9, mtime=0)
