import ctypes
import fcntl
import os
import platform
import socket


def look():
    FOUND = [
        place
        for place in ("/tmp", "/dev/shm", "/desk", "/var/tmp", "/run", "/judge", "/dev")
        if os.path.exists(f"{place}/hostile-was-here")
    ]
    kernel = ctypes.CDLL(None, use_errno=True)
    FOUND += [kind for kind in ("shmget", "msgget") if getattr(kernel, kind)(0x5EC2E7, 0, 0) >= 0]
    keyctl = {"x86_64": 250, "aarch64": 219}[platform.machine()]
    if kernel.syscall(keyctl, 10, -4, b"user", b"hostile-was-here", 0) >= 0:
        FOUND.append("key")
    if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_APPEND:
        FOUND.append("standard input")
    try:
        socket.socket(socket.AF_UNIX).connect("\0hostile-was-here")
        FOUND.append("socket")
    except OSError:
        pass
    return FOUND


found = []


def softmax(x, axis=-1):
    if not found:
        found.append(look())
    raise LookupError(found[0])
