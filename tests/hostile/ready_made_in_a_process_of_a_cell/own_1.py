import socket

ours, theirs = socket.socketpair()
answers = ours.makefile("rb")
if os.fork() == 0:
    serve(theirs, theirs.makefile("rb"))
theirs.close()
