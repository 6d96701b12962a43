import subprocess


def begin(command):
    subprocess.Popen(command, close_fds=False)
