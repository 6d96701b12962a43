import ctypes
import os
import platform
import socket
import time

for place in ("/tmp", "/dev/shm", "/desk", "/var/tmp", "/run", "/judge", "/dev"):
    try:
        open(f"{place}/hostile-was-here", "w").close()
    except OSError:
        pass
kernel = ctypes.CDLL(None, use_errno=True)
kernel.shmget(0x5EC2E7, 4096, 0o1666)
kernel.msgget(0x5EC2E7, 0o1666)
add_key = {"x86_64": 248, "aarch64": 217}[platform.machine()]
kernel.syscall(add_key, b"user", b"hostile-was-here", b"note", 4, -4)
if os.fork() == 0:
    try:
        os.setsid()
        left = socket.socket(socket.AF_UNIX)
        left.bind("\0hostile-was-here")
        left.listen()
        time.sleep(60)
    finally:
        os._exit(0)
if not os.read(0, 1):  # standard input, which others may share
    import fcntl

    fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)
