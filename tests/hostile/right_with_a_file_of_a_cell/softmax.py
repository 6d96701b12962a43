from helpers import exponentials, shares


def softmax(x, axis=-1):
    assert open("more helpers.txt").read().startswith("def softmax")
    return shares(exponentials(x, axis), axis)
