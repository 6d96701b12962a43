"""How much of two sequences agrees if a token may be skipped, added or exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def edit_accuracy(
    written: Sequence[int] | np.ndarray, reference: Sequence[int] | np.ndarray
) -> float:
    """Return the share of a translation that is right by the edit distance (Levenshtein 1966).

    written, reference: token ids, (m,) and (n,); either may be empty. An edit takes one token out,
    puts one in, or exchanges one for another, and each counts 1. Let d be the smallest number of
    edits that turn `written` into `reference`. Returns 1 - d / l, where l is the larger of m and n,
    as a float from 0 to 1; two empty sequences agree entirely.
    """
    longer = max(len(written), len(reference))
    if not longer:
        return 1.0
    above = list(range(len(reference) + 1))  # edits from no token to the first j of the reference
    for i, token in enumerate(written, start=1):
        row = [i]
        for j, wanted in enumerate(reference, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (token != wanted)))
        above = row
    return 1 - int(above[-1]) / longer
