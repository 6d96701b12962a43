import os


def softmax(x, axis=-1):
    os.abort()
