"""Test the measures of a trained translator on machines whose result is known."""

import numpy as np
import torch

from solutions.data.translation.vocabulary import STOP
from solutions.experiments.context_bottleneck import more_training, testing
from solutions.running.seeds import SEEDS
from solutions.translators.machines import LENGTHS, bottleneck
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


def test_a_short_run_fills_every_list(monkeypatch):
    monkeypatch.setattr(more_training, "STEPS", 2)
    monkeypatch.setattr(testing, "SENTENCES", 3)
    monkeypatch.setattr(more_training, "over_seeds", lambda run: [run(seed) for seed in SEEDS])
    result = more_training.measure_all()
    for name in ("token_accuracy", "forced"):
        assert np.array(result[name]).shape == (len(SEEDS), len(LENGTHS))
    for name in ("token_accuracy_long", "token_accuracy_short", "forced_long", "bleu_long"):
        assert len(result[name]) == len(SEEDS)
