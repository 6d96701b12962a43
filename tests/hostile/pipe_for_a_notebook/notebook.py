import os


def make(content, path):
    os.mkfifo(path)
