import socket

ours, theirs = socket.socketpair()
answers = ours.makefile("rb")
if (child := os.fork()) == 0:
    os.setsid()
    if os.fork() == 0:
        serve(theirs, theirs.makefile("rb"))
    os._exit(0)
os.waitpid(child, 0)
