"""Test the measures of a trained translator on machines whose result is known."""

import numpy as np
import torch

from solutions.data.translation.vocabulary import STOP
from solutions.experiments.context_bottleneck import more_training, testing
from solutions.translators.machines import bottleneck
from solutions.translators.training import make_task, tensors

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
    assert np.isclose(testing.forced_accuracy(model, TASK, pairs), len(pairs) / tokens)


def test_a_machine_without_a_source_gives_all_sentences_the_same_logits():
    torch.manual_seed(0)
    model = more_training.without_source(
        len(TASK.source_vocabulary), len(TASK.target_vocabulary)
    ).eval()
    sources, lengths, targets = tensors(TASK.batch(TASK.pairs[:3]))
    one = targets[:1, :-1].expand(len(targets), -1)
    with torch.no_grad():
        logits, _ = model(sources, lengths, one)
    torch.testing.assert_close(logits, logits[:1].expand_as(logits))
