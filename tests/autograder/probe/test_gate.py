"""Test that no process starts or survives where functions are forbidden."""

import platform
import socket
from contextlib import closing

import numpy as np
import pytest

from autograder.probe import gate, seccomp, wire
from autograder.probe.status import Status
from autograder.probe.values import Call
from autograder.sandbox.backends import open_sandbox

CELL = """
import ctypes
import os
import platform
import subprocess
import threading

kernel = ctypes.PyDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"clone": 56, "fork": 57, "vfork": 58, "seccomp": 317},
    "aarch64": {"clone": 220, "seccomp": 277},
}[platform.machine()]
SIGCHLD = 17
instruction = ctypes.c_uint64(0x7FFF000000000006)
allow = (ctypes.c_uint64 * 2)(1, ctypes.addressof(instruction))  # a filter that allows everything


def start(name, *arguments):
    if kernel.syscall(NUMBERS[name], *arguments) == 0:
        os._exit(0)
    return ctypes.get_errno()


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def trial():
    return BODY
"""

STARTS = {
    "fork": 'start("fork")',
    "vfork": 'start("vfork")',
    "clone": 'start("clone", SIGCHLD, 0, 0, 0, 0)',
    "os.fork": "os.fork() or os._exit(0)",
    "os.system": 'os.system("true")',
    "os.posix_spawn": 'os.posix_spawn("/bin/true", ["true"], {})',
    "subprocess": 'subprocess.run(["true"]).returncode',
    "in a thread": "in_a_thread(lambda: os.fork() or os._exit(0))",
}
NEVER_CALLED = ("vfork",)  # if allowed, its process would share the stack of Python


@pytest.fixture(scope="module", params=["warm", "cold"])
def room(request):
    box = open_sandbox(mode=request.param)
    yield box
    box.close()


def run(box, body, *, before="", forbidden=("colorsys.rgb_to_hsv",), exercises=1):
    cell = np.frombuffer((CELL.replace("BODY", body) + before).encode(), np.uint8)
    calls = [("trial", [Call((), forbidden=forbidden)])] * exercises
    with closing(box.room(wire.encode([(cell, "trial")]), torch=False)) as room:
        return room.run(wire.encode(calls), seconds=10, again=True)


def value(outcome):
    _, (observation,) = wire.decode(outcome.results[0])
    return observation.value


@pytest.mark.parametrize("name", STARTS)
def test_starting_a_process_ends_a_sealed_run(room, name):
    if platform.machine() == "aarch64" and name in ("fork", "vfork"):
        pytest.skip("this processor has no such system call")
    if name not in NEVER_CALLED:
        assert run(room, STARTS[name], forbidden=()).status == "ended"
    outcome = run(room, STARTS[name])
    assert (outcome.status, outcome.cell, outcome.results) == (Status.SEALED, None, ())


def test_processes_started_by_cells_are_killed_before_a_sealed_run(room):
    cell = "started = subprocess.Popen(['sleep', '1000'])\n"
    outcome = run(room, "started.wait()", before=cell)
    assert (outcome.status, outcome.left, value(outcome)) == ("ended", True, -9)
    outcome = run(room, "started.poll()", before=cell, forbidden=())
    assert (outcome.status, outcome.left, value(outcome)) == ("ended", False, None)


def test_endlessly_forking_process_of_a_cell_is_killed(room):
    cell = "subprocess.Popen('while true; do true & wait; done', shell=True)\n"
    outcome = run(room, "1", before=cell)
    assert (outcome.status, outcome.left, value(outcome)) == ("ended", True, 1)


def test_finished_processes_do_not_count_as_left_behind(room):
    outcome = run(room, "1", before="subprocess.Popen(['true']).wait()\nos.system('true')\n")
    assert (outcome.status, outcome.left) == ("ended", False)


THREADS = {
    "thread": "threading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    "bare thread": "import _thread\n_thread.start_new_thread(threading.Event().wait, ())\n",
    "executor": "import concurrent.futures as f\npool = f.ThreadPoolExecutor(2)\n"
    "pool.submit(int).result()\n",
    "pool": "from multiprocessing.pool import ThreadPool\npool = ThreadPool(2)\n"
    "pool.map(int, [1])\n",
    "event loop": "import asyncio\nloop = asyncio.new_event_loop()\n"
    "threading.Thread(target=loop.run_forever, daemon=True).start()\n",
    "busy thread": "def spin():\n    while True: pass\n"
    "threading.Thread(target=spin, daemon=True).start()\n",
}


@pytest.mark.parametrize("cell", THREADS.values(), ids=THREADS)
def test_run_continues_without_threads_left_by_cells(room, cell):
    outcome = run(room, "in_a_thread(int)", before=cell, exercises=2)
    assert (outcome.status, outcome.left, len(outcome.results)) == ("ended", True, 2)
    assert value(outcome) is None


def test_fork_hooks_of_cells_do_not_run(room):
    hooks = (
        "calls = []\n"
        "def hook():\n    calls.append(1)\n"
        "os.register_at_fork(before=hook, after_in_child=hook)\n"
        "handler = ctypes.CFUNCTYPE(None)(hook)\n"
        "ctypes.CDLL(None).__register_atfork(handler, None, handler, None)\n"
    )
    outcome = run(room, "len(calls)", before=hooks + THREADS["thread"])
    assert (outcome.status, outcome.left, value(outcome)) == ("ended", True, 0)
    forked = hooks + "os.waitpid(os.fork() or os._exit(0), 0)\n"
    assert value(run(room, "len(calls)", before=forked, forbidden=())) >= 2


def test_thread_of_an_exercise_does_not_reach_the_next(room):
    body = "(threading.Thread(target=threading.Event().wait, daemon=True).start(), 1)[1]"
    outcome = run(room, body, exercises=3)
    assert (outcome.status, outcome.left, len(outcome.results)) == ("ended", True, 3)


def test_threads_may_start_in_a_sealed_run(room):
    outcome = run(room, "in_a_thread(int)")
    assert (outcome.status, value(outcome)) == ("ended", None)


NOT_PERMITTED, BUSY = 1, 16
FILTERS = {
    "kernel.prctl(22, 2, allow)": NOT_PERMITTED,
    'kernel.syscall(NUMBERS["seccomp"], 1, 0, allow)': NOT_PERMITTED,
    'kernel.syscall(NUMBERS["seccomp"], 1, 8, allow)': BUSY,
}


@pytest.mark.parametrize(("call", "number"), FILTERS.items())
def test_student_code_cannot_install_a_system_call_filter(room, call, number):
    outcome = run(room, f"({call}, ctypes.get_errno())", forbidden=())
    assert value(outcome) == (-1, number)


def test_run_is_not_sealed_if_the_kernel_refuses_a_listener(monkeypatch):
    def refuse():
        raise OSError(16, "no listener for new processes")

    monkeypatch.setattr(seccomp, "listen", refuse)
    receiver, sender = socket.socketpair()
    assert gate.install(sender) is gate.no_seal
    assert gate.gate(receiver, object(), ()) is None


LEAVING = {
    "profile removed": "(list(map(sys.setprofile, [None])), job())",
    "profile removed, restored": "(before := sys.getprofile(), list(map(sys.setprofile, [None])), "
    "job(), list(map(sys.setprofile, [before])))",
    "in a trace function": "(sys.settrace(lambda *_: job()), (lambda: 1)(), sys.settrace(None))",
    "no profile for new threads": "(threading.setprofile(None), in_a_thread(job))",
    "no profile, by its private name": "(setattr(threading, '_profile_hook', None), "
    "in_a_thread(job))",
    "an older name of the thread function": "_thread.start_new(job, ())",
}


@pytest.mark.parametrize("body", LEAVING.values(), ids=LEAVING)
def test_evading_or_ending_the_watch_is_recorded(room, body):
    before = "import sys, _thread, colorsys\ndef job():\n    colorsys.rgb_to_hsv(0.1, 0.2, 0.3)\n"
    outcome = run(room, f"({body}, 1)[-1]", before=before)
    _, (observation,) = wire.decode(outcome.results[0])
    assert observation.ready_made, observation.value
    assert not run_in_threads(room, before)


def run_in_threads(room, before):
    """Return the record of an answer that computes in a pool of threads and breaks no rule."""
    pool = "concurrent.futures.ThreadPoolExecutor(2)"
    outcome = run(
        room, f"[*{pool}.map(abs, [1, 2])]", before=f"import concurrent.futures\n{before}"
    )
    _, (observation,) = wire.decode(outcome.results[0])
    assert observation.value == [1, 2]
    return observation.ready_made
