def softmax(x, axis=-1):
    return 10**100_000
