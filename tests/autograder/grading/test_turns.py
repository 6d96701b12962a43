"""Test that cells run once for all implementations and carry nothing between them."""

import textwrap

import pytest
import toy
import toy_written_tests as row_mean

from autograder.grading.program import judge_program
from autograder.judging.verdict import Verdict
from autograder.probe.status import Status
from autograder.sandbox.backends import open_sandbox
from autograder.sandbox.rooms import Room


@pytest.fixture(scope="module", params=["warm", "cold"])
def box(request):
    sandbox = open_sandbox(mode=request.param)
    yield sandbox
    sandbox.close()


@pytest.fixture
def runs(monkeypatch):
    """Record each order of a room as (number of turns, status)."""
    outcomes = []
    run = Room.run

    def record_outcome(room, calls, **order):
        outcome = run(room, calls, **order)
        outcomes.append((order.get("turns", 0), outcome.status))
        return outcome

    monkeypatch.setattr(Room, "run", record_outcome)
    return outcomes


def grade_test(sandbox, body, cell=""):
    own = toy.Cell(f"import ctypes, os, signal, sys, threading, time\nimport numpy as np\n{cell}")
    source = f"def test_row_mean(implementation):\n{textwrap.indent(body, '    ')}"
    source = f"X = np.array([[1.0, -2.0, 4.0], [0.0, 5.0, 7.0], [2.0, 2.0, -7.0]])\n{source}"
    program = [own, toy.Cell(source, "test_row_mean")]
    judgements = judge_program(
        program, row_mean.TOY, course_key=b"key", digest="a", sandbox=sandbox
    )
    return judgements["test_row_mean"]


RIGHT_TEST = "assert np.allclose(implementation(X), [1, 4, -1])"


def test_cells_run_once_for_public_and_once_for_all_implementations(box, runs):
    judgement = grade_test(box, RIGHT_TEST, "A = np.ones((500, 500)) @ np.ones((500, 500))")
    assert judgement.passed, judgement.message
    assert [turns > 1 for turns, _ in runs] == [True, True]
    assert {status for _, status in runs} == {Status.ENDED}


SHARED = {
    "shared memory": "import mmap\nshared = mmap.mmap(-1, 4096)",
    "an open file": "import tempfile\nfile = tempfile.TemporaryFile()",
    "a pipe": "pipe = os.pipe()",
    "a file in the folder": "open('notes', 'w').close()",
    "a thread": "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "a process": "os.fork() or time.sleep(60)",
    "functions in C": "ctypes.CDLL(None).getpid()",
}


@pytest.mark.parametrize("cell", SHARED.values(), ids=SHARED)
def test_cells_run_per_implementation_if_forks_would_share_state(cell, box, runs):
    judgement = grade_test(box, RIGHT_TEST, cell)
    assert judgement.passed, judgement.message
    assert runs[0][1] is Status.SHARED
    assert [status for turns, status in runs if not turns] == [Status.ENDED] * (len(runs) - 2)
    assert len(runs) > 10


NOTES = {
    # how the run of one implementation leaves a note, how another finds it, and their cell
    "in a name": ("notes.append(1)", "len(notes)", "notes = []"),
    "in shared memory": (
        "shared[0] = 1",
        "shared[0]",
        "import mmap\nshared = mmap.mmap(-1, 4096)",
    ),
    "in a file": (
        "open('notes', 'w').close()",
        "os.path.exists('notes')",
        "",
    ),
    "in a file of the cells": (
        "os.write(notes, b'x')",
        "os.lseek(notes, 0, os.SEEK_CUR)",
        "import tempfile\nfile = tempfile.TemporaryFile()\nnotes = file.fileno()",
    ),
    "by the folder's time": ("os.utime('.')", "time.time() - os.stat('.').st_mtime < 9", ""),
    "in standard input": (
        "import fcntl\nfcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)",
        "__import__('fcntl').fcntl(0, 3) & os.O_APPEND",
        "",
    ),
    "in the parent's niceness": (
        "attempt(os.setpriority, os.PRIO_PROCESS, os.getppid(), 9)",
        "os.getpriority(os.PRIO_PROCESS, 0)",
        "",
    ),
    "in the niceness of all": (
        "attempt(os.setpriority, os.PRIO_USER, 0, 9)",
        "os.getpriority(os.PRIO_PROCESS, 0)",
        "",
    ),
    "in the parent's scheduling": (
        "attempt(os.sched_setscheduler, os.getppid(), os.SCHED_BATCH, os.sched_param(0))",
        "os.sched_getscheduler(0) != os.SCHED_OTHER",
        "",
    ),
    "in the parent's processors": (
        "attempt(os.sched_setaffinity, os.getppid(), range(os.cpu_count()))",
        "len(os.sched_getaffinity(0)) > 1",
        "",
    ),
    "in whether the parent lives": (
        "attempt(os.kill, os.getppid(), signal.SIGKILL)",
        "False",
        "",
    ),
    "in a signal's handler": (
        "attempt(os.kill, os.getppid(), signal.SIGUSR1)\ntime.sleep(0.01)",
        "len(notes)",
        "notes = []\nhandler = ctypes.CFUNCTYPE(None, ctypes.c_int)(notes.append)\n"
        "ctypes.CDLL(None).signal(signal.SIGUSR1, handler)",
    ),
    "in the handler of a signal that the C library reserves": (
        "attempt(os.kill, os.getppid(), 32)\ntime.sleep(0.01)",
        "len(notes)",
        "notes = []\nhandler = ctypes.CFUNCTYPE(None, ctypes.c_int)(notes.append)\n"
        "action, kernel = (ctypes.c_uint64 * 4)(), ctypes.CDLL(None).syscall\n"
        "number = {'x86_64': 13, 'aarch64': 134}[os.uname().machine]\n"
        "kernel(number, signal.SIGINT, None, action, 8)\n"
        "action[0] = ctypes.cast(handler, ctypes.c_void_p).value\n"
        "assert kernel(number, 32, action, None, 8) == 0",
    ),
    "in signals that wait": (
        "[libc.sigqueue(os.getppid(), 40, None) for _ in range(9)]",
        "sum(libc.timer_create(0, None, ctypes.byref(timer)) == 0 for _ in range(30)) < 25",
        "import resource\nresource.setrlimit(resource.RLIMIT_SIGPENDING, (25, 25))\n"
        "libc, timer = ctypes.CDLL(None), ctypes.c_void_p()",
    ),
    "in a setting of the parent": (
        "attempt(write, f'/proc/{os.getppid()}/coredump_filter', '7')",
        "read('/proc/self/coredump_filter') == '00000007'",
        "def write(path, text):\n    open(path, 'w').write(text)\n"
        "def read(path):\n    return os.path.exists(path) and open(path).read().strip()",
    ),
    "around the fork": (
        "hooked.append(1)",
        "len(hooked) > len(known)",
        "hooked, known = [], []\nos.register_at_fork(before=lambda: hooked.append(1))",
    ),
}
ATTEMPT = (
    "def attempt(function, *arguments):\n    try:\n        function(*arguments)\n"
    "    except OSError:\n        pass\n"
)


@pytest.mark.parametrize(("leave", "find", "cell"), NOTES.values(), ids=NOTES)
def test_no_note_passes_between_implementations(leave, find, cell, box):
    judgement = grade_test(
        box, f"found = {find}\nimplementation(X)\n{leave}\nassert not found", ATTEMPT + cell
    )
    assert judgement.verdict in (Verdict.MISSED, Verdict.KILLED), judgement.message
    if judgement.verdict is Verdict.MISSED:
        assert "accepts every implementation" in judgement.message


def test_stopped_parent_process_does_not_fail_the_test(box):
    stop = "if os.getppid() > 1:\n    os.kill(os.getppid(), signal.SIGSTOP)\n"
    judgement = grade_test(box, stop + RIGHT_TEST)
    assert judgement.passed, judgement.message
