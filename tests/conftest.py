"""What holds for all tests."""

import os

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
