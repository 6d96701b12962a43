"""Test how a notebook lists what is forbidden: tasks in NumPy do not mention torch."""

import pytest

from autograder.nbgrader import forbidden_words
from exercises import forbidden


@pytest.mark.parametrize(
    ("names", "torch", "text"),
    [
        (forbidden.SOFTMAX, False, "`scipy.special.softmax`, and the functions behind it, are"),
        (forbidden.SOFTMAX, True, "`scipy.special.softmax` and `torch.softmax`, and the"),
        (forbidden.ATTENTION, False, "ready-made functions are forbidden."),
    ],
)
def test_numpy_task_does_not_mention_torch(names, torch, text):
    sentence = forbidden_words.sentence(names, torch)
    assert text in sentence
    assert ("torch" in sentence) is torch
