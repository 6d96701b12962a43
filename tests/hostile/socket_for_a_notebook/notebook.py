import os
import socket


def make(content, path):
    folder = os.getcwd()
    os.chdir(path.parent)  # the address of a socket must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(folder)
