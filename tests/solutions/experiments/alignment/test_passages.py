"""Test the counts of skipped and repeated passages on translations written by hand."""

import numpy as np
import pytest
from few_pairs import PAIRS

from solutions.experiments.alignment.passages import PASSAGE, Written, longest_unseen

PAIR = max(PAIRS, key=lambda pair: len(pair.source))
N = len(PAIR.source)


def looking(peaks, words=None):
    return Written(
        PAIR, tuple(words or "abcdefghijklmnopqrstuvwxyz"[: len(peaks)]), np.eye(N)[peaks]
    )


@pytest.mark.parametrize(
    ("peaks", "n", "expected"),
    [([0, 1, 2], 3, range(0)), ([0, 4], 8, range(1, 4)), ([], 5, range(5)), ([3, 3], 5, range(3))],
)
def test_the_longest_unattended_run(peaks, n, expected):
    result = longest_unseen(np.array(peaks, dtype=int), n)
    assert list(result) == list(expected)


def test_a_passage_is_skipped_where_enough_tokens_in_a_row_are_no_peak():
    assert not looking([*range(N)]).skips
    assert not looking([*range(3), *range(2 + PASSAGE, N)]).skips
    assert looking([*range(3), *range(3 + PASSAGE, N)]).skips


def test_a_phrase_is_repeated_if_it_comes_more_often_than_in_the_reference():
    assert not looking([0] * 8, "abcdefgh").repeats
    assert looking([0] * 8, "abcdabcd").repeats
    twice = Written(PAIR, (*PAIR.target, *PAIR.target), np.eye(N)[[0] * 2 * len(PAIR.target)])
    assert twice.repeats


def test_an_end_is_early_if_the_last_word_looks_far_from_the_end():
    assert not looking([N - 1]).stops_early
    assert not looking([0, N - 2]).stops_early
    assert looking([N - 1, N - 3]).stops_early
    assert looking([]).stops_early
