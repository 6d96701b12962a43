"""Test rooms of a persistent sandbox: it may be started by any thread and may have died."""

import select
import threading
from contextlib import closing

import pytest

from autograder.probe import wire
from autograder.sandbox.backends import open_sandbox

EMPTY_PROGRAM = wire.encode([])


@pytest.fixture
def warm():
    with closing(open_sandbox(mode="warm")) as sandbox:
        yield sandbox


def test_sandbox_outlives_the_thread_that_requested_its_first_room(warm):
    warm.close()  # so that the thread must start it
    thread = threading.Thread(target=lambda: warm.room(EMPTY_PROGRAM, torch=False).close())
    thread.start()
    thread.join()
    ((_, started),) = warm._free
    warm.room(EMPTY_PROGRAM, torch=False).close()
    assert [supervisor for _, supervisor in warm._free] == [started]


def test_idle_sandbox_that_died_is_replaced(warm):
    ((_, died),) = warm._free
    select.select([died.line], [], [])  # it has reported the end of its last room
    died.kill()
    warm.room(EMPTY_PROGRAM, torch=False).close()
    assert [supervisor for _, supervisor in warm._free] != [died]
