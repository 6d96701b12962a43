"""Rooms from a sandbox that stays: whoever started it, and whatever has become of it meanwhile."""

import select
import threading
from contextlib import closing

import pytest

from autograder.probe import wire
from autograder.sandbox.backends import open_sandbox

NOTHING = wire.encode([])


@pytest.fixture
def warm():
    with closing(open_sandbox(mode="warm")) as sandbox:
        yield sandbox


def test_it_outlives_the_thread_that_asked_for_the_first_room(warm):
    warm.close()  # so that the thread has to start it
    thread = threading.Thread(target=lambda: warm.room(NOTHING, torch=False).close())
    thread.start()
    thread.join()
    ((_, started),) = warm._free
    warm.room(NOTHING, torch=False).close()
    assert [one for _, one in warm._free] == [started]


def test_one_that_died_while_nobody_used_it_is_replaced(warm):
    ((_, died),) = warm._free
    select.select([died.line], [], [])  # it has said that its last room ended
    died.kill()
    warm.room(NOTHING, torch=False).close()
    assert [one for _, one in warm._free] != [died]
