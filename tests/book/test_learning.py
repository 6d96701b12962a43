"""Test the engine of the playground against PyTorch, with both of its matrix products."""

from typing import Any

import pytest
from engine_in_torch import KERNELS, MACHINES, gradient_errors, loss_errors, told_by
from site_tools import ROOT

RELATIVE = 1e-4
"""The tolerated error of a gradient, relative to the layer's largest, and of a loss."""


@pytest.fixture(scope="module", params=KERNELS)
def reports(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    return told_by(request.param)


@pytest.mark.parametrize("name", MACHINES)
def test_gradients_equal_pytorch(reports: dict[str, dict[str, Any]], name: str) -> None:
    errors = gradient_errors(reports[name])
    assert errors
    assert {parameter: error for parameter, error in errors.items() if not error <= RELATIVE} == {}


@pytest.mark.parametrize("name", MACHINES)
def test_the_loss_follows_pytorch_for_thirty_steps(
    reports: dict[str, dict[str, Any]], name: str
) -> None:
    errors = loss_errors(reports[name])
    assert len(errors) == 30
    assert all(error <= RELATIVE for error in errors), errors


def test_the_appendix_says_how_many_machines_are_compared() -> None:
    page = (ROOT / "book" / "playground_appendix.md").read_text(encoding="utf-8")
    assert f"gradients of {len(MACHINES)} machines" in page
