"""Test the other scores: decoding equals training, and each score equals its formula."""

import pytest
import torch
from few_pairs import PAIRS, TASK

from solutions.experiments.alignment.scores import MORE, SCORES
from solutions.translators.training import tensors

SIZES = len(TASK.source_vocabulary), len(TASK.target_vocabulary)


@pytest.fixture(params=list(SCORES | MORE))
def name(request):
    return request.param


@pytest.fixture
def model(name):
    torch.manual_seed(0)
    return (SCORES | MORE)[name](*SIZES).eval()


@torch.no_grad()
def test_steps_equal_those_of_training(model):
    sources, lengths, targets = tensors(TASK.batch(PAIRS[:4]))
    logits, weights = model(sources, lengths, targets)
    memory, state = model.encode(sources, lengths), None
    for i, ids in enumerate(targets.T):
        step_logits, state, looked = model.decode_step(ids, state, memory)
        torch.testing.assert_close(step_logits, logits[:, i])
        torch.testing.assert_close(looked, weights[:, i])
    assert (weights.sum(dim=-1) - 1).abs().max() < 1e-5
    assert (weights.transpose(1, 2)[~memory.mask] == 0).all()


@torch.no_grad()
def test_score_equals_its_formula(name, model):
    sources, lengths, targets = tensors(TASK.batch(PAIRS[:4]))
    memory, decoder = model.encode(sources, lengths), model.decoder
    s, side = decoder.start(memory)
    y = decoder.embedding(targets[:, 0])
    result = decoder.scores(y, s, side)
    if name == "location":
        right = (s @ decoder.to_keys.rows.T)[:, : sources.shape[1]]
    elif name == "last word asks":
        asks = s @ decoder.W_s.weight.T + y @ decoder.W_y.weight.T
        hidden = torch.tanh(asks[:, None] + memory.states @ decoder.W_h.weight.T)
        right = hidden @ decoder.v.weight[0]
    else:
        right = torch.einsum("bd,bnd->bn", s, decoder.to_keys(memory.states))
        right = right if "undivided" in name else right / s.shape[-1] ** 0.5
    torch.testing.assert_close(result, right)
