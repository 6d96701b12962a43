"""What holds for all tests."""

import os

import pytest
from hypothesis import settings
from longest_first import pytest_collection_modifyitems, pytest_xdist_make_scheduler

from solutions.running.arithmetic import SAME_EVERYWHERE

__all__ = ["pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]

settings.register_profile("course", deadline=None)  # on a busy machine any example can be late
settings.load_profile("course")

# Before torch is imported. Several processes test at a time, on two cores: where each has a thread
# a core, threads that wait for others turn in circles, and take most of what the machine can do.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What is trained in a test must not depend on the processor. A sandbox has none of these settings.
for name, value in SAME_EVERYWHERE.items():
    os.environ.setdefault(name, value)


@pytest.fixture(scope="session")
def sandbox():
    """The grader's own sandbox. Torch is imported in it once, for all tests that a worker runs."""
    from autograder.sandbox.backends import open_sandbox

    opened = open_sandbox()
    yield opened
    opened.close()
