"""Test which modules a supervisor imports before it forks."""

from contextlib import closing

import numpy as np
import pytest

from autograder.probe import wire
from autograder.probe.values import Call
from autograder.sandbox.backends import open_sandbox

TRIAL = """
import sys

imported = "torch._dynamo" in sys.modules
WORD = None


def trial():
    return imported
"""


@pytest.mark.parametrize(("word", "imported"), [("number", False), ("optimiser", True)])
def test_supervisor_imports_torch_dynamo_if_a_cell_names_an_optimiser(word, imported):
    cell = np.frombuffer(TRIAL.replace("WORD", word).encode(), np.uint8)
    sandbox = open_sandbox()
    with (
        closing(sandbox),
        closing(sandbox.room(wire.encode([(cell, "trial")]), torch=True)) as room,
    ):
        run = room.run(wire.encode([("trial", [Call(())])]), seconds=10)
    _, (observation,) = wire.decode(run.results[0])
    assert observation.value is imported
