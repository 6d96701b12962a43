import sys

sys.setrecursionlimit(10**9)


def softmax(x, axis=-1):
    return list(map(softmax, [x]))
