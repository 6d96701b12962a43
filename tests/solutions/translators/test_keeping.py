"""A trained machine that was kept is the same machine, but for the digits that are not kept."""

import pytest
import torch

from solutions.translators.keeping import as_bytes, from_bytes
from solutions.translators.machines import transformer
from solutions.translators.quality_by_length import Measured
from solutions.translators.training import make_task, tensors


@pytest.fixture(scope="module")
def model_and_measured():
    torch.manual_seed(3)
    task = make_task("french", (1, 1), 5, 0)
    model = (
        transformer(len(task.source_vocabulary), len(task.target_vocabulary)).half().float().eval()
    )
    state = {name: one.numpy() for name, one in model.state_dict().items()}
    return model, Measured("transformer", [], None, None, 0, task, state, 0.0)


def test_a_kept_machine_gives_the_same_logits(model_and_measured):
    model, measured = model_and_measured
    task = measured.task
    again, same_task = from_bytes(as_bytes(measured))
    sources, lengths, rows = tensors(task.batch(task.pairs))
    batch = same_task.batch(task.pairs)
    assert (batch.sources == task.batch(task.pairs).sources).all()
    with torch.no_grad():
        pair = (one(sources, lengths, rows[:, :-1])[0] for one in (model, again))
        assert torch.equal(*pair)


def test_the_same_machine_is_kept_as_the_same_bytes(model_and_measured):
    _, measured = model_and_measured
    assert len({as_bytes(measured) for _ in range(20)}) == 1
