"""What a notebook says of what is forbidden: nothing of torch where the task is one of NumPy."""

import pytest

from autograder.nbgrader import forbidden_words
from exercises import forbidden


@pytest.mark.parametrize(
    ("names", "torch", "said"),
    [
        (forbidden.SOFTMAX, False, "`scipy.special.softmax`, and the functions behind it, are"),
        (forbidden.SOFTMAX, True, "`scipy.special.softmax` and `torch.softmax`, and the"),
        (forbidden.ATTENTION, False, "ready-made functions are forbidden."),
    ],
)
def test_a_task_of_numpy_speaks_of_no_torch(names, torch, said):
    sentence = forbidden_words.sentence(names, torch)
    assert said in sentence
    assert ("torch" in sentence) is torch
