"""Settings and fixtures for all tests."""

import os

import pytest
from hypothesis import settings

from solutions.running.arithmetic import SAME_EVERYWHERE

settings.register_profile("course", deadline=None)  # on a busy machine any example can be slow
settings.load_profile("course")

# This must precede the import of torch. Several test processes share two cores: with one thread per
# core in each process, threads that wait for others spin and use most of the CPU time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Training in a test must not depend on the processor. Sandboxes do not have these settings.
for name, value in SAME_EVERYWHERE.items():
    os.environ.setdefault(name, value)


@pytest.fixture(scope="session")
def sandbox():
    """Yield the grader's sandbox, which imports torch once for all tests of a worker."""
    from autograder.sandbox.backends import open_sandbox

    box = open_sandbox()
    yield box
    box.close()
