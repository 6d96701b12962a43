"""What a supervisor imports for the processes that it forks."""

from contextlib import closing

import numpy as np
import pytest

from autograder.probe import wire
from autograder.probe.values import Call
from autograder.sandbox.backends import open_sandbox

TRIAL = """
import sys

there = "torch._dynamo" in sys.modules
WORD = None


def trial():
    return there
"""


@pytest.mark.parametrize(("word", "there"), [("number", False), ("optimiser", True)])
def test_what_torch_loads_for_an_optimiser_is_there_where_one_is_named(word, there):
    cell = np.frombuffer(TRIAL.replace("WORD", word).encode(), np.uint8)
    sandbox = open_sandbox()
    with (
        closing(sandbox),
        closing(sandbox.room(wire.encode([(cell, "trial")]), torch=True)) as room,
    ):
        run = room.run(wire.encode([("trial", [Call(())])]), seconds=10)
    _, (seen,) = wire.decode(run.results[0])
    assert seen.value is there
