"""Test that the translators in a page compute the same as PyTorch, with the same weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from engine_in_torch import KERNELS
from live_in_torch import hiding, in_the_page, largest_error, read_case, without_head

import solutions.transformer
from book._ext.live_models import packed
from solutions.positions import sinusoidal_positions
from solutions.translators.keeping import KINDS, as_bytes, from_bytes
from solutions.translators.quality import held_out_pairs, translate_pairs
from solutions.translators.seq2seq import Seq2Seq
from solutions.translators.training import Task, make_task

TOLERANCE = 1e-3
PAIRS = held_out_pairs("french", (6, 30), 12, (1, 4))
Made = Callable[[str], tuple[bytes, Seq2Seq, Task]]


@pytest.fixture(scope="module")
def make_machine() -> Made:
    """Return a function that makes a machine with enlarged random weights that writes something."""

    def make(name: str) -> tuple[bytes, Seq2Seq, Task]:
        torch.manual_seed(5)
        task = make_task("french", (1, 4), 1500, 0)
        model = KINDS[name](len(task.source_vocabulary), len(task.target_vocabulary))
        state = {key: 1.5 * tensor.numpy() for key, tensor in model.state_dict().items()}
        weights = as_bytes(name, task, state)
        return weights, *from_bytes(weights)

    return make


def reports_of(
    weights: bytes, folder: Path, changed: dict[str, Any], task: Task
) -> list[dict[str, Any]]:
    cases = [read_case(task, pair) | {"changed": changed} for pair in PAIRS]
    return in_the_page(weights, cases, folder)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KINDS)
def test_logits_and_translations_equal_pytorch(
    make_machine: Made, tmp_path: Path, name: str, kernel: str
) -> None:
    weights, model, task = make_machine(name)
    reports = in_the_page(weights, [read_case(task, pair) for pair in PAIRS], tmp_path, kernel)
    assert largest_error(model, task, PAIRS, reports) < TOLERANCE
    assert [tuple(report["words"]) for report in reports] == translate_pairs(model, task, PAIRS)
    for report, pair in zip(reports, PAIRS, strict=True):
        for step in report["steps"]:
            looks = step["looks"]
            assert len(looks) == {"bottleneck": 0, "attention": 1, "transformer": 8}[name]
            assert all(len(look) == len(pair.source) for look in looks)
            assert all(abs(sum(look) - 1) < 1e-5 for look in looks)


@pytest.mark.parametrize("name", ["attention", "transformer"])
def test_a_word_is_hidden_as_in_pytorch(make_machine: Made, tmp_path: Path, name: str) -> None:
    weights, model, task = make_machine(name)
    free = translate_pairs(model, task, PAIRS)
    hiding(model, [1, 4])
    reports = reports_of(weights, tmp_path, {"hidden": [1, 4]}, task)
    assert largest_error(model, task, PAIRS, reports) < TOLERANCE
    words = [tuple(report["words"]) for report in reports]
    assert words == translate_pairs(model, task, PAIRS)
    assert words != free
    for report in reports:
        assert all(look[1] == look[4] == 0 for step in report["steps"] for look in step["looks"])


def test_a_disabled_head_writes_nothing_as_in_pytorch(make_machine: Made, tmp_path: Path) -> None:
    weights, model, task = make_machine("transformer")
    free = translate_pairs(model, task, PAIRS)
    without_head(model, 1, 2)
    reports = reports_of(weights, tmp_path, {"off": {"block": 1, "head": 2}}, task)
    assert largest_error(model, task, PAIRS, reports) < TOLERANCE
    words = [tuple(report["words"]) for report in reports]
    assert words == translate_pairs(model, task, PAIRS)
    assert words != free


def test_positions_are_moved_as_in_pytorch(
    make_machine: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, model, task = make_machine("transformer")
    free = translate_pairs(model, task, PAIRS)

    def moved(n: int, d: int) -> np.ndarray:
        return sinusoidal_positions(n + 10, d)[10:]

    monkeypatch.setattr(solutions.transformer, "sinusoidal_positions", moved)
    reports = reports_of(weights, tmp_path, {"moved": 10}, task)
    assert largest_error(model, task, PAIRS, reports) < TOLERANCE
    words = [tuple(report["words"]) for report in reports]
    assert words == translate_pairs(model, task, PAIRS)
    assert words != free


def test_the_weights_are_packed_the_same_each_time_and_lose_nothing(make_machine: Made) -> None:
    weights, _, _ = make_machine("bottleneck")
    assert packed(weights) == packed(weights)
    with pytest.raises(ValueError, match="stored as F16"):
        packed(weights.replace(b'"F16"', b'"F32"'))
