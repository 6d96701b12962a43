import sys


def softmax(x, axis=-1):
    sys.stdout.write("x" * 2**28)
    return x
