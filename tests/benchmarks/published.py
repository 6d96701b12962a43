"""`make bench`: compare the published encoder, built from our blocks, with its reference.

Both read the same pieces of the book. The two take turns in a single run, on one thread. The ratio
is the median over all turns except the first, which is a warm-up.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import torch
import transformers
from torch import Tensor

from solutions.data.book_text import CHAPTERS, paragraphs
from solutions.published import files
from solutions.published.minilm import MiniLM

RESULT = Path("book/measured/published.json")
LENGTHS = (*range(1, 61), *([7, 12, 20, 30] * 37), 150, 250)
"""The number of words in each piece."""
AT_ONCE, TURNS = 16, 6
MOST, MOST_DIFFERENT = 1.0, 1e-5


def main() -> None:
    """Measure, write the result that chapter 10 reads, and fail if ours differs or takes longer."""
    torch.set_num_threads(1)
    ours, folder = MiniLM(), files.find(files.WEIGHTS).parent
    theirs = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    texts = list(pieces())
    batches = [ours.batch(texts[at : at + AT_ONCE]) for at in range(0, len(texts), AT_ONCE)]

    def run_ours() -> list[Tensor]:
        return [ours.encoder(batch.ids, batch.mask) for batch in batches]

    def run_theirs() -> list[Tensor]:
        return [theirs(batch.ids, batch.mask.long()).last_hidden_state for batch in batches]

    turns = [(_seconds(run_ours), _seconds(run_theirs)) for _ in range(TURNS)]
    ratio = statistics.median(mine / right for (mine, _), (right, _) in turns[1:])
    (_, outputs), (_, expected) = turns[0]
    worst = max(
        float((mine - right)[batch.mask].abs().max())
        for batch, mine, right in zip(batches, outputs, expected, strict=True)
    )
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores, one used",
        "versions": versions | {"transformers": transformers.__version__},
        "command": "make bench",
        "pieces": len(texts),
        "max_difference": worst,
        "seconds_ratio": ratio,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(f"all-MiniLM-L6-v2: {worst:.1e} apart, {ratio:.2f} times as long as transformers")
    if ratio > MOST or worst > MOST_DIFFERENT:
        sys.exit(f"more than {MOST} times as long, or more than {MOST_DIFFERENT} apart")


def pieces() -> Iterator[str]:
    """Yield pieces of the book's text with the numbers of words in LENGTHS."""
    words = (word for page in CHAPTERS for text in paragraphs(page) for word in text.split())
    for length in LENGTHS:
        yield " ".join(islice(words, length))


@torch.no_grad()
def _seconds(run: Callable[[], list[Tensor]]) -> tuple[float, list[Tensor]]:
    start = time.perf_counter()
    outputs = run()
    return time.perf_counter() - start, outputs


if __name__ == "__main__":
    main()
