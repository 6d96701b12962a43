def begin(command):
    os.posix_spawn(command[0], command, os.environ)
