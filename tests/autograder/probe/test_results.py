"""Test that results of a run are limited in size and that earlier results are kept."""

from contextlib import closing

import numpy as np

from autograder.probe import wire
from autograder.probe.values import Call
from autograder.sandbox.backends import open_sandbox

CELL = b"import numpy\ndef large():\n    return numpy.zeros(11 * 2**17)\n"  # 11 MiB


def test_results_before_an_oversized_one_are_kept():
    cells = [(np.frombuffer(CELL, np.uint8), "large")]
    exercises = [("large", [Call(())])] * 3
    sandbox = open_sandbox()
    with closing(sandbox), closing(sandbox.room(wire.encode(cells), torch=False)) as room:
        run = room.run(wire.encode(exercises), seconds=10)
        assert room.open
    assert run.status == "results"
    assert [len(result) >> 20 for result in run.results] == [11]
