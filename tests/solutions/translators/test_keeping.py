"""Test that a stored machine equals the trained machine, up to the stored precision."""

import pytest
import torch

from solutions.translators.keeping import KINDS, TIED, as_bytes, from_bytes
from solutions.translators.training import make_task, tensors


@pytest.fixture(scope="module", params=KINDS)
def machine(request):
    torch.manual_seed(3)
    task = make_task("french", (1, 1), 5, 0)
    sizes = (len(task.source_vocabulary), len(task.target_vocabulary))
    model = KINDS[request.param](*sizes).half().float().eval()
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    return model, (request.param, task, state)


def test_a_stored_machine_gives_the_same_logits(machine):
    model, (name, task, state) = machine
    again, same_task = from_bytes(as_bytes(name, task, state))
    sources, lengths, rows = tensors(task.batch(task.pairs))
    batch = same_task.batch(task.pairs)
    assert (batch.sources == task.batch(task.pairs).sources).all()
    with torch.no_grad():
        pair = (one(sources, lengths, rows[:, :-1])[0] for one in (model, again))
        assert torch.equal(*pair)


def test_the_same_machine_is_stored_as_the_same_bytes(machine):
    assert len({as_bytes(*machine[1]) for _ in range(20)}) == 1


def test_a_matrix_with_two_names_is_stored_once(machine):
    name, task, state = machine[1]
    stored = as_bytes(name, task, state)
    tied = [one for one in TIED if f'"{one}"'.encode() in stored]
    assert tied == ([] if name == "transformer" else [TIED[1]])
    numbers = {value.ctypes.data: value.size for value in state.values()}
    assert len(stored) < 2 * sum(numbers.values()) + 100_000
