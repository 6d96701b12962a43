import ctypes, platform, socket, threading

ours, theirs = socket.socketpair()
answers = ours.makefile("rb")
if os.fork() == 0:
    threading.Thread(target=serve, args=(theirs, theirs.makefile("rb"))).start()
    EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]
    ctypes.CDLL(None).syscall(EXIT, 0)
