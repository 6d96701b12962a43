"""Test the measures of a trained translator on machines whose result is known."""

import numpy as np
import torch

from solutions.data.translation.vocabulary import STOP
from solutions.experiments.context_bottleneck import testing
from solutions.translators.machines import bottleneck
from solutions.translators.training import make_task

TASK = make_task("french", (1, 1), 60, 0)


def machine():
    torch.manual_seed(0)
    return bottleneck(len(TASK.source_vocabulary), len(TASK.target_vocabulary), 16).eval()


def test_a_machine_that_always_says_stop_is_right_once_a_sentence():
    model = machine()
    pairs = TASK.pairs[:7]
    with torch.no_grad():
        model.decoder.read_out.to_logits.bias[STOP] = 1e4
    tokens = sum(len(pair.target) + 1 for pair in pairs)
    for blind in (False, True):
        result = testing.forced_accuracy(model, TASK, pairs, blind)
        assert np.isclose(result, len(pairs) / tokens)


def test_the_mean_of_one_sentence_is_its_own_c():
    model = machine()
    for pair in TASK.pairs[:5]:
        assert testing.forced_accuracy(model, TASK, [pair]) == testing.forced_accuracy(
            model, TASK, [pair], blind=True
        )
