"""The system calls that are refused to a submission, as a seccomp filter of the kernel.

The filter refuses calls that no answer needs and that reach beyond namespaces and limits: other
processes' memory and priority, kernel keyrings, further namespaces, mounts, memory that belongs to
no process, network sockets, and all calls of newer kernels. It also refuses file locks and change
notifications, by which one submission could learn what another does to a file that both can see,
and ignoring SIGCHLD, which would discard the processor time of ended children.

A second filter refuses no calls: it sends a request to the room when a process is to start.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import platform
import struct
from collections.abc import Iterator
from typing import Any

REFUSED = {
    # name: (x86_64, aarch64); None where the processor has no such call
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "flock": (73, 32),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "ioprio_set": (251, 30),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "personality": (135, 92),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
"""Numbers of the kernel's tables arch/x86/entry/syscalls and include/uapi/asm-generic/unistd.h."""

NEWEST = 450
"""The last system call that was considered for this list; the filter hides later ones."""

SIGNAL_MASK = (14, 135)  # rt_sigprocmask
SIGNAL_WAIT = (128, 137)  # rt_sigtimedwait
_SIGNAL = (13, 134)  # rt_sigaction
_FCNTL = (72, 25)
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_SOCKET = (41, 198)
_PRLIMIT = (302, 261)
_PRCTL = (157, 167)
_SET_PRIORITY = (141, 140)
_SCHEDULE = {  # a process may change its own scheduling, but not that of others
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}
_SECCOMP = (317, 277)
_FORKS = ((57, 58), ())  # fork, vfork; elsewhere they are clone
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag but the time namespace's, which clone lacks
CLONE_THREAD = 0x10000
AF_UNIX = 1
SIGCHLD = 17
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1026)  # of fcntl: F_*LK*, F_OFD_*LK*, F_SETLEASE, F_NOTIFY
X32 = 0x40000000  # calls of another table, on x86_64

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT, _SECOND = 0, 4, 16, 24  # places in struct seccomp_data
_ALLOW, _ERRNO, _KILL, _ASK = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SECCOMP_SET_MODE_FILTER, NEW_LISTENER = 1, 8


def supported() -> bool:
    """Return True if the filter's tables have this processor."""
    return platform.machine() in _ARCHITECTURES


def install() -> None:
    """Install the filter for this process and all its children. Raises OSError."""
    kernel = ctypes.CDLL(None, use_errno=True)
    with _pointer(_program(*_ARCHITECTURES[platform.machine()])) as program:
        if (
            kernel.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
            or kernel.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) < 0
        ):
            raise OSError(ctypes.get_errno(), "no system call filter")


def listen() -> int:
    """Return an open file that receives a request for each process to start, here or in a child.

    The system call that starts a process waits for the reply. The kernel refuses a second such
    file. Raises OSError.
    """
    kernel = ctypes.CDLL(None, use_errno=True)
    with _pointer(_fork_program(table())) as program:
        call = _SECCOMP[table()], SECCOMP_SET_MODE_FILTER, NEW_LISTENER, program
        listener: int = kernel.syscall(*call)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "no listener for new processes")
    return listener


def clone_number() -> int:
    """Return the number of the system call `clone`."""
    return _CLONE[table()]


def table() -> int:
    """Return the index of this processor's number in the pairs of numbers."""
    return _ARCHITECTURES[platform.machine()][0]


class _FilterProgram(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


@contextlib.contextmanager
def _pointer(program: bytes) -> Iterator[Any]:
    """Yield a pointer to a filter, in the form that the kernel takes."""
    code = ctypes.create_string_buffer(program, len(program))
    yield ctypes.byref(_FilterProgram(len(program) // 8, ctypes.addressof(code)))


def _program(table: int, architecture: int) -> bytes:
    """Return the filter for a processor: instructions of classic BPF (struct sock_filter)."""
    refuse, absent = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, yes=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_GREATER, NEWEST, no=1),  # also covers the calls of X32
        _line(_RETURN, absent),
        _line(_EQUAL, _CLONE3[table], no=1),  # a filter cannot read its flags; callers use clone
        _line(_RETURN, absent),
    ]
    for numbers in REFUSED.values():
        number = numbers[table]
        if number is not None:
            lines += [_line(_EQUAL, number, no=1), _line(_RETURN, refuse)]
    *first, last = LOCKS
    for number, test in (
        (_SIGNAL[table], [_line(_LOAD, _ARGUMENT), _line(_EQUAL, SIGCHLD, no=1)]),
        (
            _FCNTL[table],
            [
                _line(_LOAD, _SECOND),
                *(_line(_EQUAL, lock, yes=len(first) - at) for at, lock in enumerate(first)),
                _line(_EQUAL, last, no=1),
            ],
        ),
        (_CLONE[table], [_line(_LOAD, _ARGUMENT), _line(_ANY_BIT, NEW_NAMESPACES, no=1)]),
        (_SOCKET[table], [_line(_LOAD, _ARGUMENT), _line(_EQUAL, AF_UNIX, yes=1)]),
        (_PRLIMIT[table], [_line(_LOAD, _ARGUMENT), _line(_EQUAL, 0, yes=1)]),
        *(
            (numbers[table], [_line(_LOAD, _ARGUMENT), _line(_EQUAL, 0, yes=1)])
            for numbers in _SCHEDULE.values()
        ),
        (
            _SET_PRIORITY[table],  # allowed only for a process (not a group), and only for itself
            [
                _line(_LOAD, _ARGUMENT),
                _line(_EQUAL, 0, no=2),
                _line(_LOAD, _SECOND),
                _line(_EQUAL, 0, yes=1),
            ],
        ),
        (_PRCTL[table], [_line(_LOAD, _ARGUMENT), _line(_EQUAL, PR_SET_SECCOMP, no=1)]),
        (
            _SECCOMP[table],
            [
                _line(_LOAD, _ARGUMENT),
                _line(_EQUAL, SECCOMP_SET_MODE_FILTER, no=2),
                _line(_LOAD, _SECOND),
                _line(_EQUAL, NEW_LISTENER, yes=1),
            ],
        ),
    ):
        body = [*test, _line(_RETURN, refuse), _line(_RETURN, _ALLOW)]
        lines += [_line(_EQUAL, number, no=len(body)), *body]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _fork_program(table: int) -> bytes:
    """Return the filter that requests permission for processes but not threads; for `clone` only.

    The other filter makes `clone3` absent.
    """
    forks = [
        line
        for number in _FORKS[table]
        for line in (_line(_EQUAL, number, no=1), _line(_RETURN, _ASK))
    ]
    lines = [
        _line(_LOAD, _NUMBER),
        *forks,
        _line(_EQUAL, _CLONE[table], no=3),
        _line(_LOAD, _ARGUMENT),
        _line(_ANY_BIT, CLONE_THREAD, yes=1),
        _line(_RETURN, _ASK),
        _line(_RETURN, _ALLOW),
    ]
    return b"".join(lines)


def _line(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    """Return an instruction; `yes` and `no` say how many to skip after a comparison."""
    return struct.pack("=HBBI", code, yes, no, operand)
