"""Test measuring from outside what the processes and threads of a room use."""

import os
import subprocess
import sys
import time

import pytest

from autograder.probe.usage import LONGEST_IDLE, Watch

SPINS = """
import threading, time
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
time.sleep(60)
"""
LOOKS_DEAD = """
import ctypes, platform, threading, time
def hold():
    memory = bytearray(b"x") * (50 * 2**20)
    time.sleep(60)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)  # ends one thread
"""
SLEEPS = "import time\ntime.sleep(60)"


@pytest.fixture
def start_watched(tmp_path):
    """Return a function that starts a program and returns a watch on this process only."""
    processes = []

    def start(program):
        (tmp_path / "self").symlink_to("/proc/self")
        watch = Watch(os.open(tmp_path, os.O_RDONLY), ())
        process = subprocess.Popen([sys.executable, "-c", program])
        processes.append(process)
        (tmp_path / str(process.pid)).symlink_to(f"/proc/{process.pid}")
        return watch

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_process_with_a_busy_second_thread_is_not_idle(start_watched):
    watch = start_watched(SPINS)
    while watch.look().seconds < 0.5:
        time.sleep(0.01)
    for _ in range(10):
        time.sleep(0.02)
        assert watch.look().runnable


def test_memory_is_counted_after_the_main_thread_has_ended(start_watched):
    watch = start_watched(LOOKS_DEAD)
    watch._initial_memory = 0  # the process is not a fork of this one
    folder = watch._folder
    (process,) = (name for name in os.listdir(folder) if name.isdigit())
    while b"State:\tZ" not in watch._read(f"{process}/status"):
        time.sleep(0.01)
    deadline = time.monotonic() + 30
    while watch.look().memory < 50 * 2**20 and time.monotonic() < deadline:  # while it allocates
        time.sleep(0.05)
    usage = watch.look()
    assert usage.memory >= 50 * 2**20
    assert usage.processes == 1


def test_sleeping_process_is_idle(start_watched):
    watch = start_watched(SLEEPS)
    deadline = time.monotonic() + 30
    while watch.look().runnable and time.monotonic() < deadline:  # until it has started
        time.sleep(0.05)
    time.sleep(0.5)
    assert not watch.look().runnable


def test_a_late_look_adds_little_idle_time(start_watched):
    watch = start_watched(SLEEPS)
    deadline = time.monotonic() + 30
    while watch.look().runnable and time.monotonic() < deadline:  # until it has started
        time.sleep(0.05)
    watch.restart()
    time.sleep(5 * LONGEST_IDLE)
    usage = watch.look()
    assert not usage.runnable
    assert watch.clock(usage) < 2 * LONGEST_IDLE
