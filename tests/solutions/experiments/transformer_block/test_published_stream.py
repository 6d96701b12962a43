"""Test the measurement of a model's stream, on a small model of the same design."""

import pytest
import torch

from solutions.experiments.transformer_block.published_stream import (
    published_stream,
    stream_of,
)
from solutions.experiments.transformer_block.starts import unlikeness
from solutions.today import TodayModel


def small_model():
    torch.manual_seed(0)
    return TodayModel(11, d_model=8, n_heads=2, n_kv_heads=1, d_ff=12, n_layers=3).double()


def test_the_last_state_is_what_the_model_reads_out():
    model = small_model()
    ids = torch.randint(11, (2, 6))
    stream = stream_of(model, ids)
    assert len(stream.size) == len(stream.gradient) == len(stream.unlike) == 1 + 3
    last = []
    model.norm.register_forward_pre_hook(lambda _, given: last.append(given[0][:, 1:]))
    model(ids)
    assert stream.size[-1] == pytest.approx(last[0].square().mean().sqrt().item())
    assert stream.unlike[-1] == pytest.approx(unlikeness(last[0]))


def test_the_gradient_predicts_a_small_change_of_the_loss():
    model = small_model()
    ids = torch.randint(11, (1, 6))

    def loss():
        logits = model(ids)[0]
        return torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:])

    X = model.embedding(ids).detach()
    direction = torch.zeros_like(X)
    before = loss().item()
    gradients = []
    for at in range(1, 6):  # the last token reads nothing that is scored
        for feature in range(8):
            direction.zero_()[0, at, feature] = 1e-5
            hook = model.embedding.register_forward_hook(lambda *_, d=direction: X + d)
            gradients.append((loss().item() - before) / 1e-5)
            hook.remove()
    assert stream_of(model, ids).gradient[0] == pytest.approx(
        torch.tensor(gradients).norm().item(), rel=1e-3
    )


def test_the_published_gradient_shrinks_where_the_stream_is_level():
    trained, _ = published_stream()
    size, gradient = (measure[3:16] for measure in (trained.size, trained.gradient))
    assert max(size) < 1.2 * min(size)
    assert gradient[-1] < gradient[0] / 2
